//! The problems.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use crate::RiskProblem;
use dpgp_gp::{PriorMoments, SharedCovariance};
use dpgp_linalg::Cholesky;

/// An exponentiated quadratic kernel of lengthscale 0.4 and variance 1, noise variance 0.1.
fn kernel(x: f64, y: f64) -> f64 {
    (-0.5 * ((x - y) / 0.4).powi(2)).exp()
}

/// Groups of sizes m at inputs x, and points p, all of weight 1.
pub fn problem(inputs: &[f64], sizes: &[f64], points: &[f64]) -> RiskProblem {
    let n = inputs.len();
    let common = DMatrix::from_fn(n, n, |i, j| kernel(inputs[i], inputs[j]));
    let mut factor = Cholesky::new("K", &common).unwrap().factor().clone();
    factor.row_iter_mut().zip(sizes).for_each(|(mut row, m)| row *= *m);
    RiskProblem::even(PriorMoments {
        cross: DMatrix::from_fn(points.len(), n, |i, j| kernel(points[i], inputs[j]) * sizes[j]),
        shared: Arc::new(SharedCovariance::of_factor(factor)),
        own: sizes.iter().map(|m| 0.1 * m).collect(),
        variances: vec![1.0; points.len()],
    })
}

/// Six groups and four points.
pub fn small() -> RiskProblem {
    problem(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], &[1.0, 2.0, 1.0, 5.0, 1.0, 20.0], &[-0.1, 0.25, 0.5, 1.2])
}

/// `A = S + diag(e)`.
pub fn covariance(problem: &RiskProblem) -> DMatrix<f64> {
    let own = DVector::from_column_slice(&problem.moments.own);
    problem.moments.shared.times(&DMatrix::identity(own.len(), own.len())) + DMatrix::from_diagonal(&own)
}

/// The map of the Gaussian process and its expected error without noise.
pub fn process(problem: &RiskProblem) -> (DMatrix<f64>, f64) {
    let solved = Cholesky::new("A", &covariance(problem)).unwrap().solve(&problem.moments.cross.transpose());
    let explained = solved.dot(&problem.moments.cross.transpose());
    (solved.transpose(), problem.prior_error() - explained)
}
