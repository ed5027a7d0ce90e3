//! Polynomial least squares, the simplest linear model.

use nalgebra::DMatrix;

use super::LinearMap;
use dpgp_linalg::{Cholesky, LinalgError, gram_factor};

/// Pivots below this, relative to the largest, are zero.
const SINGULAR: f64 = 1e-12;

/// The map of least squares on the monomials `1, x, .., x^degree` of each input dimension:
/// `C = X_* (X'X)^-1 X'` for the design matrices of test and training inputs.
///
/// Source: Smith et al. 2021, Section 5.1.
///
/// ```
/// use dpgp_gp::polynomial;
/// use nalgebra::DMatrix;
///
/// // The line through (0, 1) and (2, 5) is 1 + 2 x; at x = 3 it is 7.
/// let training = DMatrix::from_column_slice(2, 1, &[0.0, 2.0]);
/// let map = polynomial(1, &training, &DMatrix::from_element(1, 1, 3.0))?;
/// assert!((map.predict(&[1.0, 5.0])[0] - 7.0).abs() < 1e-12);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if `X'X` is singular, that is if there are fewer distinct inputs than monomials.
pub fn polynomial(
    degree: u32,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<LinearMap, LinalgError> {
    let x = design(degree, training);
    // By QR: monomials of high degree are nearly dependent, and `X'X` would square their condition.
    let normal = well_determined(gram_factor("X'X", &x)?)?;
    let c = design(degree, test) * normal.solve(&x.transpose());
    Ok(LinearMap::new(&c, training))
}

/// Refuses a factor with a pivot that is zero up to rounding.
fn well_determined(factor: Cholesky) -> Result<Cholesky, LinalgError> {
    let pivots = factor.factor().diagonal();
    if pivots.min() > SINGULAR * pivots.max() {
        return Ok(factor);
    }
    Err(LinalgError::NotPositiveDefinite { matrix: "X'X", size: pivots.len(), jitter: 0.0 })
}

/// The design matrix (n x (1 + d degree)): a constant, then the powers of each input dimension; no products of dimensions.
fn design(degree: u32, inputs: &DMatrix<f64>) -> DMatrix<f64> {
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
    fn a_line_is_extrapolated_exactly() {
        let training = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 3.0]);
        let test = DMatrix::from_column_slice(2, 1, &[2.0, 10.0]);
        let map = polynomial(1, &training, &test).unwrap();
        let predicted = map.predict(&[1.0, 3.0, 7.0]);
        assert!(polynomial(3, &training, &test).is_err());
        assert!((predicted[0] - 5.0).abs() < 1e-12 && (predicted[1] - 21.0).abs() < 1e-12);
    }
}
