//! Sites in the unit box.

use nalgebra::DMatrix;

/// The sides of the grids for one to four inputs: 64, 400, 1728 and 1296 sites.
const SIDES: [usize; 4] = [64, 20, 12, 6];

/// The sites for so many inputs, 1 to 4 (G x d).
///
/// ```
/// assert_eq!(dpgp::gp::sites::site_grid(2).nrows(), 400);
/// ```
pub fn site_grid(dimensions: usize) -> DMatrix<f64> {
    box_grid(dimensions, SIDES[dimensions.clamp(1, SIDES.len()) - 1])
}

/// The midpoints of `side^d` equal boxes that the unit box is cut into (side^d x d); the last coordinate moves fastest.
///
/// ```
/// let sites = dpgp::gp::sites::box_grid(2, 2);
/// assert_eq!(sites.row(1).iter().copied().collect::<Vec<_>>(), [0.25, 0.75]);
/// ```
pub fn box_grid(dimensions: usize, side: usize) -> DMatrix<f64> {
    let sites = (0..dimensions).fold(1, |sites, _| sites * side);
    let mut grid = DMatrix::zeros(sites, dimensions);
    for site in 0..sites {
        let mut rest = site;
        for dimension in (0..dimensions).rev() {
            grid[(site, dimension)] = ((rest % side) as f64 + 0.5) / side as f64;
            rest /= side;
        }
    }
    grid
}
