//! The audit of the cells of one block: it compares claims with the mechanisms that drew the noise. This file judges noisy gradients by
//! recomputed accountant bounds, Laplace noise on disjoint bins, and noise on Fourier moments.
//!
//! For Fourier moments, a number whose noise has the standard deviation sd has the weight `1 / sd^2`. With the weights
//! u, t and q_0, let
//!
//! ```text
//! V(d) = sum_j u_j cos(2 pi j.d / P),  W(d) = sum_k t_k cos(2 pi k.d / P).
//! ```
//!
//! Two records with displacement d and targets y and z then have the squared distance
//!
//! ```text
//! 2 (W(0) - W(d)) + (y^2 + z^2) V(0) - 2 y z V(d) + q_0 (y^2 - z^2)^2.
//! ```

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use thiserror::Error;

use crate::finding::{AttackContext, AuditCheck, AuditFinding, AuditVerdict, ROUNDING, RecomputedBound};
use crate::gaussian::{self, FunctionNormCache, NoiseScaling, max_statistic_change};
use crate::records::check_record_sum_noise;
use crate::selection::{check_exponential_mechanism, check_private_selection};
use crate::shaped::check_shaped_noise;
use dpgp_accounting::{
    Accountant, AccountingError, AssumedPoissonAccountant, Certificate, CertifiedMechanism, Guarantee, GuaranteeCaveat,
    LossDistributionAccountant, NeighbourRelation, PrivacyEvent,
};
use dpgp_audit::{exact_gaussian_delta, format_four_significant};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{
    AuditedCellsNoise, AuditedMomentsNoise, AuditedWavesNoise, BinStatistic, Frequencies, PrivacySetting,
};
use dpgp_task::{AuditedMechanism, CellSetting, ReplicateJob, Sample, TaskError, measure_replicate};

/// Why a block could not be audited.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AuditError {
    /// Its cells could not be measured.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// An accountant gave no number.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

/// Measures one replicate of a block again and judges what was sampled. The outer list follows `cells`; none where a cell
/// claims nothing.
///
/// Obligation: the samples are those of the run that the block's results come from, since all streams of a replicate follow
/// from its seed, so that a verdict is about the numbers that were published.
///
/// # Errors
/// [`AuditError`] if a cell cannot be measured.
pub fn audit_block(
    block: &CellSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    attacks: &AttackContext<'_>,
) -> Result<Vec<Option<AuditFinding>>, AuditError> {
    let AttackContext { streams, known, .. } = attacks;
    let job = ReplicateJob { setting: block, cells, sample, streams, known, audited: true };
    let norms = FunctionNormCache::default();
    let mut findings = Vec::with_capacity(cells.len());
    for measured in measure_replicate(&block.task, &job)? {
        let mut claims = measured.metrics.iter().map(|measurement| &measurement.certificate);
        let claimed = claims.find_map(|claim| Some((claim, claim.guarantee?)));
        findings.push(match claimed {
            None => None,
            Some((claim, guarantee)) => {
                let left = remaining_guarantee(claim, guarantee, measured.audited_mechanisms());
                let mut checks = Vec::new();
                for sampled in measured.audited_mechanisms() {
                    checks.extend(check_audited_mechanism(sampled, left, attacks, &norms)?);
                }
                Some(conclude_finding(claim.clone(), guarantee, checks))
            }
        });
    }
    Ok(findings)
}

/// The claim that is left for a release after the choices before it: by basic composition their epsilons add up, and a
/// choice by the exponential mechanism has no delta.
fn remaining_guarantee(claim: &Certificate, guarantee: Guarantee, audited: &[AuditedMechanism]) -> Guarantee {
    if claim.mechanism == CertifiedMechanism::Exponential {
        return guarantee;
    }
    let chosen = largest_or_nan(audited.iter().map(|sampled| match sampled {
        AuditedMechanism::Exponential(selected) => selected.epsilon,
        _ => 0.0,
    }));
    Guarantee { epsilon: guarantee.epsilon - chosen, ..guarantee }
}

/// The checks of one release: each kind of mechanism has its own, which uses nothing of the code that made the claim.
fn check_audited_mechanism(
    sampled: &AuditedMechanism,
    claim: Guarantee,
    attacks: &AttackContext<'_>,
    norms: &FunctionNormCache,
) -> Result<Vec<AuditCheck>, AuditError> {
    Ok(vec![match sampled {
        AuditedMechanism::Linear { places, scale, change } => {
            gaussian::check_linear_releases(places, NoiseScaling { noise: *scale, change: *change }, claim)
        }
        AuditedMechanism::Function { mean, scale, change } => {
            gaussian::check_function_noise(mean, norms, NoiseScaling { noise: *scale, change: *change }, claim)
        }
        AuditedMechanism::Counts { sd, bins, relation, records } => {
            gaussian::check_count_noise(*sd, *bins, *relation, *records, claim)
        }
        AuditedMechanism::Statistics { statistic, bins, change } => {
            gaussian::check_bin_statistic_noise(*statistic, bins, *change, claim)
        }
        AuditedMechanism::Laplace { statistic, bins, change } => check_laplace_noise(*statistic, bins, *change, claim),
        AuditedMechanism::Means { sd, means, range, rows } => {
            gaussian::check_mean_noise(*sd, *means, *range, *rows, claim)
        }
        AuditedMechanism::Records(releases) => check_record_sum_noise(releases, claim),
        AuditedMechanism::Shaped(release) => check_shaped_noise(release, claim),
        AuditedMechanism::Moments(AuditedMomentsNoise::Waves(release)) => check_moment_noise(release, claim),
        AuditedMechanism::Moments(AuditedMomentsNoise::Cells(release)) => check_cell_noise(release, claim),
        AuditedMechanism::Gradients { event, relation } => check_gradient_noise(event, *relation, claim)?,
        AuditedMechanism::Exponential(selected) => check_exponential_mechanism(selected),
        AuditedMechanism::Selection(draws) => return Ok(check_private_selection(draws, claim, attacks)),
    }])
}

/// The worst check decides. What the claim itself excepts stays excepted, but for what an audit computes anyway: whether a
/// calibration or a sensitivity is right.
fn conclude_finding(claim: Certificate, guarantee: Guarantee, mut checks: Vec<AuditCheck>) -> AuditFinding {
    checks.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let excepted = claim
        .caveats
        .iter()
        .filter(|caveat| !matches!(caveat, GuaranteeCaveat::OutsideProof | GuaranteeCaveat::InvalidSensitivity));
    let mut reasons: Vec<String> = excepted.map(ToString::to_string).collect();
    let worst = checks.first().map_or(AuditVerdict::NotAudited, |check| check.verdict);
    let verdict = if reasons.is_empty() { worst } else { worst.max(AuditVerdict::Caveat) };
    match checks.first() {
        None => reasons.push("no release was recorded".to_owned()),
        Some(check) if check.verdict > AuditVerdict::Holds => reasons.insert(0, check.note.clone()),
        Some(_) => {}
    }
    AuditFinding { claim, guarantee, checks, verdict, reasons }
}

/// Loss distributions where they cover the sampling; else an account as if it were Poisson, which proves nothing.
///
/// Obligation: `lower <= delta(epsilon) <= upper` for the noise that was used, whatever accountant the claim is by: the
/// claim holds if `upper` is at most its delta, and is broken if `lower` exceeds it.
///
/// # Errors
/// [`AccountingError`] if the event is none.
fn check_gradient_noise(
    event: &PrivacyEvent,
    relation: NeighbourRelation,
    claim: Guarantee,
) -> Result<AuditCheck, AccountingError> {
    let (loss, most) = (LossDistributionAccountant::default(), claim.delta * (1.0 + ROUNDING));
    let Ok(spent) = loss.delta(event, relation, claim.epsilon) else {
        let spent = AssumedPoissonAccountant(loss).delta(event, relation, claim.epsilon)?;
        let note = format!("no proof covers {} for {relation}; treated as Poisson sampling", event.sampling);
        let verdict = if spent.upper <= most { AuditVerdict::Caveat } else { AuditVerdict::NotAudited };
        return Ok(AuditCheck { verdict, found: RecomputedBound::DeltaAtMost(spent.upper), note });
    };
    let note = format!("privacy loss distribution of {} steps, {}", event.steps, event.sampling);
    // The pair behind the lower bound is attained, so more than the claim is a break and not a loose bound.
    if spent.lower > most {
        return Ok(AuditCheck {
            verdict: AuditVerdict::Broken,
            found: RecomputedBound::DeltaAtLeast(spent.lower),
            note,
        });
    }
    let verdict = if spent.upper <= most { AuditVerdict::Holds } else { AuditVerdict::NotAudited };
    Ok(AuditCheck { verdict, found: RecomputedBound::DeltaAtMost(spent.upper), note })
}

/// The greatest logarithm of a ratio of densities over all outputs and all bins, each of so many records and of the scale that
/// was used.
///
/// Obligation: a target moves one bin only, by at most what its extreme targets move it; the ratio of two densities of scale b
/// whose centres lie s apart is at most `e^(s / b)`, and reaches it.
fn check_laplace_noise(statistic: BinStatistic, bins: &[(usize, f64)], change: f64, claim: Guarantee) -> AuditCheck {
    let epsilon =
        largest_or_nan(bins.iter().map(|&(records, scale)| max_statistic_change(statistic, records, change) / scale));
    let holds = epsilon <= claim.epsilon * (1.0 + ROUNDING);
    let note = format!(
        "worst of {} bins, with its targets at their bounds: epsilon = {}",
        bins.len(),
        format_four_significant(epsilon)
    );
    let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::Broken };
    AuditCheck { verdict, found: RecomputedBound::EpsilonAtMost(epsilon), note }
}

/// Displacements that are tried, in all.
const DISPLACEMENTS: f64 = 4000.0;
/// Targets that are tried, from -R to R.
const TARGETS: i32 = 16;

/// A frequency with its weight.
struct WeightedFrequency {
    frequency: Vec<i64>,
    weight: f64,
}

/// The weights that the noise stands for.
pub(super) struct MomentNoisePrecisions {
    weighted: Vec<WeightedFrequency>,
    plain: Vec<WeightedFrequency>,
    squares: f64,
    period: f64,
    bound: f64,
    /// Of numbers of rows beside them, all together.
    counts: f64,
}

impl MomentNoisePrecisions {
    pub fn from_release(release: &AuditedWavesNoise) -> Self {
        Self {
            weighted: weigh_frequencies_by_noise(&release.weighted, release.noise.weighted.as_slice()),
            plain: weigh_frequencies_by_noise(&release.plain, release.noise.plain.as_slice()),
            squares: release.noise.squares.powi(-2),
            period: release.period,
            bound: release.bound,
            counts: release.counts.iter().map(|sd| sd.powi(-2)).sum(),
        }
    }

    /// The greatest squared shift that the weights allow.
    ///
    /// Obligation: let `t_k <= c v_k` for the coefficients `v_k` of `V^2`, with a c that makes `kappa = 2 c V_0 / R^2` at least 1. Then
    /// `W(0) - W(d) <= c (V_0^2 - V^2)`, and the squared shift is at most the greater end of a function that is convex in the square
    /// of `r = (|y - z| - |y + z|) / (2 R)`: `R^2 V_0 (1 + kappa) + max(R^2 V_0 (1 + 1 / kappa), q_0 R^4)`. Numbers of rows beside them
    /// move by at most 1 each.
    pub fn squared_shift_bound(&self) -> f64 {
        let total: f64 = self.weighted.iter().map(|wave| wave.weight).sum();
        let square = self.bound * self.bound;
        let coefficients = self.squared_sum_coefficients();
        let ratio = largest_or_nan(self.plain.iter().map(|wave| {
            // A plain sum that V^2 has no share in is bounded by nothing.
            coefficients.get(&wave.frequency).map_or(f64::INFINITY, |v| wave.weight / v)
        }));
        let kappa = largest_or_nan([1.0, 2.0 * ratio * total / square]);
        square * (total * (1.0 + kappa) + largest_or_nan([total * (1.0 + 1.0 / kappa), self.squares * square]))
            + self.counts
    }

    /// The coefficients of the square of V, by the product of cosines for every ordered pair.
    fn squared_sum_coefficients(&self) -> BTreeMap<Vec<i64>, f64> {
        let mut coefficients = BTreeMap::new();
        for one in &self.weighted {
            for other in &self.weighted {
                for sign in [-1, 1] {
                    let pairs = one.frequency.iter().zip(&other.frequency);
                    let sum: Vec<i64> = pairs.map(|(a, b)| a + sign * b).collect();
                    *coefficients.entry(canonical_half_space_vector(sum)).or_insert(0.0) +=
                        0.5 * one.weight * other.weight;
                }
            }
        }
        coefficients
    }

    /// The greatest squared shift over displacements and targets on a grid: records that exist.
    pub fn search_worst_squared_shift(&self) -> f64 {
        let dimensions = self.weighted.first().map_or(1, |wave| wave.frequency.len());
        let side = (DISPLACEMENTS.powf(1.0 / dimensions as f64) as usize).max(2);
        let count = (0..dimensions).fold(1, |count: usize, _| count * side);
        largest_or_nan(
            (0..count).map(|place| {
                self.worst_squared_shift_over_targets(&displacement_at_grid_index(place, side, dimensions))
            }),
        )
    }

    fn worst_squared_shift_over_targets(&self, displacement: &[f64]) -> f64 {
        let (v, w) = (self.cosine_sum(&self.weighted, displacement), self.cosine_sum(&self.plain, displacement));
        let (most_v, most_w) = (self.cosine_sum(&self.weighted, &[]), self.cosine_sum(&self.plain, &[]));
        largest_or_nan(self.target_grid().flat_map(|y| {
            self.target_grid().map(move |z| {
                let moved = (y * y + z * z) * most_v - 2.0 * y * z * v;
                2.0 * (most_w - w) + moved + self.squares * (y * y - z * z).powi(2)
            })
        }))
    }

    fn target_grid(&self) -> impl Iterator<Item = f64> {
        (-TARGETS..=TARGETS).map(|y| self.bound * f64::from(y) / f64::from(TARGETS))
    }

    /// The sum of weighted cosines at a displacement; without one at zero.
    fn cosine_sum(&self, waves: &[WeightedFrequency], displacement: &[f64]) -> f64 {
        let mut sum = 0.0;
        for wave in waves {
            let turns: f64 = wave.frequency.iter().zip(displacement).map(|(j, d)| *j as f64 * d).sum();
            sum += wave.weight * (TAU * turns / self.period).cos();
        }
        sum
    }
}

/// Each frequency with the weight of the lesser noise of its cosine and sine; the zero has a cosine alone.
fn weigh_frequencies_by_noise(frequencies: &Frequencies, sds: &[f64]) -> Vec<WeightedFrequency> {
    let (mut waves, mut rest) = (Vec::new(), sds);
    for frequency in frequencies.vectors() {
        let width = if frequency.iter().all(|entry| *entry == 0) { 1 } else { 2 };
        let (here, after) = rest.split_at(width);
        let weight = largest_or_nan(here.iter().map(|sd| sd.powi(-2)));
        waves.push(WeightedFrequency { frequency: frequency.clone(), weight });
        rest = after;
    }
    waves
}

/// Of a vector and its negative the one whose first entry that is not zero is positive.
fn canonical_half_space_vector(vector: Vec<i64>) -> Vec<i64> {
    let negative: Vec<i64> = vector.iter().map(|entry| -entry).collect();
    vector.max(negative)
}

/// A point of the grid over the displacements within the box, one of each opposite pair along the first input.
fn displacement_at_grid_index(place: usize, side: usize, dimensions: usize) -> Vec<f64> {
    let (mut rest, mut point) = (place, Vec::with_capacity(dimensions));
    for dimension in 0..dimensions {
        let part = (rest % side) as f64 / (side - 1) as f64;
        point.push(if dimension == 0 { part } else { 2.0 * part - 1.0 });
        rest /= side;
    }
    point
}

/// The delta of the worst pair of records: at most what the weights allow, at least what a search over pairs finds.
fn check_moment_noise(release: &AuditedWavesNoise, claim: Guarantee) -> AuditCheck {
    let weights = MomentNoisePrecisions::from_release(release);
    let most = exact_gaussian_delta(weights.squared_shift_bound().sqrt(), claim.epsilon);
    let found = exact_gaussian_delta(weights.search_worst_squared_shift().sqrt(), claim.epsilon);
    if most <= claim.delta * (1.0 + ROUNDING) {
        let note = format!("a search finds {}", RecomputedBound::DeltaAtLeast(found).text());
        return AuditCheck { verdict: AuditVerdict::Holds, found: RecomputedBound::DeltaAtMost(most), note };
    }
    // Between the two bounds the audit does not know.
    let broken = found > claim.delta * (1.0 + ROUNDING);
    let verdict = if broken { AuditVerdict::Broken } else { AuditVerdict::NotAudited };
    let note = format!("from pairs of records on a grid; upper bound: delta <= {}", format_four_significant(most));
    AuditCheck { verdict, found: RecomputedBound::DeltaAtLeast(found), note }
}

/// The delta of the worst pair of records, which is found exactly.
///
/// With weights `p_k = 1 / sd^2` on sums, `c_k` on counts and `q_0` on q, two records that share their cells down to a level have the
/// squared distance `p (y^2 + z^2) - 2 y z w + 2 c + q_0 (y^2 - z^2)^2`: p is the sum of all `p_k`, w of those they share, and c of the
/// `c_k` that they do not. It is greatest for `y >= 0 >= z` with `y = R`, as it rises with y, and where z is an end of its range or
/// its derivative is zero.
fn check_cell_noise(release: &AuditedCellsNoise, claim: Guarantee) -> AuditCheck {
    let most = exact_gaussian_delta(largest_squared_shift(release).sqrt(), claim.epsilon);
    let holds = most <= claim.delta * (1.0 + ROUNDING);
    let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::Broken };
    let found = if holds { RecomputedBound::DeltaAtMost(most) } else { RecomputedBound::DeltaAtLeast(most) };
    AuditCheck { verdict, found, note: "for the worst pair of records".to_owned() }
}

/// The greatest squared distance of two records.
fn largest_squared_shift(release: &AuditedCellsNoise) -> f64 {
    let AuditedCellsNoise { noise, bound } = release;
    let [sums, counts] = [&noise.sums, &noise.counts].map(|sds| sds.iter().map(|sd| sd.powi(-2)).collect::<Vec<f64>>());
    let (total, squares) = (sums.iter().sum::<f64>(), noise.squares.powi(-2));
    largest_or_nan((0..=sums.len()).map(|shared| {
        let w: f64 = sums[..shared].iter().sum();
        let c: f64 = counts[shared..].iter().sum();
        let at = |z: f64| {
            total * (bound * bound + z * z) + 2.0 * bound * z * w + 2.0 * c + squares * (bound * bound - z * z).powi(2)
        };
        let slope = |z: f64| 2.0 * total * z + 2.0 * bound * w - 4.0 * squares * z * (bound * bound - z * z);
        let stationary = (0..PIECES).filter_map(|piece| {
            let [low, high] = [piece, piece + 1].map(|end| bound * f64::from(end) / f64::from(PIECES));
            (slope(low) * slope(high) < 0.0).then(|| at(root(slope, low, high)))
        });
        largest_or_nan(stationary.chain([at(0.0), at(*bound)]))
    }))
}

/// Pieces of the range of targets, in each of which the slope, a cubic, has one root at most.
const PIECES: u32 = 1000;

/// A zero of a function that changes sign between `low` and `high`, by bisection.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let sign = f(low) < 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (f(middle) < 0.0) == sign { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mean of four targets that move by 2 moves by 1/2: the scale 1/2 gives epsilon 1, and half of it twice that.
    #[test]
    fn half_the_scale_is_twice_the_epsilon() {
        let check =
            |scale| check_laplace_noise(BinStatistic::Mean, &[(4, scale), (8, scale)], 2.0, Guarantee::pure(1.0));
        assert_eq!(check(0.5).verdict, AuditVerdict::Holds);
        assert_eq!(check(0.5).found, RecomputedBound::EpsilonAtMost(1.0));
        assert_eq!(
            (check(0.25).verdict, check(0.25).found),
            (AuditVerdict::Broken, RecomputedBound::EpsilonAtMost(2.0))
        );
    }
}

#[cfg(test)]
mod moments_tests {
    use super::*;
    use dpgp_accounting::Calibration;
    use dpgp_mechanisms::{FourierMomentsDesign, Frequencies};

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 1e-5 };

    fn release(dimensions: usize, kappa: f64, sigma: f64) -> AuditedWavesNoise {
        let frequencies = Frequencies::ball(2, 4, dimensions);
        let weights = (0..frequencies.len()).map(|j| 1.0 / (1.0 + j as f64)).collect();
        let design = FourierMomentsDesign::from_weights(frequencies, weights, 1.3, 2.0, kappa).unwrap();
        AuditedWavesNoise {
            noise: design.noise(sigma),
            weighted: design.frequencies,
            plain: design.pairs,
            period: 1.3,
            bound: 2.0,
            counts: Vec::new(),
        }
    }

    #[test]
    fn the_square_rule_holds_and_is_nearly_reached() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        for (dimensions, kappa) in [(1, 1.0), (1, 2.5), (2, 1.5)] {
            let release = release(dimensions, kappa, sigma);
            assert_eq!(check_moment_noise(&release, CLAIM).verdict, AuditVerdict::Holds);
            let weights = MomentNoisePrecisions::from_release(&release);
            // D / (sigma D), but for the small excess of the noise.
            assert!((weights.squared_shift_bound().sqrt() * sigma - 1.0).abs() < 1e-12);
            let ratio = weights.search_worst_squared_shift() / weights.squared_shift_bound();
            assert!(ratio <= 1.0 && ratio > 0.97, "{dimensions} {kappa}: {ratio}");
        }
    }

    #[test]
    fn too_little_noise_is_found_out() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        let mut less = release(1, 1.5, 0.8 * sigma);
        assert_eq!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Broken);
        less = release(1, 1.5, sigma);
        less.noise.plain *= 0.7;
        assert_eq!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Broken);
        less = release(1, 1.5, sigma);
        less.noise.squares *= 0.5;
        assert_eq!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Broken);
        // A count beside moments that have spent the whole budget.
        less = release(1, 1.5, sigma);
        less.counts = vec![3.0 * sigma];
        assert_ne!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Holds);
        less.counts = vec![1e9 * sigma; 2];
        assert_eq!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Holds);
        // A frequency that V^2 does not hold.
        less = release(1, 1.5, sigma);
        less.plain = Frequencies::from_vectors([vec![1], vec![2], vec![3], vec![9]]);
        assert_ne!(check_moment_noise(&less, CLAIM).verdict, AuditVerdict::Holds);
    }
}

#[cfg(test)]
mod cells_tests {
    use super::*;
    use dpgp_accounting::Calibration;
    use dpgp_mechanisms::NestedCellsNoise;

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 1e-5 };

    /// Noise of `sigma` sensitivities `2 R` for levels of these weights, written down from the theorem.
    fn release(weights: &[f64], bound: f64, sigma: f64) -> AuditedCellsNoise {
        let s = 2.0 * bound * sigma;
        let sums: Vec<f64> = weights.iter().map(|weight| s / weight.sqrt()).collect();
        let counts = sums.iter().map(|sd| sd / bound).collect();
        AuditedCellsNoise { noise: NestedCellsNoise { sums, counts, squares: s * bound, rows: None, scale: s }, bound }
    }

    /// The bound is reached: by opposite targets in one cell, and by equal ones in two.
    #[test]
    fn nested_cells_hold_and_the_bound_is_reached() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        for weights in [&[1.0][..], &[0.3, 0.7], &[0.1, 0.2, 0.7]] {
            let release = release(weights, 3.0, sigma);
            assert_eq!(check_cell_noise(&release, CLAIM).verdict, AuditVerdict::Holds);
            assert!((largest_squared_shift(&release).sqrt() * sigma - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn too_little_noise_on_cells_is_found_out() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        let broken = |change: fn(&mut NestedCellsNoise)| {
            let mut less = release(&[0.4, 0.6], 2.0, sigma);
            change(&mut less.noise);
            assert_eq!(check_cell_noise(&less, CLAIM).verdict, AuditVerdict::Broken);
        };
        broken(|noise| noise.sums[1] *= 0.9);
        broken(|noise| noise.counts[0] *= 0.9);
        broken(|noise| noise.squares *= 0.6);
        assert_eq!(check_cell_noise(&release(&[0.4, 0.6], 2.0, 0.99 * sigma), CLAIM).verdict, AuditVerdict::Broken);
    }

    /// Over a fine grid of targets and all levels no pair is further apart.
    #[test]
    fn no_pair_is_further_apart() {
        let release = release(&[0.2, 0.5, 0.3], 2.0, 1.0);
        let NestedCellsNoise { sums, counts, squares, .. } = &release.noise;
        let mut most = 0.0f64;
        for shared in 0..=3 {
            for (y, z) in (-40..=40).flat_map(|y| (-40..=40).map(move |z| (0.05 * f64::from(y), 0.05 * f64::from(z)))) {
                let mut shift = ((y * y - z * z) / squares).powi(2);
                for level in 0..3 {
                    shift += match level < shared {
                        true => ((y - z) / sums[level]).powi(2),
                        false => (y * y + z * z) / sums[level].powi(2) + 2.0 / counts[level].powi(2),
                    };
                }
                most = most.max(shift);
            }
        }
        let found = largest_squared_shift(&release);
        assert!(most <= found * (1.0 + 1e-12) && most > 0.999 * found, "{most} {found}");
    }
}
