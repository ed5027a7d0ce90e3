//! Sums over some of the rows.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::Sum;
use super::sums_record::SumsRecord;
use crate::gp::variational::Statistics;

/// The sums that a variational model needs of some rows: `A = sum_i k_i y_i`, `B = sum_i k_i k_i'`, the number of rows and
/// the squares of their targets.
///
/// Obligation: these are exact sums, as private as the rows; a release adds noise to A and B
/// ([`SumsNoise`](crate::privacy::SumsNoise)). `rows`, `squares` and `clipped` are private too and are for the holder of the
/// data alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SumsRecord", into = "SumsRecord")]
pub struct Sums {
    /// `A`, m numbers.
    pub a: DVector<f64>,
    /// `B` (m x m), of which the lower triangle alone is kept.
    pub b: DMatrix<f64>,
    /// The rows.
    pub rows: u64,
    /// `sum_i y_i^2`.
    pub squares: f64,
    /// Rows whose target was clipped.
    pub clipped: u64,
}

impl Sums {
    /// Of no rows, for m inducing inputs.
    pub fn zero(m: usize) -> Self {
        Self { a: DVector::zeros(m), b: DMatrix::zeros(m, m), rows: 0, squares: 0.0, clipped: 0 }
    }

    /// As the model takes them.
    pub fn statistics(&self) -> Statistics {
        // The sums hold the lower triangle, whose mirror image costs nothing to add here.
        let mut b = self.b.clone();
        b.fill_upper_triangle_with_lower_triangle();
        Statistics { a: self.a.clone(), b, rows: usize::try_from(self.rows).unwrap_or(usize::MAX) }
    }
}

impl Sum for Sums {
    fn plus(mut self, other: &Self) -> Self {
        self.a += &other.a;
        self.b += &other.b;
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
        self
    }

    fn fits(&self, other: &Self) -> bool {
        self.a.len() == other.a.len()
    }
}
