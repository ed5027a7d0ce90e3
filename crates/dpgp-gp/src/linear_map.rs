//! Linear maps from private targets to predictions, and polynomial least squares, the simplest linear model.

use nalgebra::{DMatrix, DVector};

use dpgp_linalg::{Cholesky, LinalgError, cholesky_of_gram_matrix};

/// `mean = C y` with `C` (t x n), stored once for each distinct input: equal inputs have equal
/// columns, so `C` is the (t x k) matrix of its distinct columns and a group number for each row.
///
/// Merging is exact, not approximate: the first of equal columns stands for all of them, so that
/// rounding cannot make the sensitivity of two equal inputs differ.
///
/// ```
/// use dpgp_gp::PredictionMap;
/// use nalgebra::DMatrix;
///
/// // Three rows, the first and the last of the same input: two columns, of 2 targets and of 1.
/// let c = DMatrix::from_row_slice(1, 3, &[0.5, 0.1, 0.5]);
/// let map = PredictionMap::new(&c, &DMatrix::from_column_slice(3, 1, &[7.0, 8.0, 7.0]));
/// assert_eq!((map.distinct_columns().as_slice(), map.targets_per_column()), (&[0.5, 0.1][..], vec![2, 1]));
/// assert_eq!(map.predict(&[2.0, 10.0, 4.0])[0], 0.5 * (2.0 + 4.0) + 0.1 * 10.0);
/// ```
#[derive(Debug, Clone)]
pub struct PredictionMap {
    columns: DMatrix<f64>,
    group: Vec<usize>,
    jitter: f64,
}

impl PredictionMap {
    /// Merges the columns of `c` (t x n) that belong to equal rows of `inputs` (n x d).
    pub fn new(c: &DMatrix<f64>, inputs: &DMatrix<f64>) -> Self {
        let (first, group) = group_equal_rows(inputs);
        Self { columns: c.select_columns(&first), group, jitter: 0.0 }
    }

    /// The map to no predictions, for which of the inputs (n x d) are equal.
    pub fn without_test_inputs(inputs: &DMatrix<f64>) -> Self {
        Self::new(&DMatrix::zeros(0, inputs.nrows()), inputs)
    }

    /// With the jitter that the factorisations behind the map needed.
    pub fn with_jitter(mut self, jitter: f64) -> Self {
        self.jitter = jitter;
        self
    }

    /// The largest jitter added to a diagonal on the way, in squared units of the target; usually zero.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The distinct columns (t x k).
    pub fn distinct_columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    /// How many targets share each distinct column.
    pub fn targets_per_column(&self) -> Vec<usize> {
        let mut counts = vec![0; self.columns.ncols()];
        for &group in &self.group {
            counts[group] += 1;
        }
        counts
    }

    /// Of another map of the same training rows (s x n), the distinct columns (s x k).
    pub fn select_distinct_columns(&self, c: &DMatrix<f64>) -> DMatrix<f64> {
        // Groups are numbered in the order in which they come.
        let mut first = Vec::with_capacity(self.columns.ncols());
        for (row, group) in self.group.iter().enumerate() {
            if *group == first.len() {
                first.push(row);
            }
        }
        c.select_columns(&first)
    }

    /// The whole `C` (t x n).
    pub fn to_full_matrix(&self) -> DMatrix<f64> {
        self.columns.select_columns(&self.group)
    }

    /// Sums the targets of equal inputs: `C y` is the distinct columns times this (k values).
    pub fn sum_targets_by_input(&self, targets: &[f64]) -> DVector<f64> {
        let mut sums = DVector::zeros(self.columns.ncols());
        for (&group, &y) in self.group.iter().zip(targets) {
            sums[group] += y;
        }
        sums
    }

    /// As [`PredictionMap::sum_targets_by_input`], of whole numbers, which have no rounding.
    pub fn sum_integers_by_input(&self, targets: &[i64]) -> Vec<i128> {
        let mut sums = vec![0; self.columns.ncols()];
        for (&group, &y) in self.group.iter().zip(targets) {
            sums[group] += i128::from(y);
        }
        sums
    }

    /// `C y`, the predictive mean at the t test inputs.
    pub fn predict(&self, targets: &[f64]) -> DVector<f64> {
        &self.columns * self.sum_targets_by_input(targets)
    }
}

/// The first row of each group of equal rows, and the group of each row, in order of appearance.
fn group_equal_rows(inputs: &DMatrix<f64>) -> (Vec<usize>, Vec<usize>) {
    let mut seen = std::collections::BTreeMap::new();
    let mut first = Vec::new();
    let mut group = Vec::with_capacity(inputs.nrows());
    for (i, row) in inputs.row_iter().enumerate() {
        // Bits are ordered, numbers are not; adding 0 makes -0 the same input as 0.
        let key: Vec<u64> = row.iter().map(|v| (v + 0.0).to_bits()).collect();
        group.push(*seen.entry(key).or_insert_with(|| {
            first.push(i);
            first.len() - 1
        }));
    }
    (first, group)
}

/// Pivots below this, relative to the largest, are zero.
const SINGULAR: f64 = 1e-12;

/// The map of least squares on the monomials `1, x, .., x^degree` of each input dimension:
/// `C = X_* (X'X)^-1 X'` for the design matrices of test and training inputs.
///
/// Source: Smith et al. 2021, Section 5.1.
///
/// ```
/// use dpgp_gp::polynomial_prediction_map;
/// use nalgebra::DMatrix;
///
/// // The line through (0, 1) and (2, 5) is 1 + 2 x; at x = 3 it is 7.
/// let training = DMatrix::from_column_slice(2, 1, &[0.0, 2.0]);
/// let map = polynomial_prediction_map(1, &training, &DMatrix::from_element(1, 1, 3.0))?;
/// assert!((map.predict(&[1.0, 5.0])[0] - 7.0).abs() < 1e-12);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if `X'X` is singular, that is if there are fewer distinct inputs than monomials.
pub fn polynomial_prediction_map(
    degree: u32,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<PredictionMap, LinalgError> {
    let x = polynomial_design_matrix(degree, training);
    // By QR: monomials of high degree are nearly dependent, and `X'X` would square their condition.
    let normal = ensure_full_rank(cholesky_of_gram_matrix("X'X", &x)?)?;
    let c = polynomial_design_matrix(degree, test) * normal.solve(&x.transpose());
    Ok(PredictionMap::new(&c, training))
}

/// Refuses a factor with a pivot that is zero up to rounding.
fn ensure_full_rank(factor: Cholesky) -> Result<Cholesky, LinalgError> {
    let pivots = factor.factor().diagonal();
    if pivots.min() > SINGULAR * pivots.max() {
        return Ok(factor);
    }
    Err(LinalgError::NotPositiveDefinite { matrix: "X'X", size: pivots.len(), jitter: 0.0 })
}

/// The design matrix (n x (1 + d degree)): a constant, then the powers of each input dimension; no products of dimensions.
fn polynomial_design_matrix(degree: u32, inputs: &DMatrix<f64>) -> DMatrix<f64> {
    let columns = 1 + inputs.ncols() * degree as usize;
    DMatrix::from_fn(inputs.nrows(), columns, |i, j| match j.checked_sub(1) {
        None => 1.0,
        Some(j) => {
            let (dimension, power) = (j / degree as usize, j % degree as usize + 1);
            inputs[(i, dimension)].powi(power as i32)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_inputs_share_a_column() {
        let inputs = DMatrix::from_column_slice(4, 1, &[1.0, 2.0, 1.0, -0.0]);
        let c = DMatrix::from_row_slice(2, 4, &[1.0, 2.0, 1.0, 3.0, 4.0, 5.0, 4.0, 6.0]);
        let map = PredictionMap::new(&c, &inputs);
        assert_eq!(map.distinct_columns().ncols(), 3);
        assert_eq!(map.group, [0, 1, 0, 2]);
        assert_eq!(map.targets_per_column(), [2, 1, 1]);
        assert_eq!(map.to_full_matrix(), c);
        let y = [1.0, -1.0, 0.5, 2.0];
        let expected = &c * DVector::from_column_slice(&y);
        assert!((map.predict(&y) - expected).amax() < 1e-15);
    }

    /// They are one number, so that two rows there are as near as rows can be.
    #[test]
    fn zeros_of_either_sign_are_one_input() {
        let inputs = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, -0.0]);
        let map = PredictionMap::new(&DMatrix::from_row_slice(1, 3, &[2.0, 3.0, 2.0]), &inputs);
        assert_eq!(map.targets_per_column(), [2, 1]);
    }
}

#[cfg(test)]
mod polynomial_tests {
    use super::*;

    #[test]
    fn a_line_is_extrapolated_exactly() {
        let training = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 3.0]);
        let test = DMatrix::from_column_slice(2, 1, &[2.0, 10.0]);
        let map = polynomial_prediction_map(1, &training, &test).unwrap();
        let predicted = map.predict(&[1.0, 3.0, 7.0]);
        assert!(polynomial_prediction_map(3, &training, &test).is_err());
        assert!((predicted[0] - 5.0).abs() < 1e-12 && (predicted[1] - 21.0).abs() < 1e-12);
    }
}
