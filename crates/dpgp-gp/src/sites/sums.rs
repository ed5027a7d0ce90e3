//! Sums over rows, and the noise on them.

use nalgebra::{DMatrix, DVector};

use super::{GramMap, SiteInterpolationVariance};

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

/// The same with independent Gaussian noise on each number.
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
