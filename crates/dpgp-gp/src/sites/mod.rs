//! A Gaussian process on a public box, observed through noisy sums over rows with private inputs.
//!
//! The data enter as `b = sum_i y_i phi(x_i)` (m numbers), `T = sum_i e(x_i)` (k numbers) and `q = sum_i
//! y_i^2`, each with independent Gaussian noise ([`NoisyFeatureSums`]). Here, phi and e are any functions on the
//! box. The process lives on G public *sites* ([`CountingSites`]), and `p_g` counts the rows near site g. T
//! determines the counts p ([`SiteCountPosterior`]), and b the values of f at the sites. Let `L = Phi' diag(p)` (Phi
//! is the G x m matrix of phi at the sites), K the covariances of the sites, s^2 the noise variance and D the
//! variances of the noise. Then
//!
//! ```text
//! b | p ~ N(0, Q),   Q = L K L' + s^2 L Phi + Phi' (V o E[f f']) Phi + v L L' + D.
//! ```
//!
//! The third term is the error of the counts, with their posterior covariance V and the entrywise product o:
//! if the counts err by `dp`, b errs by `Phi' diag(f) dp`, which has this covariance. The fourth term is the
//! error of the sites ([`SiteInterpolationVariance`]): between sites, f has the variance v about its interpolation, and
//! its error may be the same for all rows near a site. So predictions account for the uncertainty of the
//! inputs. Any kernel works, because nothing is expanded in frequencies.
//!
//! Up to four inputs, sites on a grid suffice. With more inputs, and for additive kernels, b is observed
//! through the weights `w = R f` of its own features ([`InputPosterior::Gram`]): `b = A w` replaces `L f`. The
//! Gram matrix A of the rows is linear in T ([`GramMap`]). The sites, scattered over the box, only determine
//! the prior of the weights. Predictions are those of the kernel. The part of f beyond the features counts as
//! noise.

mod between;
mod counts;
#[cfg(test)]
mod dense;
mod grid;
mod inputs;
mod mixture;
mod passes;
mod squares;

use nalgebra::{DMatrix, DVector};

pub use between::SiteInterpolationVariance;
pub use counts::SiteCountPosterior;
pub use grid::{
    CountingSites, Lattice, LatticeCellCountAndSum, LatticeCountsAndSums, TARGET_BITS, additive_site_points,
    box_midpoint_grid, site_points,
};
pub use inputs::{GramEntry, GramMap, GramMapTerm, GramPosterior, GramWeights, InputPosterior};
pub use mixture::{
    FunctionAndTargetPredictions, HyperparameterGrid, KernelWithLogPrior, PublicReferenceModel, SiteProcessPosterior,
    ValueWithLogPrior,
};
pub use passes::{fit_mixture_from_kernel_matrices, fit_site_mixture};

/// `b = sum_i y_i phi(x_i)` (m), `T = sum_i e(x_i)` (k) and `q = sum_i y_i^2` of n rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSums {
    /// The number of rows.
    pub rows: usize,
    /// `b`.
    pub weighted: DVector<f64>,
    /// `T`.
    pub plain: DVector<f64>,
    /// `q`.
    pub squares: f64,
}

impl FeatureSums {
    /// From the features of n rows, phi (n x m) and e (n x k), and their targets.
    pub fn new(weighted: &DMatrix<f64>, plain: &DMatrix<f64>, targets: &[f64]) -> Self {
        Self {
            rows: targets.len(),
            weighted: weighted.tr_mul(&DVector::from_column_slice(targets)),
            plain: plain.row_sum_tr(),
            squares: targets.iter().map(|y| y * y).sum(),
        }
    }
}

/// [`FeatureSums`] with independent Gaussian noise on each number.
///
/// Obligation of what makes one: every variance is that of the noise which was drawn, and positive but for that of a number of rows
/// that is public.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyFeatureSums {
    /// The sums with noise on them.
    pub sums: FeatureSums,
    /// The variances of the noise on b.
    pub weighted: DVector<f64>,
    /// On T.
    pub plain: DVector<f64>,
    /// On q.
    pub squares: f64,
    /// On the number of rows; zero where it is public.
    pub rows: f64,
}

/// The features at the sites.
#[derive(Debug, Clone)]
pub struct SiteFeatures {
    /// The sites (G x d).
    pub sites: DMatrix<f64>,
    /// The share of the box that each stands for (G, sum 1).
    pub shares: DVector<f64>,
    /// phi there (G x m).
    pub weighted: DMatrix<f64>,
    /// e there (G x k).
    pub plain: DMatrix<f64>,
    /// What counts at the sites leave out of rows between them; none if all rows lie at sites, or no counts are asked for.
    pub between: Option<SiteInterpolationVariance>,
    /// How the Gram matrix of phi follows from the sums of e, where the process is seen through weights of phi.
    pub gram: Option<GramMap>,
}

impl SiteFeatures {
    /// G.
    pub fn len(&self) -> usize {
        self.sites.nrows()
    }

    /// Whether there is no site.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_over_rows() {
        let weighted = DMatrix::from_row_slice(3, 2, &[1.0, 2.0, 0.0, 1.0, -1.0, 4.0]);
        let plain = DMatrix::from_column_slice(3, 1, &[0.5, 0.25, 1.0]);
        let found = FeatureSums::new(&weighted, &plain, &[2.0, -3.0, 1.0]);
        assert_eq!((found.rows, found.weighted.as_slice(), found.plain.as_slice()), (3, &[1.0, 5.0][..], &[1.75][..]));
        assert_eq!(found.squares, 14.0);
    }
}
