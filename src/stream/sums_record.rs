//! The sums of a regression on disk.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::Sums;

/// The numbers of some sums.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SumsRecord {
    /// Rows that pass the filters.
    rows: u64,
    /// Those whose target was clipped.
    clipped: u64,
    /// The sum of the squared targets.
    squares: f64,
    /// `A`.
    a: Vec<f64>,
    /// The lower triangle of `B`, column by column.
    b: Vec<f64>,
}

/// The places of a lower triangle, column by column.
fn triangle(m: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..m).flat_map(move |j| (j..m).map(move |i| (i, j)))
}

impl From<Sums> for SumsRecord {
    fn from(sums: Sums) -> Self {
        let m = sums.a.len();
        let b = triangle(m).map(|place| sums.b[place]).collect();
        let Sums { rows, clipped, squares, .. } = sums;
        Self { rows, clipped, squares, a: sums.a.as_slice().to_vec(), b }
    }
}

impl TryFrom<SumsRecord> for Sums {
    type Error = &'static str;

    fn try_from(record: SumsRecord) -> Result<Self, Self::Error> {
        let m = record.a.len();
        if record.b.len() != m * (m + 1) / 2 {
            return Err("the two sums are of different numbers of inducing inputs");
        }
        let mut b = DMatrix::zeros(m, m);
        triangle(m).zip(&record.b).for_each(|(place, value)| b[place] = *value);
        let SumsRecord { rows, clipped, squares, .. } = record;
        Ok(Self { a: DVector::from_vec(record.a), b, rows, squares, clipped })
    }
}
