//! What sums of targets have in common.

use nalgebra::DMatrix;

use dpgp_linalg::{Cholesky, LinalgError, gram, product};

/// A covariance matrix (k x k), positive semidefinite, as it is cheapest to multiply with.
#[derive(Debug, Clone)]
pub enum SharedCovariance {
    /// `F F'` for F (k x q), see [`SharedCovariance::of_factor`].
    Factor(SharedFactor),
    /// The matrix itself, where F would have no fewer columns than it has.
    Whole(DMatrix<f64>),
}

/// F (k x q) and its transpose, since both are multiplied from the left.
#[derive(Debug, Clone)]
pub struct SharedFactor {
    factor: DMatrix<f64>,
    transposed: DMatrix<f64>,
}

impl SharedCovariance {
    /// `F F'` for F (k x q).
    pub fn of_factor(factor: DMatrix<f64>) -> Self {
        Self::Factor(SharedFactor { transposed: factor.transpose(), factor })
    }

    /// `R S` for R (r x k).
    pub fn times(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Factor(SharedFactor { factor, transposed }) => product(&product(rows, factor), transposed),
            Self::Whole(whole) => product(rows, whole),
        }
    }

    /// `R S R'` for R (r x k).
    pub fn seen_by(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Factor(SharedFactor { factor, .. }) => {
                let seen = rows * factor;
                &seen * seen.transpose()
            }
            Self::Whole(whole) => product(&product(rows, whole), &rows.transpose()),
        }
    }

    /// `R (S + diag(e))^-1` for R (r x k) and positive e: of a factor by the inversion lemma,
    /// `D - D F (I + F' D F)^-1 F' D` with `D = diag(1/e)`.
    ///
    /// # Errors
    /// [`LinalgError`] if a factorisation fails.
    pub fn solved(&self, rows: &DMatrix<f64>, own: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        let factor = match self {
            Self::Factor(SharedFactor { factor, .. }) => factor,
            Self::Whole(whole) => {
                let all = Cholesky::assembled("S + diag(e)", || with_own(whole, own))?;
                return Ok(all.solve(&rows.transpose()).transpose());
            }
        };
        let (mut scaled, mut weighted) = (rows.clone(), factor.clone());
        for (u, own) in own.iter().enumerate() {
            scaled.column_mut(u).unscale_mut(*own);
            weighted.row_mut(u).unscale_mut(own.sqrt());
        }
        let inner = gram(&weighted) + DMatrix::identity(factor.ncols(), factor.ncols());
        let solved = Cholesky::new("I + F' D F", &inner)?.solve(&(&scaled * factor).transpose());
        let mut explained = product(factor, &solved);
        explained.row_iter_mut().zip(own).for_each(|(mut row, own)| row /= *own);
        Ok(scaled - explained.transpose())
    }

    /// The largest entry of the diagonal.
    pub fn largest_variance(&self) -> f64 {
        match self {
            Self::Factor(SharedFactor { factor, .. }) => {
                factor.row_iter().map(|row| row.norm_squared()).fold(0.0, f64::max)
            }
            Self::Whole(whole) => whole.diagonal().iter().copied().fold(0.0, f64::max),
        }
    }
}

fn with_own(whole: &DMatrix<f64>, own: &[f64]) -> DMatrix<f64> {
    let mut all = whole.clone();
    own.iter().enumerate().for_each(|(u, own)| all[(u, u)] += own);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both forms of one matrix, against dense algebra.
    #[test]
    fn both_forms_are_one_matrix() {
        let factor = DMatrix::from_fn(5, 2, |i, j| ((3 * i + 5 * j + 1) as f64).sin());
        let whole = &factor * factor.transpose();
        let rows = DMatrix::from_fn(3, 5, |i, j| ((2 * i + 7 * j) as f64).cos());
        let own = [0.5, 0.1, 2.0, 0.3, 1.0];
        let inverse = with_own(&whole, &own).try_inverse().unwrap();
        for shared in [SharedCovariance::of_factor(factor), SharedCovariance::Whole(whole.clone())] {
            assert!((shared.times(&rows) - &rows * &whole).amax() < 1e-14);
            assert!((shared.seen_by(&rows) - &rows * &whole * rows.transpose()).amax() < 1e-14);
            assert!((shared.solved(&rows, &own).unwrap() - &rows * &inverse).amax() < 1e-13);
            assert!((shared.largest_variance() - whole.diagonal().max()).abs() < 1e-15);
        }
    }
}
