//! Cuboid bins of the input space.

use nalgebra::DMatrix;

/// A half-open interval `[low, high)` along one dimension, in units of that input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Where it begins.
    pub low: f64,
    /// Where it ends; greater than `low`.
    pub high: f64,
}

impl Interval {
    /// Its length.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Its middle.
    pub fn centre(self) -> f64 {
        0.5 * (self.low + self.high)
    }
}

/// `n` cuboids in D dimensions. Each dimension holds its distinct intervals once, so that what depends on one dimension
/// alone is computed once for each pair of distinct intervals. Bins stand in the order of their places, the last
/// dimension fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    intervals: Vec<Vec<Interval>>,
    index: Vec<Vec<usize>>,
}

impl Bins {
    /// All cuboids of a regular grid; each dimension is (low, high, number of intervals), the last one varies fastest.
    ///
    /// ```
    /// use dpgp_gp::kernel::Bins;
    /// let bins = Bins::grid(&[(0.0, 4.0, 2), (0.0, 9.0, 3)]);
    /// assert_eq!((bins.len(), bins.volume(0)), (6, 6.0));
    /// assert_eq!(bins.centre(1), [1.0, 4.5]);
    /// ```
    pub fn grid(dimensions: &[(f64, f64, usize)]) -> Self {
        Self::from_edges(
            &dimensions.iter().map(|&(low, high, count)| equal_width_edges(low, high, count)).collect::<Vec<_>>(),
        )
    }

    /// All cuboids of a grid with these ends of intervals along each dimension, which must rise; the last dimension varies fastest.
    ///
    /// ```
    /// use dpgp_gp::kernel::Bins;
    /// let bins = Bins::from_edges(&[vec![0.0, 1.0, 3.0, 7.0]]);
    /// assert_eq!((bins.len(), bins.volume(2)), (3, 4.0));
    /// assert_eq!((bins.find_bin(&[1.0]), bins.find_bin(&[7.0]), bins.find_bin(&[-0.1])), (Some(1), Some(2), None));
    /// ```
    pub fn from_edges(edges: &[Vec<f64>]) -> Self {
        let interval = |pair: &[f64]| Interval { low: pair[0], high: pair[1] };
        let intervals: Vec<Vec<Interval>> =
            edges.iter().map(|edges| edges.windows(2).map(interval).collect()).collect();
        let total = intervals.iter().map(Vec::len).product();
        Self { index: (0..total).map(|number| bin_axis_indices(number, &intervals)).collect(), intervals }
    }

    /// The bins at these positions, which must increase: [`Bins::find_bin`] searches by halves.
    #[must_use]
    pub fn select(&self, positions: &[usize]) -> Self {
        let index = positions.iter().map(|&i| self.index[i].clone()).collect();
        Self { intervals: self.intervals.clone(), index }
    }

    /// How many bins there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.intervals.len()
    }

    /// The distinct intervals along a dimension.
    pub fn intervals(&self, dimension: usize) -> &[Interval] {
        &self.intervals[dimension]
    }

    /// Along each dimension, the place of a bin's interval among the distinct ones.
    pub fn axis_indices(&self, bin: usize) -> &[usize] {
        &self.index[bin]
    }

    /// A bin's interval along a dimension.
    pub fn interval(&self, bin: usize, dimension: usize) -> Interval {
        self.intervals[dimension][self.index[bin][dimension]]
    }

    /// The product of a bin's widths, in the product of the units of all inputs.
    pub fn volume(&self, bin: usize) -> f64 {
        (0..self.dimensions()).map(|d| self.interval(bin, d).width()).product()
    }

    /// The middle of a bin.
    pub fn centre(&self, bin: usize) -> Vec<f64> {
        (0..self.dimensions()).map(|d| self.interval(bin, d).centre()).collect()
    }

    /// The middles of all bins (n x D).
    pub fn centres(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.len(), self.dimensions(), |i, d| self.interval(i, d).centre())
    }

    /// The bin that holds a point: none outside all of them. Bins of one grid do not overlap; the first one counts. The
    /// last interval of a dimension holds its upper end too.
    pub fn find_bin(&self, point: &[f64]) -> Option<usize> {
        let places = self.intervals.iter().zip(point).map(|(axis, &x)| find_interval(axis, x));
        let places: Option<Vec<usize>> = places.collect();
        // The index rises, since the last dimension varies fastest and selections keep the order.
        places.and_then(|places| self.index.binary_search(&places).ok())
    }
}

/// The ends of intervals of equal width from low to high.
fn equal_width_edges(low: f64, high: f64, count: usize) -> Vec<f64> {
    // Each edge by itself and not by adding widths, which would carry rounding errors along.
    (0..=count).map(|i| low + (high - low) * i as f64 / count as f64).collect()
}

/// Along each dimension, the place of the bin of this number: its digits, with the lengths of the axes as bases.
fn bin_axis_indices(mut number: usize, axes: &[Vec<Interval>]) -> Vec<usize> {
    let mut places = vec![0; axes.len()];
    for (place, axis) in places.iter_mut().zip(axes).rev() {
        *place = number % axis.len();
        number /= axis.len();
    }
    places
}

/// The place of the interval that holds x. The last one is closed, or the greatest row of data would be outside.
fn find_interval(axis: &[Interval], x: f64) -> Option<usize> {
    // Intervals rise, and each begins where the one before ends.
    let begun = axis.partition_point(|interval| interval.low <= x);
    let place = begun.checked_sub(1)?;
    let interval = axis[place];
    (x < interval.high || (place + 1 == axis.len() && x == interval.high)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_in_their_bins() {
        let bins = Bins::grid(&[(0.0, 2.0, 2), (-1.0, 2.0, 3)]);
        for bin in 0..bins.len() {
            assert_eq!(bins.find_bin(&bins.centre(bin)), Some(bin));
        }
        assert_eq!(bins.find_bin(&[1.0, 0.0]), Some(4), "a lower edge belongs to its bin");
        assert_eq!(bins.find_bin(&[2.0, 2.0]), Some(5), "the last upper edge too");
        assert_eq!(bins.find_bin(&[2.1, 0.0]), None);
        assert_eq!(bins.select(&[1, 3]).centre(1), bins.centre(3));
        assert_eq!(bins.select(&[1, 3]).find_bin(&bins.centre(3)), Some(1));
    }
}
