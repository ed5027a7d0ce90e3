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
    /// use dpgp::kernel::Bins;
    /// let bins = Bins::grid(&[(0.0, 4.0, 2), (0.0, 9.0, 3)]);
    /// assert_eq!((bins.len(), bins.volume(0)), (6, 6.0));
    /// assert_eq!(bins.centre(1), [1.0, 4.5]);
    /// ```
    pub fn grid(dimensions: &[(f64, f64, usize)]) -> Self {
        let cut = |&(low, high, count): &(f64, f64, usize)| -> Vec<Interval> {
            let edge = |i: usize| low + (high - low) * i as f64 / count as f64;
            (0..count).map(|i| Interval { low: edge(i), high: edge(i + 1) }).collect()
        };
        let intervals: Vec<Vec<Interval>> = dimensions.iter().map(cut).collect();
        let total = intervals.iter().map(Vec::len).product();
        let place = |number: usize| {
            let mut rest = number;
            let mut at = vec![0; intervals.len()];
            for (slot, axis) in at.iter_mut().zip(&intervals).rev() {
                *slot = rest % axis.len();
                rest /= axis.len();
            }
            at
        };
        Self { index: (0..total).map(place).collect(), intervals }
    }

    /// The bins at these positions, which increase.
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
    pub fn place(&self, bin: usize) -> &[usize] {
        &self.index[bin]
    }

    /// A bin's interval along a dimension.
    pub fn interval(&self, bin: usize, dimension: usize) -> Interval {
        self.intervals[dimension][self.index[bin][dimension]]
    }

    /// The product of a bin's widths.
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
    pub fn holding(&self, point: &[f64]) -> Option<usize> {
        let along = |(axis, &x): (&Vec<Interval>, &f64)| {
            let within = |i: &Interval| i.low <= x && x < i.high;
            let end = axis.last().filter(|last| last.high == x).map(|_| axis.len() - 1);
            axis.iter().position(within).or(end)
        };
        let at: Option<Vec<usize>> = self.intervals.iter().zip(point).map(along).collect();
        at.and_then(|at| self.index.binary_search(&at).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_in_their_bins() {
        let bins = Bins::grid(&[(0.0, 2.0, 2), (-1.0, 2.0, 3)]);
        for bin in 0..bins.len() {
            assert_eq!(bins.holding(&bins.centre(bin)), Some(bin));
        }
        assert_eq!(bins.holding(&[1.0, 0.0]), Some(4), "a lower edge belongs to its bin");
        assert_eq!(bins.holding(&[2.0, 2.0]), Some(5), "the last upper edge too");
        assert_eq!(bins.holding(&[2.1, 0.0]), None);
        assert_eq!(bins.select(&[1, 3]).centre(1), bins.centre(3));
        assert_eq!(bins.select(&[1, 3]).holding(&bins.centre(3)), Some(1));
    }
}
