//! Releases of two neighbours as readers see them, and the dataset that their last bits rule out.

use std::cmp::Ordering;
use std::num::NonZeroUsize;

use super::{AttackDrawSetting, EndToEndCheck};
use crate::sums_model::NoisyNumber;
use dpgp_accounting::Guarantee;
use dpgp_audit::{BinomialTrials, MechanismOutputs, attack, max_provable_epsilon};

/// One correct release of a million is called broken.
const ERROR: f64 = 1e-6;
/// Numbers that all releases of a data set have together, and the least and the most releases.
const NUMBERS: usize = 1_000_000;
const LEAST: usize = 100;
const MOST: usize = 1000;
/// In standard deviations, how far noise hardly ever reaches.
const FAR: f64 = 8.0;
/// The columns that are attacked together.
const COLUMNS: usize = 4;

/// Releases of two data sets, each with noise of its own from the operating system: a row of numbers for each.
pub(super) struct NeighbourOutputs {
    pub outputs: [MechanismOutputs; 2],
    /// The numbers of each without noise, where noise is added to them.
    pub exact: Option<[Vec<f64>; 2]>,
    /// A release, with the standard deviation of the noise on each number, as the file states it.
    pub stated: Option<Vec<NoisyNumber>>,
}

impl AttackDrawSetting {
    /// The number of releases, if each has so many numbers.
    pub(super) fn release_count(&self, numbers: usize) -> usize {
        self.releases.map_or_else(|| (NUMBERS / numbers.max(1)).clamp(LEAST, MOST), NonZeroUsize::get)
    }
}

impl NeighbourOutputs {
    /// What they tell of the data set that they were made of.
    pub fn check_claim(&self, claim: Guarantee) -> Vec<EndToEndCheck> {
        let mut numbers = self.outputs.iter().flat_map(MechanismOutputs::rows).flatten();
        if !numbers.all(|number| number.is_finite()) {
            return vec![EndToEndCheck::from_outcome(false, "a released number is not finite".to_owned())];
        }
        let mut checks = vec![self.check_sampled_outputs(claim)];
        if let Some(exact) = &self.exact {
            checks.extend(self.stated.as_ref().map(|stated| self.check_noise_size(exact, stated)));
            let [one, other] = exact;
            checks.push(self.check_last_bits(&CandidateDatasets { one, other }, claim));
        }
        checks
    }

    /// Whether the noise is as large as the file states, by which the distance of neighbours was measured.
    ///
    /// A number whose noise is cut off at an end is left out: it has less.
    fn check_noise_size(&self, exact: &[Vec<f64>; 2], stated: &[NoisyNumber]) -> EndToEndCheck {
        let is_whole =
            |place: &usize| exact.iter().all(|exact| exact[*place] - stated[*place].least > FAR * stated[*place].sd);
        let places: Vec<usize> = (0..stated.len()).filter(is_whole).collect();
        let mut squares = vec![0.0; places.len()];
        for (outputs, exact) in self.outputs.iter().zip(exact) {
            for row in outputs.rows() {
                for (square, place) in squares.iter_mut().zip(&places) {
                    *square += ((row[*place] - exact[*place]) / stated[*place].sd).powi(2);
                }
            }
        }
        let draws = self.outputs.iter().map(MechanismOutputs::len).sum::<usize>() as f64;
        let all = draws * squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / all;
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min) / draws;
        // A mean of n squares has the standard error (2 / n)^(1/2), and a lighter tail below than a normal
        // distribution.
        let holds = mean >= 1.0 - 5.0 * (2.0 / all).sqrt() && least >= 1.0 - 7.0 * (2.0 / draws).sqrt();
        let note = format!(
            "the noise of {} numbers has {mean:.3} times the stated variance on average (minimum: {least:.3} \
             times)",
            squares.len()
        );
        EndToEndCheck::from_outcome(holds, note)
    }

    /// The attack on samples, on the numbers that differ most.
    fn check_sampled_outputs(&self, claim: Guarantee) -> EndToEndCheck {
        let places = self.most_different_columns();
        let [one, other] = self.outputs.each_ref().map(|outputs| select_columns(outputs, &places));
        let found = attack([&one, &other], claim, 1.0 - ERROR);
        let note = format!(
            "{} releases of each of two neighbours prove epsilon >= {:.4} (this many could prove at most {:.4}) at delta = {:?} and delta \
             >= {:.4} at epsilon = {:?}",
            one.len(),
            found.epsilon,
            max_provable_epsilon([&one, &other], claim, 1.0 - ERROR),
            claim.delta,
            found.delta,
            claim.epsilon,
        );
        EndToEndCheck::from_outcome(!found.refute(claim), note)
    }

    /// The places of the numbers that differ most between the two.
    fn most_different_columns(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.outputs[0].width()).collect();
        if let Some([one, other]) = &self.exact {
            places.sort_by(|i, j| (one[*j] - other[*j]).abs().total_cmp(&(one[*i] - other[*i]).abs()));
        }
        places.truncate(COLUMNS);
        places
    }

    /// The consistency test of raw bits.
    ///
    /// Obligation: that more numbers rule out one data set than the other is a set of outputs, chosen before any of
    /// them was drawn. Its probabilities p and q under two neighbours have `p <= e^epsilon q + delta`; their bounds are
    /// those of Clopper and Pearson, four in all.
    fn check_last_bits(&self, candidates: &CandidateDatasets<'_>, claim: Guarantee) -> EndToEndCheck {
        let [one, other] = self.outputs.each_ref().map(|outputs| RuledOutCounts::new(outputs, candidates));
        let broken = exceeds_claim(one.other, other.other, claim) || exceeds_claim(other.one, one.one, claim);
        let note = format!(
            "of {} releases, {} rule out the unused neighbour by their last bits, and {} rule out the neighbour that was used",
            one.one.trials + other.one.trials,
            one.other.successes + other.one.successes,
            one.one.successes + other.other.successes,
        );
        EndToEndCheck::from_outcome(!broken, note)
    }
}

/// How many releases speak against each of two data sets.
struct RuledOutCounts {
    one: BinomialTrials,
    other: BinomialTrials,
}

impl RuledOutCounts {
    fn new(outputs: &MechanismOutputs, candidates: &CandidateDatasets<'_>) -> Self {
        let (mut one, mut other) = (0, 0);
        for released in outputs.rows() {
            match candidates.compare_plausibility(released) {
                Ordering::Less => one += 1,
                Ordering::Greater => other += 1,
                Ordering::Equal => {}
            }
        }
        let trials = outputs.len() as u32;
        Self { one: BinomialTrials { successes: one, trials }, other: BinomialTrials { successes: other, trials } }
    }
}

/// Whether a set is likelier under one data set than the claim allows.
fn exceeds_claim(likely: BinomialTrials, unlikely: BinomialTrials, claim: Guarantee) -> bool {
    let error = ERROR / 4.0;
    likely.lower_confidence_bound(error) > claim.epsilon.exp() * unlikely.upper_confidence_bound(error) + claim.delta
}

fn select_columns(outputs: &MechanismOutputs, places: &[usize]) -> MechanismOutputs {
    let numbers = outputs.rows().flat_map(|row| places.iter().map(|place| row[*place]));
    MechanismOutputs::new(places.len(), numbers.collect())
}

/// Two datasets that an attacker considers possible, by the numbers of their releases without noise.
///
/// Obligation: where noise is added in doubles, the data set that a number was made of is never ruled out: some double
/// has given that very number. Another may be, as doubles near another number are differently spaced. Source: Mironov
/// 2012, "On significance of the least significant bits".
#[derive(Debug, Clone)]
pub(super) struct CandidateDatasets<'a> {
    /// One of the two.
    pub one: &'a [f64],
    /// The other.
    pub other: &'a [f64],
}

impl CandidateDatasets<'_> {
    /// Less if more numbers of a release rule out the one than the other; greater if it is the other way round.
    pub fn compare_plausibility(&self, released: &[f64]) -> Ordering {
        let (mut one, mut other) = (0, 0);
        for (place, number) in released.iter().enumerate() {
            one += usize::from(!is_reachable_by_noise(*number, self.one[place]));
            other += usize::from(!is_reachable_by_noise(*number, self.other[place]));
        }
        other.cmp(&one)
    }
}

/// Whether some double n has `fl(candidate + n) = output`: if any has, one of the three around their difference.
fn is_reachable_by_noise(output: f64, candidate: f64) -> bool {
    let noise = output - candidate;
    [noise.next_down(), noise, noise.next_up()].iter().any(|noise| candidate + noise == output)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;
    use dpgp_claim_audit::AuditVerdict::{Broken, Holds};

    /// Releases of 0 and 1 with noise of this standard deviation; a number is what `shown` makes of it.
    fn of_zero_and_one(sd: f64, shown: fn(f64) -> f64) -> NeighbourOutputs {
        let mut stream = Pcg64::seed_from_u64(3);
        let outputs = [0.0, 1.0].map(|exact| {
            let noise = StandardNormal.sample_iter(&mut stream).take(MOST);
            MechanismOutputs::new(1, noise.map(|z: f64| shown(exact + sd * z)).collect())
        });
        NeighbourOutputs {
            outputs,
            exact: Some([vec![0.0], vec![1.0]]),
            stated: Some(vec![NoisyNumber::new(0.0, 4.0)]),
        }
    }

    #[test]
    fn too_little_noise_and_noise_in_doubles_are_found() {
        // The exact delta at epsilon = 1 of mu = 1/4 is 7e-7; of mu = 2 it is .45.
        let claim = Guarantee { epsilon: 1.0, delta: 1e-6 };
        for (sd, shown, expected) in [
            (4.0, f64::round as fn(f64) -> f64, [Holds, Holds, Holds]),
            (4.0, |x| x, [Holds, Holds, Broken]),
            (3.0, f64::round, [Holds, Broken, Holds]),
            (0.5, f64::round, [Broken, Broken, Holds]),
        ] {
            let checks = of_zero_and_one(sd, shown).check_claim(claim);
            assert_eq!(checks.iter().map(|check| check.verdict).collect::<Vec<_>>(), expected, "{checks:?}");
        }
        let nothing = NeighbourOutputs {
            outputs: [0, 1].map(|_| MechanismOutputs::new(1, vec![f64::NAN])),
            exact: None,
            stated: None,
        };
        assert_eq!(nothing.check_claim(claim)[0].verdict, Broken);
    }

    #[test]
    fn a_million_numbers_are_drawn_within_limits() {
        for (numbers, expected) in [(0, 1000), (1, 1000), (1000, 1000), (5000, 200), (10_000, 100), (99_999, 100)] {
            assert_eq!(AttackDrawSetting { seed: 1, releases: None }.release_count(numbers), expected, "{numbers}");
        }
        assert_eq!(AttackDrawSetting { seed: 1, releases: NonZeroUsize::new(7) }.release_count(10_000), 7);
    }

    /// Noise of two signs by turns, whose square is this share of what is stated for each number, on 200 releases of
    /// each data set.
    fn of_shares(shares: &[f64]) -> EndToEndCheck {
        let (exact, stated) =
            ([vec![3.0; shares.len()], vec![-7.0; shares.len()]], vec![NoisyNumber::new(0.0, 4.0); shares.len()]);
        let outputs = exact.each_ref().map(|exact| {
            let rows = (0..200).flat_map(|row| {
                let sign = if row % 2 == 0 { 1.0 } else { -1.0 };
                exact.iter().zip(shares).map(move |(exact, share)| exact + sign * 4.0 * share.sqrt())
            });
            MechanismOutputs::new(shares.len(), rows.collect())
        });
        NeighbourOutputs { outputs, exact: None, stated: None }.check_noise_size(&exact, &stated)
    }

    /// Of 400 squares the mean must be 1 - 5 / sqrt 200 = .646, the least of two means 1 - 7 / sqrt 200 = .505.
    #[test]
    fn the_size_of_noise_is_that_of_its_squares() {
        for (shares, expected) in [
            (vec![0.66], Holds),
            (vec![0.64], Broken),
            (vec![1.3, 0.51], Holds),
            (vec![1.3, 0.50], Broken),
            (vec![1.0; 3], Holds),
        ] {
            assert_eq!(of_shares(&shares).verdict, expected, "{shares:?}");
        }
        let note = "the noise of 2 numbers has 0.875 times the stated variance on average (minimum: 0.750 times)";
        // Cut off at 1: the numbers that are left count.
        let exact = [vec![0.0, 1000.0], vec![0.0, 1000.0]];
        let rows = (0..200).flat_map(|row| {
            [f64::max(if row % 2 == 0 { 4.0 } else { -4.0 }, 1.0), 1000.0 + if row % 2 == 0 { 4.0 } else { -4.0 }]
        });
        let rows: Vec<f64> = rows.collect();
        let stated = [0.0, 1000.0].map(|number| NoisyNumber { number, sd: 4.0, least: 1.0 });
        let cut = NeighbourOutputs {
            outputs: [0, 1].map(|_| MechanismOutputs::new(2, rows.clone())),
            exact: None,
            stated: None,
        };
        assert!(cut.check_noise_size(&exact, &stated).note.contains("the noise of 1 numbers has 1.000"));
        assert!(of_shares(&[0.75, 1.0]).note.contains(note), "{}", of_shares(&[0.75, 1.0]).note);
    }

    #[test]
    fn the_numbers_that_differ_most_are_attacked() {
        let exact = [vec![10.0, 0.0, 3.0, -3.0, 1.0, 0.0], vec![10.0, 1.0, -3.0, 3.5, 1.5, 0.0]];
        let outputs = [0, 1].map(|_| MechanismOutputs::new(6, vec![0.0; 6]));
        assert_eq!(
            NeighbourOutputs { outputs, exact: Some(exact), stated: None }.most_different_columns(),
            [3, 2, 1, 4]
        );
    }

    /// All of 100 releases of one data set and none of the other are in a set: with an error of 1e-6 / 4 its
    /// probabilities are at least error^(1/100) = .8590 and at most 1 - .8590, whose ratio is e^1.807.
    #[test]
    fn a_set_of_bits_is_as_likely_as_the_claim_allows() {
        let all = BinomialTrials { successes: 100, trials: 100 };
        let none = BinomialTrials { successes: 0, trials: 100 };
        for (epsilon, delta, expected) in [(1.80, 0.0, true), (1.815, 0.0, false), (1.815, 0.01, false)] {
            assert_eq!(exceeds_claim(all, none, Guarantee { epsilon, delta }), expected, "{epsilon} {delta}");
        }
        assert!(!exceeds_claim(none, all, Guarantee { epsilon: 0.0, delta: 0.0 }));
        // e^0 times .1410, and .7180 more, is .8590.
        for (delta, expected) in [(0.716, true), (0.720, false)] {
            assert_eq!(exceeds_claim(all, none, Guarantee { epsilon: 0.0, delta }), expected, "{delta}");
        }
    }

    /// Noise on 1 cannot give 2^-60, noise on 0 can.
    #[test]
    fn releases_lean_to_one_of_two_data_sets() {
        let small = 2f64.powi(-60);
        let outputs = MechanismOutputs::new(1, vec![small, 0.25, small, small]);
        let against_one = RuledOutCounts::new(&outputs, &CandidateDatasets { one: &[1.0], other: &[0.0] });
        let counts = [against_one.one, against_one.other].map(|side| (side.successes, side.trials));
        assert_eq!(counts, [(3, 4), (0, 4)]);
        let against_other = RuledOutCounts::new(&outputs, &CandidateDatasets { one: &[0.0], other: &[1.0] });
        assert_eq!((against_other.one.successes, against_other.other.successes), (0, 3));
    }
}

#[cfg(test)]
mod candidates_tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Noise on 0 reaches all doubles; below 1/2 noise on 1 reaches multiples of `2^-53` alone.
    #[test]
    fn doubles_that_noise_on_one_cannot_reach() {
        assert!(
            is_reachable_by_noise(0.1, 0.0)
                && !is_reachable_by_noise(2f64.powi(-60), 1.0)
                && is_reachable_by_noise(0.25, 1.0)
        );
    }

    #[test]
    fn noise_in_doubles_rules_out_the_wrong_one_alone() {
        let mut stream = Pcg64::seed_from_u64(1);
        let candidates = CandidateDatasets { one: &[0.0], other: &[1.0] };
        let mut wrong = 0;
        for _ in 0..200 {
            let noise: f64 = StandardNormal.sample(&mut stream);
            assert_ne!(candidates.compare_plausibility(&[noise]), Ordering::Less);
            wrong += usize::from(candidates.compare_plausibility(&[noise]) == Ordering::Greater);
            assert_ne!(candidates.compare_plausibility(&[1.0 + noise]), Ordering::Greater);
        }
        assert!(wrong > 40, "{wrong}");
    }

    /// Whole numbers are reached from all whole numbers.
    #[test]
    fn whole_numbers_rule_out_nothing() {
        let candidates = CandidateDatasets { one: &[0.0, 7.0], other: &[1.0, 7.0] };
        assert_eq!(candidates.compare_plausibility(&[-12.0, 30.0]), Ordering::Equal);
    }

    /// The first of three numbers speaks against 1, the others against nothing.
    #[test]
    fn the_one_with_more_impossible_numbers_is_ruled_out() {
        let (small, zeros, ones) = (2f64.powi(-60), [0.0; 3], [1.0, 0.0, 0.0]);
        let released = [small, 0.25, 0.5];
        assert_eq!(CandidateDatasets { one: &ones, other: &zeros }.compare_plausibility(&released), Ordering::Less);
        assert_eq!(CandidateDatasets { one: &zeros, other: &ones }.compare_plausibility(&released), Ordering::Greater);
        // One number against each.
        let other = [0.0, 1.0, 0.0];
        assert_eq!(
            CandidateDatasets { one: &ones, other: &other }.compare_plausibility(&[small, small, 0.5]),
            Ordering::Equal
        );
    }
}
