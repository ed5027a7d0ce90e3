//! The second-order model of the error around a strategy.

use nalgebra::DMatrix;

use super::point::Point;
use super::reduced::Reduced;
use super::sphere::released;
use dpgp_linalg::product;

/// The least weight of a column in the metric, relative to the largest.
const LEAST_WEIGHT: f64 = 1e-12;

/// Gradient, Hessian and metric of half the error on the product of the unit spheres of the columns.
///
/// Along D (r x n), with `R = E D' - L W A D'` and `dL = R S^-1`, half the Hessian of the error is
/// `lambda D - dL' E + L' dL W A + L' L D A`, less its part along the columns. Its largest terms are diagonal,
/// `lambda_u + e_u (L' L)_jj`, and those are the metric.
pub(super) struct Quadratic<'a> {
    problem: &'a Reduced,
    point: &'a Point,
    /// `E'` (n x p).
    residual_transposed: DMatrix<f64>,
    pulls: Vec<f64>,
    /// The gradient, tangent, with a row of slack.
    pub gradient: DMatrix<f64>,
    metric: DMatrix<f64>,
    /// The columns of the strategy divided by the metric.
    normals: DMatrix<f64>,
}

impl<'a> Quadratic<'a> {
    pub fn new(problem: &'a Reduced, point: &'a Point) -> Self {
        let pulls = point.pulls();
        let last = point.rows.nrows();
        let downhill = point.gradient.clone().insert_row(last, 0.0);
        let metric = metric(problem, point, &pulls);
        let normals = point.strategy.component_div(&metric);
        let residual_transposed = point.residual.transpose();
        let gradient = tangent(&point.strategy, -downhill);
        Self { problem, point, residual_transposed, pulls, gradient, metric, normals }
    }

    /// The Hessian applied to a tangent direction, with a row of slack.
    pub fn hessian(&self, direction: &DMatrix<f64>) -> DMatrix<f64> {
        let (point, rows) = (self.point, released(direction));
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
        tangent(&point.strategy, image)
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
    pub fn extent(&self) -> f64 {
        self.point.strategy.iter().zip(self.metric.iter()).map(|(w, m)| w * w * m).sum()
    }
}

/// `|lambda_u| + e_u (L' L)_jj`, and `|lambda_u|` for slack.
fn metric(problem: &Reduced, point: &Point, pulls: &[f64]) -> DMatrix<f64> {
    let floor = LEAST_WEIGHT * pulls.iter().fold(f64::MIN_POSITIVE, |most, pull| most.max(pull.abs()));
    DMatrix::from_fn(point.strategy.nrows(), pulls.len(), |j, u| {
        pulls[u].abs().max(floor) + problem.own[u] * point.spread.get(j).copied().unwrap_or(0.0)
    })
}

/// Directions less their parts along the columns.
fn tangent(strategy: &DMatrix<f64>, mut direction: DMatrix<f64>) -> DMatrix<f64> {
    for (mut column, at) in direction.column_iter_mut().zip(strategy.column_iter()) {
        column.axpy(-column.dot(&at), &at, 1.0);
    }
    direction
}
