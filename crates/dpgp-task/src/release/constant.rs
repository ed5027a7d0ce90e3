//! What the simplest prediction would err by: one number for all points.

use nalgebra::DMatrix;

use dpgp_gp::kernel::Kernel;

/// Rows that stand for all of them in means over pairs.
const MOST_ROWS: usize = 256;

/// The expected squared error at each point (t) of the mean of all targets, before noise, in squared units of the model: with rows X and a
/// process of covariance k about its mean
///
/// ```text
/// E (f(t) - mean y)^2 = k(t, t) - 2 mean_i k(t, x_i) + mean_ij k(x_i, x_j) + noise variance / n.
/// ```
///
/// Means over rows are those of at most 256 of them, evenly chosen. No target is used.
pub(super) fn squared_errors_of_mean(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inputs: &DMatrix<f64>,
    points: &DMatrix<f64>,
) -> Vec<f64> {
    let rows = inputs.nrows().max(1);
    let chosen: Vec<usize> = (0..inputs.nrows()).step_by(rows.div_ceil(MOST_ROWS)).collect();
    let chosen = inputs.select_rows(&chosen);
    let own = kernel.matrix(&chosen, &chosen).mean() + noise_variance / rows as f64;
    let cross = kernel.matrix(points, &chosen).column_mean();
    kernel.diagonal(points).iter().zip(cross.iter()).map(|(k, cross)| k - 2.0 * cross + own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_gp::kernel::ExponentiatedQuadratic;

    /// One row, and a point at it: the error is the noise of its target. Far away it is the variances of both places and that.
    #[test]
    fn the_mean_of_one_row_is_its_target() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let row = DMatrix::from_element(1, 1, 0.5);
        let points = DMatrix::from_column_slice(2, 1, &[0.5, 1e3]);
        let found = squared_errors_of_mean(&kernel, 0.2, &row, &points);
        assert!((found[0] - 0.2).abs() < 1e-12 && (found[1] - 6.2).abs() < 1e-12, "{found:?}");
    }

    /// A thousand rows at two places: the mean is that of both values, and its error at one of them a quarter of what they differ by.
    #[test]
    fn rows_that_stand_for_all_have_their_mean() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let rows = DMatrix::from_fn(1000, 1, |i, _| if i < 500 { 0.0 } else { 1e3 });
        let found = squared_errors_of_mean(&kernel, 0.5, &rows, &DMatrix::zeros(1, 1));
        assert!((found[0] - 0.5 - 0.5 / 1000.0).abs() < 1e-12, "{found:?}");
    }
}
