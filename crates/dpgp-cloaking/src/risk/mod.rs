//! The private linear prediction of least expected error: map and noise designed together.
//!
//! Latent values `f*` at t points with prior covariance `K**`, group sums `y` of n groups with covariance `A`, and `K*`
//! (t x n) between them. The mechanism releases `C y + s z`, `z ~ N(0, M)`, where `c_u' M^-1 c_u <= 1` hides a change
//! of one target and s is the noise multiplier times that change. All expectations are over the prior and the noise. We minimise
//!
//! `J(C, M) = tr K** - 2 tr(C K*') + tr(C A C') + s^2 tr M` subject to `c_u' M^-1 c_u <= 1` for all u,
//!
//! which is jointly convex (`c' M^-1 c` is). Every map is allowed: the prior mean is `C = 0`, the mean of the Gaussian
//! process `C = K* A^-1`, and post-processing B of a release `(C, M)` is `(B C, B M B')`. So the optimum is
//! never worse than any of these. With `M = L L'` and `C = L W` the constraint says that the columns of the
//! strategy W (r x n) are at most 1 long: the mechanism releases `W y` with independent noise. For a given W the
//! best L is the posterior mean, `L = K* W' S^-1` with `S = W A W' + s^2 I`, and what it explains,
//! `F = tr(K* W' S^-1 W K*')`, is a concave function of `W' W`: `s^2 (W'W)^-1 + A` is inverted, a parallel sum.
//!
//! Theorem (certificate). For any C let `E = K* - C A`. For any `lambda > 0`, with `kappa` the largest eigenvalue of
//! `Lambda^-1/2 E' E Lambda^-1/2 / s^2`, every feasible `(C', M')` has `J(C', M') >= tr K** - tr(C A C') - kappa sum lambda`.
//!
//! Proof. `tr(C' A C'') >= 2 tr(C' A C^T) - tr(C A C^T)`, since A is positive semidefinite. So with `M' = L' L'^T` and
//! `C' = L' W'`, `J(C', M') >= tr K** - tr(C A C^T) - [2 <E, L' W'> - s^2 |L'|^2]`. The bracket is at most
//! `|E W'^T|^2 / s^2 = tr(W' E^T E W'^T) / s^2`, where L' is best, and that is at most `kappa sum_u lambda_u |w'_u|^2`, of
//! which no `|w'_u|` exceeds 1. QED
//!
//! The distance of a design `(L, W)` from the optimum is thus at most `kappa sum lambda + s^2 |L|^2 - 2 <E, L W>`, which
//! is zero at the optimum for its multipliers `lambda_u = <e_u, L w_u>`. The solver is the method of Newton with
//! trust regions on the columns of W, in few rows, to which the eigenvectors that the certificate finds wanting are added.
//!
//! Sources: Degue and Le Ny 2017 (arXiv 1707.08919), the same design for signals as a semidefinite program; Li et al. 2010 (the
//! matrix mechanism), strategies without a prior; Balle and Wang 2018, denoising of a release that is given.

mod certificate;
mod design;
mod newton;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use certificate::EvaluatedStrategy;
use dpgp_gp::{CovarianceRepresentation, TargetSumCovariances};
use dpgp_linalg::{leading_svd, product};
use dpgp_noise::PrivacyError;
use newton::without_slack;

pub use design::{MinimumRiskDesign, design_minimum_risk_prediction};

/// The squared correlation of points and rows below which the prior mean has no digit that rows could change.
const UNRELATED: f64 = 1e-30;

/// Most that the dropped directions may explain, as a share of the prior error.
const NEGLIGIBLE: f64 = 1e-12;
/// The part of it that the decomposition may leave out, where its directions fall fast.
const REMAINDER: f64 = 0.1;

/// `T = U' K*` (p x n) for the leading left singular vectors of the weighted `K*`: the error over `K*` is that over T, less
/// what the dropped directions explain, which is at most `sum s_d^2 / min e` whatever is released. With `K* = B + R`, of which only B
/// is decomposed and `R'B = 0`, that is `(sum s_d^2 + |R|^2) / min e`.
struct ReducedRiskProblem {
    /// `T = diag(s) V'`, its rows orthogonal and falling.
    pub targets: DMatrix<f64>,
    /// The norms `s` of the rows of T.
    pub scale: DVector<f64>,
    /// S (n x n), so that `A = S + diag(e)`.
    pub shared: Arc<CovarianceRepresentation>,
    pub own: Vec<f64>,
    /// The variance `s^2` of the noise.
    pub noise: f64,
    /// The expected error of the prior mean.
    pub prior: f64,
    /// The most that the dropped directions explain.
    pub dropped: f64,
}

impl ReducedRiskProblem {
    /// # Errors
    /// [`PrivacyError::NothingToProtect`] if `K*` is zero, or no more than rounding of the variances beside it; [`PrivacyError::Linalg`] if it is not finite.
    pub fn new(problem: &PredictionRiskProblem, noise_sd: f64) -> Result<Self, PrivacyError> {
        let cross = problem.weighted_cross_covariance();
        let prior = problem.prior_error();
        let least = problem.moments.own.iter().copied().fold(f64::INFINITY, f64::min);
        let most = NEGLIGIBLE * prior * least;
        let svd = leading_svd("K*", &cross, (REMAINDER * most).sqrt() / cross.norm())?;
        // Where no small remainder was reached all directions are there.
        let remainder = if svd.s.len() < cross.nrows().min(cross.ncols()) { REMAINDER * most } else { 0.0 };
        let SingularValueCut { rank, dropped } = cut_singular_values(svd.s.as_slice(), most - remainder);
        let largest = problem.moments.shared.largest_variance();
        if rank == 0 || svd.s[0].powi(2) <= UNRELATED * prior * largest {
            return Err(PrivacyError::NothingToProtect);
        }
        let scale = svd.s.rows(0, rank).into_owned();
        let mut targets = svd.v.columns(0, rank).transpose();
        targets.column_iter_mut().for_each(|mut column| column.component_mul_assign(&scale));
        Ok(Self {
            targets,
            scale,
            shared: Arc::clone(&problem.moments.shared),
            own: problem.moments.own.clone(),
            noise: noise_sd * noise_sd,
            prior,
            dropped: (dropped + remainder) / least,
        })
    }

    /// `D A` for D (r x n).
    pub fn times_covariance(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        let mut moved = self.shared.left_multiply(rows);
        for ((mut out, column), own) in moved.column_iter_mut().zip(rows.column_iter()).zip(&self.own) {
            out.axpy(*own, &column, 1.0);
        }
        moved
    }
}

/// How many singular values are kept, and the sum of the squares of the others.
struct SingularValueCut {
    rank: usize,
    dropped: f64,
}

/// Drops the smallest values as long as their squares sum to no more than `most`, and those that are zero.
fn cut_singular_values(values: &[f64], most: f64) -> SingularValueCut {
    let mut at = SingularValueCut { rank: values.len(), dropped: 0.0 };
    while at.rank > 0 {
        let dropped = at.dropped + values[at.rank - 1].powi(2);
        // The largest goes only if it is zero: a prior that is far larger than what targets explain is no reason.
        if dropped > most || at.rank == 1 && dropped > 0.0 {
            break;
        }
        at = SingularValueCut { rank: at.rank - 1, dropped };
    }
    at
}

/// Latent values at t points, to be predicted from the sums of the targets of equal inputs.
#[derive(Debug, Clone)]
pub struct PredictionRiskProblem {
    /// The prior of both, in units of the model.
    pub moments: TargetSumCovariances,
    /// Public weights (t), not negative: the error is the sum of the weighted squared errors. A point without weight is
    /// predicted, but nothing is spent on it.
    pub weights: Vec<f64>,
}

impl PredictionRiskProblem {
    /// All points alike.
    pub fn with_equal_weights(moments: TargetSumCovariances) -> Self {
        Self { weights: vec![1.0; moments.variances.len()], moments }
    }

    /// `K*` with its rows scaled by the roots of the weights.
    fn weighted_cross_covariance(&self) -> DMatrix<f64> {
        let mut cross = self.moments.cross.clone();
        for (mut row, weight) in cross.row_iter_mut().zip(&self.weights) {
            row *= weight.sqrt();
        }
        cross
    }

    /// The weighted sum of the prior variances: the expected error of the prior mean.
    fn prior_error(&self) -> f64 {
        self.moments.variances.iter().zip(&self.weights).map(|(variance, weight)| variance * weight).sum()
    }
}

/// The least weight of a column in the metric, relative to the largest.
const LEAST_WEIGHT: f64 = 1e-12;

/// Gradient, Hessian and metric of half the error on the product of the unit spheres of the columns.
///
/// Along D (r x n), with `R = E D' - L W A D'` and `dL = R S^-1`, half the Hessian of the error is
/// `lambda D - dL' E + L' dL W A + L' L D A`, less its part along the columns. Its largest terms are diagonal,
/// `lambda_u + e_u (L' L)_jj`, and those are the metric.
struct QuadraticErrorModel<'a> {
    problem: &'a ReducedRiskProblem,
    point: &'a EvaluatedStrategy,
    /// `E'` (n x p).
    residual_transposed: DMatrix<f64>,
    pulls: Vec<f64>,
    /// The gradient, tangent, with a row of slack.
    pub gradient: DMatrix<f64>,
    metric: DMatrix<f64>,
    /// The columns of the strategy divided by the metric.
    normals: DMatrix<f64>,
}

impl<'a> QuadraticErrorModel<'a> {
    pub fn new(problem: &'a ReducedRiskProblem, point: &'a EvaluatedStrategy) -> Self {
        let pulls = point.radial_gradients();
        let last = point.rows.nrows();
        let downhill = point.gradient.clone().insert_row(last, 0.0);
        let metric = tangent_metric(problem, point, &pulls);
        let normals = point.strategy.component_div(&metric);
        let residual_transposed = point.residual.transpose();
        let gradient = project_onto_tangent(&point.strategy, -downhill);
        Self { problem, point, residual_transposed, pulls, gradient, metric, normals }
    }

    /// The Hessian applied to a tangent direction, with a row of slack.
    pub fn apply_hessian(&self, direction: &DMatrix<f64>) -> DMatrix<f64> {
        let (point, rows) = (self.point, without_slack(direction));
        let moved = self.problem.times_covariance(&rows);
        let crossed = product(&point.rows, &moved.transpose());
        let seen = product(&rows, &self.residual_transposed) - product(&crossed, &point.estimator);
        let change = point.covariance.solve(&seen);
        let turned = product(&point.estimator, &change.transpose());
        let curved = product(&turned, &point.moved) - product(&change, &point.residual);
        let mut image = direction.clone();
        let last = rows.nrows();
        for (u, mut column) in image.column_iter_mut().enumerate() {
            column *= self.pulls[u];
            for j in 0..last {
                column[j] += curved[(j, u)] + point.spread[j] * moved[(j, u)];
            }
        }
        project_onto_tangent(&point.strategy, image)
    }

    /// The inverse of the metric on tangent directions.
    pub fn precondition(&self, direction: &DMatrix<f64>) -> DMatrix<f64> {
        let mut scaled = direction.component_div(&self.metric);
        for ((mut column, at), normal) in
            scaled.column_iter_mut().zip(self.point.strategy.column_iter()).zip(self.normals.column_iter())
        {
            let share = column.dot(&at) / normal.dot(&at);
            column.axpy(-share, &normal, 1.0);
        }
        scaled
    }

    /// The squared length of the strategy itself in the metric: the unit of the radius.
    pub fn squared_strategy_norm_in_metric(&self) -> f64 {
        self.point.strategy.iter().zip(self.metric.iter()).map(|(w, m)| w * w * m).sum()
    }
}

/// `|lambda_u| + e_u (L' L)_jj`, and `|lambda_u|` for slack.
fn tangent_metric(problem: &ReducedRiskProblem, point: &EvaluatedStrategy, pulls: &[f64]) -> DMatrix<f64> {
    let floor = LEAST_WEIGHT * pulls.iter().fold(f64::MIN_POSITIVE, |most, pull| most.max(pull.abs()));
    DMatrix::from_fn(point.strategy.nrows(), pulls.len(), |j, u| {
        pulls[u].abs().max(floor) + problem.own[u] * point.spread.get(j).copied().unwrap_or(0.0)
    })
}

/// Directions less their parts along the columns.
fn project_onto_tangent(strategy: &DMatrix<f64>, mut direction: DMatrix<f64>) -> DMatrix<f64> {
    for (mut column, at) in direction.column_iter_mut().zip(strategy.column_iter()) {
        column.axpy(-column.dot(&at), &at, 1.0);
    }
    direction
}

#[cfg(test)]
mod reduced_tests {
    use super::*;

    #[test]
    fn the_smallest_values_go_as_long_as_they_are_little() {
        for (values, most, rank, dropped) in [
            (&[3.0, 1.0, 0.1][..], 0.02, 2, 0.1f64.powi(2)),
            (&[3.0, 0.2, 0.1], 1.0, 1, 0.1f64.powi(2) + 0.2f64.powi(2)),
            (&[3.0, 0.0], 0.0, 1, 0.0),
            // The largest goes only if it is zero.
            (&[1.0], 10.0, 1, 0.0),
            (&[0.0], 0.0, 0, 0.0),
        ] {
            let found = cut_singular_values(values, most);
            assert_eq!(found.rank, rank, "{values:?}");
            assert!((found.dropped - dropped).abs() < 1e-15, "{values:?}: {}", found.dropped);
        }
    }

    /// Of many points of a smooth prior few directions are decomposed; all that K* has beside them is counted as dropped, and is negligible.
    #[test]
    fn what_is_not_decomposed_is_dropped() {
        use crate::risk::tests::problem;
        let places: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        let smooth = problem(&places, &[1.0; 200], &places);
        let reduced = ReducedRiskProblem::new(&smooth, 1.0).unwrap();
        assert!(reduced.scale.len() < 40, "{}", reduced.scale.len());
        let mut directions = reduced.targets.clone();
        directions.column_iter_mut().for_each(|mut column| column.component_div_assign(&reduced.scale));
        let cross = smooth.weighted_cross_covariance();
        let beside = &cross - &cross * directions.transpose() * &directions;
        let least = smooth.moments.own.iter().copied().fold(f64::INFINITY, f64::min);
        let beside = beside.norm_squared() / least;
        assert!(beside <= reduced.dropped && reduced.dropped <= NEGLIGIBLE * reduced.prior, "{beside:e}");
    }

    /// Of two points that are nearly one the difference is dropped: it explains at most its square over the least noise variance of a
    /// target, 0.1.
    #[test]
    fn what_is_dropped_is_bounded() {
        use crate::risk::tests::problem;
        use dpgp_linalg::thin_svd;
        let inputs = [0.0, 0.3, 0.6];
        let close = problem(&inputs, &[1.0; 3], &[0.5, 0.5 + 1e-7]);
        let svd = thin_svd("K*", &close.weighted_cross_covariance()).unwrap();
        let reduced = ReducedRiskProblem::new(&close, 1.0).unwrap();
        assert_eq!((reduced.scale.len(), svd.s.len()), (1, 2));
        assert!(svd.s[1] > 1e-9 && (reduced.dropped / (svd.s[1].powi(2) / 0.1) - 1.0).abs() < 1e-9);
        // A little further apart it is more than what may be dropped, 1e-12 of `2 * 0.1`.
        let apart = ReducedRiskProblem::new(&problem(&inputs, &[1.0; 3], &[0.5, 0.5 + 3e-6]), 1.0).unwrap();
        assert_eq!((apart.scale.len(), apart.dropped), (2, 0.0));
    }
}
