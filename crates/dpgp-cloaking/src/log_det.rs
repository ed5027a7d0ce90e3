//! The published objective: least log det of the noise covariance.

use nalgebra::{DMatrix, DVector};

use super::options::{LeverageEvaluation, WeightProblem};
use dpgp_linalg::{Cholesky, LinalgError, add_outer_lower, gram_factor};

/// The largest ratio of the diagonal entries of a factor of M for which M itself may be formed: beyond it, forming M
/// loses digits that the QR factorisation keeps.
const WELL_CONDITIONED: f64 = 300.0;

/// Minimise `log det M` with `M(v) = sum v_i w_i w_i'`: the dual of the minimum-volume ellipsoid centred
/// at the origin (D-optimal design). `phi = log det M(v)`; the Hessian is `(w_i' M^-1 w_j)^2`.
///
/// Certificate: with `p = v / sum v`, the covariance `max_i d_i(p) M(p)` is feasible and its log det exceeds
/// the least one by at most `r ln(max_i d_i(p) / r)` nats, where `d_i(p) = sum(v) g_i` and r is the rank.
pub(super) struct LogDetProblem {
    columns: DMatrix<f64>,
}

impl LogDetProblem {
    /// For whitened columns (r x k).
    pub fn new(columns: DMatrix<f64>) -> Self {
        Self { columns }
    }

    /// The factor of M: by way of M where that is as good, at a fifth of the cost of a QR factorisation.
    fn factor(&self, weights: &[f64]) -> Result<Cholesky, LinalgError> {
        let rank = self.columns.nrows();
        let mut formed = DMatrix::zeros(rank, rank);
        add_outer_lower(&mut formed, weight_columns(&self.columns, weights).as_slice());
        match Cholesky::without_jitter("W V W'", &formed) {
            Ok(factor) if diagonal_ratio(&factor) <= WELL_CONDITIONED => Ok(factor),
            _ => gram_factor("W V W'", &self.covariance_root(weights)?),
        }
    }
}

/// The largest diagonal entry of a factor over the smallest.
fn diagonal_ratio(factor: &Cholesky) -> f64 {
    let diagonal = factor.factor().diagonal();
    diagonal.max() / diagonal.min()
}

impl WeightProblem for LogDetProblem {
    fn columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem> {
        Box::new(Self::new(self.columns.select_columns(columns)))
    }

    fn evaluate(&self, weights: &[f64]) -> Result<LeverageEvaluation, LinalgError> {
        let coordinates = self.factor(weights)?.half_solve(&self.columns);
        let leverages = coordinates.column_iter().map(|z| z.norm_squared()).collect();
        Ok(LeverageEvaluation { leverages, coordinates, spectrum: Vec::new() })
    }

    fn hessian_terms(&self, at: &LeverageEvaluation) -> Vec<DVector<f64>> {
        vec![DVector::from_element(at.coordinates.nrows(), 1.0)]
    }

    fn gap(&self, weights: &[f64], at: &LeverageEvaluation) -> f64 {
        // With p = v / sum v: d_i(p) = sum(v) g_i, and rank ln(d / rank) bounds the distance to the optimum.
        let rank = self.columns.nrows() as f64;
        rank * (weights.iter().sum::<f64>() * at.largest_leverage() / rank).ln()
    }

    fn covariance_root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        Ok(weight_columns(&self.columns, weights).transpose())
    }
}

/// The columns of positive weight, each times the root of its weight.
pub(super) fn weight_columns(columns: &DMatrix<f64>, weights: &[f64]) -> DMatrix<f64> {
    let positive: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let mut scaled = columns.select_columns(&positive);
    for (mut column, &i) in scaled.column_iter_mut().zip(&positive) {
        column *= weights[i].sqrt();
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A diagonal factor of 4 and 1/2.
    #[test]
    fn the_spread_of_a_factor_is_a_ratio() {
        let factor = Cholesky::new("M", &DMatrix::from_diagonal(&DVector::from_column_slice(&[16.0, 0.25]))).unwrap();
        assert_eq!(diagonal_ratio(&factor), 8.0);
    }

    /// Columns whose lengths differ by 1e9 keep their leverages, which forming M would lose: 1 for each, and the two together.
    #[test]
    fn steep_columns_keep_their_digits() {
        let columns = DMatrix::from_row_slice(2, 3, &[1.0, 1.0, 0.0, 1.0, 1.0 + 1e-9, 1e-9]);
        let at = LogDetProblem::new(columns).evaluate(&[1.0, 1.0, 0.0]).unwrap();
        // The third column is the second less the first: its leverage by the other two is 2.
        for (leverage, expected) in at.leverages.iter().zip([1.0, 1.0, 2.0]) {
            assert!((leverage / expected - 1.0).abs() < 1e-6, "{:?}", at.leverages);
        }
    }
}
