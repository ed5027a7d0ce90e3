//! Covariances of observations of bins, as products over the dimensions of a grid. Common prefixes are
//! computed once.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::integral::{kernel_double_integral, kernel_double_integral_log_slope, kernel_single_integral};
use super::{Bins, Interval};

/// How an observation of a bin relates to the latent function f.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinObservation {
    /// The mean of f over the bin: its integral divided by the volume.
    Average,
    /// The value of f at the centre of the bin.
    Centre,
}

/// The latent function has `k(x, x') = variance exp(-sum_d (x_d - x'_d)^2 / l_d^2)`, with **no factor 2** in the exponent.
/// Its average F over bins and its values f have the joint covariance of this type; each is `variance` (once) times a
/// product over the dimensions.
///
/// Averages stand for integrals: `F = integral / volume` carries the same information, and has the units of f.
/// Source: Smith, Zwiessele and Lawrence 2016, Section 2; the lengthscale is sqrt 2 times that of
/// [`ExponentiatedQuadratic`](super::ExponentiatedQuadratic).
///
/// ```
/// use dpgp_gp::kernel::{BinKernel, Bins, BinObservation};
/// // Centres 1 and 3, two apart: exp(-2^2 / 2^2) = 1/e.
/// let bins = Bins::grid(&[(0.0, 4.0, 2)]);
/// let kernel = BinKernel { variance: 3.0, lengthscales: vec![2.0], observed: BinObservation::Centre };
/// let k = kernel.matrix(&bins);
/// assert_eq!((k[(0, 0)], k[(0, 1)]), (3.0, 3.0 * (-1f64).exp()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinKernel {
    /// Variance of f.
    pub variance: f64,
    /// One lengthscale per dimension, in units of the inputs.
    pub lengthscales: Vec<f64>,
    /// What an observation of a bin measures.
    pub observed: BinObservation,
}

impl BinKernel {
    /// The (n x n) covariance of the observations.
    pub fn matrix(&self, bins: &Bins) -> DMatrix<f64> {
        self.multiply_axis_entries(bins, &self.axis_covariances(bins))
    }

    /// The derivatives of this covariance with respect to the logarithm of each lengthscale (D matrices, n x n).
    pub fn log_lengthscale_gradients(&self, bins: &Bins) -> Vec<DMatrix<f64>> {
        let mut factors = self.axis_covariances(bins);
        let mut slopes = Vec::with_capacity(factors.len());
        for d in 0..factors.len() {
            // One lengthscale stands in one factor alone: of the product rule a single term is left.
            let factor = std::mem::replace(&mut factors[d], self.axis_matrix(bins, d, interval_correlation_log_slope));
            slopes.push(self.multiply_axis_entries(bins, &factors));
            factors[d] = factor;
        }
        slopes
    }

    /// The (t x n) covariance between f at points (t x D) and the observations.
    pub fn cross_covariance(&self, points: &DMatrix<f64>, bins: &Bins) -> DMatrix<f64> {
        let factors: Vec<DMatrix<f64>> =
            (0..bins.dimensions()).map(|d| self.axis_cross_covariance(points, bins, d)).collect();
        DMatrix::from_fn(points.nrows(), bins.len(), |i, j| {
            let place = bins.axis_indices(j);
            self.variance * factors.iter().zip(place).map(|(factor, &at)| factor[(i, at)]).product::<f64>()
        })
    }

    /// The covariances along each dimension.
    fn axis_covariances(&self, bins: &Bins) -> Vec<DMatrix<f64>> {
        (0..bins.dimensions()).map(|d| self.axis_matrix(bins, d, interval_correlation)).collect()
    }

    /// One dimension's covariances ([`interval_correlation`]), or their derivatives ([`interval_correlation_log_slope`]), between its distinct intervals: n
    /// bins of a grid have far fewer of them than `n^2` pairs. They are a regular cut, so that an entry depends on how many steps apart
    /// the intervals are (a Toeplitz matrix), and those of the first interval are all.
    fn axis_matrix(&self, bins: &Bins, dimension: usize, entry: IntervalPairFunction) -> DMatrix<f64> {
        let (axis, l) = (bins.intervals(dimension), self.lengthscales[dimension]);
        let apart: Vec<f64> = axis.iter().map(|other| entry(self.observed, l, *other, axis[0])).collect();
        DMatrix::from_fn(axis.len(), axis.len(), |i, j| apart[i.abs_diff(j)])
    }

    /// One dimension's covariances between the points and its distinct intervals.
    fn axis_cross_covariance(&self, points: &DMatrix<f64>, bins: &Bins, dimension: usize) -> DMatrix<f64> {
        let (axis, l) = (bins.intervals(dimension), self.lengthscales[dimension]);
        DMatrix::from_fn(points.nrows(), axis.len(), |i, j| {
            interval_point_correlation(self.observed, l, axis[j], points[(i, dimension)])
        })
    }

    /// For each pair of bins the variance times the product of one entry of each factor.
    fn multiply_axis_entries(&self, bins: &Bins, factors: &[DMatrix<f64>]) -> DMatrix<f64> {
        let (size, prefixes) = (bins.len(), BinIndexPrefixes::new(bins));
        let mut product = DMatrix::zeros(size, size);
        for (bin, column) in product.as_mut_slice().chunks_exact_mut(size.max(1)).enumerate() {
            let places = factors.iter().zip(bins.axis_indices(bin));
            let entries: Vec<&[f64]> = places.map(|(factor, place)| column_of(factor, *place)).collect();
            prefixes.write_entry_products(self.variance, &entries, column);
        }
        product
    }
}

/// A column of a matrix, which lies in one piece.
fn column_of(matrix: &DMatrix<f64>, place: usize) -> &[f64] {
    let rows = matrix.nrows();
    &matrix.as_slice()[place * rows..(place + 1) * rows]
}

/// A function of what is observed, the lengthscale and two intervals along one dimension.
type IntervalPairFunction = fn(BinObservation, f64, Interval, Interval) -> f64;

/// The correlation of the observations of two intervals.
fn interval_correlation(observed: BinObservation, l: f64, a: Interval, b: Interval) -> f64 {
    match observed {
        BinObservation::Average => kernel_double_integral(l, a, b) / (a.width() * b.width()),
        BinObservation::Centre => {
            let r = (a.centre() - b.centre()) / l;
            (-r * r).exp()
        }
    }
}

/// `d / d ln l` of [`interval_correlation`]; for `e = exp(-r^2)` with `r = D / l` that is `2 r^2 e`.
fn interval_correlation_log_slope(observed: BinObservation, l: f64, a: Interval, b: Interval) -> f64 {
    match observed {
        BinObservation::Average => kernel_double_integral_log_slope(l, a, b) / (a.width() * b.width()),
        BinObservation::Centre => {
            let r = (a.centre() - b.centre()) / l;
            2.0 * r * r * (-r * r).exp()
        }
    }
}

/// The correlation of the observation of an interval with the value at x.
fn interval_point_correlation(observed: BinObservation, l: f64, a: Interval, x: f64) -> f64 {
    match observed {
        BinObservation::Average => kernel_single_integral(l, a, x) / a.width(),
        BinObservation::Centre => {
            let r = (a.centre() - x) / l;
            (-r * r).exp()
        }
    }
}

/// The distinct beginnings of the places of bins, dimension by dimension. Bins stand in the order of their places, so that those with a common
/// beginning are neighbours, and the last dimension has one for each bin.
pub(super) struct BinIndexPrefixes(Vec<PrefixLevel>);

/// The beginnings of one length.
#[derive(Default)]
struct PrefixLevel {
    /// Which beginning each goes on, by its number among those that are one shorter.
    parents: Vec<usize>,
    /// The place that each adds.
    places: Vec<usize>,
}

impl BinIndexPrefixes {
    pub fn new(bins: &Bins) -> Self {
        let mut prefixes: Vec<PrefixLevel> = (0..bins.dimensions()).map(|_| PrefixLevel::default()).collect();
        for bin in 0..bins.len() {
            let places = bins.axis_indices(bin);
            let common = if bin == 0 { 0 } else { common_prefix_length(bins.axis_indices(bin - 1), places) };
            let mut parent = match common {
                0 => 0,
                _ => prefixes[common - 1].places.len() - 1,
            };
            for (prefix, place) in prefixes.iter_mut().zip(places).skip(common) {
                prefix.parents.push(parent);
                prefix.places.push(*place);
                parent = prefix.places.len() - 1;
            }
        }
        Self(prefixes)
    }

    /// For every bin, writes the product of `first` and one entry of each dimension, in their order: `((first e_0) e_1) e_2`.
    pub fn write_entry_products(&self, first: f64, entries: &[&[f64]], out: &mut [f64]) {
        let mut values = vec![first];
        for (prefix, entries) in self.0.iter().zip(entries) {
            let pairs = prefix.parents.iter().zip(&prefix.places);
            values = pairs.map(|(parent, place)| values[*parent] * entries[*place]).collect();
        }
        out.copy_from_slice(&values);
    }
}

/// How many places at the beginning are the same.
fn common_prefix_length(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{ExponentiatedQuadratic, Kernel};

    fn kernel(observed: BinObservation) -> BinKernel {
        BinKernel { variance: 1.7, lengthscales: vec![2.0, 0.7], observed }
    }

    /// The averages of a latent process over bins are the averages of its values over fine midpoint grids: brute force
    /// on the covariance, with the error of the midpoint rule.
    #[test]
    fn averages_are_those_of_a_finely_binned_latent_process() {
        let bins = Bins::grid(&[(0.0, 6.0, 3), (0.0, 1.0, 2)]);
        let fine = Bins::grid(&[(0.0, 6.0, 90), (0.0, 1.0, 40)]);
        let kernel = kernel(BinObservation::Average);
        let root_half = std::f64::consts::FRAC_1_SQRT_2;
        let latent = ExponentiatedQuadratic::ard(1.7, vec![2.0 * root_half, 0.7 * root_half]);
        let centres = fine.centres();
        let of_bin = |bin: usize| -> Vec<usize> {
            (0..fine.len()).filter(|&i| bins.find_bin(&fine.centre(i)) == Some(bin)).collect()
        };
        let members: Vec<Vec<usize>> = (0..bins.len()).map(of_bin).collect();
        let points = DMatrix::from_row_slice(2, 2, &[1.0, 0.3, 7.0, -0.2]);
        let (matrix, cross) = (kernel.matrix(&bins), kernel.cross_covariance(&points, &bins));
        for a in 0..bins.len() {
            let at_a = centres.select_rows(&members[a]);
            assert!((latent.matrix(&points.rows(0, 1).into_owned(), &at_a).mean() - cross[(0, a)]).abs() < 5e-4);
            assert!((latent.matrix(&points.rows(1, 1).into_owned(), &at_a).mean() - cross[(1, a)]).abs() < 5e-4);
            for b in 0..=a {
                let between = latent.matrix(&at_a, &centres.select_rows(&members[b])).mean();
                assert!((between - matrix[(a, b)]).abs() < 5e-4, "{a} {b}: {between} {}", matrix[(a, b)]);
            }
        }
    }

    #[test]
    fn covariances_are_symmetric_and_positive_semidefinite() {
        let bins = Bins::grid(&[(0.0, 10.0, 5), (0.0, 1.0, 3)]);
        for observed in [BinObservation::Average, BinObservation::Centre] {
            let k = kernel(observed).matrix(&bins);
            assert_eq!(k, k.transpose());
            assert!(k.symmetric_eigenvalues().min() > -1e-13);
        }
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let bins = Bins::grid(&[(0.0, 10.0, 5), (0.0, 1.0, 3)]);
        for observed in [BinObservation::Average, BinObservation::Centre] {
            for (d, slope) in kernel(observed).log_lengthscale_gradients(&bins).into_iter().enumerate() {
                let at = |h: f64| {
                    let mut moved = kernel(observed);
                    moved.lengthscales[d] *= h.exp();
                    moved.matrix(&bins)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((difference - slope).amax() < 1e-9, "{observed:?} {d}");
            }
        }
    }
}

#[cfg(test)]
mod prefixes_tests {
    use super::*;

    /// To the last bit those of each bin by itself, in the order of the dimensions; also where the grid has holes.
    #[test]
    fn products_are_those_of_each_bin() {
        let grid = Bins::grid(&[(0.0, 1.0, 3), (0.0, 1.0, 2), (0.0, 1.0, 4)]);
        let entries = [vec![0.3, 0.7, 1.1], vec![0.9, 0.1], vec![0.2, 0.6, 1.3, 1.7]];
        for bins in [grid.clone(), grid.select(&[1, 2, 7, 8, 9, 16, 23])] {
            let mut found = vec![0.0; bins.len()];
            let columns: Vec<&[f64]> = entries.iter().map(Vec::as_slice).collect();
            BinIndexPrefixes::new(&bins).write_entry_products(1.9, &columns, &mut found);
            for (bin, found) in found.iter().enumerate() {
                let place = bins.axis_indices(bin);
                assert_eq!(*found, 1.9 * entries[0][place[0]] * entries[1][place[1]] * entries[2][place[2]]);
            }
        }
    }
}
