//! Sites in the unit box.

use nalgebra::{DMatrix, DVector};

/// The sides of the grids for one to four inputs: 64, 400, 1728 and 1296 sites.
const SIDES: [usize; 4] = [64, 20, 12, 6];

/// The sites that are scattered over a box of more inputs, and the generator of their lattice.
const SCATTERED: usize = 769;
const GENERATOR: usize = 625;

/// The sites for so many inputs (G x d): a grid for up to four, points scattered evenly for more.
///
/// ```
/// assert_eq!(dpgp_gp::sites::site_grid(2).nrows(), 400);
/// ```
pub fn site_grid(dimensions: usize) -> DMatrix<f64> {
    match SIDES.get(dimensions.max(1) - 1) {
        Some(side) => box_grid(dimensions, *side),
        None => korobov_points(dimensions),
    }
}

/// The sites for sums of functions of one or two of so many inputs (G x d): as [`site_grid`], but scattered from four inputs on. Six sites
/// along an input cannot tell its higher frequencies apart, which an additive kernel has.
pub fn additive_site_grid(dimensions: usize) -> DMatrix<f64> {
    if dimensions < SIDES.len() { site_grid(dimensions) } else { korobov_points(dimensions) }
}

/// The points `frac((i a^l + 1/2) / G)` of a lattice with G prime (Korobov 1959). For this generator a, the best of all for twelve inputs, means
/// over the points of waves `exp(2 pi i (h x_l + k x_m))` of any two inputs are those over the box for `|h|, |k| <= 14`.
fn korobov_points(dimensions: usize) -> DMatrix<f64> {
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
/// let sites = dpgp_gp::sites::box_grid(2, 2);
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

/// Where rows are counted, and the share of the box that each site stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct CountingSites {
    /// The sites (G x d).
    pub places: DMatrix<f64>,
    /// The rows at each site out of one, if rows are spread evenly over the box (G, sum 1).
    pub shares: DVector<f64>,
    /// The distance of neighbouring sites.
    pub spacing: f64,
}

impl CountingSites {
    /// A grid of one to four inputs that reaches to the ends of the box.
    ///
    /// An input from outside the box counts as one at its end. The sums of such rows are those of no rows between midpoints of cells, however
    /// they lie there. A row that is spread evenly counts at its neighbours by linear interpolation, as
    /// [`SiteInterpolationVariance`](super::SiteInterpolationVariance) has it: half as often at an end as inside (the trapezoidal rule).
    ///
    /// # Panics
    /// For another number of inputs.
    ///
    /// ```
    /// let sites = dpgp_gp::sites::CountingSites::grid_with_boundary(1);
    /// assert_eq!((sites.places[0], sites.places[63]), (0.0, 1.0));
    /// assert_eq!((sites.shares[0], sites.shares[1]), (0.5 / 63.0, 1.0 / 63.0));
    /// ```
    pub fn grid_with_boundary(dimensions: usize) -> Self {
        let side = SIDES[dimensions - 1];
        let last = (side - 1) as f64;
        let orders = box_grid(dimensions, side).map(|midpoint| (midpoint * side as f64 - 0.5).round());
        let mut shares = DVector::from_element(orders.nrows(), 1.0);
        for column in orders.column_iter() {
            for (share, order) in shares.iter_mut().zip(column.iter()) {
                let is_end = *order == 0.0 || *order == last;
                *share *= if is_end { 0.5 } else { 1.0 } / last;
            }
        }
        Self { shares, spacing: 1.0 / last, places: orders / last }
    }

    /// Sites that are spread evenly.
    pub fn from_even_points(places: DMatrix<f64>) -> Self {
        let (sites, inputs) = (places.nrows() as f64, places.ncols() as f64);
        Self { shares: DVector::from_element(places.nrows(), 1.0 / sites), spacing: sites.powf(-1.0 / inputs), places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over the sites are integrals, exact for what is linear in each input.
    #[test]
    fn shares_are_weights_of_an_integral() {
        for inputs in 1..=4 {
            let sites = CountingSites::grid_with_boundary(inputs);
            assert!((sites.shares.sum() - 1.0).abs() < 1e-12);
            let products: Vec<f64> = sites.places.row_iter().map(|site| site.product()).collect();
            let integral = sites.shares.dot(&DVector::from_vec(products));
            assert!((integral - 0.5f64.powi(inputs as i32)).abs() < 1e-12, "{integral}");
            let step = sites.places[(1, inputs - 1)] - sites.places[(0, inputs - 1)];
            assert!((step - sites.spacing).abs() < 1e-12);
        }
        assert_eq!(CountingSites::from_even_points(box_grid(2, 5)).spacing, 0.2);
    }

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
