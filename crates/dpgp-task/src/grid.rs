//! Test inputs on a grid.

use nalgebra::DMatrix;

use dpgp_spec::setting::RangeSetting;

/// The product of the ranges, a row per point; the last dimension varies fastest.
pub(super) fn product_grid(ranges: &[RangeSetting]) -> DMatrix<f64> {
    let rows: usize = ranges.iter().map(|range| range.points).product();
    DMatrix::from_fn(rows, ranges.len(), |i, d| {
        let inner: usize = ranges[d + 1..].iter().map(|range| range.points).product();
        ranges[d].at(i / inner % ranges[d].points)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dimension_varies_fastest() {
        let range = |from, to, points| RangeSetting { from, to, points };
        let grid = product_grid(&[range(0.0, 1.0, 2), range(5.0, 6.0, 3)]);
        let expected = [0.0, 5.0, 0.0, 5.5, 0.0, 6.0, 1.0, 5.0, 1.0, 5.5, 1.0, 6.0];
        assert_eq!(grid, DMatrix::from_row_slice(6, 2, &expected));
    }
}
