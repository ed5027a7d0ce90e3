//! Blocked, parallel Cholesky factorisation with a jitter ladder that reports the jitter it added, and the factor of a Gram
//! matrix that is never formed.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par, Spec};
use nalgebra::DMatrix;

use super::LinalgError;
use super::products::{
    add_lower_product, copy_to_dmatrix, for_each_column_tile, for_each_piece_in_parallel, is_finite, view, view_mut,
};

/// Rungs of the ladder, relative to the mean of the diagonal: the same in all units of the matrix. The first ones are
/// as small as the rounding of the factorisation itself, which the last one exceeds a million times.
const LADDER: [f64; 8] = [0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];

/// The lower triangular factor L (n x n) of a symmetric positive definite matrix, `A + jitter I = L L'`. Cost `n^3 / 3`; each
/// solve for k right-hand sides costs `2 n^2 k`, a half solve half of that.
///
/// ```
/// use dpgp_linalg::Cholesky;
/// use nalgebra::DMatrix;
///
/// // [[4, 2], [2, 5]] is L L' with L = [[2, 0], [1, 2]], and (4, 2; 2, 5) (1, 2)' = (8, 12)'.
/// let cholesky = Cholesky::new("A", &DMatrix::from_row_slice(2, 2, &[4.0, 2.0, 2.0, 5.0]))?;
/// assert_eq!(cholesky.factor(), &DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 1.0, 2.0]));
/// assert_eq!(cholesky.solve(&DMatrix::from_column_slice(2, 1, &[8.0, 12.0])).as_slice(), [1.0, 2.0]);
/// assert_eq!(cholesky.jitter(), 0.0);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
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
    /// [`LinalgError`] naming `matrix` if the lower triangle of `a` is not finite or `a` is not positive definite on the last rung.
    pub fn new(matrix: &'static str, a: &DMatrix<f64>) -> Result<Self, LinalgError> {
        Self::with_jitter_ladder(matrix, || a.clone(), &LADDER)
    }

    /// As [`Cholesky::new`], in the memory of the matrix that `assemble` makes: of a large one there is no second. It is made again
    /// for each further rung, and once more to see why the first one failed.
    ///
    /// # Errors
    /// As [`Cholesky::new`].
    pub fn new_in_place(matrix: &'static str, assemble: impl Fn() -> DMatrix<f64>) -> Result<Self, LinalgError> {
        Self::with_jitter_ladder(matrix, assemble, &LADDER)
    }

    /// As [`Cholesky::new`], for a matrix that must be positive definite as it is.
    ///
    /// # Errors
    /// [`LinalgError`] naming `matrix` if the lower triangle of `a` is not finite or `a` is not positive definite.
    pub fn without_jitter(matrix: &'static str, a: &DMatrix<f64>) -> Result<Self, LinalgError> {
        Self::with_jitter_ladder(matrix, || a.clone(), &LADDER[..1])
    }

    fn with_jitter_ladder(
        matrix: &'static str,
        assemble: impl Fn() -> DMatrix<f64>,
        ladder: &[f64],
    ) -> Result<Self, LinalgError> {
        let (mut size, mut jitter) = (0, 0.0);
        for rung in ladder {
            // Each rung starts from A again: jitters that were added up would not be the one that is reported.
            let mut a = assemble();
            size = a.nrows();
            jitter = rung * (a.diagonal().sum() / size.max(1) as f64);
            (0..size).for_each(|i| a[(i, i)] += jitter);
            if let Some(factor) = factorise(a) {
                return Ok(Self { factor, jitter });
            }
            // Checked only after a failure, because reading all entries takes a twelfth of the time of a factorisation. Each entry below
            // the diagonal enters a pivot: if it is not finite, that pivot is not a positive number. An infinite entry on the diagonal
            // makes the jitter NaN.
            if *rung == 0.0 && !has_finite_lower_triangle(&assemble()) {
                return Err(LinalgError::NotFinite { matrix, rows: size, columns: size });
            }
        }
        Err(LinalgError::NotPositiveDefinite { matrix, size, jitter })
    }

    /// The factor `scale L` of `scale^2 (A + jitter I)`.
    pub fn scaled(&self, scale: f64) -> Self {
        Self { factor: &self.factor * scale, jitter: self.jitter * scale * scale }
    }

    /// Jitter on the diagonal, in the units of the matrix; zero if nothing was needed. It belongs to the result: with
    /// jitter, the model is another one than its setting says.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// `|L^-1 D|` in the Frobenius norm, for the diagonal matrix D of the lengths of the rows of L. It is least for rows at right angles:
    /// `n^(1/2)`. Cost `n^3 / 3`.
    ///
    /// ```
    /// use dpgp_linalg::Cholesky;
    /// use nalgebra::DMatrix;
    /// // Rows of lengths 5 and 1 at right angles: lengths do not matter.
    /// let right = Cholesky::new("A", &DMatrix::from_row_slice(2, 2, &[25.0, 0.0, 0.0, 1.0]))?;
    /// assert!((right.row_scaled_inverse_norm() - 2f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), dpgp_linalg::LinalgError>(())
    /// ```
    pub fn row_scaled_inverse_norm(&self) -> f64 {
        let size = self.factor.nrows();
        let mut inverse = DMatrix::zeros(size, size);
        invert_lower_triangular(view_mut(&mut inverse), view(&self.factor), Par::Seq);
        let mut squared_lengths = vec![0.0; size];
        for (j, column) in self.factor.column_iter().enumerate() {
            squared_lengths[j..].iter_mut().zip(&column.as_slice()[j..]).for_each(|(sum, entry)| *sum += entry * entry);
        }
        let columns = inverse.column_iter().zip(squared_lengths);
        columns.map(|(column, squared)| squared * column.norm_squared()).sum::<f64>().sqrt()
    }

    /// L (n x n), with zeros above the diagonal.
    pub fn factor(&self) -> &DMatrix<f64> {
        &self.factor
    }

    /// `L^-1 b` for b (n x k). Norms of its columns are quadratic forms: `|L^-1 b|^2 = b' A^-1 b`.
    pub fn lower_solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut x = b.clone();
        self.lower_solve_mut(&mut x);
        x
    }

    /// Replaces b (n x k) by `L^-1 b`.
    pub fn lower_solve_mut(&self, b: &mut DMatrix<f64>) {
        for_each_column_tile(b, |_, tile| solve_lower_triangular_in_place(view(&self.factor), tile, Par::Seq));
    }

    /// `(L L')^-1 b` for b (n x k).
    pub fn solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        self.upper_solve(&self.lower_solve(b))
    }

    /// `L^-T b` for b (n x k).
    pub fn upper_solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut x = b.clone();
        let upper = view(&self.factor).transpose();
        for_each_column_tile(&mut x, |_, tile| solve_upper_triangular_in_place(upper, tile, Par::Seq));
        x
    }
}

/// From so many columns on a factorisation is as fast in panels, and takes all threads where there is no other work.
const LARGE: usize = 1500;

/// Whether all entries on and below the diagonal are finite.
fn has_finite_lower_triangle(a: &DMatrix<f64>) -> bool {
    a.column_iter().enumerate().all(|(j, column)| column.as_slice()[j..].iter().all(|entry| entry.is_finite()))
}

/// In the memory of the matrix.
fn factorise(mut factor: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let positive = match factor.nrows() {
        LARGE.. => factorise_in_panels(&mut factor, factorise_lower_triangle),
        _ => factorise_lower_triangle(view_mut(&mut factor)),
    };
    if !positive {
        return None;
    }
    // The factorisation works on the lower triangle and leaves that of A above it.
    let size = factor.nrows();
    factor.as_mut_slice().chunks_exact_mut(size.max(1)).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
    // A pivot that overflowed is infinite, which passes for positive.
    factor.diagonal().iter().all(|pivot| pivot.is_finite()).then_some(factor)
}

/// Replaces the lower triangle of a matrix by its factor, on this thread; false if it is not positive definite.
fn factorise_lower_triangle(matrix: MatMut<'_, f64>) -> bool {
    let params = Spec::<LltParams, f64>::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, params));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(matrix, LltRegularization::default(), Par::Seq, stack, params).is_ok()
}

/// Columns that are factorised before the rest is updated, and columns of the rest that one thread updates at a time.
const PANEL: usize = 192;

/// Replaces the lower triangle of `a` (n x n) by the factor L of `A = L L'`, panel by panel; what stands above the diagonal is left
/// undefined. False if it is not positive definite. `factorise` does the same to a block of the diagonal. Cost `n^3 / 3`, most of it
/// products of matrices.
///
/// The panels do not depend on the number of threads, so that no bit does. Source: the blocked form of Golub and Van Loan 2013,
/// Section 4.2.6.
fn factorise_in_panels(a: &mut DMatrix<f64>, factorise: impl Fn(MatMut<'_, f64>) -> bool) -> bool {
    let size = a.nrows();
    for start in (0..size).step_by(PANEL) {
        let width = PANEL.min(size - start);
        let (first, below) = (start + width, size - start - width);
        let (done, rest) = a.as_mut_slice().split_at_mut(first * size);
        let panel = &mut done[start * size..];
        if !factorise(view_columns_mut(panel, size).submatrix_mut(start, 0, width, width)) {
            return false;
        }
        // The rows below as columns, of which threads take some each.
        let mut rows = vec![0.0; width * below];
        view_columns_mut(&mut rows, width)
            .copy_from(view_columns(panel, size).submatrix(first, 0, below, width).transpose());
        let corner = DiagonalBlockFactor(view_columns(panel, size).submatrix(start, 0, width, width));
        for_each_piece_in_parallel(rows.chunks_mut(PANEL * width), |_, rows| corner.solve(rows));
        let rows = SubdiagonalRows { columns: view_columns(&rows, width), size };
        view_columns_mut(panel, size).submatrix_mut(first, 0, below, width).copy_from(rows.columns.transpose());
        for_each_piece_in_parallel(rest.chunks_mut(PANEL * size), |place, tile| {
            rows.subtract_products(place * PANEL, tile)
        });
    }
    true
}

/// The factor of a block of the diagonal (w x w).
struct DiagonalBlockFactor<'a>(MatRef<'a, f64>);

impl DiagonalBlockFactor<'_> {
    /// Replaces rows, which stand here as columns (w each), by those of the factor.
    fn solve(&self, rows: &mut [f64]) {
        let width = self.0.nrows();
        solve_lower_triangular_in_place(self.0, view_columns_mut(rows, width), Par::Seq);
    }
}

/// The rows of the factor below a block of the diagonal, as columns; they are the last ones of n.
struct SubdiagonalRows<'a> {
    columns: MatRef<'a, f64>,
    size: usize,
}

impl SubdiagonalRows<'_> {
    /// Subtracts their products from some columns of the matrix (n each), the first of which is `above` columns behind the block.
    fn subtract_products(&self, above: usize, tile: &mut [f64]) {
        let (left, here) = (self.columns.ncols() - above, tile.len() / self.size);
        let out = view_columns_mut(tile, self.size).submatrix_mut(self.size - left, 0, left, here);
        let (rows, others) = (self.columns.subcols(above, left), self.columns.subcols(above, here));
        add_lower_product(out, rows.transpose(), others, -1.0);
    }
}

fn view_columns(numbers: &[f64], rows: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(numbers, rows, numbers.len() / rows)
}

fn view_columns_mut(numbers: &mut [f64], rows: usize) -> MatMut<'_, f64> {
    let count = numbers.len() / rows;
    MatMut::from_column_major_slice_mut(numbers, rows, count)
}

/// The lower factor `L` of `rows' rows = L L'`, for `rows` (k x r) with k >= r, by a Householder QR
/// factorisation: its relative error is that of `rows`, where forming the Gram matrix would square
/// the condition number. With `rows = Q R` it is `L = R'`. Cost `2 k r^2`. Source: Higham 2002, Section 20.4.
///
/// ```
/// use dpgp_linalg::cholesky_of_gram_matrix;
/// use nalgebra::DMatrix;
/// // One column (3, 4): its Gram matrix is 25.
/// let factor = cholesky_of_gram_matrix("G", &DMatrix::from_column_slice(2, 1, &[3.0, 4.0]))?;
/// assert!((factor.factor()[(0, 0)] - 5.0).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] naming `matrix` if `rows` is not finite or has no full column rank.
pub fn cholesky_of_gram_matrix(matrix: &'static str, rows: &DMatrix<f64>) -> Result<Cholesky, LinalgError> {
    let (height, size) = rows.shape();
    if !is_finite(rows) {
        return Err(LinalgError::NotFinite { matrix, rows: height, columns: size });
    }
    let deficient = LinalgError::NotPositiveDefinite { matrix, size, jitter: 0.0 };
    if height < size {
        return Err(deficient);
    }
    let mut factor = copy_to_dmatrix(view(rows).qr().thin_R()).transpose();
    // Householder leaves the signs open; a Cholesky factor has a positive diagonal. `L D D L' = L L'` for signs D. The first
    // entry of a column that is not zero is its diagonal one, or the factor is refused below.
    for mut column in factor.column_iter_mut() {
        let diagonal = column.iter().copied().find(|v| *v != 0.0).unwrap_or(0.0);
        if diagonal < 0.0 {
            column.neg_mut();
        }
    }
    if factor.diagonal().iter().any(|v| *v <= 0.0) {
        return Err(deficient);
    }
    Ok(Cholesky { factor, jitter: 0.0 })
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

    /// The factor of 9 times a matrix is 3 times its own, and what was added to the diagonal grows with the matrix.
    #[test]
    fn a_scaled_factor_says_the_jitter_of_the_scaled_matrix() {
        let cholesky = Cholesky::new("ones", &DMatrix::from_element(3, 3, 1.0)).unwrap();
        let scaled = cholesky.scaled(3.0);
        assert!((scaled.jitter() / cholesky.jitter() - 9.0).abs() < 1e-14);
        let product = scaled.factor() * scaled.factor().transpose();
        assert!((product - DMatrix::from_element(3, 3, 9.0)).amax() < 1e-6);
    }

    /// And one more time to check whether it is finite.
    #[test]
    fn a_matrix_is_assembled_once_for_each_rung() {
        let made = std::cell::Cell::new(0);
        let ones = Cholesky::new_in_place("ones", || {
            made.set(made.get() + 1);
            DMatrix::from_element(6, 6, 1.0)
        });
        let ones = ones.unwrap();
        let rung = LADDER.iter().position(|rung| *rung == ones.jitter()).unwrap();
        assert_eq!((made.get(), rung > 0), (rung + 2, true));
        assert_eq!(ones.factor(), Cholesky::new("ones", &DMatrix::from_element(6, 6, 1.0)).unwrap().factor());
    }

    #[test]
    fn an_indefinite_matrix_is_refused_by_name() {
        let a = DMatrix::from_row_slice(2, 2, &[1.0, 3.0, 3.0, 1.0]);
        let error = Cholesky::new("K", &a).unwrap_err();
        assert!(matches!(error, LinalgError::NotPositiveDefinite { matrix: "K", size: 2, .. }));
    }

    /// Wherever it stands on or below the diagonal.
    #[test]
    fn an_entry_that_is_not_finite_is_refused_as_such() {
        let mut above = DMatrix::from_element(4, 4, 1.0);
        above[(0, 3)] = f64::NAN;
        assert!(Cholesky::new("K", &above).unwrap().jitter() > 0.0, "nothing above the diagonal is read");
        for (i, j) in (0..4).flat_map(|j| (j..4).map(move |i| (i, j))) {
            for entry in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut a = DMatrix::identity(4, 4);
                a[(i, j)] = entry;
                assert!(matches!(Cholesky::new("K", &a), Err(LinalgError::NotFinite { .. })), "{entry} at {i}, {j}");
            }
        }
        let last = matrix().nrows() - 1;
        for (i, j) in [(0, 0), (PANEL, 3), (last, 0), (last, PANEL + 1), (last, last)] {
            for entry in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut a = matrix();
                a[(i, j)] = entry;
                let positive = factorise_in_panels(&mut a, factorise_lower_triangle);
                assert!(!positive || a.diagonal().iter().any(|pivot| !pivot.is_finite()), "{entry} at {i}, {j}");
            }
        }
    }

    /// A matrix of three panels, the last of which is short.
    fn matrix() -> DMatrix<f64> {
        let size = 2 * PANEL + 70;
        DMatrix::from_fn(size, size, |i, j| {
            let apart = i.abs_diff(j) as f64 / 40.0;
            (-apart).exp() + f64::from(u8::from(i == j)) * 0.01
        })
    }

    fn lower() -> DMatrix<f64> {
        let mut factor = matrix();
        assert!(factorise_in_panels(&mut factor, factorise_lower_triangle));
        factor.lower_triangle()
    }

    #[test]
    fn the_factor_is_that_of_the_matrix_on_any_number_of_threads() {
        let factor = lower();
        assert!((&factor * factor.transpose() - matrix()).amax() < 1e-13);
        let mut whole = matrix();
        assert!(factorise_lower_triangle(view_mut(&mut whole)));
        assert!((whole.lower_triangle() - &factor).amax() < 1e-12);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(lower), factor);
    }

    /// Indefinite in the second panel alone.
    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut matrix = matrix();
        matrix[(PANEL + 3, PANEL + 3)] = 0.0;
        assert!(!factorise_in_panels(&mut matrix, factorise_lower_triangle));
    }

    #[test]
    fn is_the_cholesky_factor_of_the_gram_matrix() {
        let rows = DMatrix::from_fn(7, 4, |i, j| ((i * i * (j + 2) + 3 * j) as f64).cos());
        let factor = cholesky_of_gram_matrix("G", &rows).unwrap();
        let gram = rows.transpose() * &rows;
        assert!((factor.factor() * factor.factor().transpose() - gram).amax() < 1e-13);
        assert!(factor.factor().upper_triangle().iter().filter(|v| **v != 0.0).count() == 4);
    }

    #[test]
    fn no_full_rank_is_refused() {
        for rows in [DMatrix::zeros(5, 2), DMatrix::from_element(1, 2, 1.0)] {
            assert!(cholesky_of_gram_matrix("G", &rows).is_err());
        }
    }
}
