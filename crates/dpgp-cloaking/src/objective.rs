//! The objectives of noise designs: the least total noise variance, the part of the root mean squared error that
//! noise causes, and the published one, the least log determinant of the noise covariance.

use nalgebra::{DMatrix, DVector};

use super::options::{LeverageEvaluation, WeightProblem};
use dpgp_linalg::{
    Cholesky, LinalgError, RightSvd, add_outer_lower, cholesky_of_gram_matrix, right_svd, transposed_product,
};

/// Where `exp(-t s)` has died out: what is left out of a sum `x sum w exp(-t x)` by it is below the sum of the terms with `t x > 10`,
/// each of `step t x exp(-t x)`: 9.1e-4.
const DEAD: f64 = 10.0;

/// Minimise `tr M` with `M(v) = (sum v_i b_i b_i')^(1/2)`.
///
/// The Lagrangian `tr M + sum v_i (b_i' M^-1 b_i - 1)` is least where `M^2 = B V B'`; so the dual is
/// `max 2 tr M(v) - sum v`, `phi = 2 tr M(v)`, and by scaling v the dual value is `(tr M)^2 / sum v`. The primal value
/// is `tr M max_i g_i`. With `M = P diag(s) P'` and `a_i = P' b_i`, the Hessian is
/// `sum_kl a_ki a_li a_kj a_lj / (s_k s_l (s_k + s_l))`. With `1 / x = sum_q w_q exp(-t_q x)` it falls apart into
/// few squares, `sum_q (a_i' diag(d_q) a_j)^2` with `d_q = sqrt(w_q) exp(-t_q s) / s`: some ten products of matrices instead
/// of `r / 2`. The error of the sum is one of the Newton step, never of the gap.
pub(super) struct TraceProblem {
    columns: DMatrix<f64>,
}

impl TraceProblem {
    /// For columns (r x k) of full row rank.
    pub fn new(columns: DMatrix<f64>) -> Self {
        Self { columns }
    }

    /// The singular values and right vectors of `V^(1/2) B'` (k x r), which are those of M.
    fn decompose(&self, weights: &[f64]) -> Result<RightSvd, LinalgError> {
        let factor = factor_weighted_columns("B V B'", &self.columns, weights)?;
        right_svd("V^(1/2) B'", &factor.factor().transpose())
    }
}

/// `sqrt(w) exp(-t s) / s` of a falling spectrum s, where it has not died out: of the last, smallest eigenvalues.
fn hessian_term(spectrum: &DVector<f64>, weight: f64, node: f64) -> DVector<f64> {
    let dead = spectrum.iter().take_while(|s| node * **s > DEAD).count();
    let alive = spectrum.rows(dead, spectrum.len() - dead);
    alive.map(|s| weight.sqrt() * (-node * s).exp() / s)
}

impl WeightProblem for TraceProblem {
    fn columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem> {
        Box::new(Self::new(self.columns.select_columns(columns)))
    }

    fn evaluate(&self, weights: &[f64]) -> Result<LeverageEvaluation, LinalgError> {
        let svd = self.decompose(weights)?;
        let coordinates = transposed_product(&svd.v, &self.columns);
        let inverse = svd.s.map(|s| 1.0 / s);
        // In the eigenvectors of M the leverage is a weighted sum of squares, and needs no solve.
        let leverages = coordinates
            .column_iter()
            .map(|column| column.iter().zip(inverse.iter()).map(|(a, inverse)| a * a * inverse).sum())
            .collect();
        Ok(LeverageEvaluation { leverages, coordinates, spectrum: svd.s.iter().copied().collect() })
    }

    fn hessian_terms(&self, at: &LeverageEvaluation) -> Vec<DVector<f64>> {
        let s = DVector::from_column_slice(&at.spectrum);
        // s_k + s_l lies between twice the least and twice the greatest eigenvalue.
        let hessian_terms = reciprocal_quadrature(2.0 * s.min(), 2.0 * s.max());
        let hessian_terms = hessian_terms.into_iter().map(|(weight, node)| hessian_term(&s, weight, node));
        hessian_terms.filter(|term| !term.is_empty()).collect()
    }

    /// For orthogonal columns M has the eigenvalues `v_i^(1/2) |b_i|`, and `g_i = |b_i| / v_i^(1/2)`.
    fn multiplicative_exponent(&self) -> i32 {
        2
    }

    fn gap(&self, weights: &[f64], at: &LeverageEvaluation) -> f64 {
        let trace: f64 = at.spectrum.iter().sum();
        at.largest_leverage() * weights.iter().sum::<f64>() / trace - 1.0
    }

    fn covariance_root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        let svd = self.decompose(weights)?;
        let mut covariance_root = svd.v.transpose();
        for (mut row, s) in covariance_root.row_iter_mut().zip(svd.s.iter()) {
            row *= s.sqrt();
        }
        Ok(covariance_root)
    }
}

/// Step of the trapezoidal rule: its relative error is `2 |Gamma(1 + 2 pi i / step)|`, 0.064.
const STEP: f64 = 2.0;
/// The relative mass that is cut off at either end.
const CUT: f64 = 3e-2;

/// Pairs `(w, t)` with `1 / x = sum w exp(-t x)` to a relative error of 0.1 for x between `low` and `high`, both positive:
/// the trapezoidal rule for `1 / x = int exp(u - x e^u) du`. Their number is half of the log of `high / low` plus about 4. With
/// that error in its Hessian each Newton step still gains a factor of 10 near the optimum; with fewer terms, the additional steps cost
/// more than the terms save.
///
/// Source: Beylkin and Monzón 2010, "Approximation by exponential sums revisited", Sec. 2.
fn reciprocal_quadrature(low: f64, high: f64) -> Vec<(f64, f64)> {
    let (first, last) = ((CUT / high).ln(), ((1.0 / CUT).ln() / low).ln());
    let nodes = ((last - first) / STEP).ceil().max(0.0) as usize;
    // At node t = e^u the integrand exp(u - x t) is t exp(-x t).
    let nodes = (0..=nodes).map(|i| (first + STEP * i as f64).exp());
    nodes.map(|t| (STEP * t, t)).collect()
}

/// The largest `|L^-1 D|` of a factor for which the Gram matrix of rows may be formed: beyond it, forming it loses digits that the QR
/// factorisation keeps.
const WELL_CONDITIONED: f64 = 300.0;

/// The factor of `A V A'` for columns A (r x k) and their weights: by way of the matrix where that is as good, at half of the cost of a
/// QR factorisation.
///
/// Rounding in the formed matrix changes its entry (i, j) by a few units of `|a_i| |a_j|`, for the rows a of `A V^(1/2)`: their lengths
/// do not matter, only the angles between them (Demmel and Veselić 1992, Sec. 2). With D the lengths, the relative error of the factor
/// is at most about `|L^-1 D|^2` units of rounding.
fn factor_weighted_columns(
    matrix: &'static str,
    columns: &DMatrix<f64>,
    weights: &[f64],
) -> Result<Cholesky, LinalgError> {
    let rank = columns.nrows();
    let weighted = root_weighted_columns(columns, weights);
    let mut formed = DMatrix::zeros(rank, rank);
    add_outer_lower(&mut formed, weighted.as_slice());
    match Cholesky::without_jitter(matrix, &formed) {
        Ok(factor) if factor.row_scaled_inverse_norm() <= WELL_CONDITIONED => Ok(factor),
        _ => cholesky_of_gram_matrix(matrix, &weighted.transpose()),
    }
}

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
}

impl WeightProblem for LogDetProblem {
    fn columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    fn restrict(&self, columns: &[usize]) -> Box<dyn WeightProblem> {
        Box::new(Self::new(self.columns.select_columns(columns)))
    }

    fn evaluate(&self, weights: &[f64]) -> Result<LeverageEvaluation, LinalgError> {
        let coordinates = factor_weighted_columns("W V W'", &self.columns, weights)?.lower_solve(&self.columns);
        let leverages = coordinates.column_iter().map(|z| z.norm_squared()).collect();
        Ok(LeverageEvaluation { leverages, coordinates, spectrum: Vec::new() })
    }

    fn hessian_terms(&self, at: &LeverageEvaluation) -> Vec<DVector<f64>> {
        vec![DVector::from_element(at.coordinates.nrows(), 1.0)]
    }

    /// For orthogonal columns `g_i = 1 / v_i`.
    fn multiplicative_exponent(&self) -> i32 {
        1
    }

    fn gap(&self, weights: &[f64], at: &LeverageEvaluation) -> f64 {
        // With p = v / sum v: d_i(p) = sum(v) g_i, and rank ln(d / rank) bounds the distance to the optimum.
        let rank = self.columns.nrows() as f64;
        rank * (weights.iter().sum::<f64>() * at.largest_leverage() / rank).ln()
    }

    fn covariance_root(&self, weights: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        Ok(root_weighted_columns(&self.columns, weights).transpose())
    }
}

/// The columns of positive weight, each times the root of its weight.
fn root_weighted_columns(columns: &DMatrix<f64>, weights: &[f64]) -> DMatrix<f64> {
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

    #[test]
    fn the_error_is_small_over_the_whole_range() {
        for (low, high) in [(1.0, 1.0), (0.5, 3.0), (1e-9, 1.0), (1e3, 1e11)] {
            let terms = reciprocal_quadrature(low, high);
            assert!(terms.len() as f64 <= (high / low).ln() / 2.0 + 4.4);
            for i in 0..=1000 {
                let x = low * (high / low).powf(f64::from(i) / 1000.0);
                let sum: f64 = terms.iter().map(|(w, t)| w * (-t * x).exp()).sum();
                assert!((sum * x - 1.0).abs() < 0.1, "{x}: {}", sum * x - 1.0);
            }
        }
    }
}

#[cfg(test)]
mod log_det_tests {
    use super::*;

    /// Rows of lengths 1 and 1e-9 at an angle of 45 degrees are factorised by their matrix, with all digits.
    #[test]
    fn rows_of_any_lengths_keep_their_digits() {
        let columns = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 1e-9, 1e-9]);
        let formed = DMatrix::from_row_slice(2, 2, &[1.0, 1e-9, 1e-9, 2e-18]);
        assert!(Cholesky::without_jitter("M", &formed).unwrap().row_scaled_inverse_norm() < WELL_CONDITIONED);
        let factor = factor_weighted_columns("M", &columns, &[1.0, 1.0]).unwrap();
        for (found, expected) in factor.factor().iter().zip([1.0, 1e-9, 0.0, 1e-9]) {
            assert!((found - expected).abs() <= 1e-15 * expected, "{:?}", factor.factor());
        }
    }

    /// Row i is `e_(i-1) + e_i / 250`: the angle between a row and the span of those before it is never too small by itself, but the
    /// losses of digits multiply. Forming the matrix would lose the last pivot, 1/250.
    #[test]
    fn small_angles_multiply() {
        let mut chain = DMatrix::identity(5, 5);
        (1..5).for_each(|i| chain[(i, i)] = 1.0 / 250.0);
        (1..5).for_each(|i| chain[(i, i - 1)] = 1.0);
        // The columns in another basis, by a reflection: a factor that is triangular already would lose nothing.
        let normal = DVector::from_fn(5, |i, _| [0.7, -0.3, 0.5, 0.1, 0.4][i]);
        let reflection = DMatrix::identity(5, 5) - &normal * normal.transpose() * 2.0 / normal.norm_squared();
        let factor = factor_weighted_columns("M", &(&chain * reflection), &[1.0; 5]).unwrap();
        for i in 1..5 {
            assert!((250.0 * factor.factor()[(i, i)] - 1.0).abs() < 1e-3, "{i}: {}", factor.factor()[(i, i)]);
        }
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
