//! Searches for the weights of least expected error, and bounds the error of all weights from below.

use nalgebra::DMatrix;

use super::choice::{KAPPAS, kernel_frequencies};
use super::design::sensitivity_rule;
use super::torus::TorusKernel;
use super::{FourierMomentsDesign, FourierSensitivityRule, Frequencies, FrequencyPairTable};
use dpgp_gp::sites::{PublicReferenceModel, site_points};
use dpgp_linalg::{Cholesky, LinalgError, largest_or_nan, product};
use dpgp_noise::PrivacyError;

/// The expected squared error of predictions under a reference, as a function of the weights; no data enter it.
///
/// With the sites g as likely as each other, `L = n Phi' / G`, K their covariances and D the sensitivity, the entries of b have
/// independent errors of variance
///
/// ```text
/// c_j = sigma^2 D^2 / u_j + sum_k B_jk / (1 / pi + t_k / (sigma^2 D^2)),    pi = n^2 / (2 (a + 1)),    B_jk = s(j - k) + s(j + k),
/// ```
///
/// the noise, and the error of the density: T has the prior variance pi and passes on what f has at the frequency between (s, the
/// mass of the kernel on a torus with period P, its bias at the zero). With `Q = L K L' + n s^2 Phi' Phi / G + diag(c)` and
/// `H = Q^-1 L K` the error is `tr(K - (L K)' H) / G`; its slope in `c_j` is the mean square of row j of H.
pub struct WeightRiskObjective {
    frequencies: Frequencies,
    table: FrequencyPairTable,
    /// `L K` (m x G).
    cross: DMatrix<f64>,
    /// `L K L' + n s^2 Phi' Phi / G` (m x m).
    seen: DMatrix<f64>,
    /// The mean variance of f.
    prior: f64,
    /// B (F x k).
    pub(super) transfer: DMatrix<f64>,
    /// `1 / pi`.
    pub(super) precision: f64,
}

/// Prior of a function where errors count, on equally likely sites.
pub struct SitePrior<'a> {
    reference: &'a PublicReferenceModel,
    /// G x d.
    sites: DMatrix<f64>,
    /// G x G, the variance of the mean in all of it.
    covariance: DMatrix<f64>,
}

impl<'a> SitePrior<'a> {
    /// On the grid for the inputs of a reference.
    pub fn new(reference: &'a PublicReferenceModel) -> Self {
        let sites = site_points(reference.kernel.dimensions());
        let correlations = reference.kernel.correlation_kernel(1.0).matrix(&sites, &sites);
        let covariance = (correlations * reference.kernel.variance()).add_scalar(reference.bias);
        Self { reference, sites, covariance }
    }
}

/// Weights, which add up to 1, and the mean squared error that they are expected to have.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastRiskWeights {
    /// `u_j`.
    pub weights: Vec<f64>,
    /// The expected squared error, in squared units of the target.
    pub risk: f64,
}

/// A variance so large that its number counts as not released.
const NEVER: f64 = 1e30;
/// The least weight, relative to the greatest.
const LEAST: f64 = 1e-6;

impl WeightRiskObjective {
    /// For what is believed about the data, and frequencies with their period.
    pub fn new(prior: &SitePrior<'_>, frequencies: Frequencies, period: f64) -> Self {
        let SitePrior { reference, sites, covariance } = prior;
        let (rows, each) = (reference.rows as f64, 1.0 / sites.nrows() as f64);
        let features = frequencies.features(sites, period);
        let map = features.transpose() * (rows * each);
        let cross = product(&map, covariance);
        let seen = product(&cross, &map.transpose()) + product(&map, &features) * reference.noise_variance;
        let table = FrequencyPairTable::new(&frequencies);
        let torus = TorusKernel::new(reference, period);
        let transfer = DMatrix::from_fn(frequencies.len(), table.frequencies.len(), |j, k| {
            let (j, k) = (&frequencies.vectors()[j], &table.frequencies.vectors()[k]);
            torus.spectral_mass(j, k, -1) + torus.spectral_mass(j, k, 1)
        });
        let precision = 2.0 * (reference.concentration + 1.0) / (rows * rows);
        Self { prior: covariance.trace() * each, frequencies, table, cross, seen, transfer, precision }
    }

    /// The best weights of a fixed-point iteration `u <- sqrt(u sqrt(gamma))`, gamma the slopes, from some that add up to 1.
    ///
    /// # Errors
    /// [`LinalgError`] without noise.
    pub fn minimise_risk(
        &self,
        rule: &FourierSensitivityRule,
        sigma: f64,
        start: Vec<f64>,
        steps: usize,
    ) -> Result<LeastRiskWeights, LinalgError> {
        let noise = (sigma * rule.sensitivity()).powi(2);
        let mut best = LeastRiskWeights { weights: start.clone(), risk: f64::INFINITY };
        let mut weights = start;
        for _ in 0..steps {
            let RiskSlopes { risk, slopes } = self.risk_slopes(self.error_variances(rule, noise, &weights))?;
            if risk < best.risk {
                best = LeastRiskWeights { weights: weights.clone(), risk };
            }
            weights = reweight_by_risk_slopes(&weights, &slopes);
        }
        Ok(best)
    }

    /// Where the entries of b have independent errors of these variances.
    pub(super) fn risk_slopes(&self, errors: Vec<f64>) -> Result<RiskSlopes, LinalgError> {
        let errors: Vec<f64> = errors.into_iter().map(|c| c.min(NEVER)).collect();
        let covariance = &self.seen + DMatrix::from_diagonal(&self.frequencies.repeat_per_column(&errors));
        let factor = Cholesky::without_jitter("the covariance of the weighted sums", &covariance)?;
        let half = factor.lower_solve(&self.cross);
        let each = 1.0 / half.ncols() as f64;
        let solved = factor.upper_solve(&half);
        let mut rows = vec![0.0; solved.nrows()];
        // Column by column, as it is stored.
        for column in solved.as_slice().chunks_exact(rows.len()) {
            rows.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * value * each);
        }
        Ok(RiskSlopes {
            risk: self.prior - half.norm_squared() * each,
            slopes: self.frequencies.sum_per_frequency(&rows),
        })
    }

    /// `c_j`.
    fn error_variances(&self, rule: &FourierSensitivityRule, noise: f64, weights: &[f64]) -> Vec<f64> {
        let pairs = rule.pair_weights(&self.table, weights);
        let unknown: Vec<f64> = pairs.iter().map(|t| 1.0 / (self.precision + t / noise)).collect();
        let transfer = self.transfer.row_iter().map(|row| row.iter().zip(&unknown).map(|(b, v)| b * v).sum());
        let transfer: Vec<f64> = transfer.collect();
        weights.iter().zip(transfer).map(|(u, passed_on)| noise / u + passed_on).collect()
    }
}

/// The risk, and how it depends on the errors.
pub(super) struct RiskSlopes {
    pub risk: f64,
    /// `d risk / d c_j`.
    pub slopes: Vec<f64>,
}

/// One fixed-point step: the geometric mean of the weights and of weights in proportion to the roots of the slopes. Adds up to 1.
pub(super) fn reweight_by_risk_slopes(weights: &[f64], slopes: &[f64]) -> Vec<f64> {
    let roots: f64 = slopes.iter().map(|slope| slope.sqrt()).sum();
    let next: Vec<f64> = weights.iter().zip(slopes).map(|(u, slope)| (u * slope.sqrt() / roots).sqrt()).collect();
    let least = LEAST * next.iter().copied().fold(0.0, f64::max);
    normalise_to_unit_sum(next.into_iter().map(|u| u.max(least)).collect())
}

/// Scales weights so that they add up to 1.
pub(super) fn normalise_to_unit_sum(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|u| u / total).collect()
}

/// Steps of the search for weights that the bound is taken at.
const STEPS: usize = 20;
/// Halvings of the search for a multiplier.
const HALVINGS: usize = 60;

impl FourierMomentsDesign {
    /// A lower bound on the expected squared error of every design that [`FourierMomentsDesign::with_least_risk`] chooses from: all weights on the frequencies
    /// that the kernel reaches, for the same periods and the same kappa. The excess of a design over it is at least what a better search could win.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn risk_lower_bound(
        reference: &PublicReferenceModel,
        sigma: f64,
        periods: &[f64],
    ) -> Result<f64, PrivacyError> {
        let (prior, mut least) = (SitePrior::new(reference), f64::INFINITY);
        for &period in periods {
            let search = WeightRiskObjective::new(&prior, kernel_frequencies(reference, period), period);
            for kappa in KAPPAS {
                let rule = sensitivity_rule(&[1.0], reference.bound, kappa)?;
                least = least.min(search.risk_lower_bound(&rule, sigma, STEPS)?);
            }
        }
        Ok(least)
    }
}

impl WeightRiskObjective {
    /// A lower bound on the risk of all weights that add up to 1.
    ///
    /// *Proof.* The weights `t_k` of the plain sums are those of `c V^2`, which add up to at most c. So whatever the weights, density passes on to
    /// frequency j at least `p_j`, the least of `sum_k B_jk / (1 / pi + t_k / (sigma^2 D^2))` over all `t >= 0` with that sum, and the risk is at least
    /// `R(u) = tr(K - K L' (Q_0 + diag(sigma^2 D^2 / u + p))^-1 L K) / G`, as it rises with each variance. R is the mean variance of f given
    /// numbers of variance `Q_0 + diag(p)` about the process that are seen with the precisions `u / (sigma^2 D^2)`: the posterior covariance
    /// `(A + diag(u) / (sigma^2 D^2))^-1` of those numbers is convex in u, and so is R. It lies above its tangents: with `g = -grad R`,
    ///
    /// ```text
    /// R(v) >= R(u) - max_j g_j + sum_j u_j g_j     for all v that add up to 1.
    /// ```
    ///
    /// # Errors
    /// [`LinalgError`] without noise.
    pub fn risk_lower_bound(
        &self,
        rule: &FourierSensitivityRule,
        sigma: f64,
        steps: usize,
    ) -> Result<f64, LinalgError> {
        let noise = (sigma * rule.sensitivity()).powi(2);
        let passed = self.least_unknown_density_variances(rule.plain_weight_factor(), noise);
        let mut weights = vec![1.0 / passed.len() as f64; passed.len()];
        let mut bound = 0.0f64;
        for _ in 0..steps {
            let errors = weights.iter().zip(&passed).map(|(u, passed)| noise / u + passed).collect();
            let RiskSlopes { risk, slopes } = self.risk_slopes(errors)?;
            let gains: Vec<f64> = weights.iter().zip(&slopes).map(|(u, slope)| slope * noise / (u * u)).collect();
            let mean: f64 = weights.iter().zip(&gains).map(|(u, gain)| u * gain).sum();
            bound = bound.max(risk - largest_or_nan(gains) + mean);
            weights = reweight_by_risk_slopes(&weights, &slopes);
        }
        Ok(bound)
    }

    /// `p_j`: a lower bound, for each frequency, on the variance that the unknown density of inputs adds.
    pub(super) fn least_unknown_density_variances(&self, most: f64, noise: f64) -> Vec<f64> {
        let rows = self.transfer.row_iter();
        rows.map(|row| {
            UnknownDensityVariance { shares: row.iter().copied().collect(), precision: self.precision }
                .lower_bound(most / noise)
        })
        .collect()
    }
}

/// Variance that the unknown density of inputs adds to one frequency: `sum_k B_k / (a + x_k)`.
struct UnknownDensityVariance {
    /// `B_k`.
    shares: Vec<f64>,
    /// a.
    precision: f64,
}

impl UnknownDensityVariance {
    /// A lower bound on the least over `x >= 0` that add up to at most `total`: by duality it is, for any multiplier `l >= 0`, at least
    /// `sum_k min_x (B_k / (a + x) + l x) - l total`, where `x_k = (sqrt(B_k / l) - a)+`.
    fn lower_bound(&self, total: f64) -> f64 {
        // At the greatest multiplier no x_k is positive; the best one makes them add up to the total.
        let greatest = largest_or_nan(self.shares.iter().copied()) / (self.precision * self.precision);
        let (mut low, mut high) = (0.0, greatest);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let used: f64 = self.shares.iter().map(|share| self.optimal_allocation(*share, middle)).sum();
            if used > total { low = middle } else { high = middle }
        }
        let parts = self.shares.iter().map(|share| {
            let x = self.optimal_allocation(*share, high);
            share / (self.precision + x) + high * x
        });
        (parts.sum::<f64>() - high * total).max(0.0)
    }

    fn optimal_allocation(&self, share: f64, multiplier: f64) -> f64 {
        ((share / multiplier).sqrt() - self.precision).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of 1/2 and slopes of 1 and 16: the roots' shares are 1/5 and 4/5, and the geometric means are as 1 to 2.
    #[test]
    fn a_step_is_a_geometric_mean() {
        let next = reweight_by_risk_slopes(&[0.5, 0.5], &[1.0, 16.0]);
        assert!((next[0] - 1.0 / 3.0).abs() < 1e-15 && (next[1] - 2.0 / 3.0).abs() < 1e-15);
        // Weights in proportion to the roots of the slopes stay.
        let same = reweight_by_risk_slopes(&[0.2, 0.8], &[1.0, 16.0]);
        assert!((same[0] - 0.2).abs() < 1e-15 && (same[1] - 0.8).abs() < 1e-15);
        // One that is zero becomes a millionth of the greatest.
        let least = reweight_by_risk_slopes(&[1.0, 0.0], &[1.0, 1.0]);
        assert!((least[1] / least[0] / 1e-6 - 1.0).abs() < 1e-12);
    }

    const ROWS: f64 = 50.0;
    const PERIOD: f64 = 1.5;
    const NOISE_VARIANCE: f64 = 0.1;

    fn reference() -> PublicReferenceModel {
        let kernel = toml::from_str("eq = { variance = 0.5, lengthscale = 0.3 }").unwrap();
        PublicReferenceModel {
            rows: ROWS as usize,
            bound: 1.0,
            bias: 0.2,
            kernel: dpgp_gp::kernel::BoxKernel::new(&kernel, vec![1.0]).unwrap(),
            noise_variance: NOISE_VARIANCE,
            concentration: 1.0,
        }
    }

    fn search() -> WeightRiskObjective {
        let reference = reference();
        WeightRiskObjective::new(&SitePrior::new(&reference), Frequencies::ball(2, 4, 1), PERIOD)
    }

    fn rule() -> FourierSensitivityRule {
        super::super::design::sensitivity_rule(&[1.0], 1.0, 2.0).unwrap()
    }

    /// The mass of the kernel at a frequency on the torus.
    fn mass(turn: i32) -> f64 {
        let turned = std::f64::consts::TAU * 0.3 * f64::from(turn) / PERIOD;
        let mass = 0.5 * std::f64::consts::TAU.sqrt() * 0.3 / PERIOD * (-0.5 * turned * turned).exp();
        if turn == 0 { mass + 0.2 } else { mass }
    }

    /// `c_j` for the frequencies 0, 1 and 2, whose products are 1 to 4; kappa = 2 and R = 1 give c = 1.
    fn errors(noise: f64, weights: [f64; 3]) -> [f64; 3] {
        let mut pairs = [0.0; 5];
        for i in 0..3usize {
            for j in 0..3 {
                for k in [i.abs_diff(j), i + j] {
                    pairs[k] += 0.5 * weights[i] * weights[j];
                }
            }
        }
        [0, 1, 2].map(|j| {
            let passed_on = (1..5).map(|k: i32| {
                let left = 1.0 / (4.0 / (ROWS * ROWS) + pairs[k as usize] / noise);
                (mass(j - k) + mass(j + k)) * left
            });
            noise / weights[j as usize] + passed_on.sum::<f64>()
        })
    }

    /// `tr(K - (L K)' Q^-1 L K) / G`, by an inverse.
    fn risk(errors: [f64; 3]) -> f64 {
        let sites = site_points(1);
        let count = sites.len() as f64;
        let phi = DMatrix::from_fn(sites.len(), 5, |g, column| {
            let angle = std::f64::consts::TAU * sites[g] / PERIOD;
            [1.0, angle.cos(), angle.sin(), (2.0 * angle).cos(), (2.0 * angle).sin()][column]
        });
        let covariance = DMatrix::from_fn(sites.len(), sites.len(), |g, h| {
            0.5 * (-0.5 * ((sites[g] - sites[h]) / 0.3).powi(2)).exp() + 0.2
        });
        let map = phi.transpose() * (ROWS / count);
        let [zero, one, two] = errors;
        let own = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(&[zero, one, one, two, two]));
        let q = &map * &covariance * map.transpose() + &map * &phi * NOISE_VARIANCE + own;
        let cross = &map * &covariance;
        (covariance.trace() - (cross.transpose() * q.try_inverse().unwrap() * cross).trace()) / count
    }

    #[test]
    fn the_risk_is_that_of_its_formula() {
        let (search, rule) = (search(), rule());
        let noise = (0.7 * rule.sensitivity()).powi(2);
        for weights in [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]] {
            let expected = errors(noise, weights);
            let found = search.error_variances(&rule, noise, &weights);
            let close = found.iter().zip(expected).all(|(c, expected)| (c / expected - 1.0).abs() < 1e-12);
            assert!(close, "{found:?} {expected:?}");
            let slopes = search.risk_slopes(found).unwrap();
            assert!((slopes.risk / risk(expected) - 1.0).abs() < 1e-9, "{} {}", slopes.risk, risk(expected));
            for j in 0..3 {
                let (mut less, mut more) = (expected, expected);
                (less[j], more[j]) = (0.999 * less[j], 1.001 * more[j]);
                let slope = (risk(more) - risk(less)) / (more[j] - less[j]);
                assert!((slopes.slopes[j] / slope - 1.0).abs() < 1e-4, "{j}: {} {slope}", slopes.slopes[j]);
            }
        }
    }

    /// The best of the steps is kept, with the weights that it has; none is below the bound, nor far above it.
    #[test]
    fn the_least_risk_lies_above_its_bound() {
        let (search, rule) = (search(), rule());
        let noise = (0.7 * rule.sensitivity()).powi(2);
        let start = vec![0.1, 0.1, 0.8];
        let first = search.minimise_risk(&rule, 0.7, start.clone(), 1).unwrap();
        assert_eq!(first.weights, start);
        let found = search.minimise_risk(&rule, 0.7, start, 30).unwrap();
        let weights = [found.weights[0], found.weights[1], found.weights[2]];
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found.risk / risk(errors(noise, weights)) - 1.0).abs() < 1e-9);
        assert!(found.risk < 0.99 * first.risk, "{} {}", found.risk, first.risk);
        let bound = search.risk_lower_bound(&rule, 0.7, 30).unwrap();
        assert!(bound <= found.risk && bound > 0.92 * found.risk, "{bound} {}", found.risk);
        // It is a bound on what is left where density passes on the least that it can.
        let passed = search.least_unknown_density_variances(rule.plain_weight_factor(), noise);
        let scan = (1..40).flat_map(|i| (1..40 - i).map(move |j| [f64::from(i), f64::from(j), f64::from(40 - i - j)]));
        let risks = scan.map(|weights| {
            let own = [0, 1, 2].map(|j| noise * 40.0 / weights[j] + passed[j]);
            risk(own)
        });
        let least = risks.fold(f64::INFINITY, f64::min);
        assert!(bound <= least * (1.0 + 1e-9) && bound > 0.97 * least, "{bound} {least}");
    }
}

#[cfg(test)]
mod lower_bound_tests {
    use super::*;

    /// Two equal shares take half of the total each; one that is too small takes none. Nothing to share is passed on as it is.
    #[test]
    fn what_is_passed_on_is_least_where_slopes_are_equal() {
        let equal = UnknownDensityVariance { shares: vec![3.0, 3.0], precision: 1.0 };
        assert!((equal.lower_bound(4.0) - 2.0 * 3.0 / 3.0).abs() < 1e-9);
        let unequal = UnknownDensityVariance { shares: vec![16.0, 1.0], precision: 1.0 };
        // The slope 16 / (1 + 2)^2 is still more than that of the other at zero, 1.
        assert!((unequal.lower_bound(2.0) - (16.0 / 3.0 + 1.0)).abs() < 1e-9);
        assert!((unequal.lower_bound(0.0) - 17.0).abs() < 1e-9);
        for x in 0..=20 {
            let x = f64::from(x);
            assert!(unequal.lower_bound(20.0) <= 16.0 / (1.0 + x) + 1.0 / (21.0 - x) + 1e-9);
        }
    }
}
