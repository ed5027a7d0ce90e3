//! The posterior from noisy sums: a regularised inverse, the covariance of the weights from the noise, and
//! jitter that keeps a noisy matrix positive definite.

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InducingInputs, NoisySufficientStatistics, WeightPosterior};
use dpgp_linalg::{Cholesky, LinalgError, minimise_quadratic_on_simplex};

/// How often lambda is doubled before a matrix is given up.
const DOUBLINGS: usize = 60;

/// The posterior of the weights from sums of unit noise variance (see [`NoisySufficientStatistics::scaled`]):
///
/// `S = (K_ZZ + B~ + lambda I)^-1`, mean `S A~`, covariance `S` and what the correction adds.
///
/// Where the noise makes the matrix indefinite in spite of lambda, lambda is doubled until it no longer is:
/// that looks at nothing but what is released. Source: Honkela 2021, Eqs. 9, 11 and 14, in terms of the weights
/// `K_ZZ^-1 u`.
///
/// ```
/// use dpgp_gp::variational::{NoiseCorrection, InducingInputs, Regularisation, SufficientStatistics, noise_aware_posterior};
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // Exact sums of one target of 4 at the inducing input, variance 3: A = 12, B = 9, S = 1 / (3 + 9), v = 1. The mean
/// // there is 3 v = 3 = 3 / (3 + 1) 4, as in exact regression.
/// let (kernel, input) = (ExponentiatedQuadratic::isotropic(3.0, 1.0), DMatrix::from_element(1, 1, 0.0));
/// let inducing = InducingInputs::new(&kernel, &input)?;
/// let sums = SufficientStatistics::new(&inducing, &input, &[4.0], 10.0).with_zero_noise();
/// let posterior = noise_aware_posterior(&inducing, &sums, Regularisation::Tight, NoiseCorrection::FirstOrder)?;
/// let found = posterior.predict(&inducing.covariances_with_conditional_variances(&input));
/// assert!((found.mean[0] - 3.0).abs() < 1e-14 && (found.variance[0] - 0.75).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if the matrix stays indefinite.
pub fn noise_aware_posterior(
    inducing: &InducingInputs<'_>,
    statistics: &NoisySufficientStatistics,
    regularisation: Regularisation,
    correction: NoiseCorrection,
) -> Result<WeightPosterior, LinalgError> {
    let size = inducing.size();
    let lambda = regularisation.lambda(size, statistics.sd_b);
    let mut precision = inducing.k_zz() + &statistics.b;
    (0..size).for_each(|i| precision[(i, i)] += lambda);
    let cholesky = factorise_by_doubling_lambda(&mut precision, lambda)?;
    // The inverse is itself the covariance, and the correction multiplies by it twice.
    let inverse = cholesky.solve(&DMatrix::identity(size, size));
    let mean = &inverse * &statistics.a;
    let covariance = correction.covariance(&inverse, &mean, statistics.sd_a, statistics.sd_b);
    Ok(WeightPosterior { mean, covariance, jitter: cholesky.jitter() })
}

/// Factorises a matrix, after adding lambda, twice lambda and so on to its diagonal as long as it is not positive definite.
fn factorise_by_doubling_lambda(precision: &mut DMatrix<f64>, lambda: f64) -> Result<Cholesky, LinalgError> {
    let mut step = lambda;
    for _ in 0..DOUBLINGS {
        match Cholesky::new("K_ZZ + B + lambda I", precision) {
            Ok(cholesky) => return Ok(cholesky),
            // With lambda = 0 there is no noise, and doubling would not end.
            Err(LinalgError::NotPositiveDefinite { .. }) if lambda > 0.0 => {}
            Err(error) => return Err(error),
        }
        (0..precision.nrows()).for_each(|i| precision[(i, i)] += step);
        step *= 2.0;
    }
    Cholesky::new("K_ZZ + B + lambda I", precision)
}

/// How the posterior covariance accounts for the noise on B.
///
/// Let the noise variance be 1, `S = (K_ZZ + B~ + lambda I)^-1` and `w = S A~`. Then noise on A adds `sd_a^2 S S`, and
/// noise on B moves the weights by `-S E_b w` to first order: Honkela 2021, Eqs. 11 to 13, in terms of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseCorrection {
    /// Nothing is added, not even for noise on A: the naive posterior.
    None,
    /// `sd_b^2 / 2 S (|w|^2 I + diag(w o w)) S`: Honkela 2021, Eq. 14, as printed. It treats entries (i, j) and (j, i) of the
    /// symmetric noise as independent.
    Printed,
    /// `sd_b^2 / 2 S (|w|^2 I + w w') S`, the covariance of `S E_b w`.
    FirstOrder,
}

impl NoiseCorrection {
    /// The covariance of the weights, including what the noise adds, for S (m x m), w (m) and the standard deviations of the
    /// noise on A and on the diagonal of B. The cost is `m^3`.
    pub fn covariance(self, inverse: &DMatrix<f64>, weights: &DVector<f64>, sd_a: f64, sd_b: f64) -> DMatrix<f64> {
        // With `Var E_ii = sd_b^2` and `Var E_ij = sd_b^2 / 2`, E symmetric: `Cov(E w) = sd_b^2 / 2 (|w|^2 I + w w')`.
        let half = 0.5 * sd_b * sd_b;
        let mut middle = match self {
            Self::None => return inverse.clone(),
            Self::Printed => DMatrix::from_diagonal(&weights.map(|w| half * w * w)),
            Self::FirstOrder => weights * weights.transpose() * half,
        };
        // The multiples of I go on the diagonal together, so that one product with S on each side serves all terms.
        let added = sd_a * sd_a + half * weights.norm_squared();
        (0..weights.len()).for_each(|i| middle[(i, i)] += added);
        inverse + inverse * middle * inverse
    }
}

/// Rules for lambda, in units where the noise variance of the model is 1. `E_b` is the symmetric noise on B, with
/// standard deviation `sd_b` on the diagonal and `sd_b / sqrt 2` elsewhere. The norm of `E_b` exceeds lambda with a
/// probability of about rho. Source: the union bound of Wang 2018, Lemma 6, or for `tight`, random matrix theory (Tracy and
/// Widom 1996).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Regularisation {
    /// `sd_b sqrt(m ln(2 m^2 / rho)) (m + 1) / (2 m)`: Honkela 2021, Eq. 10, as printed. The factor
    /// `(m + 1) / (2 m)`, a mean variance, is outside the root. Lambda is too small for few inducing inputs (`m = 2, 3`) and
    /// 40 % too large at `m = 256`.
    Printed {
        /// The probability that the norm exceeds lambda.
        rho: f64,
    },
    /// `sd_b sqrt(m ln(2 m^2 / rho) (m + 1) / (2 m))`: as `printed`, but with the mean variance inside the
    /// root, a bound for `m >= 2`.
    Inside {
        /// The probability that the norm exceeds lambda.
        rho: f64,
    },
    /// `sd_b (sqrt(2 m) + 1.43 m^(-1/6))`: the edge of the semicircle plus the 99 % quantile of the Tracy-Widom distribution for
    /// real symmetric matrices (2.02 over sqrt 2); rho = 0.01.
    Tight,
}

impl Regularisation {
    /// Lambda for m inducing inputs.
    ///
    /// ```
    /// use dpgp_gp::variational::Regularisation;
    /// // m = 1, rho = 2 / e: sqrt(1 ln e) times a share of (1 + 1) / 2.
    /// let rho = 2.0 / std::f64::consts::E;
    /// assert!((Regularisation::Printed { rho }.lambda(1, 3.0) - 3.0).abs() < 1e-14);
    /// assert!((Regularisation::Tight.lambda(1, 1.0) - (2f64.sqrt() + 1.43)).abs() < 1e-15);
    /// ```
    pub fn lambda(self, m: usize, sd_b: f64) -> f64 {
        let m = m as f64;
        // The mean variance of the entries over that of the diagonal ones: m entries of 1 and `m^2 - m` of 1/2.
        let share = (m + 1.0) / (2.0 * m);
        sd_b * match self {
            Self::Printed { rho } => squared_norm_union_bound(m, rho).sqrt() * share,
            Self::Inside { rho } => (squared_norm_union_bound(m, rho) * share).sqrt(),
            Self::Tight => (2.0 * m).sqrt() + 1.43 * m.powf(-1.0 / 6.0),
        }
    }
}

/// The bound on the squared norm, over the variance of an entry, that fails with probability rho.
fn squared_norm_union_bound(m: f64, rho: f64) -> f64 {
    m * (2.0 * m * m / rho).ln()
}

/// How close the projection comes to the nearest matrix, relative to the largest vertex.
const TOLERANCE: f64 = 1e-10;

/// The posterior of the weights without a regularisation, which noise-aware inference needs only since noise takes B out
/// of the cone. It goes beyond the paper, on the same release.
///
/// 1. `B^ = sum_g p_g k(g) k(g)'` with `p >= 0`, `sum p = rows` over a public grid of inputs, the nearest such
///    matrix to the noisy `B~` in the Frobenius norm, in which its noise is isotropic.
/// 2. `A~ = B^ v + eta`, `eta ~ N(0, noise_variance B^ + sd_a^2 I)`, `v ~ N(0, K_ZZ^-1)`.
///
/// Needs a public number of rows and a public domain of the inputs; `grid` (g x m) holds the covariances of its
/// points with the inducing inputs. The projection looks at nothing but what is released.
///
/// # Errors
/// [`LinalgError`] if a factorisation fails.
pub fn projected_moment_posterior(
    inducing: &InducingInputs<'_>,
    statistics: &NoisySufficientStatistics,
    noise_variance: f64,
    grid: &DMatrix<f64>,
    rows: usize,
) -> Result<WeightPosterior, LinalgError> {
    let size = inducing.size();
    let b = project_onto_moment_cone(&statistics.b, grid, rows as f64)?;
    let mut spread = &b * noise_variance;
    (0..size).for_each(|i| spread[(i, i)] += statistics.sd_a * statistics.sd_a);
    let spread = Cholesky::new("sigma^2 B + sd^2 I", &spread)?;
    // `B (sigma^2 B + sd^2 I)^-1 B` as a product with its own transpose: symmetric and positive semidefinite by construction.
    let half = spread.lower_solve(&b);
    let precision = inducing.k_zz() + half.transpose() * &half;
    let precision = Cholesky::new("K_ZZ + B (sigma^2 B + sd^2 I)^-1 B", &precision)?;
    let covariance = precision.solve(&DMatrix::identity(size, size));
    let a = DMatrix::from_column_slice(size, 1, statistics.a.as_slice());
    let mean = precision.solve(&(half.transpose() * spread.lower_solve(&a)));
    let jitter = spread.jitter().max(precision.jitter());
    Ok(WeightPosterior { mean: mean.column(0).into_owned(), covariance, jitter })
}

/// The nearest matrix of the cone. With `p = rows q` it is `rows^2 |sum_g q_g (k(g) k(g)' - B~ / rows)|^2` that
/// is least.
fn project_onto_moment_cone(b: &DMatrix<f64>, grid: &DMatrix<f64>, rows: f64) -> Result<DMatrix<f64>, LinalgError> {
    // The Gram matrix of the vertices `k(g) k(g)' - B~ / rows`, without forming them: `<k k', h h'> = (k' h)^2` and
    // `<k k', B> = k' B k`.
    let inner = grid * grid.transpose();
    let image = grid * b;
    let with_b: Vec<f64> = (0..grid.nrows()).map(|g| image.row(g).dot(&grid.row(g)) / rows).collect();
    let square = b.norm_squared() / (rows * rows);
    let gram = DMatrix::from_fn(grid.nrows(), grid.nrows(), |g, h| {
        inner[(g, h)] * inner[(g, h)] - with_b[g] - with_b[h] + square
    });
    let q = minimise_quadratic_on_simplex(&gram, TOLERANCE)?;
    let mut weighted = grid.clone();
    weighted.row_iter_mut().zip(&q).for_each(|(mut row, q)| row *= rows * q);
    Ok(grid.transpose() * weighted)
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;
    use crate::kernel::{ExponentiatedQuadratic, Kernel};
    use crate::variational::SufficientStatistics;

    /// Without noise the mean is that of the subset of regressors, `k' (K_ZZ + K_ZX K_XZ)^-1 K_ZX y`, and the inducing values have
    /// the mean `K_ZZ v`.
    #[test]
    fn exact_sums_are_a_regression() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let points = DMatrix::from_column_slice(2, 1, &[0.0, 1.5]);
        let inputs = DMatrix::from_column_slice(4, 1, &[-1.0, 0.2, 0.9, 2.0]);
        let targets = [1.0, -2.0, 0.5, 7.0];
        let inducing = InducingInputs::new(&kernel, &points).unwrap();
        let sums = SufficientStatistics::new(&inducing, &inputs, &targets, 5.0).with_zero_noise();
        let posterior =
            noise_aware_posterior(&inducing, &sums, Regularisation::Tight, NoiseCorrection::FirstOrder).unwrap();
        let cross = kernel.matrix(&points, &inputs);
        // The last target is clipped.
        let clipped = DVector::from_column_slice(&[1.0, -2.0, 0.5, 5.0]);
        let precision = kernel.matrix(&points, &points) + &cross * cross.transpose();
        let inverse = precision.try_inverse().unwrap();
        let mean = &inverse * &cross * clipped;
        assert!((&posterior.mean - &mean).amax() < 1e-12 && (&posterior.covariance - &inverse).amax() < 1e-12);
        let values = kernel.matrix(&points, &points) * mean;
        assert!((posterior.inducing_mean(&inducing) - values).amax() < 1e-12);
    }

    /// `K_ZZ + B = 3 - 60`; lambda is 2 (sqrt 2 + 1.43), and is added once, then once, twice, four times more: after eight of them the
    /// matrix is still negative, after sixteen it is positive.
    #[test]
    fn an_indefinite_matrix_is_raised_by_doublings() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let inducing = InducingInputs::new(&kernel, &DMatrix::zeros(1, 1)).unwrap();
        let (a, b) = (DVector::from_element(1, 5.0), DMatrix::from_element(1, 1, -60.0));
        let statistics = NoisySufficientStatistics { a, b, sd_a: 0.5, sd_b: 2.0 };
        let lambda = 2.0 * (2f64.sqrt() + 1.43);
        let raised = 3.0 - 60.0 + 16.0 * lambda;
        assert!(3.0 - 60.0 + 8.0 * lambda < 0.0 && raised > 0.0);
        let found =
            noise_aware_posterior(&inducing, &statistics, Regularisation::Tight, NoiseCorrection::None).unwrap();
        assert!((found.mean[0] * raised / 5.0 - 1.0).abs() < 1e-12, "{}", found.mean[0]);
        // Without noise there is nothing to double.
        let exact = NoisySufficientStatistics { sd_a: 0.0, sd_b: 0.0, ..statistics };
        assert!(noise_aware_posterior(&inducing, &exact, Regularisation::Tight, NoiseCorrection::None).is_err());
    }
}

#[cfg(test)]
mod correction_tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    fn case() -> (DMatrix<f64>, DVector<f64>) {
        let root = DMatrix::from_fn(4, 4, |i, j| ((2 * i + 3 * j) as f64).sin());
        let inverse = &root * root.transpose() + DMatrix::identity(4, 4) * 0.5;
        (inverse, DVector::from_column_slice(&[1.0, -0.3, 2.0, 0.7]))
    }

    /// The sums over single entries of Eq. 14, in the weights' units.
    #[test]
    fn the_printed_form_is_its_loops() {
        let (s, w) = case();
        let sd = 0.8;
        let entry = |i: usize, j: usize| {
            let mut e = DMatrix::<f64>::zeros(4, 4);
            e[(i, j)] = 1.0;
            &s * e * &w
        };
        let mut loops = s.clone() + &s * &s * 0.09;
        for i in 0..4 {
            loops += entry(i, i) * entry(i, i).transpose() * sd * sd;
            for j in i + 1..4 {
                for (i, j) in [(i, j), (j, i)] {
                    loops += entry(i, j) * entry(i, j).transpose() * (0.5 * sd * sd);
                }
            }
        }
        let closed = NoiseCorrection::Printed.covariance(&s, &w, 0.3, sd);
        assert!((closed - &loops).amax() < 1e-12 * loops.amax());
    }

    #[test]
    fn the_first_order_form_is_the_covariance_of_the_linear_term() {
        let (s, w) = case();
        let (sd_a, sd_b) = (0.3, 0.8);
        let mut stream = Pcg64::from_seed([7; 32]);
        let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
        let mut sum = DMatrix::zeros(4, 4);
        let draws = 400_000;
        for _ in 0..draws {
            let mut e = DMatrix::zeros(4, 4);
            for i in 0..4 {
                e[(i, i)] = sd_b * normal();
                for j in 0..i {
                    let entry = sd_b * normal() / 2f64.sqrt();
                    (e[(i, j)], e[(j, i)]) = (entry, entry);
                }
            }
            let moved = &s * (DVector::from_fn(4, |_, _| sd_a * normal()) - e * &w);
            sum += &moved * moved.transpose();
        }
        let simulated = sum / f64::from(draws);
        let closed = NoiseCorrection::FirstOrder.covariance(&s, &w, sd_a, sd_b) - &s;
        assert!((&simulated - &closed).norm() < 0.01 * closed.norm());
        let printed = NoiseCorrection::Printed.covariance(&s, &w, sd_a, sd_b) - &s;
        assert!((&simulated - printed).norm() > 0.1 * closed.norm());
        assert_eq!(NoiseCorrection::None.covariance(&s, &w, sd_a, sd_b), s);
    }
}

#[cfg(test)]
mod regularisation_tests {
    use super::*;
    use nalgebra::DMatrix;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    /// Smallest eigenvalues of simulated noise, rising.
    fn smallest(m: usize, draws: usize) -> Vec<f64> {
        let mut stream = Pcg64::from_seed([m as u8; 32]);
        let mut draw = || {
            let mut e = DMatrix::<f64>::zeros(m, m);
            for i in 0..m {
                for j in 0..=i {
                    let z: f64 = StandardNormal.sample(&mut stream);
                    let entry = if i == j { z } else { z / 2f64.sqrt() };
                    (e[(i, j)], e[(j, i)]) = (entry, entry);
                }
            }
            e.symmetric_eigenvalues().min()
        };
        let mut all: Vec<f64> = (0..draws).map(|_| draw()).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// At most 1 % of the spectra reach below the tight bound, up to two standard errors, and it is close: 15 %
    /// less is not a bound.
    #[test]
    fn the_tight_bound_holds_and_is_close() {
        for (m, draws) in [(2, 20_000), (3, 20_000), (5, 20_000), (9, 8_000), (15, 4_000), (32, 2_000), (64, 1_000)] {
            let spectra = smallest(m, draws);
            let beyond = |lambda: f64| spectra.iter().filter(|v| **v < -lambda).count() as f64 / draws as f64;
            let lambda = Regularisation::Tight.lambda(m, 1.0);
            let error = (0.01 * 0.99 / draws as f64).sqrt();
            assert!(beyond(lambda) <= 0.01 + 2.0 * error, "m = {m}: {}", beyond(lambda));
            assert!(beyond(0.85 * lambda) > 0.01, "m = {m} is loose: {}", beyond(0.85 * lambda));
        }
    }

    #[test]
    fn the_printed_rule_fails_on_few_points_and_is_loose_on_many() {
        let spectra = smallest(3, 20_000);
        let printed = Regularisation::Printed { rho: 0.01 }.lambda(3, 1.0);
        let inside = Regularisation::Inside { rho: 0.01 }.lambda(3, 1.0);
        let beyond = |lambda: f64| spectra.iter().filter(|v| **v < -lambda).count();
        assert!(beyond(printed) > 200 && beyond(inside) < 200, "{} {}", beyond(printed), beyond(inside));
        let ratio = Regularisation::Printed { rho: 0.01 }.lambda(256, 1.0) / Regularisation::Tight.lambda(256, 1.0);
        assert!((1.35..1.45).contains(&ratio), "{ratio}");
        // At m = 9, as in Figures 1 and 3 of the paper, it fails with probability 0.0066: three standard errors about it.
        let nine = Regularisation::Printed { rho: 0.01 }.lambda(9, 1.0);
        let share = smallest(9, 8_000).iter().filter(|v| **v < -nine).count() as f64 / 8_000.0;
        assert!((0.0039..0.0093).contains(&share), "{share}");
    }
}

#[cfg(test)]
mod moment_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::variational::SufficientStatistics;

    /// Inputs on the grid and hardly any noise: the projection changes nothing, and the posterior is that of
    /// exact sums.
    #[test]
    fn without_noise_it_is_the_exact_posterior() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let z = DMatrix::from_column_slice(4, 1, &[-1.5, -0.5, 0.5, 1.5]);
        let inducing = InducingInputs::new(&kernel, &z).unwrap();
        let x = DMatrix::from_fn(60, 1, |i, _| -2.0 + 0.5 * (i % 9) as f64);
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let statistics = SufficientStatistics::new(&inducing, &x, &y, 2.0);
        let mut noisy = statistics.with_zero_noise();
        noisy.sd_a = 1e-5;
        let grid = inducing.inducing_covariances(&DMatrix::from_fn(17, 1, |g, _| -2.0 + 0.25 * g as f64));
        let projected = projected_moment_posterior(&inducing, &noisy, 0.04, &grid, 60).unwrap();
        let unit = statistics.with_zero_noise().scaled(25.0);
        let exact = noise_aware_posterior(&inducing, &unit, Regularisation::Tight, NoiseCorrection::None).unwrap();
        assert!((projected.mean - &exact.mean).amax() < 1e-3 * exact.mean.amax());
        assert!((projected.covariance - &exact.covariance).amax() < 1e-3 * exact.covariance.amax());
    }

    /// A noisy matrix far outside the cone gives a positive semidefinite one whose diagonal is that of as many
    /// rows.
    #[test]
    fn the_projection_is_in_the_cone() {
        let grid = DMatrix::from_fn(33, 3, |g, j| (-0.5 * (g as f64 / 8.0 - 2.0 - (j as f64 - 1.0)).powi(2)).exp());
        let b = DMatrix::from_row_slice(3, 3, &[-5.0, 40.0, 3.0, 40.0, 20.0, -9.0, 3.0, -9.0, 30.0]);
        let projected = project_onto_moment_cone(&b, &grid, 50.0).unwrap();
        assert!(projected.clone().symmetric_eigenvalues().min() > -1e-12);
        assert!(projected.diagonal().max() <= 50.0 + 1e-9);
        let again = project_onto_moment_cone(&projected, &grid, 50.0).unwrap();
        assert!((again - &projected).amax() < 1e-3 * projected.amax());
    }
}
