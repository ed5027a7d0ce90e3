//! Sites in the unit box, and its cells.

use nalgebra::{DMatrix, DVector};

/// The sides of the grids for one to four inputs: 64, 400, 1728 and 1296 sites.
const SITES_PER_SIDE: [usize; 4] = [64, 20, 12, 6];

/// The sites that are scattered over a box of more inputs, and the generator of their lattice.
const SCATTERED: usize = 769;
const GENERATOR: usize = 625;

/// The sites for so many inputs (G x d): a grid for up to four, points scattered evenly for more.
///
/// ```
/// assert_eq!(dpgp_gp::sites::site_points(2).nrows(), 400);
/// ```
pub fn site_points(dimensions: usize) -> DMatrix<f64> {
    match SITES_PER_SIDE.get(dimensions.max(1) - 1) {
        Some(side) => box_midpoint_grid(dimensions, *side),
        None => korobov_points(dimensions),
    }
}

/// The sites for sums of functions of one or two of so many inputs (G x d): as [`site_points`], but scattered from four inputs on. Six sites
/// along an input cannot tell its higher frequencies apart, which an additive kernel has.
pub fn additive_site_points(dimensions: usize) -> DMatrix<f64> {
    if dimensions < SITES_PER_SIDE.len() { site_points(dimensions) } else { korobov_points(dimensions) }
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
/// let sites = dpgp_gp::sites::box_midpoint_grid(2, 2);
/// assert_eq!(sites.row(1).iter().copied().collect::<Vec<_>>(), [0.25, 0.75]);
/// ```
pub fn box_midpoint_grid(dimensions: usize, side: usize) -> DMatrix<f64> {
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
        let side = SITES_PER_SIDE[dimensions - 1];
        let last = (side - 1) as f64;
        let orders = box_midpoint_grid(dimensions, side).map(|midpoint| (midpoint * side as f64 - 0.5).round());
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

/// Cells of the unit box, as many along each input: what rows are counted in before their moments are taken.
///
/// ```
/// use dpgp_gp::sites::Lattice;
/// let lattice = Lattice::new(4, 2);
/// let place = lattice.cell_index(&[0.3, 2.0]);
/// assert_eq!((lattice.len(), place, lattice.coordinates(place)), (16, 7, vec![1, 3]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    side: usize,
    dimensions: usize,
}

/// The cells along a side, for one to twelve inputs: far finer than sites. Of up to four inputs they are few enough to keep all,
/// of more the number of a cell fits into 60 bits.
const CELLS_PER_SIDE: [usize; 12] = [4096, 256, 64, 32, 4096, 1024, 256, 128, 64, 64, 32, 32];
/// The most inputs of which all cells are kept.
const ALL_KEPT: usize = 4;

impl Lattice {
    /// With so many cells along each input.
    pub fn new(side: usize, dimensions: usize) -> Self {
        Self { side, dimensions }
    }

    /// The one for so many inputs, 1 to 12.
    pub fn for_inputs(dimensions: usize) -> Self {
        Self::new(CELLS_PER_SIDE[dimensions.clamp(1, CELLS_PER_SIDE.len()) - 1], dimensions)
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        (0..self.dimensions).fold(1, |cells, _| cells * self.side)
    }

    /// Whether the cells are few enough to keep all, empty ones too.
    pub fn can_keep_all_cells(&self) -> bool {
        self.dimensions <= ALL_KEPT
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.side == 0
    }

    /// The number of inputs.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The cells along a side.
    #[inline]
    pub fn cells_per_side(&self) -> usize {
        self.side
    }

    /// The cell along an input; outside the box, or for no number, that at its end.
    #[inline]
    pub fn axis_cell_index(&self, x: f64) -> usize {
        let (scaled, last) = (x * self.side as f64, (self.side - 1) as f64);
        // Comparisons that are one instruction each; that with NaN leaves zero.
        let scaled = if scaled > 0.0 { scaled } else { 0.0 };
        let scaled = if scaled < last { scaled } else { last };
        // It is not negative, so that the cast rounds down, and far below 2^31.
        scaled as i32 as usize
    }

    /// The number of the cell of a point; the last input moves fastest.
    pub fn cell_index(&self, point: &[f64]) -> usize {
        point.iter().fold(0, |place, x| place * self.side + self.axis_cell_index(*x))
    }

    /// The cell along each input.
    pub fn coordinates(&self, place: usize) -> Vec<i64> {
        let mut coordinates = vec![0; self.dimensions];
        let mut rest = place;
        for coordinate in coordinates.iter_mut().rev() {
            *coordinate = (rest % self.side) as i64;
            rest /= self.side;
        }
        coordinates
    }

    /// The middle of a cell.
    pub fn midpoint(&self, place: usize) -> Vec<f64> {
        self.coordinates(place).iter().map(|cell| (*cell as f64 + 0.5) / self.side as f64).collect()
    }

    /// The period of a whole number of cells that is nearest to one, in sides of the box.
    pub fn nearest_whole_cell_period(&self, wanted: f64) -> f64 {
        self.period_in_cells(wanted) as f64 / self.side as f64
    }

    /// The cells of such a period.
    pub fn period_in_cells(&self, period: f64) -> usize {
        ((period * self.side as f64).round() as usize).max(self.side)
    }
}

/// A cell with the rows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatticeCellCountAndSum {
    /// The number of the cell.
    pub place: usize,
    /// Its rows.
    pub rows: u64,
    /// The sum of their targets, in a public unit.
    pub targets: i64,
}

/// Bits of a target: targets are whole numbers of a public unit, at most so many.
pub const TARGET_BITS: i32 = 20;

/// Rows counted in the cells of a lattice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatticeCountsAndSums {
    /// Where they are counted.
    pub lattice: Lattice,
    /// The number of rows.
    pub rows: u64,
    /// The cells that hold any, with the sums of their targets.
    pub cells: Vec<LatticeCellCountAndSum>,
    /// The sum of the squares of all targets.
    pub squares: i128,
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
        assert_eq!(CountingSites::from_even_points(box_midpoint_grid(2, 5)).spacing, 0.2);
    }

    /// Means of waves of one and two of the inputs are those over the box: zero.
    #[test]
    fn scattered_sites_are_even() {
        let sites = site_points(12);
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

#[cfg(test)]
mod lattice_tests {
    use super::*;

    #[test]
    fn places_have_coordinates() {
        let lattice = Lattice::new(5, 3);
        assert_eq!((lattice.dimensions(), lattice.len()), (3, 125));
        for place in 0..125 {
            let along = lattice.coordinates(place);
            assert_eq!(along.iter().fold(0, |sum, cell| 5 * sum + cell), place as i64);
            assert_eq!(lattice.cell_index(&lattice.midpoint(place)), place);
        }
    }

    /// Of cells a fifth wide: 1.29 are 6.45 of them, and a period is never less than the box.
    #[test]
    fn periods_are_whole_cells() {
        let lattice = Lattice::new(5, 1);
        assert_eq!(
            (lattice.period_in_cells(1.29), lattice.period_in_cells(1.31), lattice.period_in_cells(0.4)),
            (6, 7, 5)
        );
        assert_eq!(lattice.nearest_whole_cell_period(1.29), 1.2);
    }
}
