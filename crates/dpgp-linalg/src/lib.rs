#![doc = include_str!("../README.md")]

mod cholesky;
mod exponential;
mod pivoted;
mod products;
mod projection;
mod svd;

use thiserror::Error;

pub use cholesky::{Cholesky, cholesky_of_gram_matrix};
pub use exponential::exponential_of_nonpositive;
pub use pivoted::{PivotFactor, PivotedCholesky, low_rank_factor, pivoted_cholesky};
pub use products::{
    LANES, PanelColumn, add_gram, add_gram_lower, add_outer_lower, add_outer_panels, for_each_piece_in_parallel, gram,
    largest_quadratic_norm, largest_triangular_solve_norm, product, run_alone, transposed_product,
    transposed_product_of_last_rows,
};
pub use projection::{minimise_quadratic_on_simplex, project_onto_simplex};
pub use svd::{RightSvd, ThinSvd, leading_svd, right_svd, thin_svd};

/// A numerical failure that names the matrix.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LinalgError {
    /// The Cholesky factorisation failed even with the largest jitter of the ladder.
    #[error(
        "{matrix} ({size} x {size}) is not positive definite{}",
        if *jitter > 0.0 { format!(", even with {jitter:e} added to its diagonal") } else { String::new() }
    )]
    NotPositiveDefinite {
        /// Name of the matrix, for example `K + sigma^2 I`.
        matrix: &'static str,
        /// Its number of rows.
        size: usize,
        /// The largest jitter tried.
        jitter: f64,
    },
    /// The jitter that a factorisation needs is more than the noise of the model.
    #[error(
        "{matrix} ({size} x {size}) is numerically singular: {jitter:e} must be added to its diagonal, which is more \
         than the noise variance {noise_variance:e} and would change the model; raise noise_variance, or remove \
         duplicate inputs"
    )]
    MuchJitter {
        /// Name of the matrix.
        matrix: &'static str,
        /// Its number of rows.
        size: usize,
        /// Jitter that its diagonal needs.
        jitter: f64,
        /// The variance of the noise, in the same units.
        noise_variance: f64,
    },
    /// The singular value decomposition did not converge.
    #[error("the singular value decomposition of {matrix} ({rows} x {columns}) did not converge")]
    NoConvergence {
        /// Name of the matrix.
        matrix: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
    },
    /// A matrix with an infinite entry or a NaN.
    #[error("{matrix} ({rows} x {columns}) holds an entry that is not a finite number")]
    NotFinite {
        /// Name of the matrix.
        matrix: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
    },
}

/// The largest of some non-negative values; NaN if any of them is, zero if there are none. A maximum that dropped
/// NaN (as `f64::max` does) would turn a failed computation into a small sensitivity.
///
/// ```
/// use dpgp_linalg::largest_or_nan;
/// assert_eq!(largest_or_nan([1.0, 3.0, 2.0]), 3.0);
/// assert!(largest_or_nan([1.0, f64::NAN]).is_nan());
/// ```
pub fn largest_or_nan(values: impl IntoIterator<Item = f64>) -> f64 {
    // Once NaN, `value > most` is false for every number, so that NaN stays.
    values.into_iter().fold(0.0, |most, value| if value > most || value.is_nan() { value } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_not_overlooked() {
        assert_eq!(largest_or_nan([1.0, 3.0, 2.0]), 3.0);
        assert_eq!(largest_or_nan([]), 0.0);
        assert!(largest_or_nan([1.0, f64::NAN, 2.0]).is_nan());
        assert!(largest_or_nan([f64::NAN]).is_nan());
        assert_eq!(largest_or_nan([1.0, f64::INFINITY]), f64::INFINITY);
    }
}
