//! Statements of Honkela 2021, "Gaussian processes with differential privacy".

use nalgebra::DVector;

use super::Numbers;
use dpgp_accounting::{Calibration, gaussian_rho, zcdp_rho_classic};
use dpgp_gp::kernel::Interval;
use dpgp_gp::variational::{DirichletLabels, FeatureBound, Regularisation, grid_supremum};
use dpgp_mechanisms::{HeteroscedasticRule, RecordBounds, SumsRule, class_sums_sensitivity};
use dpgp_number::normal_cdf;

/// Equation 6 at (R_k, R_y, c) = (1, 3, 1), where the exact value is below it.
pub(super) fn sums_sensitivity() -> Numbers {
    let bounds = RecordBounds { features: 1.0, target: 3.0 };
    let exact = SumsRule::Exact.sensitivity(bounds, 1.0);
    Numbers::at_most(SumsRule::Published.sensitivity(bounds, 1.0), exact, exact)
}

/// `R_k^2` of Figure 1: nine inducing inputs on [-3, 3].
pub(super) fn feature_bound() -> Numbers {
    let points: Vec<f64> = (0..9).map(|i| -3.0 + 0.75 * f64::from(i)).collect();
    let printed = FeatureBound::PrintedLine.squared(9, 0.75, |d| (-0.5 * d * d).exp());
    let supremum = grid_supremum(&points, 1.0, Interval { low: -4.0, high: 4.0 });
    Numbers::at_most(printed, supremum, supremum)
}

/// `R_k^2` of seven by seven inducing inputs a lengthscale apart: Equation 8, and the product of the sides.
pub(super) fn separated_bound() -> Numbers {
    let points: Vec<f64> = (0..7).map(|i| 0.4 * f64::from(i)).collect();
    let printed = FeatureBound::Separated.squared(49, 0.4, |d| (-0.5 * (d / 0.4).powi(2)).exp());
    let side = grid_supremum(&points, 0.4, Interval { low: 0.0, high: 2.4 });
    Numbers::at_most(printed, side * side, side * side)
}

/// The probability with two inducing inputs that an eigenvalue of the noise on B is below -lambda, at rho = 0.01.
pub(super) fn regularisation() -> Numbers {
    let [printed, inside] =
        [Regularisation::Printed { rho: 0.01 }, Regularisation::Inside { rho: 0.01 }].map(indefinite);
    Numbers::at_most(0.01, printed, inside)
}

/// With two inducing inputs the least eigenvalue of the noise on B is `(N - R) / sqrt 2` for a standard normal N and an
/// independent Rayleigh R. The probability that it is below -lambda is `E exp(-(sqrt(2) lambda + N)^2 / 2)` where that root
/// is positive and 1 elsewhere, which is `exp(-lambda^2 / 2) Phi(lambda) / sqrt 2 + Phi(-sqrt(2) lambda)`.
fn indefinite(rule: Regularisation) -> f64 {
    let lambda = rule.lambda(2, 1.0);
    (-0.5 * lambda * lambda).exp() * normal_cdf(lambda) / 2f64.sqrt() + normal_cdf(-(2f64.sqrt()) * lambda)
}

/// The covariance of the two entries of `E_b w` for w = (1, 2), from the independent entries of the symmetric `E_b`: printed
/// `diag(w o w) / 2` has none, `w w' / 2` has.
pub(super) fn correction_covariance() -> Numbers {
    let w = [1.0, 2.0];
    // E w for each of the three independent entries at one standard deviation.
    let columns = [[w[0], 0.0], [0.0, w[1]], [w[1] * 0.5f64.sqrt(), w[0] * 0.5f64.sqrt()]];
    let found = columns.iter().map(|column| column[0] * column[1]).sum::<f64>();
    Numbers::equal(0.0, found, 0.5 * w[0] * w[1])
}

/// The standard deviation per unit of sensitivity at (3, 1e-4): by the rho of Equation 19, and the least.
pub(super) fn zcdp_conversion() -> Numbers {
    let [printed, least] =
        [zcdp_rho_classic(3.0, 1e-4), gaussian_rho(3.0, 1e-4)].map(|rho| (2.0 * rho).sqrt().recip());
    Numbers::at_most(printed, least, least)
}

/// The noise variance of the own class, which is the second of two: Equation 21 takes the alpha of the first class for it.
pub(super) fn dirichlet_variance() -> Numbers {
    let [other, own] = DirichletLabels::new(0.01).variance;
    Numbers::equal(other, own, own)
}

/// How far the released pairs move when a record with |k| = 1 changes its class: one pair, and all of three classes; at
/// last the sums over classes.
pub(super) fn label_variance() -> Numbers {
    let DirichletLabels { target, variance } = DirichletLabels::new(0.01);
    // A pair is (target, 1) over the noise variance; it moves by as much whichever way the label of its class changes.
    let scaled = [0, 1].map(|own| target[own] / variance[own]);
    let moved = (scaled[1] - scaled[0]).powi(2) + (1.0 / variance[1] - 1.0 / variance[0]).powi(2);
    Numbers::at_most(moved.sqrt(), (moved + moved).sqrt(), class_sums_sensitivity(1.0, 1.0))
}

/// Records at x = 0 and x = 3 with targets 1 and -1, inducing inputs there, noise variances in [0.01, 0.04]: the true delta at
/// (1, 1e-5) of noise by either factor when one replaces the other at the least variance.
pub(super) fn heteroscedastic_noise() -> Numbers {
    let far = (-4.5f64).exp();
    let [k, l] = [[1.0, far], [far, 1.0]].map(|pair| DVector::from_column_slice(&pair));
    let sums = (&k + &l).norm_squared() + (&k * k.transpose() - &l * l.transpose()).norm_squared();
    let distance = sums.sqrt() / 0.01;
    let bounds = RecordBounds { features: k.norm(), target: 1.0 };
    let unit = SumsRule::Exact.sensitivity(bounds, 1.0) * Calibration::Analytic.sigma(1.0, 1e-5);
    let rules = [HeteroscedasticRule::Published, HeteroscedasticRule::Corrected];
    Numbers::noise(1.0, 1e-5, rules.map(|rule| unit * rule.factor(0.01, 0.04) / distance))
}

/// The log-likelihood of 1024 rows by their own model at sigma = 0.1, in sum, against the greatest of one row that it is tested by;
/// at last its mean.
pub(super) fn refusal_test() -> Numbers {
    let greatest = -0.5 * std::f64::consts::TAU.ln() - 0.1f64.ln();
    let mean = greatest - 0.5;
    Numbers::at_most(greatest, 1024.0 * mean, mean)
}

/// The entries of a symmetric 9 by 9 matrix that are released: the printed binomial coefficient, and its triangle.
pub(super) fn sums_dimension() -> Numbers {
    let d = 9.0;
    let entries = 0.5 * d * (d + 1.0);
    Numbers::equal(0.5 * (d + 2.0) * (d + 1.0), entries, entries)
}
