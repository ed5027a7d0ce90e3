//! Sites in the unit box.

use nalgebra::DMatrix;

/// The sides of the grids for one to four inputs: 64, 400, 1728 and 1296 sites.
const SIDES: [usize; 4] = [64, 20, 12, 6];

/// The sites that are scattered over a box of more inputs, and the generator of their lattice.
const SCATTERED: usize = 769;
const GENERATOR: usize = 625;

/// The sites for so many inputs (G x d): a grid for up to four, points scattered evenly for more.
///
/// ```
/// assert_eq!(dpgp::gp::sites::site_grid(2).nrows(), 400);
/// ```
pub fn site_grid(dimensions: usize) -> DMatrix<f64> {
    match SIDES.get(dimensions.max(1) - 1) {
        Some(side) => box_grid(dimensions, *side),
        None => scattered(dimensions),
    }
}

/// The points `frac((i a^l + 1/2) / G)` of a lattice with G prime (Korobov 1959). For this generator a, the best of all for twelve inputs, means
/// over the points of waves `exp(2 pi i (h x_l + k x_m))` of any two inputs are those over the box for `|h|, |k| <= 14`.
fn scattered(dimensions: usize) -> DMatrix<f64> {
    let mut generators = vec![1];
    while generators.len() < dimensions {
        generators.push(generators[generators.len() - 1] * GENERATOR % SCATTERED);
    }
    DMatrix::from_fn(SCATTERED, dimensions, |point, dimension| {
        ((point * generators[dimension] % SCATTERED) as f64 + 0.5) / SCATTERED as f64
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Means of waves of one and two of the inputs are those over the box: zero.
    #[test]
    fn scattered_sites_are_even() {
        let sites = site_grid(12);
        assert!(sites.min() >= 0.0 && sites.max() < 1.0);
        for (l, m) in (0..12).flat_map(|l| (0..l).map(move |m| (l, m))) {
            for (h, k) in (1..=7).flat_map(|h| (-7..=7).map(move |k| (f64::from(h), f64::from(k)))) {
                let turns = sites.column(l) * h + sites.column(m) * k;
                let mean = turns.map(|turn| (std::f64::consts::TAU * turn).cos()).mean();
                assert!(mean.abs() < 1e-12, "{l} {m} {h} {k}: {mean}");
            }
        }
    }
}
