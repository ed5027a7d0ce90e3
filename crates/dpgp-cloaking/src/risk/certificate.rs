//! A bound on the distance of a strategy from the optimum, and the directions that it lacks.

use nalgebra::{DMatrix, DVector};

use super::ReducedRiskProblem;
use super::newton::without_slack;
use dpgp_linalg::{Cholesky, gram, product, thin_svd, transposed_product};
use dpgp_noise::PrivacyError;

/// The least sum of the multipliers, relative to the error: what the floor costs the bound.
const FLOOR: f64 = 1e-9;
/// The length of the rows that are added, relative to those of a strategy of one row.
const ADDED: f64 = 0.3;
/// How far an eigenvalue is above 1 where the row that is added has its full length.
const CLEARLY_ABOVE: f64 = 1.0 / 3.0;

/// The dual side of a strategy: multipliers and the bound that they prove.
pub(super) struct DualBound {
    /// No release has a smaller expected error in the reduced problem.
    pub least: f64,
    multipliers: Vec<f64>,
    /// The sum of the multipliers.
    total: f64,
    /// `Lambda^-1/2 E' / s` (n x p).
    scaled: DMatrix<f64>,
}

impl DualBound {
    /// The bound of the module's theorem, for `lambda_u = max(|L' e_u|, |e_u|^2 / s^2)` and a little more: at the optimum the first
    /// is the multiplier, and below the second no multiplier is feasible.
    ///
    /// # Errors
    /// [`PrivacyError::Linalg`] if a factorisation fails.
    pub fn new(problem: &ReducedRiskProblem, point: &EvaluatedStrategy) -> Result<Self, PrivacyError> {
        let multipliers = dual_multipliers(problem, point);
        let total: f64 = multipliers.iter().sum();
        let mut scaled = point.residual.transpose();
        for (mut row, multiplier) in scaled.row_iter_mut().zip(&multipliers) {
            row /= (problem.noise * multiplier).sqrt();
        }
        let kappa = GramSpectrum::new(&scaled)?.values[0];
        // tr(C A C') for C = L W.
        let spent = point.estimator.dot(&(product(&point.moved, &point.rows.transpose()) * &point.estimator));
        Ok(Self { least: problem.prior - spent - kappa * total, multipliers, total, scaled })
    }

    /// Rows that would explain more than `negligible`, scaled to enter the strategy: the eigenvectors above 1 of
    /// `Lambda^-1/2 E' E Lambda^-1/2 / s^2` outside the span of the strategy, where eigenvalues near 1 say nothing.
    ///
    /// # Errors
    /// [`PrivacyError::Linalg`] if a factorisation fails.
    pub fn missing_directions(&self, point: &EvaluatedStrategy, negligible: f64) -> Result<DMatrix<f64>, PrivacyError> {
        let outside = self.residual_outside_span(point)?;
        let spectrum = GramSpectrum::new(&outside)?;
        let room = spectrum.values.len() - point.rows.nrows().min(spectrum.values.len());
        let above = spectrum.values.iter().filter(|value| (*value - 1.0) * self.total > negligible);
        let count = above.count().min(room);
        let mut rows = (outside * spectrum.vectors.columns(0, count)).transpose();
        for (mut column, multiplier) in rows.column_iter_mut().zip(&self.multipliers) {
            column /= multiplier.sqrt();
        }
        let whole = ADDED * (rows.ncols() as f64 / count.max(1) as f64).sqrt();
        for (mut row, value) in rows.row_iter_mut().zip(spectrum.values.iter()) {
            row *= whole * ((value - 1.0) / CLEARLY_ABOVE).min(1.0).sqrt() / row.norm();
        }
        Ok(rows)
    }

    /// The scaled residual less its part in the span of the strategy, in the metric of the multipliers.
    fn residual_outside_span(&self, point: &EvaluatedStrategy) -> Result<DMatrix<f64>, PrivacyError> {
        let mut strategy = point.rows.transpose();
        for (mut row, multiplier) in strategy.row_iter_mut().zip(&self.multipliers) {
            row *= multiplier.sqrt();
        }
        let span = thin_svd("the strategy", &strategy)?.u;
        Ok(&self.scaled - product(&span, &transposed_product(&span, &self.scaled)))
    }
}

fn dual_multipliers(problem: &ReducedRiskProblem, point: &EvaluatedStrategy) -> Vec<f64> {
    let own = point.residual.column_iter().map(|e| e.norm_squared() / problem.noise);
    let pulls = point.gradient.column_iter().map(|g| g.norm());
    let largest: Vec<f64> = own.zip(pulls).map(|(own, pull)| own.max(pull)).collect();
    // Not zero, even where nothing is left to explain.
    let floor = (FLOOR * point.expected_error(problem).abs() / largest.len() as f64).max(f64::MIN_POSITIVE);
    largest.into_iter().map(|multiplier| multiplier + floor).collect()
}

/// Eigenvalues of `B' B`, falling, and its eigenvectors.
struct GramSpectrum {
    values: DVector<f64>,
    vectors: DMatrix<f64>,
}

impl GramSpectrum {
    fn new(b: &DMatrix<f64>) -> Result<Self, PrivacyError> {
        let svd = thin_svd("the certificate", &gram(b))?;
        Ok(Self { values: svd.s, vectors: svd.u })
    }
}

/// A strategy W, turned so that `L' L` is diagonal: neither rotations of the released numbers nor of the noise change anything.
pub(super) struct EvaluatedStrategy {
    /// W with its row of slack ((r + 1) x n).
    pub strategy: DMatrix<f64>,
    /// W (r x n).
    pub rows: DMatrix<f64>,
    /// `W A` (r x n).
    pub moved: DMatrix<f64>,
    /// `S = W A W' + s^2 I` (r x r).
    pub covariance: Cholesky,
    /// `L' = S^-1 W T'` (r x p).
    pub estimator: DMatrix<f64>,
    /// The diagonal of `L' L`.
    pub spread: Vec<f64>,
    /// `E = T - L W A` (p x n).
    pub residual: DMatrix<f64>,
    /// Half the gradient, `L' E` (r x n).
    pub gradient: DMatrix<f64>,
    /// `tr(T W' L')`, what the release explains.
    pub explained: f64,
}

impl EvaluatedStrategy {
    /// # Errors
    /// [`PrivacyError::Linalg`] if a factorisation fails.
    pub fn new(problem: &ReducedRiskProblem, mut strategy: DMatrix<f64>) -> Result<Self, PrivacyError> {
        let mut rows = without_slack(&strategy);
        let mut moved = problem.times_covariance(&rows);
        let seen = product(&rows, &problem.targets.transpose());
        let covariance = factorise_release_covariance(problem, &rows, &moved)?;
        let turn = thin_svd("the estimator", &covariance.solve(&seen))?.u.transpose();
        rows = product(&turn, &rows);
        moved = product(&turn, &moved);
        strategy.rows_mut(0, rows.nrows()).copy_from(&rows);
        let covariance = factorise_release_covariance(problem, &rows, &moved)?;
        let seen = turn * seen;
        let estimator = covariance.solve(&seen);
        let residual = &problem.targets - transposed_product(&estimator, &moved);
        Ok(Self {
            spread: estimator.row_iter().map(|row| row.norm_squared()).collect(),
            gradient: product(&estimator, &residual),
            explained: estimator.dot(&seen),
            strategy,
            rows,
            moved,
            covariance,
            estimator,
            residual,
        })
    }

    /// The expected error.
    pub fn expected_error(&self, problem: &ReducedRiskProblem) -> f64 {
        problem.prior - self.explained
    }

    /// `lambda_u = <gradient_u, w_u>`: how much the error would fall if the column might be longer.
    pub fn radial_gradients(&self) -> Vec<f64> {
        self.gradient.column_iter().zip(self.rows.column_iter()).map(|(g, w)| g.dot(&w)).collect()
    }
}

/// The Cholesky factor of `W A W' + s^2 I`.
fn factorise_release_covariance(
    problem: &ReducedRiskProblem,
    rows: &DMatrix<f64>,
    moved: &DMatrix<f64>,
) -> Result<Cholesky, PrivacyError> {
    let mut covariance = product(moved, &rows.transpose());
    (0..rows.nrows()).for_each(|i| covariance[(i, i)] += problem.noise);
    Ok(Cholesky::new("the covariance of the release", &covariance)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::newton::with_slack;
    use crate::risk::tests::{problem, small};

    /// A strategy of one row lacks some: the first is clearly missing, and so of full length, `.3` for each of the six columns over
    /// the root of their number; none is missing of what explains less than all that there is.
    #[test]
    fn missing_rows_are_scaled_by_what_they_explain() {
        let problem = ReducedRiskProblem::new(&small(), 1.0).unwrap();
        let rows = DMatrix::from_fn(1, 6, |_, j| 0.3 + 0.1 * j as f64);
        let point = EvaluatedStrategy::new(&problem, with_slack(&rows)).unwrap();
        let bound = DualBound::new(&problem, &point).unwrap();
        let missing = bound.missing_directions(&point, 1e-9).unwrap();
        let count = missing.nrows();
        assert!(count > 0, "{missing}");
        let full = 0.3 * (6.0 / count as f64).sqrt();
        assert!((missing.row(0).norm() / full - 1.0).abs() < 1e-12, "{}", missing.row(0).norm() / full);
        assert!(missing.row_iter().all(|row| row.norm() <= full * (1.0 + 1e-12)));
        assert_eq!(bound.missing_directions(&point, f64::INFINITY).unwrap().nrows(), 0);
        // In the metric of the multipliers they stand at right angles to the strategy.
        let along: f64 = (0..6).map(|u| missing[(0, u)] * bound.multipliers[u] * point.rows[(0, u)]).sum();
        let size: f64 = (0..6).map(|u| (missing[(0, u)] * bound.multipliers[u] * point.rows[(0, u)]).abs()).sum();
        assert!(along.abs() < 1e-9 * size, "{along:e} {size:e}");
    }

    /// A multiplier is the greater of the pull and of what a target weighs itself, and a billionth of the error shared by all.
    #[test]
    fn multipliers_are_never_zero() {
        let problem = ReducedRiskProblem::new(&small(), 0.5).unwrap();
        let rows = DMatrix::from_fn(1, 6, |_, j| 0.3 + 0.1 * j as f64);
        let point = EvaluatedStrategy::new(&problem, with_slack(&rows)).unwrap();
        let floor = FLOOR * point.expected_error(&problem) / 6.0;
        for (u, found) in dual_multipliers(&problem, &point).into_iter().enumerate() {
            let (own, pull) = (point.residual.column(u).norm_squared() / 0.25, point.gradient.column(u).norm());
            assert!(((found - own.max(pull)) / floor - 1.0).abs() < 1e-3, "{u}: {found} {floor:e}");
        }
    }

    /// Of six targets that have little to do with each other most are missing. Those that are clearly missing have the full length,
    /// `.3 sqrt(6 / count)`, others less.
    #[test]
    fn the_length_of_missing_rows_falls_with_their_number() {
        let inputs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let mut shorter = 0;
        for noise_sd in [0.1, 0.8, 1.0, 1.2] {
            let problem = ReducedRiskProblem::new(&problem(&inputs, &[1.0; 6], &inputs), noise_sd).unwrap();
            let rows = DMatrix::from_fn(1, 6, |_, j| 0.3 + 0.1 * j as f64);
            let point = EvaluatedStrategy::new(&problem, with_slack(&rows)).unwrap();
            let missing = DualBound::new(&problem, &point).unwrap().missing_directions(&point, 1e-9).unwrap();
            let full = 0.3 * (6.0 / missing.nrows() as f64).sqrt();
            let norms: Vec<f64> = missing.row_iter().map(|row| row.norm() / full).collect();
            assert!(missing.nrows() > 1 && norms.iter().all(|norm| *norm < 1.0 + 1e-12), "{noise_sd}: {norms:?}");
            assert!(noise_sd > 0.1 || (norms[0] - 1.0).abs() < 1e-12, "{norms:?}");
            shorter += norms.iter().filter(|norm| **norm < 0.99).count();
        }
        assert!(shorter > 0);
    }
}
