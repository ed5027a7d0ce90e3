//! The published objective: least log det of the noise covariance.

use nalgebra::DMatrix;

use super::objective::{Evaluation, WeightProblem};
use crate::linalg::{LinalgError, gram, gram_factor};

/// Minimise `log det M` with `M(v) = sum v_i w_i w_i'`: the dual of the minimum-volume ellipsoid centred
/// at the origin (D-optimal design). `phi = log det M(v)`; the Hessian is `(w_i' M^-1 w_j)^2`.
///
/// Certificate: with `p = v / sum v`, the covariance `max_i d_i(p) M(p)` is feasible and its log det exceeds
/// the least one by at most `r ln(max_i d_i(p) / r)` nats, where `d_i(p) = sum(v) g_i` and r is the rank.
pub(super) struct LogDet {
    columns: DMatrix<f64>,
}

impl LogDet {
    /// For whitened columns (r x k).
    pub fn new(columns: DMatrix<f64>) -> Self {
        Self { columns }
    }
}

impl WeightProblem for LogDet {
    fn columns(&self) -> usize {
        self.columns.ncols()
    }

    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem> {
        Box::new(Self::new(self.columns.select_columns(columns)))
    }

    fn evaluate(&self, weights: &[f64]) -> Result<Evaluation, LinalgError> {
        let factor = gram_factor("W V W'", &self.root(weights)?)?;
        let coordinates = factor.half_solve(&self.columns);
        let leverages = coordinates.column_iter().map(|z| z.norm_squared()).collect();
        Ok(Evaluation { leverages, coordinates, spectrum: Vec::new() })
    }

    fn hessian(&self, at: &Evaluation) -> DMatrix<f64> {
        gram(&at.coordinates).map(|h| h * h)
    }

    fn gap(&self, weights: &[f64], at: &Evaluation) -> f64 {
        let rank = self.columns.nrows() as f64;
        rank * (weights.iter().sum::<f64>() * at.largest() / rank).ln()
    }

    fn root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        Ok(weighted_rows(&self.columns, weights))
    }
}

/// The columns of positive weight as rows, each times the root of its weight.
pub(super) fn weighted_rows(columns: &DMatrix<f64>, weights: &[f64]) -> DMatrix<f64> {
    let positive: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let mut rows = columns.select_columns(&positive).transpose();
    for mut column in rows.column_iter_mut() {
        for (value, &i) in column.iter_mut().zip(&positive) {
            *value *= weights[i].sqrt();
        }
    }
    rows
}
