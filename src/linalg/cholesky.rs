//! Blocked Cholesky with a jitter ladder that reports what it added.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Par, Spec};
use nalgebra::DMatrix;

use super::LinalgError;
use super::view::{view, view_mut};

/// Rungs of the ladder, relative to the mean of the diagonal.
const LADDER: [f64; 8] = [0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];

/// The lower factor of `A + jitter I = L L'`.
#[derive(Debug, Clone)]
pub struct Cholesky {
    factor: DMatrix<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factorises the symmetric matrix `a` (its lower triangle is read). The jitter grows from zero
    /// by the ladder until the factorisation succeeds; [`Cholesky::jitter`] tells where it stopped.
    ///
    /// # Errors
    /// [`LinalgError`] naming `matrix` if `a` is not finite or not positive definite on the last rung.
    pub fn new(matrix: &'static str, a: &DMatrix<f64>) -> Result<Self, LinalgError> {
        Self::on_ladder(matrix, a, &LADDER)
    }

    /// As [`Cholesky::new`], for a matrix that must be positive definite as it is.
    ///
    /// # Errors
    /// [`LinalgError`] naming `matrix` if `a` is not finite or not positive definite.
    pub fn without_jitter(matrix: &'static str, a: &DMatrix<f64>) -> Result<Self, LinalgError> {
        Self::on_ladder(matrix, a, &LADDER[..1])
    }

    fn on_ladder(matrix: &'static str, a: &DMatrix<f64>, ladder: &[f64]) -> Result<Self, LinalgError> {
        let size = a.nrows();
        if a.iter().any(|v| !v.is_finite()) {
            return Err(LinalgError::NotFinite { matrix, rows: size, columns: size });
        }
        let scale = a.diagonal().sum() / size.max(1) as f64;
        let mut jitter = 0.0;
        for rung in ladder {
            jitter = rung * scale;
            if let Some(factor) = factorise(a, jitter) {
                return Ok(Self { factor, jitter });
            }
        }
        Err(LinalgError::NotPositiveDefinite { matrix, size, jitter })
    }

    /// From a lower factor that another factorisation has found.
    pub(super) fn from_factor(factor: DMatrix<f64>) -> Self {
        Self { factor, jitter: 0.0 }
    }

    /// The factor of `scale^2 (A + jitter I)`.
    pub fn scaled(&self, scale: f64) -> Self {
        Self { factor: &self.factor * scale, jitter: self.jitter * scale * scale }
    }

    /// What was added to the diagonal, in the units of the matrix; zero if nothing was needed.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The lower triangular factor.
    pub fn factor(&self) -> &DMatrix<f64> {
        &self.factor
    }

    /// `L^-1 b`.
    pub fn half_solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut x = b.clone();
        self.half_solve_mut(&mut x);
        x
    }

    /// Replaces b by `L^-1 b`.
    pub fn half_solve_mut(&self, b: &mut DMatrix<f64>) {
        solve_lower_triangular_in_place(view(&self.factor), view_mut(b), Par::Seq);
    }

    /// `(L L')^-1 b`.
    pub fn solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        self.upper_solve(&self.half_solve(b))
    }

    /// `L^-T b`.
    pub fn upper_solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut x = b.clone();
        let upper = view(&self.factor).transpose();
        solve_upper_triangular_in_place(upper, view_mut(&mut x), Par::Seq);
        x
    }
}

/// In place, on one copy of the matrix.
fn factorise(a: &DMatrix<f64>, jitter: f64) -> Option<DMatrix<f64>> {
    let mut factor = a.clone();
    let size = factor.nrows();
    (0..size).for_each(|i| factor[(i, i)] += jitter);
    let params = Spec::<LltParams, f64>::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(size, Par::Seq, params));
    let stack = MemStack::new(&mut memory);
    let plain = LltRegularization::default();
    cholesky_in_place(view_mut(&mut factor), plain, Par::Seq, stack, params).ok()?;
    factor.fill_upper_triangle(0.0, 1);
    factor.iter().all(|v| v.is_finite()).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_times_its_transpose_is_the_matrix() {
        let a = DMatrix::from_row_slice(3, 3, &[4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0]);
        let cholesky = Cholesky::new("A", &a).unwrap();
        let l = cholesky.factor();
        assert!((l * l.transpose() - &a).amax() < 1e-14);
        assert_eq!(cholesky.jitter(), 0.0);
        let b = DMatrix::from_row_slice(3, 1, &[1.0, -2.0, 0.5]);
        assert!((&a * cholesky.solve(&b) - b).amax() < 1e-14);
    }

    #[test]
    fn a_singular_matrix_needs_a_jitter_and_says_so() {
        let a = DMatrix::from_element(6, 6, 1.0);
        let cholesky = Cholesky::new("ones", &a).unwrap();
        assert!(cholesky.jitter() > 0.0 && cholesky.jitter() <= 1e-8);
    }

    #[test]
    fn an_indefinite_matrix_is_refused_by_name() {
        let a = DMatrix::from_row_slice(2, 2, &[1.0, 3.0, 3.0, 1.0]);
        let error = Cholesky::new("K", &a).unwrap_err();
        assert!(matches!(error, LinalgError::NotPositiveDefinite { matrix: "K", size: 2, .. }));
        let nan = DMatrix::from_element(1, 1, f64::NAN);
        assert!(matches!(Cholesky::new("K", &nan), Err(LinalgError::NotFinite { .. })));
    }
}
