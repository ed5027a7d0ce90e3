//! Noise on the sums of a variational model: bounds from both sides for the worst pair of records.
//!
//! A record with covariances k and label a enters each pair of sums as `a k` and `b k k'`. If it is replaced,
//! the pair moves by a distance that depends only on both norms and the inner product. The metric counts off-
//! diagonal entries twice, because their noise is `sqrt 2` times smaller.

use std::collections::BTreeMap;

use libm::lgamma;

use crate::finding::{AuditCheck, AuditVerdict, ROUNDING, RecomputedBound};
use crate::gaussian::CurvatureBoundedSearch;
use dpgp_accounting::Guarantee;
use dpgp_audit::{MechanismOutputs, exact_gaussian_delta, format_four_significant};
use dpgp_linalg::largest_or_nan;
use dpgp_spec::setting::RangeSetting;
use dpgp_task::{AuditedJointSumsNoise, AuditedSumsNoise, RecordSumWeights};

/// Steps to a lengthscale where the greatest norm is looked for.
const STEPS: f64 = 500.0;
/// Lengthscales beyond the inducing inputs that inputs are looked for in, where no box bounds them.
const BEYOND: f64 = 4.0;
/// Points to a side where pairs of records are looked for, in one dimension, and points in all in more.
const SIDE: usize = 241;
const POINTS: f64 = 1000.0;

/// The delta of the worst pair of records: at most what the greatest norm of the covariances allows, at least what a
/// search over pairs finds.
///
/// Obligation: with `K = |k|^2 <= R^2` of either record and `t = k.k'`, the squared shift of one pair of sums is
/// `(a^2 + a'^2) R^2 / s_a^2 + (b^2 + b'^2) R^4 / s_b^2 - 2 a a' t / s_a^2 - 2 b b' t^2 / s_b^2` at most, because it rises with
/// both norms at any t; t is not negative, because the kernel is not. A record has one label in all pairs of sums.
pub(super) fn check_record_sum_noise(releases: &AuditedJointSumsNoise, claim: Guarantee) -> AuditCheck {
    // As many equal records of one person, replaced by as many equal ones, move the sums as many times as far as one does, and
    // no others move them further.
    let records = releases.records as f64;
    let most = exact_gaussian_delta(records * squared_shift_bound(releases).sqrt(), claim.epsilon);
    let found = search_worst_pair(releases);
    let least = exact_gaussian_delta(records * found.shift_squared.sqrt(), claim.epsilon);
    let pair = format!(
        "the inputs {} and {}, labels {:?}",
        format_point(&found.inputs.0),
        format_point(&found.inputs.1),
        found.labels
    );
    if most <= claim.delta * (1.0 + ROUNDING) {
        let note = format!("a search finds {} ({pair})", RecomputedBound::DeltaAtLeast(least).text());
        return AuditCheck { verdict: AuditVerdict::Holds, found: RecomputedBound::DeltaAtMost(most), note };
    }
    // Between the two bounds the audit does not know.
    let broken = least > claim.delta * (1.0 + ROUNDING);
    let verdict = if broken { AuditVerdict::Broken } else { AuditVerdict::NotAudited };
    let note = format!("from records with {pair}; upper bound: delta <= {}", format_four_significant(most));
    AuditCheck { verdict, found: RecomputedBound::DeltaAtLeast(least), note }
}

/// The greatest squared shift that the norms of the covariances allow.
///
/// It takes the worst t for each pair of sums by itself, though one pair of records has one t for all that share their
/// inducing inputs: a bound, which is exact for a single pair of sums.
fn squared_shift_bound(releases: &AuditedJointSumsNoise) -> f64 {
    let norms: Vec<f64> = releases.sums.iter().map(|sum| largest_squared_feature_norm(sum, releases)).collect();
    largest_or_nan(label_pairs(releases).map(|(l, m)| {
        let sums = releases.sums.iter().zip(&norms);
        sums.map(|(sum, square)| worst_squared_shift(sum, sum.labels[l], sum.labels[m], *square)).sum::<f64>()
    }))
}

/// The greatest squared shift of one pair of sums over t in [0, R^2].
fn worst_squared_shift(sum: &AuditedSumsNoise, one: RecordSumWeights, other: RecordSumWeights, square: f64) -> f64 {
    // A parabola in t that opens downwards: its vertex, if it lies inside, or an end.
    let vertex = -one.a * other.a * sum.noise.sd_b.powi(2) / (2.0 * one.b * other.b * sum.noise.sd_a.powi(2));
    let inside = if vertex.is_finite() { vertex.clamp(0.0, square) } else { 0.0 };
    let products = [0.0, inside, square].map(|cross| FeatureProducts { one: square, other: square, cross });
    largest_or_nan(products.map(|products| squared_shift(sum, one, other, products)))
}

/// The squared norms `K`, `K'` of two records' covariances, and their inner product `t`.
#[derive(Debug, Clone, Copy)]
struct FeatureProducts {
    one: f64,
    other: f64,
    cross: f64,
}

/// The squared shift between two records with these labels and products:
/// `|a k - a' k'|^2 / s_a^2 + |b k k' - b' l l'|^2 / s_b^2`, with the squares multiplied out.
fn squared_shift(
    sum: &AuditedSumsNoise,
    one: RecordSumWeights,
    other: RecordSumWeights,
    products: FeatureProducts,
) -> f64 {
    let FeatureProducts { one: k, other: l, cross: t } = products;
    let first = one.a * one.a * k + other.a * other.a * l - 2.0 * one.a * other.a * t;
    let second = (one.b * k).powi(2) + (other.b * l).powi(2) - 2.0 * one.b * other.b * t * t;
    divide_by_variance(first, sum.noise.sd_a) + divide_by_variance(second, sum.noise.sd_b)
}

/// `x / sd^2`. A sum that does not move needs no noise.
fn divide_by_variance(x: f64, sd: f64) -> f64 {
    if x > 0.0 { x / (sd * sd) } else { 0.0 }
}

/// Pairs of labels.
fn label_pairs(releases: &AuditedJointSumsNoise) -> impl Iterator<Item = (usize, usize)> {
    let labels = releases.sums.first().map_or(0, |sum| sum.labels.len());
    (0..labels).flat_map(move |l| (0..labels).map(move |m| (l, m)))
}

/// The interval of the inputs along a dimension: the public box, or one that reaches beyond the inducing inputs.
fn input_interval(sum: &AuditedSumsNoise, releases: &AuditedJointSumsNoise, dimension: usize) -> [f64; 2] {
    let range = &sum.inducing[dimension];
    let margin = BEYOND * sum.kernel.1;
    match &releases.domain {
        Some(domain) => domain[dimension],
        // Beyond this margin covariances only fall, since every inducing input is further away.
        None => [range.from - margin, range.to + margin],
    }
}

/// The greatest `|k(x)|^2` over the inputs allowed: the kernel and the grid of inducing inputs are products.
fn largest_squared_feature_norm(sum: &AuditedSumsNoise, releases: &AuditedJointSumsNoise) -> f64 {
    let (variance, lengthscale) = sum.kernel;
    let along = sum.inducing.iter().enumerate().map(|(dimension, range)| {
        SquaredNormProfile { range, lengthscale }.find_maximum(input_interval(sum, releases, dimension))
    });
    variance.powi(2) * along.product::<f64>()
}

/// `sum_j exp(-(x - z_j)^2 / l^2)` along one dimension.
struct SquaredNormProfile<'a> {
    range: &'a RangeSetting,
    lengthscale: f64,
}

impl SquaredNormProfile<'_> {
    fn value_at(&self, x: f64) -> f64 {
        let exponents = (0..self.range.points).map(|j| -((x - self.range.value_at(j)) / self.lengthscale).powi(2));
        exponents.map(f64::exp).sum()
    }

    /// The maximum between two ends: the second derivative is at least `-2 m / l^2`.
    fn find_maximum(&self, [low, high]: [f64; 2]) -> f64 {
        let curvature = 2.0 * self.range.points as f64 / self.lengthscale.powi(2);
        let count = ((high - low) * STEPS / self.lengthscale).ceil();
        CurvatureBoundedSearch { low, high, count, curvature }.find_maximum(|x| self.value_at(x))
    }
}

/// Two records that were found, and their squared shift.
struct WorstRecordPair {
    shift_squared: f64,
    inputs: (Vec<f64>, Vec<f64>),
    labels: (usize, usize),
}

/// The worst pair with inputs on a grid and any labels: two data sets that exist, so that its shift is a lower bound.
fn search_worst_pair(releases: &AuditedJointSumsNoise) -> WorstRecordPair {
    let mut worst = WorstRecordPair { shift_squared: 0.0, inputs: (Vec::new(), Vec::new()), labels: (0, 0) };
    let points = input_grid(releases);
    let features: Vec<Vec<Vec<f64>>> =
        releases.sums.iter().map(|sum| points.iter().map(|x| inducing_covariances(sum, x)).collect()).collect();
    let labels: Vec<(usize, usize)> = label_pairs(releases).collect();
    for i in 0..points.len() {
        for j in 0..=i {
            let products = feature_products(releases, &features, i, j);
            for &(l, m) in &labels {
                let sums = releases.sums.iter().zip(&products);
                let squared = sums.map(|(sum, of)| squared_shift(sum, sum.labels[l], sum.labels[m], *of)).sum::<f64>();
                if squared > worst.shift_squared {
                    let inputs = (points[i].clone(), points[j].clone());
                    worst = WorstRecordPair { shift_squared: squared, inputs, labels: (l, m) };
                }
            }
        }
    }
    worst
}

/// The products of the covariances of points i and j, for each pair of sums.
fn feature_products(
    releases: &AuditedJointSumsNoise,
    features: &[Vec<Vec<f64>>],
    i: usize,
    j: usize,
) -> Vec<FeatureProducts> {
    let mut products: Vec<FeatureProducts> = Vec::with_capacity(features.len());
    for (s, features) in features.iter().enumerate() {
        let (one, other) = (&features[i], &features[j]);
        products.push(match products.last() {
            // Classes share kernel and inducing inputs.
            Some(last) if has_same_features(&releases.sums[s], &releases.sums[s - 1]) => *last,
            _ => FeatureProducts { one: dot(one, one), other: dot(other, other), cross: dot(one, other) },
        });
    }
    products
}

/// Whether two pairs of sums are of the same covariances.
fn has_same_features(one: &AuditedSumsNoise, other: &AuditedSumsNoise) -> bool {
    one.kernel == other.kernel && one.inducing == other.inducing
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The covariances of an input with all inducing inputs.
fn inducing_covariances(sum: &AuditedSumsNoise, x: &[f64]) -> Vec<f64> {
    let (variance, lengthscale) = sum.kernel;
    let mut values = vec![variance];
    for (range, x) in sum.inducing.iter().zip(x) {
        let along = (0..range.points).map(|j| (-0.5 * ((x - range.value_at(j)) / lengthscale).powi(2)).exp());
        let along: Vec<f64> = along.collect();
        values = values.iter().flat_map(|v| along.iter().map(move |k| v * k)).collect();
    }
    values
}

/// A grid over the inputs allowed, with about [`POINTS`] points whatever the dimension.
fn input_grid(releases: &AuditedJointSumsNoise) -> Vec<Vec<f64>> {
    let Some(sum) = releases.sums.first() else { return Vec::new() };
    let side = match sum.inducing.len() {
        1 => SIDE,
        dimensions => (POINTS.powf(1.0 / dimensions as f64) as usize).max(2),
    };
    let mut points = vec![Vec::new()];
    for d in 0..sum.inducing.len() {
        let [low, high] = input_interval(sum, releases, d);
        let along: Vec<f64> = (0..side).map(|i| low + (high - low) * i as f64 / (side - 1) as f64).collect();
        points = points
            .iter()
            .flat_map(|point: &Vec<f64>| along.iter().map(move |x| [point.as_slice(), &[*x]].concat()))
            .collect();
    }
    points
}

/// An input as a note prints it.
fn format_point(x: &[f64]) -> String {
    let numbers: Vec<String> = x.iter().map(|x| format!("{x:.2}")).collect();
    format!("({})", numbers.join(", "))
}

/// The chance of a refusal where all draws are their own.
const ERROR: f64 = 1e-6;

/// The weights that the sum of squared differences is tried with.
const WEIGHTS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// The most occurrences of an output at which it tells much that both files have it.
const FEW: u64 = 8;

/// Changes from row to row after which a second file with the very same rows in the very same order is a copy: a file that is sorted has
/// one change for each output.
const CHANGES: usize = 64;

/// Whether outputs fall into both files more evenly than draws of their own do. What an attack learns on half of the rows of one file
/// would then stand in the rows of the other that it judges by.
///
/// *Law.* Let an output occur m times in both files together. Draws of their own are in the first with some probability t each, whatever
/// the two distributions are. Then `P(both files have it) = 1 - t^m - (1-t)^m <= 1 - 2^(1-m)`. Of files of one length, the
/// difference d of the two counts has the least square where `t = 1/2`: `|d|` grows with `|t - 1/2|` in the likelihood ratio order. So
/// `E exp(-w d^2 / m)` is at most that of a fair coin, and by Markov's inequality `P(sum d^2 / m <= D) <= exp(w D) prod E exp(-w d^2 / m)`
/// for every `w > 0`. The counts of a file add up to its length, which leaves one difference less: of V outputs V - 1 are free.
pub(super) fn has_shared_draws(outputs: [&MechanismOutputs; 2]) -> bool {
    let whole = OutputCounts::from_outputs(outputs, usize::MAX);
    let shortest = outputs.map(MechanismOutputs::len).into_iter().min().unwrap_or(0);
    let tests = WEIGHTS.len() as f64 + FEW as f64;
    let of_one_length = OutputCounts::from_outputs(outputs, shortest);
    whole.log_chance_of_shared_rare_outputs().min(of_one_length.log_chance_of_even_counts()) < (ERROR / tests).ln()
}

/// How often each output is in either file.
struct OutputCounts(Vec<[u64; 2]>);

impl OutputCounts {
    /// Of the first rows of each file, which are in an order that tells nothing.
    fn from_outputs(outputs: [&MechanismOutputs; 2], most_rows: usize) -> Self {
        let mut counts: BTreeMap<Vec<u64>, [u64; 2]> = BTreeMap::new();
        for (file, outputs) in outputs.into_iter().enumerate() {
            for row in outputs.rows().take(most_rows) {
                counts.entry(row.iter().map(|x| x.to_bits()).collect()).or_default()[file] += 1;
            }
        }
        Self(counts.into_values().collect())
    }

    /// The logarithm of a bound on the chance that so many outputs of few occurrences are in both files.
    fn log_chance_of_shared_rare_outputs(&self) -> f64 {
        let chances = (2..=FEW).map(|occurrences| {
            let such = self.0.iter().filter(|[one, other]| one + other == occurrences);
            let (all, both) = such.fold((0.0, 0.0), |(all, both), [one, other]| {
                (all + 1.0, both + f64::from(u8::from(*one > 0 && *other > 0)))
            });
            log_binomial_tail_bound(both, all, 1.0 - 0.5f64.powi(occurrences as i32 - 1))
        });
        chances.fold(0.0, f64::min)
    }

    /// The logarithm of a bound on the chance that the counts of files of one length differ so little.
    fn log_chance_of_even_counts(&self) -> f64 {
        let repeated: Vec<[u64; 2]> = self.0.iter().copied().filter(|[one, other]| one + other > 1).collect();
        let squares = repeated.iter().map(|[one, other]| one.abs_diff(*other).pow(2) as f64 / (one + other) as f64);
        let (sum, all) = (squares.sum::<f64>(), self.0.len() as f64);
        let mut by_occurrences: BTreeMap<u64, f64> = BTreeMap::new();
        repeated.iter().for_each(|[one, other]| *by_occurrences.entry(one + other).or_default() += 1.0);
        let chances = WEIGHTS.into_iter().map(|weight| {
            let of_coins = by_occurrences
                .iter()
                .map(|(occurrences, many)| many * log_coin_imbalance_transform(*occurrences, weight));
            weight * sum + of_coins.sum::<f64>() * (all - 1.0) / all
        });
        chances.fold(0.0, f64::min)
    }
}

/// `ln` of the bound of Chernoff on `P(X >= successes)` for X binomial with this probability.
fn log_binomial_tail_bound(successes: f64, trials: f64, probability: f64) -> f64 {
    let share = successes / trials;
    if trials == 0.0 || share <= probability {
        return 0.0;
    }
    -trials * (relative_entropy_term(share, probability) + relative_entropy_term(1.0 - share, 1.0 - probability))
}

/// One of the two terms of it.
fn relative_entropy_term(share: f64, probability: f64) -> f64 {
    if share > 0.0 { share * (share / probability).ln() } else { 0.0 }
}

/// Occurrences from which on a difference is normal to many digits.
const MANY: u64 = 4000;

/// `ln E exp(-w (2 a - m)^2 / m)` for a the heads of m fair coins.
fn log_coin_imbalance_transform(coins: u64, weight: f64) -> f64 {
    if coins >= MANY {
        return -0.5 * (2.0 * weight).ln_1p();
    }
    let m = coins as f64;
    let terms = (0..=coins).map(|heads| {
        let heads = heads as f64;
        let chance = lgamma(m + 1.0) - lgamma(heads + 1.0) - lgamma(m - heads + 1.0) - m * std::f64::consts::LN_2;
        (chance - weight * (2.0 * heads - m).powi(2) / m).exp()
    });
    terms.sum::<f64>().ln()
}

/// Whether one list of rows is the other in the same order, and no order of few outputs.
pub(super) fn is_copy<R: PartialEq>(one: &[R], other: &[R]) -> bool {
    one == other && one.windows(2).filter(|pair| pair[0] != pair[1]).count() >= CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_mechanisms::{RecordBounds, SumsNoise, SumsSensitivityRule};

    fn sums(noise: SumsNoise, bound: f64) -> AuditedJointSumsNoise {
        let inducing = vec![RangeSetting { from: -3.0, to: 3.0, points: 9 }];
        let labels = [-bound, bound].map(|a| RecordSumWeights { a, b: 1.0 }).to_vec();
        AuditedJointSumsNoise {
            sums: vec![AuditedSumsNoise { noise, kernel: (1.0, 1.0), inducing, labels }],
            domain: None,
            records: 1,
        }
    }

    /// The greatest `|k|^2` of Figure 1 of Honkela 2021, and the exact sensitivity: 4.537 by the protocol.
    #[test]
    fn the_bound_is_the_exact_sensitivity() {
        let releases = sums(SumsNoise::new(1.0, 1.0), 1.3);
        let square = largest_squared_feature_norm(&releases.sums[0], &releases);
        let bounds = RecordBounds { features: square.sqrt(), target: 1.3 };
        let exact = SumsSensitivityRule::Exact.sensitivity(bounds, 1.0);
        assert!((squared_shift_bound(&releases).sqrt() / exact - 1.0).abs() < 1e-12);
        assert!((exact - 4.537).abs() < 5e-3, "{exact}");
        let found = search_worst_pair(&releases).shift_squared.sqrt();
        assert!(found <= exact * (1.0 + 1e-12) && found > 0.8 * exact, "{found} {exact}");
    }

    #[test]
    fn too_little_noise_is_found_out() {
        let claim = Guarantee { epsilon: 1.0, delta: 1e-4 };
        let [enough, broken] = [40.0, 4.0].map(|sd| check_record_sum_noise(&sums(SumsNoise::new(sd, 1.0), 1.3), claim));
        assert_eq!(enough.verdict, AuditVerdict::Holds);
        assert_eq!(broken.verdict, AuditVerdict::Broken);
        assert!(matches!(broken.found, RecomputedBound::DeltaAtLeast(delta) if delta > 0.05), "{broken:?}");
    }
}

#[cfg(test)]
mod shared_rows_tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Two rows of a pair: one in each file with probability 1/2 at most. Of two coins: `(e^-2w + 1) / 2`.
    #[test]
    fn chances_have_closed_forms() {
        assert!((log_coin_imbalance_transform(2, 1.5) - (0.5 * ((-3.0f64).exp() + 1.0)).ln()).abs() < 1e-12);
        assert!((log_binomial_tail_bound(20.0, 20.0, 0.5) + 20.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!((log_binomial_tail_bound(5.0, 10.0, 0.5), log_binomial_tail_bound(0.0, 0.0, 0.5)), (0.0, 0.0));
        // The exact sum and the normal limit meet.
        for weight in WEIGHTS {
            assert!(
                (log_coin_imbalance_transform(MANY - 1, weight) - log_coin_imbalance_transform(MANY, weight)).abs()
                    < 1e-3,
                "{weight}"
            );
        }
    }

    /// Draws of a nearly normal output, rounded to so many steps.
    fn draws(seed: u64, rows: usize, steps: f64, shift: f64) -> Vec<f64> {
        let mut stream = Pcg64::seed_from_u64(seed);
        let sum = |stream: &mut Pcg64| (0..12).map(|_| stream.random::<f64>()).sum::<f64>() - 6.0;
        (0..rows).map(|_| ((sum(&mut stream) + shift) * steps).round() / steps).collect()
    }

    fn shuffled(mut numbers: Vec<f64>, seed: u64) -> MechanismOutputs {
        let mut stream = Pcg64::seed_from_u64(seed);
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, stream.random_range(0..=last));
        }
        MechanismOutputs::new(1, numbers)
    }

    fn found(one: Vec<f64>, other: Vec<f64>) -> bool {
        has_shared_draws([&shuffled(one, 7), &shuffled(other, 8)])
    }

    #[test]
    fn copies_are_found_whatever_their_order() {
        for steps in [1e12, 1000.0, 50.0] {
            let one = draws(1, 4000, steps, 0.0);
            assert!(found(one.clone(), one.clone()), "{steps}");
            // A copy with as many rows of its own, and a part of a longer file.
            let beside = [&one[..], &draws(2, 4000, steps, 0.0)].concat();
            assert!(steps < 1000.0 || found(one.clone(), beside), "{steps}");
            let half = [&one[..2000], &draws(3, 2000, steps, 0.0)].concat();
            assert!(steps < 1000.0 || found(one, half), "{steps}");
        }
        let one = draws(1, 100_000, 1e12, 0.0);
        assert!(found(one[500..530].iter().copied().chain(draws(5, 100, 1e12, 0.0)).collect(), one));
    }

    /// Also of few outputs, of one alone, and of distributions that differ.
    #[test]
    fn draws_of_their_own_pass() {
        for seed in 10..40 {
            for (steps, shift) in [(1e12, 0.0), (1000.0, 0.0), (1000.0, 0.5), (50.0, 0.0), (5.0, 0.0), (1.0, 0.3)] {
                let (one, other) = (draws(seed, 3000, steps, 0.0), draws(seed + 1000, 4000, steps, shift));
                assert!(!found(one, other), "{seed} {steps} {shift}");
            }
        }
        assert!(!found(vec![1.0; 500], vec![1.0; 500]) && !found(vec![1.0; 500], vec![2.0; 500]));
        let coins = |ones: usize| (0..1000).map(|i| f64::from(u8::from(i < ones))).collect::<Vec<f64>>();
        assert!(!found(coins(500), coins(500)));
    }

    #[test]
    fn a_copy_of_few_outputs_is_known_by_its_order() {
        let coins = draws(1, 400, 0.5, 1.0);
        assert!(is_copy(&coins, &coins) && !is_copy(&coins, &draws(2, 400, 0.5, 1.0)));
        let mut sorted = coins;
        sorted.sort_by(f64::total_cmp);
        assert!(!is_copy(&sorted, &sorted));
    }
}
