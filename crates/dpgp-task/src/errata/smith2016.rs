//! Statements of Smith, Zwiessele and Lawrence 2016, "Differentially private Gaussian processes".

use nalgebra::DMatrix;

use super::Numbers;
use crate::TaskError;
use dpgp_accounting::Calibration;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::{exact_representer, fitc_representer};
use dpgp_mechanisms::FunctionSensitivity;

/// The printed bound on a mean function, and the exact value.
const RULES: [FunctionSensitivity; 2] = [FunctionSensitivity::Published, FunctionSensitivity::Exact];

/// One training target and two inducing inputs beside it: it enters both rows of the weights.
pub(super) fn row_norm() -> Result<Numbers, TaskError> {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    let inducing = DMatrix::from_column_slice(2, 1, &[-0.5, 0.5]);
    let mean = fitc_representer(&kernel, 0.1, &inducing, &DMatrix::zeros(1, 1))?;
    let [published, exact] = RULES.map(|rule| rule.of(&mean.weights, &mean.norms));
    Ok(Numbers::at_most(published, exact, exact))
}

/// The settings of Figure 2 on evenly spaced ages: the ratio of the sensitivities without and with inducing inputs.
pub(super) fn inducing_gain() -> Result<Numbers, TaskError> {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 20.0);
    let ages = DMatrix::from_fn(33, 1, |i, _| 5.0 * i as f64);
    let inducing = DMatrix::from_column_slice(4, 1, &[20.0, 60.0, 100.0, 140.0]);
    let whole = exact_representer(&kernel, 0.1, &ages)?;
    let sparse = fitc_representer(&kernel, 0.1, &inducing, &ages)?;
    let [published, exact] =
        RULES.map(|rule| rule.of(&whole.weights, &whole.norms) / rule.of(&sparse.weights, &sparse.norms));
    Ok(Numbers::equal(published, exact, exact))
}

/// The density on bins of half an hour times five minutes moves by the inverse of their area, in hours squared.
pub(super) fn density_change() -> Numbers {
    let moved = 1.0 / (0.5 * (5.0 / 60.0));
    Numbers::at_most(1.0, moved, moved)
}

/// The true delta of the printed noise at (20, 0.01), and that of the exact calibration.
pub(super) fn large_epsilon() -> Numbers {
    let calibrations = [Calibration::Textbook, Calibration::Analytic];
    Numbers::noise(20.0, 0.01, calibrations.map(|calibration| calibration.sigma(20.0, 0.01)))
}

/// The standard deviation at (1, 0.01) by the text, and the least.
pub(super) fn noise_constant() -> Numbers {
    let [text, least] = [Calibration::Textbook, Calibration::Analytic].map(|c| c.sigma(1.0, 0.01));
    Numbers::at_most(text, least, least)
}

/// The kernel `alpha exp(-r^2 / l^2)` over two unit intervals, alpha = 2 and l = 1: with alpha inside the integral and
/// before it, and by quadrature (the midpoint rule).
pub(super) fn kernel_scale() -> Numbers {
    let (alpha, steps) = (2.0, 400);
    let midpoints: Vec<f64> = (0..steps).map(|i| (f64::from(i) + 0.5) / f64::from(steps)).collect();
    let rows = midpoints.iter().map(|x| midpoints.iter().map(|y| (-(x - y).powi(2)).exp()).sum::<f64>());
    let integral = rows.sum::<f64>() / f64::from(steps * steps);
    Numbers::equal(alpha * alpha * integral, alpha * integral, alpha * integral)
}
