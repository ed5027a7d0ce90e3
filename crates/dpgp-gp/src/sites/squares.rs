//! Information about hyperparameters from the sum of squared targets, which determines the noise variance and
//! so the width of intervals.

use nalgebra::{DMatrix, DVector};

use super::between::{ProcessCorrelations, ReleaseAndInputPosterior, quadratic_form};
use super::inputs::GramWeights;
use super::mixture::{PartialEvidenceMember, SiteGridHyperparameters};
use super::{InputPosterior, SiteCountPosterior};
use dpgp_linalg::{product, transposed_product};

/// The sum `f' N f` of the squares of the process over the rows, with N the counts or the Gram matrix, m the mean and V the covariance of
/// what b sees of f, given b.
pub(super) struct ProcessSquareSum {
    /// `m' N m`.
    mean: f64,
    /// `tr(N V)`.
    spread: f64,
    /// `(N m)' V (N m)`.
    of_mean: f64,
    /// `2 tr(N V N V)`.
    fourth: f64,
    /// The variance by what is not known of N.
    of_inputs: f64,
}

impl ProcessSquareSum {
    /// With `half = F^-1 L K` for the factor F of Q. Of counts, [`add_quadratic_variance_terms`] adds what is missing.
    pub fn new(
        chosen: SiteGridHyperparameters,
        seen: &ReleaseAndInputPosterior<'_>,
        correlated: &ProcessCorrelations,
        mean: &DVector<f64>,
        half: &DMatrix<f64>,
    ) -> Self {
        match seen.inputs {
            InputPosterior::Counts(counts) => Self::from_site_counts(counts, chosen, seen, correlated, mean, half),
            InputPosterior::Gram(weights) => {
                let prior = correlated.covariance(chosen.variance, seen);
                Self::from_gram_projection(weights, &(prior - transposed_product(half, half)), mean)
            }
        }
    }

    /// `N = diag(p)`; the part of fourth order takes the correlations a priori. Without the quadratic forms of G x G matrices.
    fn from_site_counts(
        counts: &SiteCountPosterior,
        chosen: SiteGridHyperparameters,
        seen: &ReleaseAndInputPosterior<'_>,
        correlated: &ProcessCorrelations,
        mean: &DVector<f64>,
        half: &DMatrix<f64>,
    ) -> Self {
        let at_sites = chosen.variance + seen.sums.bias;
        let variances = half.column_iter().map(|column| at_sites - column.norm_squared());
        let spread: f64 = counts.mean.iter().zip(variances).map(|(count, variance)| count * variance).sum();
        let weights = counts.mean.component_mul(mean);
        Self {
            mean: weights.dot(mean),
            spread,
            of_mean: seen.sums.bias * weights.sum().powi(2) - (half * weights).norm_squared(),
            fourth: 2.0 * spread * spread * correlated.square,
            of_inputs: 0.0,
        }
    }

    /// N is the Gram matrix.
    fn from_gram_projection(weights: &GramWeights, covariance: &DMatrix<f64>, mean: &DVector<f64>) -> Self {
        let gram = &weights.gram.mean;
        let spread = product(gram, covariance);
        let seen = gram * mean;
        Self {
            mean: mean.dot(&seen),
            spread: spread.trace(),
            of_mean: quadratic_form(covariance, &seen),
            fourth: 2.0 * spread.component_mul(&spread.transpose()).sum(),
            of_inputs: weights.gram.quadratic_form_variance(&weights.map, mean),
        }
    }

    /// `E = E[f' N f]`.
    pub fn expected_sum(&self) -> f64 {
        self.mean + self.spread
    }

    /// The variance of q by all but the noise of targets: the noise on q, what is not known of f, and of the inputs.
    pub fn variance_besides_target_noise(&self, seen: &ReleaseAndInputPosterior<'_>) -> f64 {
        seen.released.squares + 4.0 * self.of_mean.max(0.0) + self.fourth + self.of_inputs
    }
}

/// Adds `variance (p o m)' C (p o m)` to what the mean is known by, and `(m o m)' V (m o m)` for the covariance V of the counts: for all
/// members with one matrix C of correlations at once, since to read G^2 numbers for each would be most of the time.
pub(super) fn add_quadratic_variance_terms(
    members: &mut [PartialEvidenceMember],
    counts: &SiteCountPosterior,
    correlated: &ProcessCorrelations,
) {
    let means: Vec<&DVector<f64>> = members.iter().map(|each| &each.member.mean).collect();
    let weights: Vec<DVector<f64>> = means.iter().map(|mean| counts.mean.component_mul(mean)).collect();
    let squares: Vec<DVector<f64>> = means.iter().map(|mean| mean.component_mul(mean)).collect();
    let of_means = evaluate_quadratic_forms(&correlated.correlations, &weights);
    let of_inputs = evaluate_quadratic_forms(&counts.covariance, &squares);
    for ((each, of_mean), of_inputs) in members.iter_mut().zip(of_means).zip(of_inputs) {
        each.energy.of_mean += each.member.chosen.variance * of_mean;
        each.energy.of_inputs += of_inputs;
    }
}

/// `x' A x` for each x.
fn evaluate_quadratic_forms(a: &DMatrix<f64>, all: &[DVector<f64>]) -> Vec<f64> {
    let columns = DMatrix::from_columns(all);
    let products = product(a, &columns);
    columns.column_iter().zip(products.column_iter()).map(|(x, ax)| x.dot(&ax)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2 + 2 * 2 + 3 * 4 = 18` and `2 - 2 + 3 = 3`.
    #[test]
    fn quadratics_are_those_of_each_vector() {
        let a = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 3.0]);
        let all = [[1.0, 2.0], [-1.0, 1.0]].map(|x| DVector::from_column_slice(&x));
        assert_eq!(evaluate_quadratic_forms(&a, &all), [18.0, 3.0]);
    }
}
