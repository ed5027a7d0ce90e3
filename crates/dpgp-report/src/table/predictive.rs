//! The distribution of another run of a procedure.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use super::verdict::NumberVerdict;

/// The share of runs beyond each end of an interval.
const TAIL: f64 = 0.025;

/// The relative size of the last bits of a decimal number, which do not count.
const LAST_BITS: f64 = 1e-12;

/// The interval for the number of another run, from all our replicates.
///
/// With replicates `x_1 .. x_R` of mean m and standard deviation s, the mean of k more runs lies within
/// `m ± t s sqrt(1/k + 1/R)` with probability .95, t the quantile of Student's distribution with R - 1 degrees of freedom, if runs are
/// normal. One more run lies between the j-th smallest and the j-th largest of them with probability `1 - 2 j / (R + 1)` whatever its
/// distribution, because it may take any place in the order: used from `R = 39` on, where j = 1 suffices.
/// Source: Vovk, Gammerman and Shafer 2005, Section 2.2.
///
/// ```
/// use dpgp_report::PredictiveInterval;
/// // 39 replicates from 1 to 39: another one lies between them in 38 of 40 cases.
/// let replicates: Vec<f64> = (1..=39).map(f64::from).collect();
/// let interval = PredictiveInterval::from_replicates(&replicates, 1).widen_by_rounding(1.0);
/// assert_eq!((interval.low, interval.high), (0.5, 39.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PredictiveInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The centre and the standard deviation of a run around it, with the degrees of freedom; none if nothing is
    /// random.
    law: Option<RunDistribution>,
    /// The replicates, from smallest to largest, if their order gives the interval; else empty.
    ordered: Vec<f64>,
    /// How far both ends were moved outwards.
    slack: f64,
}

/// Student's distribution of another run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RunDistribution {
    centre: f64,
    scale: f64,
    freedom: f64,
}

impl PredictiveInterval {
    /// The interval for the mean of `runs` more runs. A single replicate, or equal replicates, give an interval of one point.
    pub fn from_replicates(replicates: &[f64], runs: u32) -> Self {
        let count = replicates.len() as f64;
        let centre = replicates.iter().sum::<f64>() / count;
        let spread = standard_deviation(replicates, centre);
        let exact = replicates.first().copied().unwrap_or(f64::NAN);
        if spread == 0.0 {
            return Self::from_bounds(exact, exact);
        }
        let law = RunDistribution::new(centre, spread, count, runs);
        let rank = (TAIL * (count + 1.0)).floor() as usize;
        if runs == 1 && rank >= 1 {
            let mut sorted = replicates.to_vec();
            sorted.sort_by(f64::total_cmp);
            let [low, high] = [sorted[rank - 1], sorted[sorted.len() - rank]];
            return Self { low, high, law: Some(law), ordered: sorted, slack: 0.0 };
        }
        law.interval()
    }

    /// The mean of so many more runs, by the mean and the standard deviation of `count` of them, at least two.
    pub fn from_moments(mean: f64, spread: f64, count: u32, runs: u32) -> Self {
        if spread == 0.0 {
            return Self::from_bounds(mean, mean);
        }
        RunDistribution::new(mean, spread, f64::from(count), runs).interval()
    }

    /// A given interval, without a law.
    pub fn from_bounds(low: f64, high: f64) -> Self {
        Self { low, high, law: None, ordered: Vec::new(), slack: 0.0 }
    }

    /// The interval for the standard deviation over `count` more runs: `(s' / s)^2` has the F distribution.
    pub fn for_spread(replicates: &[f64], count: u32) -> Self {
        let freedom = replicates.len() as f64 - 1.0;
        let spread = standard_deviation(replicates, replicates.iter().sum::<f64>() / replicates.len() as f64);
        let Ok(ratio) = FisherSnedecor::new(f64::from(count) - 1.0, freedom) else {
            return Self::from_bounds(0.0, f64::INFINITY);
        };
        let [low, high] = [TAIL, 1.0 - TAIL].map(|share| spread * ratio.inverse_cdf(share).sqrt());
        Self::from_bounds(low, high)
    }

    /// The same where a number is rounded to a unit.
    #[must_use]
    pub fn widen_by_rounding(self, precision: f64) -> Self {
        self.widened(0.5 * precision)
    }

    /// The same where a number is read with an error, or a formula is only approximate.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by, slack: self.slack + by, ..self }
    }

    /// The same in other units; without a law.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self::from_bounds(by * self.low, by * self.high)
    }

    /// Whether a number may be one of these runs. The last bits of a decimal number do not count.
    pub fn contains(&self, value: f64) -> bool {
        let least = LAST_BITS * value.abs();
        (self.low - least..=self.high + least).contains(&value)
    }

    /// The p-value of a number as one more run; none if nothing is random. It is at most .05 if the number is outside the interval.
    ///
    /// By Student's distribution, or where the order gives the interval, by the places that the number may take in it: with `a` replicates
    /// at most as large and `b` at least as large, `2 (1 + min(a, b)) / (R + 1)` has at most the probability p of being at most p.
    pub fn p_value(&self, value: f64) -> Option<f64> {
        let RunDistribution { centre, scale, freedom } = self.law?;
        if self.ordered.is_empty() {
            return Some(2.0 * student(freedom)?.cdf(-((value - centre) / scale).abs()));
        }
        let reach = self.slack + LAST_BITS * value.abs();
        let below = self.ordered.iter().filter(|run| **run <= value + reach).count();
        let above = self.ordered.iter().filter(|run| **run >= value - reach).count();
        let places = 2.0 * (1 + below.min(above)) as f64;
        Some((places / (self.ordered.len() + 1) as f64).min(1.0))
    }

    /// The distance of the centre above a number, in standard deviations of a run; none if nothing is random.
    pub fn z_score_of_centre(&self, value: f64) -> Option<f64> {
        self.law.map(|law| (law.centre - value) / law.scale)
    }

    /// The verdict on a number. It agrees only if the interval is no wider than the effect that matters.
    pub fn verdict(&self, value: f64, effect: Option<f64>) -> NumberVerdict {
        if !self.contains(value) {
            return NumberVerdict::Differs;
        }
        let wide = effect.is_some_and(|effect| self.high - self.low > effect);
        if wide { NumberVerdict::Inconclusive } else { NumberVerdict::Agrees }
    }
}

impl RunDistribution {
    fn new(centre: f64, spread: f64, count: f64, runs: u32) -> Self {
        Self { centre, scale: spread * (1.0 / f64::from(runs) + 1.0 / count).sqrt(), freedom: count - 1.0 }
    }

    fn interval(self) -> PredictiveInterval {
        let reach = self.scale * student(self.freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - TAIL));
        let [low, high] = [self.centre - reach, self.centre + reach];
        PredictiveInterval { low, high, law: Some(self), ordered: Vec::new(), slack: 0.0 }
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

/// Over all but one; zero where they do not differ, or there is one.
fn standard_deviation(values: &[f64], mean: f64) -> f64 {
    if values.iter().all(|value| *value == values[0]) {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    /// From a table of Student's distribution: t at .975 with 9 degrees of freedom is 2.262157.
    #[test]
    fn few_replicates_have_students_interval() {
        let replicates: Vec<f64> = (0..10).map(f64::from).collect();
        let interval = PredictiveInterval::from_replicates(&replicates, 1);
        let sd = (82.5f64 / 9.0).sqrt();
        assert!((interval.high - (4.5 + 2.262_157 * sd * 1.1f64.sqrt())).abs() < 1e-5);
        assert!((interval.low + interval.high - 9.0).abs() < 1e-9);
        // The mean of four runs lies closer.
        let mean = PredictiveInterval::from_replicates(&replicates, 4);
        assert!((mean.high - (4.5 + 2.262_157 * sd * 0.35f64.sqrt())).abs() < 1e-5);
        assert!((interval.p_value(interval.high).unwrap() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_random_has_no_width() {
        for replicates in [vec![2.0], vec![2.0; 30]] {
            let interval = PredictiveInterval::from_replicates(&replicates, 1).widen_by_rounding(0.1);
            assert_eq!((interval.low, interval.high, interval.p_value(2.0)), (1.95, 2.05, None));
            assert_eq!(interval.verdict(2.05, None), NumberVerdict::Agrees);
            assert_eq!(interval.verdict(2.06, None), NumberVerdict::Differs);
        }
    }

    /// Another run of the same procedure is outside in one case of twenty: of normal runs, and, from 39 on, of any.
    #[test]
    fn one_run_in_twenty_is_outside() {
        let mut stream = Pcg64::seed_from_u64(7);
        for replicates in [10, 39, 100] {
            let mut outside = 0;
            for _ in 0..4000 {
                let mut draws: Vec<f64> = (0..=replicates).map(|_| StandardNormal.sample(&mut stream)).collect();
                if replicates >= 39 {
                    draws.iter_mut().for_each(|draw| *draw = draw.exp());
                }
                let another = draws.pop().unwrap();
                outside += usize::from(!PredictiveInterval::from_replicates(&draws, 1).contains(another));
            }
            // Five standard deviations of a count with mean 200; the ranks of 100 replicates leave 198 of 4000 at most.
            assert!((130..=270).contains(&outside), "{replicates}: {outside}");
        }
    }

    /// Of 39 runs, a number beyond all of them takes one of the two last of 40 places. Rounding moves the ends.
    #[test]
    fn the_order_gives_both_interval_and_p_value() {
        let replicates: Vec<f64> = (1..=39).map(|run| f64::from(run * run)).collect();
        let interval = PredictiveInterval::from_replicates(&replicates, 1).widen_by_rounding(1.0);
        for (value, inside, p) in
            [(0.4, false, 0.05), (0.5, true, 0.1), (1521.6, false, 0.05), (4.0, true, 0.15), (400.0, true, 1.0)]
        {
            assert_eq!((interval.contains(value), interval.p_value(value)), (inside, Some(p)), "{value}");
        }
    }

    /// From a table of the F distribution: the quantile .975 with 4 and 9 degrees of freedom is 4.718.
    #[test]
    fn spreads_have_the_f_distribution() {
        let replicates: Vec<f64> = (0..10).map(f64::from).collect();
        let interval = PredictiveInterval::for_spread(&replicates, 5);
        let sd = (82.5f64 / 9.0).sqrt();
        assert!((interval.high / sd - 4.718_08f64.sqrt()).abs() < 1e-4, "{}", interval.high / sd);
        assert!(interval.contains(sd) && interval.low > 0.0);
    }

    #[test]
    fn an_interval_that_is_too_wide_tells_nothing() {
        let interval = PredictiveInterval::from_bounds(9.0, 11.0);
        for (value, effect, expected) in [
            (10.0, None, NumberVerdict::Agrees),
            (10.0, Some(2.0), NumberVerdict::Agrees),
            (10.0, Some(1.9), NumberVerdict::Inconclusive),
            (12.0, Some(1.9), NumberVerdict::Differs),
        ] {
            assert_eq!(interval.verdict(value, effect), expected);
        }
    }
}
