//! The joint prior of latent values at points and of sums of targets.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::{CovarianceRepresentation, PredictionMap};
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError, low_rank_factor};

/// What the diagonal of a covariance may keep beside its low-rank factor, as a part of its sum: it is added to the independent part,
/// so that nothing is lost.
const LEFT_OUT: f64 = 1e-15;

/// The rank of a factor is at most this part of the sums, or the matrix itself is faster to multiply with than a factor is to make.
const SHARE: usize = 8;

/// Prior moments of t latent values and of k sums of targets, one sum for each distinct input: `Cov(sums) = S + diag(e)`.
///
/// They depend on public inputs and settings alone. In squared units of the target.
#[derive(Debug, Clone)]
pub struct TargetSumCovariances {
    /// Covariances of the latent values with the sums (t x k).
    pub cross: DMatrix<f64>,
    /// S (k x k): what the sums share.
    pub shared: Arc<CovarianceRepresentation>,
    /// e (k), positive: variances of what each sum has of its own.
    pub own: Vec<f64>,
    /// Variances of the latent values (t).
    pub variances: Vec<f64>,
}

/// The moments of exact regression: with m_u rows at the distinct input x_u the sums have covariance
/// `m_u m_v k(x_u, x_v)` and a variance `m_u sigma^2` of their own.
///
/// ```
/// use dpgp_gp::{exact_prediction_map, exact_target_sum_covariances};
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // Two rows at one input: their sum has the variance 2^2 3 + 2 1, and 2 3 in common with the value there.
/// let (kernel, input) = (ExponentiatedQuadratic::isotropic(3.0, 1.0), DMatrix::from_element(2, 1, 0.5));
/// let point = DMatrix::from_element(1, 1, 0.5);
/// let moments = exact_target_sum_covariances(&kernel, 1.0, &input, &point, &exact_prediction_map(&kernel, 1.0, &input, &point)?);
/// assert!((moments.cross[0] - 6.0).abs() < 1e-12 && (moments.variances[0] - 3.0).abs() < 1e-12);
/// assert!((moments.shared.largest_variance() + moments.own[0] - 14.0).abs() < 1e-12);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
pub fn exact_target_sum_covariances(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
    map: &PredictionMap,
) -> TargetSumCovariances {
    let inputs = map.select_distinct_columns(&training.transpose()).transpose();
    let counts = targets_per_column(map);
    let mut cross = kernel.matrix(test, &inputs);
    scale_columns(&mut cross, &counts);
    let mut own: Vec<f64> = counts.iter().map(|m| m * noise_variance).collect();
    let sums = GroupSumCovariance { kernel, inputs: &inputs, counts: &counts };
    let shared = compress_group_sum_covariance(&sums, counts.len() / SHARE, &mut own);
    TargetSumCovariances { cross, own, shared: Arc::new(shared), variances: kernel.diagonal(test) }
}

/// The moments of FITC regression: given the values at the inducing inputs all targets are independent, so that rows of one
/// input have `sigma^2 + k - q` each of their own.
///
/// # Errors
/// [`LinalgError`] if the covariance of the inducing inputs cannot be factorised.
pub fn fitc_target_sum_covariances(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    test: &DMatrix<f64>,
    training: &DMatrix<f64>,
    map: &PredictionMap,
) -> Result<TargetSumCovariances, LinalgError> {
    let inputs = map.select_distinct_columns(&training.transpose()).transpose();
    let counts = targets_per_column(map);
    let k_mm = Cholesky::new("K_MM", &kernel.matrix(inducing, inducing))?;
    let mut shared = k_mm.lower_solve(&kernel.matrix(inducing, &inputs));
    let alone = kernel.diagonal(&inputs).into_iter().zip(shared.column_iter()).zip(&counts);
    // Zero at an inducing input, where rounding may leave less than that.
    let own = alone.map(|((k, v), m)| m * (noise_variance + (k - v.norm_squared()).max(0.0))).collect();
    scale_columns(&mut shared, &counts);
    let cross = k_mm.lower_solve(&kernel.matrix(inducing, test)).tr_mul(&shared);
    let shared = Arc::new(CovarianceRepresentation::of_factor(shared.transpose()));
    Ok(TargetSumCovariances { cross, shared, own, variances: kernel.diagonal(test) })
}

/// The latent values given noisy combinations of the sums.
#[derive(Debug, Clone)]
pub struct NoisySumsPosterior {
    /// From the combinations to the mean of the latent values (t x r).
    pub map: DMatrix<f64>,
    /// Their variances (t).
    pub variances: Vec<f64>,
}

impl TargetSumCovariances {
    /// The latent values given `r = W y + s z`, for a matrix W (r x k) and standard normal z. With `S = W Cov(y) W' + s^2 I` their mean is
    /// `K W' S^-1 r`, the best linear prediction (Rasmussen and Williams 2006, Eq. A.6). Cost `k q r + t r^2`.
    ///
    /// # Errors
    /// [`LinalgError`] if S cannot be factorised.
    pub fn condition_on_noisy_sums(
        &self,
        combined: &DMatrix<f64>,
        noise_sd: f64,
    ) -> Result<NoisySumsPosterior, LinalgError> {
        let mut own = combined.clone();
        own.column_iter_mut().zip(&self.own).for_each(|(mut column, e)| column *= *e);
        let mut covariance = self.shared.project_covariance(combined) + own * combined.transpose();
        (0..covariance.nrows()).for_each(|i| covariance[(i, i)] += noise_sd * noise_sd);
        let cholesky = Cholesky::new("W A W' + s^2 I", &covariance)?;
        // Transposed, since solvers take right-hand sides as columns.
        let common = combined * self.cross.transpose();
        let explained = cholesky.lower_solve(&common);
        let left = self.variances.iter().zip(explained.column_iter());
        Ok(NoisySumsPosterior {
            variances: left.map(|(v, column)| (v - column.norm_squared()).max(0.0)).collect(),
            map: cholesky.upper_solve(&explained).transpose(),
        })
    }
}

/// Groups of rows, each of one input (k x d): the covariances `m_u m_v k(x_u, x_v)` of what their sums have in common.
struct GroupSumCovariance<'a> {
    kernel: &'a dyn Kernel,
    inputs: &'a DMatrix<f64>,
    counts: &'a [f64],
}

impl GroupSumCovariance<'_> {
    fn diagonal(&self) -> Vec<f64> {
        let variances = self.kernel.diagonal(self.inputs);
        self.counts.iter().zip(variances).map(|(m, variance)| m * m * variance).collect()
    }

    fn column(&self, u: usize, out: &mut [f64]) {
        let here = self.kernel.matrix(self.inputs, &self.inputs.rows(u, 1).into_owned());
        let of_group = here.iter().zip(self.counts);
        out.iter_mut().zip(of_group).for_each(|(out, (k, m))| *out = self.counts[u] * m * k);
    }

    fn to_full_matrix(&self) -> DMatrix<f64> {
        let mut whole = self.kernel.matrix(self.inputs, self.inputs);
        whole.row_iter_mut().zip(self.counts).for_each(|(mut row, m)| row *= *m);
        scale_columns(&mut whole, self.counts);
        whole
    }
}

/// What sums over groups of rows share: by a factor of at most the rank `most`, if there is one; what it leaves out of the diagonal is
/// added to `own`.
fn compress_group_sum_covariance(
    sums: &GroupSumCovariance<'_>,
    most: usize,
    own: &mut [f64],
) -> CovarianceRepresentation {
    let diagonal = sums.diagonal();
    let remainder = LEFT_OUT * diagonal.iter().sum::<f64>();
    let Some(factor) = low_rank_factor(&diagonal, |u, out| sums.column(u, out), remainder, most) else {
        return CovarianceRepresentation::Whole(sums.to_full_matrix());
    };
    for (u, own) in own.iter_mut().enumerate() {
        *own += (diagonal[u] - factor.row(u).norm_squared()).max(0.0);
    }
    CovarianceRepresentation::of_factor(factor)
}

fn targets_per_column(map: &PredictionMap) -> Vec<f64> {
    map.targets_per_column().into_iter().map(|count| count as f64).collect()
}

fn scale_columns(matrix: &mut DMatrix<f64>, by: &[f64]) {
    matrix.column_iter_mut().zip(by).for_each(|(mut column, scale)| column *= *scale);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::{exact_prediction_map, exact_variance, fitc_prediction_map, fitc_variance};

    /// The best linear prediction from the moments is that of the map, and leaves its variance.
    fn assert_same(moments: &TargetSumCovariances, map: &PredictionMap, variance: &[f64]) {
        let mut sums = moments.shared.left_multiply(&DMatrix::identity(moments.own.len(), moments.own.len()));
        (0..sums.nrows()).for_each(|u| sums[(u, u)] += moments.own[u]);
        let c = Cholesky::new("A", &sums).unwrap().solve(&moments.cross.transpose()).transpose();
        assert!((&c - map.distinct_columns()).amax() < 1e-10, "{}", (&c - map.distinct_columns()).amax());
        for (i, expected) in variance.iter().enumerate() {
            let left = moments.variances[i] - c.row(i).dot(&moments.cross.row(i));
            assert!((left - expected).abs() < 1e-10);
        }
    }

    /// Each sum released with no noise leaves the model; with all noise, the prior.
    #[test]
    fn what_is_given_lies_between_the_model_and_the_prior() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 1.4);
        let training = DMatrix::from_fn(9, 1, |i, _| 0.7 * (i / 2) as f64);
        let test = DMatrix::from_fn(4, 1, |i, _| 0.9 * i as f64);
        let map = exact_prediction_map(&kernel, 0.3, &training, &test).unwrap();
        let moments = exact_target_sum_covariances(&kernel, 0.3, &training, &test, &map);
        let all = DMatrix::identity(5, 5);
        let none = moments.condition_on_noisy_sums(&all, 1e-9).unwrap();
        assert!((&none.map - map.distinct_columns()).amax() < 1e-9);
        let variance = exact_variance(&kernel, 0.3, &training, &test).unwrap();
        (0..4).for_each(|i| assert!((none.variances[i] - variance[i]).abs() < 1e-9));
        let much = moments.condition_on_noisy_sums(&all, 1e9).unwrap();
        assert!(much.map.amax() < 1e-9 && much.variances.iter().all(|v| (v - 1.7).abs() < 1e-9));
    }

    /// A factor of few columns where that is enough, and the matrix itself where it is not.
    #[test]
    fn sums_share_the_same_in_any_form() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 1.4);
        let inputs = DMatrix::from_fn(40, 1, |i, _| 0.1 * i as f64);
        let (within, counts) = (kernel.matrix(&inputs, &inputs), [1.0, 3.0, 2.0, 1.0].repeat(10));
        let rows = DMatrix::from_fn(2, 40, |i, j| ((3 * i + j) as f64).sin());
        let mut seen = Vec::new();
        for (most, is_whole) in [(20, false), (3, true)] {
            let mut own = counts.clone();
            let sums = GroupSumCovariance { kernel: &kernel, inputs: &inputs, counts: &counts };
            let shared = compress_group_sum_covariance(&sums, most, &mut own);
            assert_eq!(matches!(shared, CovarianceRepresentation::Whole(_)), is_whole);
            assert!(own.iter().zip(&counts).all(|(own, count)| *own >= *count && *own < count + 1e-12));
            seen.push(shared.left_multiply(&rows));
        }
        let expected = DMatrix::from_fn(40, 40, |i, j| counts[i] * counts[j] * within[(i, j)]);
        for found in seen {
            assert!((found - &rows * &expected).amax() < 1e-11);
        }
    }

    #[test]
    fn the_prediction_from_the_moments_is_that_of_the_model() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 1.4);
        // Some inputs have several rows.
        let training = DMatrix::from_fn(12, 1, |i, _| 0.8 * (i / 2 + i % 3) as f64);
        let inducing = DMatrix::from_column_slice(3, 1, &[0.5, 2.0, 4.0]);
        let test = DMatrix::from_fn(4, 1, |i, _| 1.6 * i as f64 - 0.4);
        let map = exact_prediction_map(&kernel, 0.3, &training, &test).unwrap();
        let moments = exact_target_sum_covariances(&kernel, 0.3, &training, &test, &map);
        assert_same(&moments, &map, &exact_variance(&kernel, 0.3, &training, &test).unwrap());
        let map = fitc_prediction_map(&kernel, 0.3, &inducing, &training, &test).unwrap();
        let moments = fitc_target_sum_covariances(&kernel, 0.3, &inducing, &test, &training, &map).unwrap();
        assert_same(&moments, &map, &fitc_variance(&kernel, 0.3, &inducing, &training, &test).unwrap());
    }
}
