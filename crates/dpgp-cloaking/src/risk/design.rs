//! From the problem to a design: the release, its error and its certificate.

use nalgebra::DMatrix;

use super::problem::RiskProblem;
use super::reduced::Reduced;
use super::staircase;
use crate::release::Cloak;
use dpgp_noise::PrivacyError;

/// A private linear prediction of nearly least expected error.
#[derive(Debug, Clone)]
pub struct RiskDesign {
    /// The map and its noise, for sensitivity 1. [`Cloak::mean_columns`] is not the map of the Gaussian process: predictions are
    /// those of this map, shrunk to the prior mean by as much as the noise deserves.
    pub cloak: Cloak,
    /// The weighted sum of the expected squared errors over prior, targets and noise, in squared units of the model.
    pub expected: f64,
    /// The variance of each latent value (t) given the release, noise included.
    pub variances: Vec<f64>,
    /// No private linear prediction with noise of this size has an expected error below `(1 - gap) expected`.
    pub gap: f64,
    /// Products with the Hessian that the solver took.
    pub steps: usize,
}

/// The private linear prediction with the least expected error, for noise of standard deviation `noise_sd` at
/// sensitivity 1 (the noise multiplier of the mechanism times the largest change of one target, in units of the model).
///
/// Obligation: whatever the solver returns, [`Cloak`] scales the strategy until every column is covered, and checks it.
///
/// ```
/// use std::sync::Arc;
///
/// use dpgp_gp::{PriorMoments, SharedCovariance};
/// use dpgp_cloaking::{RiskProblem, risk_cloak};
/// use nalgebra::DMatrix;
/// // One latent value of variance 1, seen once with noise of variance 1/2; the release adds noise of variance 1/2.
/// let one = DMatrix::from_element(1, 1, 1.0);
/// let shared = Arc::new(SharedCovariance::of_factor(one.clone()));
/// let moments = PriorMoments { cross: one, shared, own: vec![0.5], variances: vec![1.0] };
/// let design = risk_cloak(&RiskProblem::even(moments), 0.5f64.sqrt())?;
/// // It is 1 / (1 + 1/2 + 1/2) times what is released, and half of the variance is explained.
/// assert!((design.cloak.mean_columns()[(0, 0)] - 0.5).abs() < 1e-9);
/// assert!((design.expected - 0.5).abs() < 1e-9 && design.gap < 1e-6);
/// # Ok::<(), dpgp_noise::PrivacyError>(())
/// ```
///
/// # Errors
/// [`PrivacyError::NothingToProtect`] if no weighted point depends on any target, [`PrivacyError::NoNoise`] unless the standard
/// deviation is positive and finite, [`PrivacyError::Linalg`] if a matrix is not finite or a factorisation fails.
pub fn risk_cloak(problem: &RiskProblem, noise_sd: f64) -> Result<RiskDesign, PrivacyError> {
    let noisy = noise_sd > 0.0 && noise_sd.is_finite();
    if !noisy {
        return Err(PrivacyError::NoNoise { solver: "risk" });
    }
    let reduced = Reduced::new(problem, noise_sd)?;
    let found = staircase::solve(&reduced)?;
    // The posterior mean at all points, those without weight too.
    let seen = &found.point.rows * problem.moments.cross.transpose();
    let estimator = found.point.covariance.solve(&seen).transpose();
    let mut cloak = Cloak::of_strategy(&estimator, &found.point.rows, found.products)?;
    let variances = variances(problem, &reduced, &cloak);
    let expected: f64 =
        variances.iter().zip(&problem.weights).map(|(variance, weight)| variance * weight).sum();
    let gap = ((expected - found.least + reduced.dropped) / expected).max(0.0);
    cloak.gap = Some(gap);
    Ok(RiskDesign { cloak, expected, variances, gap, steps: found.products })
}

/// The diagonal of `K** - 2 C K*' + C A C' + s^2 L L'`, for the very map and noise of the release.
fn variances(problem: &RiskProblem, reduced: &Reduced, cloak: &Cloak) -> Vec<f64> {
    let (map, noise): (DMatrix<f64>, DMatrix<f64>) = (cloak.mean_columns(), cloak.noise_map());
    let moved = reduced.times_covariance(&map) - 2.0 * &problem.moments.cross;
    let explained = map.row_iter().zip(moved.row_iter()).map(|(c, moved)| c.dot(&moved));
    let added = noise.row_iter().map(|row| reduced.noise * row.norm_squared());
    problem
        .moments
        .variances
        .iter()
        .zip(explained.zip(added))
        .map(|(prior, (explained, added))| prior + explained + added)
        .collect()
}
