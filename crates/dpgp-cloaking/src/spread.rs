//! Choices of columns that do not crowd together.

use nalgebra::DMatrix;

use super::problem::Evaluation;
use dpgp_linalg::gram;

/// Two columns crowd when the squared cosine between them is above this.
const CROWDED: f64 = 0.9;
/// Columns among which those that enter are chosen, for each that may enter.
const CANDIDATES: usize = 3;

/// At most `most` of the `candidates` (best first), no two of which nearly point the same way in the metric of the
/// noise: smooth maps have many columns that are nearly alike, and a bound on one of them all but covers the others.
pub(super) fn apart(at: &Evaluation, mut candidates: Vec<usize>, most: usize) -> Vec<usize> {
    candidates.truncate(CANDIDATES * most);
    let products = gram(&at.coordinates.select_columns(&candidates));
    let mut chosen: Vec<usize> = Vec::new();
    for i in 0..candidates.len() {
        if chosen.len() < most && !chosen.iter().any(|&j| crowded(&products, i, j)) {
            chosen.push(i);
        }
    }
    chosen.into_iter().map(|i| candidates[i]).collect()
}

/// Whether two columns nearly point the same way, by all inner products of columns.
fn crowded(products: &DMatrix<f64>, i: usize, j: usize) -> bool {
    products[(i, j)].powi(2) > CROWDED * products[(i, i)] * products[(j, j)]
}

/// At most `count` columns at equal distances in their order.
pub(super) fn strided(columns: usize, count: usize) -> Vec<usize> {
    (0..columns).step_by(columns.div_ceil(count.max(1)).max(1)).collect()
}

/// As many columns (r x k) as the rank that span the space: each the one farthest from the span of those before it.
pub(super) fn spanning(columns: &DMatrix<f64>) -> Vec<usize> {
    let mut rest = columns.clone();
    let mut chosen = Vec::new();
    for _ in 0..columns.nrows().min(columns.ncols()) {
        let lengths = rest.column_iter().map(|column| column.norm_squared()).enumerate();
        let Some((next, _)) = lengths.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        // One step of Gram and Schmidt on all columns at once.
        let direction = rest.column(next).normalize();
        let along = rest.tr_mul(&direction);
        rest.ger(-1.0, &direction, &along, 1.0);
        rest.column_mut(next).fill(0.0);
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_crowd_are_passed_over() {
        let coordinates = DMatrix::from_row_slice(2, 4, &[1.0, 0.99, 0.0, 0.1, 0.0, 0.1, 1.0, 1.0]);
        let at = Evaluation { leverages: vec![1.0; 4], coordinates, spectrum: Vec::new() };
        assert_eq!(apart(&at, vec![0, 1, 3, 2], 3), [0, 3]);
        assert_eq!(apart(&at, vec![2, 1, 0], 1), [2]);
        assert_eq!(apart(&at, Vec::new(), 3), [0; 0]);
    }

    #[test]
    fn strides_cover_the_whole_and_spanning_columns_span() {
        assert_eq!(strided(10, 4), [0, 3, 6, 9]);
        assert_eq!(strided(3, 9), [0, 1, 2]);
        let columns =
            DMatrix::from_fn(3, 50, |i, j| if i < 2 { (i + j) as f64 } else { f64::from(u8::from(j == 7)) });
        let mut found = spanning(&columns);
        assert!(columns.select_columns(&found).rank(1e-9) == 3, "{found:?}");
        found.dedup();
        assert_eq!(found.len(), 3);
    }

    /// Cosines do not change with the lengths of columns.
    #[test]
    fn long_columns_crowd_no_more_than_short_ones() {
        for size in [0.1, 10.0] {
            let coordinates = DMatrix::from_row_slice(2, 3, &[size, 0.99 * size, 0.5, 0.0, 0.1 * size, 0.5]);
            let at = Evaluation { leverages: vec![1.0; 3], coordinates, spectrum: Vec::new() };
            assert_eq!(apart(&at, vec![0, 1, 2], 3), [0, 2], "{size}");
        }
    }
}
