//! Predictive distributions of observations, their calibration, and the prior variance that remains after
//! observations.

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use crate::kernel::Kernel;
use dpgp_number::{normal_cdf, normal_pdf};

/// Independent normal distributions, one an input, that count with a weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedNormals {
    /// The weight.
    pub weight: f64,
    /// Means.
    pub mean: DVector<f64>,
    /// Variances.
    pub variance: DVector<f64>,
}

/// At each input a mixture of normal distributions: `F_i(y) = sum_p w_p Phi((y - m_pi) / s_pi)`.
///
/// A posterior that averages over hyperparameters is one. Its tails are heavier than those of the normal distribution with the same mean and
/// variance, and its middle is narrower: who takes the latter for it has intervals that are too wide at 90 % wherever the noise variance is
/// not known.
///
/// ```
/// use dpgp_gp::{PredictiveMixture, WeightedNormals};
/// use nalgebra::DVector;
/// let normal = |weight, variance| WeightedNormals {
///     weight,
///     mean: DVector::zeros(1),
///     variance: DVector::from_element(1, variance),
/// };
/// let mixture = PredictiveMixture::from_parts(vec![normal(0.5, 1.0), normal(0.5, 9.0)]);
/// assert_eq!(mixture.variance()[0], 5.0);
/// // A normal distribution of that variance would have 0.9 within 3.678 of its mean.
/// assert!(mixture.central_interval_masses(&[3.678])[0] < 0.9);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PredictiveMixture {
    parts: Vec<WeightedNormals>,
}

impl PredictiveMixture {
    /// The mixture of these parts, at least one, whose weights add up to 1.
    pub fn from_parts(parts: Vec<WeightedNormals>) -> Self {
        Self { parts }
    }

    /// Its parts.
    pub fn parts(&self) -> &[WeightedNormals] {
        &self.parts
    }

    /// With as much more variance for each part.
    pub fn with_noise(mut self, variance: f64) -> Self {
        self.parts.iter_mut().for_each(|part| part.variance.add_scalar_mut(variance));
        self
    }

    /// Means.
    pub fn mean(&self) -> DVector<f64> {
        let mut mean = DVector::zeros(self.parts[0].mean.len());
        self.parts.iter().for_each(|part| mean.axpy(part.weight, &part.mean, 1.0));
        mean
    }

    /// Root mean squared error of the means.
    pub fn rmse(&self, truth: &[f64]) -> f64 {
        let squares: f64 = self.mean().iter().zip(truth).map(|(m, t)| (m - t) * (m - t)).sum();
        (squares / truth.len() as f64).sqrt()
    }

    /// Variances: the mean variance of the parts and the variance of their means.
    pub fn variance(&self) -> DVector<f64> {
        let (mean, mut variance) = (self.mean(), DVector::zeros(self.parts[0].mean.len()));
        for part in &self.parts {
            let shift = &part.mean - &mean;
            variance.axpy(part.weight, &(shift.component_mul(&shift) + &part.variance), 1.0);
        }
        variance
    }

    /// The log density of each observation, nats.
    pub fn log_densities(&self, observed: &[f64]) -> Vec<f64> {
        let log_weights: Vec<f64> = self.parts.iter().map(|part| part.weight.ln()).collect();
        observed.iter().enumerate().map(|(place, y)| self.log_density(&log_weights, place, *y)).collect()
    }

    /// The mass of the smallest central interval of each distribution that holds the observation: `1 - 2 min(F(y), 1 - F(y))`.
    pub fn central_interval_masses(&self, observed: &[f64]) -> Vec<f64> {
        observed.iter().enumerate().map(|(place, y)| 1.0 - 2.0 * self.smaller_tail(place, *y)).collect()
    }

    /// The continuous ranked probability score of each observation, the integral of `(F(u) - [u >= y])^2`, in units of the target: with
    /// `A(m, v) = E |m + sqrt(v) Z|` for Z standard normal, it is
    ///
    /// ```text
    /// sum_p w_p A(y - m_p, v_p) - 1/2 sum_pq w_p w_q A(m_p - m_q, v_p + v_q)
    /// ```
    ///
    /// (Grimit, Gneiting, Berrocal and Johnson 2006, Eq. 5). Without variance it is the absolute error.
    pub fn ranked_probability_scores(&self, observed: &[f64]) -> Vec<f64> {
        observed.iter().enumerate().map(|(place, y)| self.ranked_probability_score(place, *y)).collect()
    }

    fn log_density(&self, log_weights: &[f64], place: usize, y: f64) -> f64 {
        let normals = self.components_at_input(place).zip(log_weights);
        let logs = normals.map(|(normal, log_weight)| log_weight + normal.log_density(y));
        // One part needs no sum; a density that is not a number is none, as below.
        if log_weights.len() == 1 {
            return logs.fold(f64::NEG_INFINITY, f64::max);
        }
        let logs: Vec<f64> = logs.collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // A density that is nowhere.
        if !most.is_finite() {
            return most;
        }
        most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
    }

    /// The lesser of `F(y)` and `1 - F(y)`, each added up by itself: a mass close to 1 needs its relative accuracy.
    fn smaller_tail(&self, place: usize, y: f64) -> f64 {
        let (mut below, mut above) = (0.0, 0.0);
        for normal in self.components_at_input(place) {
            let z = (y - normal.mean) / normal.variance.sqrt();
            below += normal.weight * normal_cdf(z);
            above += normal.weight * normal_cdf(-z);
        }
        below.min(above)
    }

    fn ranked_probability_score(&self, place: usize, y: f64) -> f64 {
        let mut score = 0.0;
        for (order, one) in self.components_at_input(place).enumerate() {
            score += one.weight * mean_absolute_normal(y - one.mean, one.variance);
            score -= 0.5 * one.weight * one.weight * mean_absolute_normal(0.0, 2.0 * one.variance);
            for other in self.components_at_input(place).take(order) {
                let apart = mean_absolute_normal(one.mean - other.mean, one.variance + other.variance);
                score -= one.weight * other.weight * apart;
            }
        }
        score
    }

    fn components_at_input(&self, place: usize) -> impl Iterator<Item = WeightedNormal> {
        self.parts.iter().map(move |part| WeightedNormal {
            weight: part.weight,
            mean: part.mean[place],
            variance: part.variance[place],
        })
    }
}

/// A part at one input.
#[derive(Clone, Copy)]
struct WeightedNormal {
    weight: f64,
    mean: f64,
    variance: f64,
}

impl WeightedNormal {
    fn log_density(self, y: f64) -> f64 {
        let residual = y - self.mean;
        -0.5 * ((TAU * self.variance).ln() + residual * residual / self.variance)
    }
}

/// `E |m + s Z| = m (2 Phi(m / s) - 1) + 2 s phi(m / s)` for a variance of `s^2`.
fn mean_absolute_normal(m: f64, variance: f64) -> f64 {
    if variance == 0.0 {
        return m.abs();
    }
    let s = variance.sqrt();
    // A part beside itself: the first term is zero.
    if m == 0.0 {
        return 2.0 * s * normal_pdf(0.0);
    }
    m * (2.0 * normal_cdf(m / s) - 1.0) + 2.0 * s * normal_pdf(m / s)
}

/// `k(x, x)` at each test input (t x d) less the squared norm of the column that explains it, at least zero.
pub(super) fn unexplained_variances(kernel: &dyn Kernel, test: &DMatrix<f64>, explained: &DMatrix<f64>) -> Vec<f64> {
    subtract_explained_variances(kernel, test, explained.column_iter().map(|column| column.norm_squared()))
}

/// `k(x, x)` at each test input (t x d) less what is explained of it, at least zero.
pub(super) fn subtract_explained_variances(
    kernel: &dyn Kernel,
    test: &DMatrix<f64>,
    explained: impl Iterator<Item = f64>,
) -> Vec<f64> {
    // Explained and prior variance agree at an observation without noise, where rounding may leave less than zero.
    kernel.diagonal(test).into_iter().zip(explained).map(|(k, explained)| (k - explained).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(weight: f64, mean: &[f64], variance: &[f64]) -> WeightedNormals {
        WeightedNormals {
            weight,
            mean: DVector::from_column_slice(mean),
            variance: DVector::from_column_slice(variance),
        }
    }

    #[test]
    fn masses_and_densities_of_the_normal() {
        let normal = PredictiveMixture::from_parts(vec![part(1.0, &[1.0, 0.0], &[3.0, 0.0])]).with_noise(1.0);
        let masses = normal.central_interval_masses(&[1.0 + 2.0 * 1.644_853_626_951_472_7, -0.5]);
        assert!((masses[0] - 0.9).abs() < 1e-14);
        assert!((masses[1] - 0.382_924_922_548_026).abs() < 1e-14);
        let densities = normal.log_densities(&[3.0, 0.0]);
        assert!((densities[0] + 0.5 * ((4.0 * TAU).ln() + 1.0)).abs() < 1e-15);
        assert!((normal.rmse(&[0.0, 1.0]) - 1.0).abs() < 1e-15);
    }

    fn mixture() -> PredictiveMixture {
        PredictiveMixture::from_parts(vec![
            part(0.5, &[1.0], &[4.0]),
            part(0.3, &[-0.5], &[0.25]),
            part(0.2, &[2.0], &[9.0]),
        ])
    }

    /// Sums over a fine grid: F, and the density as its slope.
    fn below(mixture: &PredictiveMixture, y: f64) -> f64 {
        mixture
            .components_at_input(0)
            .map(|normal| normal.weight * normal_cdf((y - normal.mean) / normal.variance.sqrt()))
            .sum()
    }

    #[test]
    fn masses_and_densities_of_a_mixture_are_those_of_its_distribution_function() {
        let mixture = mixture();
        for y in [-3.0, -0.5, 0.4, 6.0] {
            let slope = (below(&mixture, y + 1e-5) - below(&mixture, y - 1e-5)) / 2e-5;
            assert!((mixture.log_densities(&[y])[0].exp() / slope - 1.0).abs() < 1e-6, "{y}");
            let central = (2.0 * below(&mixture, y) - 1.0).abs();
            assert!((mixture.central_interval_masses(&[y])[0] - central).abs() < 1e-12, "{y}");
        }
        // 0.5 + 0.3 (-0.5) + 0.4, and the second moment less its square.
        assert!((mixture.mean()[0] - 0.75).abs() < 1e-15);
        let second = 0.5 * (4.0 + 1.0) + 0.3 * (0.25 + 0.25) + 0.2 * (9.0 + 4.0);
        assert!((mixture.variance()[0] - (second - 0.75 * 0.75)).abs() < 1e-14);
    }

    /// The integral of `(F(u) - [u >= y])^2` by the midpoint rule.
    #[test]
    fn ranked_probability_scores_are_integrals() {
        let one = PredictiveMixture::from_parts(vec![part(1.0, &[1.0], &[4.0])]);
        for (distribution, y) in [(mixture(), 2.5), (mixture(), -3.0), (one, 0.3)] {
            let step = 2e-3;
            let squares = (-20_000..20_000).map(|i| {
                let u = (f64::from(i) + 0.5) * step;
                (below(&distribution, u) - f64::from(u8::from(u >= y))).powi(2) * step
            });
            let (expected, found) = (squares.sum::<f64>(), distribution.ranked_probability_scores(&[y])[0]);
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        let certain = PredictiveMixture::from_parts(vec![part(1.0, &[2.0], &[0.0])]);
        assert_eq!(certain.ranked_probability_scores(&[1.75]), [0.25]);
    }
}
