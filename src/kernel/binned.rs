//! The covariance of what is observed of bins.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::integral::{double_integral, double_integral_slope, single_integral};
use super::{Bins, Interval};

/// What an observation of a bin is of the latent function f.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// The mean of f over the bin: its integral over its volume.
    Average,
    /// The value of f at the centre of the bin.
    Centre,
}

/// The latent function has `k(x, x') = variance exp(-sum_d (x_d - x'_d)^2 / l_d^2)`, with **no factor 2** in the exponent.
/// Its average F over bins and its values f have the joint covariance of this type; each is `variance` (once) times a
/// product over the dimensions.
///
/// Averages stand for integrals: `F = integral / volume` carries the same information, and has the units of f.
/// Source: Smith, Zwiessele and Lawrence 2016, Section 2.
#[derive(Debug, Clone, PartialEq)]
pub struct BinKernel {
    /// Variance of f.
    pub variance: f64,
    /// One lengthscale per dimension, in units of the inputs.
    pub lengthscales: Vec<f64>,
    /// What is observed of a bin.
    pub observed: Observed,
}

impl BinKernel {
    /// The (n x n) covariance of the observations.
    pub fn matrix(&self, bins: &Bins) -> DMatrix<f64> {
        let factors: Vec<DMatrix<f64>> =
            (0..bins.dimensions()).map(|d| self.factor(bins, d, false)).collect();
        self.product(bins, &factors)
    }

    /// Its derivatives with respect to the logarithm of each lengthscale (D matrices, n x n).
    pub fn slopes(&self, bins: &Bins) -> Vec<DMatrix<f64>> {
        let factors: Vec<DMatrix<f64>> =
            (0..bins.dimensions()).map(|d| self.factor(bins, d, false)).collect();
        let along = |d: usize| {
            let mut factors = factors.clone();
            factors[d] = self.factor(bins, d, true);
            self.product(bins, &factors)
        };
        (0..bins.dimensions()).map(along).collect()
    }

    /// The (t x n) covariance of f at points (t x D) with the observations.
    pub fn cross(&self, points: &DMatrix<f64>, bins: &Bins) -> DMatrix<f64> {
        let factor = |d: usize| {
            let axis = bins.intervals(d);
            DMatrix::from_fn(points.nrows(), axis.len(), |i, j| {
                half(self.observed, self.lengthscales[d], axis[j], points[(i, d)])
            })
        };
        let factors: Vec<DMatrix<f64>> = (0..bins.dimensions()).map(factor).collect();
        DMatrix::from_fn(points.nrows(), bins.len(), |i, j| {
            let place = bins.place(j);
            self.variance * factors.iter().zip(place).map(|(factor, &at)| factor[(i, at)]).product::<f64>()
        })
    }

    /// One dimension's covariances, or their derivatives by the logarithm of the lengthscale, between its distinct
    /// intervals.
    fn factor(&self, bins: &Bins, dimension: usize, slope: bool) -> DMatrix<f64> {
        let (axis, l) = (bins.intervals(dimension), self.lengthscales[dimension]);
        let both = if slope { both_slope } else { both };
        let mut factor = DMatrix::zeros(axis.len(), axis.len());
        for i in 0..axis.len() {
            for j in 0..=i {
                factor[(i, j)] = both(self.observed, l, axis[i], axis[j]);
                factor[(j, i)] = factor[(i, j)];
            }
        }
        factor
    }

    fn product(&self, bins: &Bins, factors: &[DMatrix<f64>]) -> DMatrix<f64> {
        DMatrix::from_fn(bins.len(), bins.len(), |i, j| {
            let places = bins.place(i).iter().zip(bins.place(j));
            self.variance * factors.iter().zip(places).map(|(f, (&a, &b))| f[(a, b)]).product::<f64>()
        })
    }
}

fn both(observed: Observed, l: f64, a: Interval, b: Interval) -> f64 {
    match observed {
        Observed::Average => double_integral(l, a, b) / (a.width() * b.width()),
        Observed::Centre => {
            let r = (a.centre() - b.centre()) / l;
            (-r * r).exp()
        }
    }
}

fn both_slope(observed: Observed, l: f64, a: Interval, b: Interval) -> f64 {
    match observed {
        Observed::Average => double_integral_slope(l, a, b) / (a.width() * b.width()),
        Observed::Centre => {
            let r = (a.centre() - b.centre()) / l;
            2.0 * r * r * (-r * r).exp()
        }
    }
}

fn half(observed: Observed, l: f64, a: Interval, x: f64) -> f64 {
    match observed {
        Observed::Average => single_integral(l, a, x) / a.width(),
        Observed::Centre => {
            let r = (a.centre() - x) / l;
            (-r * r).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{ExponentiatedQuadratic, Kernel};

    fn kernel(observed: Observed) -> BinKernel {
        BinKernel { variance: 1.7, lengthscales: vec![2.0, 0.7], observed }
    }

    /// The averages of a latent process over bins are the averages of its values over fine midpoint grids: brute force
    /// on the covariance, with the error of the midpoint rule.
    #[test]
    fn averages_are_those_of_a_finely_binned_latent_process() {
        let bins = Bins::grid(&[(0.0, 6.0, 3), (0.0, 1.0, 2)]);
        let fine = Bins::grid(&[(0.0, 6.0, 90), (0.0, 1.0, 40)]);
        let kernel = kernel(Observed::Average);
        let root_half = std::f64::consts::FRAC_1_SQRT_2;
        let latent = ExponentiatedQuadratic::ard(1.7, vec![2.0 * root_half, 0.7 * root_half]);
        let centres = fine.centres();
        let of_bin = |bin: usize| -> Vec<usize> {
            (0..fine.len()).filter(|&i| bins.holding(&fine.centre(i)) == Some(bin)).collect()
        };
        let members: Vec<Vec<usize>> = (0..bins.len()).map(of_bin).collect();
        let points = DMatrix::from_row_slice(2, 2, &[1.0, 0.3, 7.0, -0.2]);
        let (matrix, cross) = (kernel.matrix(&bins), kernel.cross(&points, &bins));
        for a in 0..bins.len() {
            let at_a = centres.select_rows(&members[a]);
            assert!(
                (latent.matrix(&points.rows(0, 1).into_owned(), &at_a).mean() - cross[(0, a)]).abs() < 5e-4
            );
            assert!(
                (latent.matrix(&points.rows(1, 1).into_owned(), &at_a).mean() - cross[(1, a)]).abs() < 5e-4
            );
            for b in 0..=a {
                let between = latent.matrix(&at_a, &centres.select_rows(&members[b])).mean();
                assert!((between - matrix[(a, b)]).abs() < 5e-4, "{a} {b}: {between} {}", matrix[(a, b)]);
            }
        }
    }

    #[test]
    fn covariances_are_symmetric_and_positive_semidefinite() {
        let bins = Bins::grid(&[(0.0, 10.0, 5), (0.0, 1.0, 3)]);
        for observed in [Observed::Average, Observed::Centre] {
            let k = kernel(observed).matrix(&bins);
            assert_eq!(k, k.transpose());
            assert!(k.symmetric_eigenvalues().min() > -1e-13);
        }
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let bins = Bins::grid(&[(0.0, 10.0, 5), (0.0, 1.0, 3)]);
        for observed in [Observed::Average, Observed::Centre] {
            for (d, slope) in kernel(observed).slopes(&bins).into_iter().enumerate() {
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
