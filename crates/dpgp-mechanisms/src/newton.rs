//! A private Newton step of GP classification.

use nalgebra::{DMatrix, DVector};

use dpgp_cloaking::{CloakingNoise, CloakingOptions, DroppedDirectionRule, design_cloaking_noise};
use dpgp_gp::{NewtonStep, PredictionMap};
use dpgp_noise::PrivacyError;

/// A Newton step whose labels are cloaked.
///
/// Obligation: the labels enter the new latent values as `Phi C y` alone, with `C` the map of the [`NewtonStep`]. With
/// `Phi = Q R` (Q orthonormal, public) the mechanism releases `q = B y + s L xi`, where `B = U' R C` are the kept
/// directions of `R C = U diag(s) V'` and L covers all columns of B ([`CloakingNoise`]). Everything else is post-processing:
/// the new weights are `public + C V diag(s)^-1 q`, which for `s = 0` is the step itself up to the dropped directions.
#[derive(Debug, Clone)]
pub struct PrivateNewtonStep {
    public: DVector<f64>,
    /// `C V diag(s)^-1` (m x r): from what is released to weights.
    through: DMatrix<f64>,
    /// `B y` for the sums of the labels of equal inputs (r). Private: it leaves this type with noise only.
    released: DVector<f64>,
    cloak: CloakingNoise,
}

impl PrivateNewtonStep {
    /// The step for labels -1 and 1; `root` is the upper triangular R (m x m), `inputs` (n x d) tell which columns are
    /// equal.
    ///
    /// # Errors
    /// [`PrivacyError`] if the noise design fails.
    pub fn new(
        step: &NewtonStep,
        root: &DMatrix<f64>,
        inputs: &DMatrix<f64>,
        labels: &[f64],
        options: &CloakingOptions,
    ) -> Result<Self, PrivacyError> {
        // Jitter would add directions that no label enters; here all released ones are mapped back to weights.
        let options = CloakingOptions { release: DroppedDirectionRule::Projection, ..*options };
        let map = PredictionMap::new(&(root * step.label_map()), inputs);
        let counts = map.targets_per_column();
        let cloak = design_cloaking_noise(map.distinct_columns(), &counts, &options)?;
        // Row j of B is s_j times row j of V', so V diag(s)^-1 is the transpose of its rows over their squared norms.
        let mut weighted = cloak.released_columns().clone();
        for mut row in weighted.row_iter_mut() {
            let squares: f64 = row.iter().zip(&counts).map(|(b, n)| b * b * *n as f64).sum();
            row.iter_mut().zip(&counts).for_each(|(b, n)| *b *= *n as f64 / squares);
        }
        let through = map.select_distinct_columns(step.label_map()) * weighted.transpose();
        let released = cloak.released_columns() * map.sum_targets_by_input(labels);
        Ok(Self { public: step.public_part().clone(), through, released, cloak })
    }

    /// The weights after the step with noise of multiplier `scale` and standard normal draws (r).
    pub fn noisy_weights(&self, scale: f64, normals: &DVector<f64>) -> DVector<f64> {
        let noisy = &self.released + self.cloak.noise_factor() * normals * scale;
        &self.public + &self.through * noisy
    }

    /// The noise design.
    pub fn cloak(&self) -> &CloakingNoise {
        &self.cloak
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_cloaking::{Objective, Solver};
    use dpgp_gp::exact_features;
    use dpgp_gp::kernel::ExponentiatedQuadratic;
    use dpgp_linalg::cholesky_of_gram_matrix;

    fn step(inputs: &DMatrix<f64>, labels: &[f64]) -> (PrivateNewtonStep, NewtonStep, DMatrix<f64>) {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 3.0);
        let phi = exact_features(&kernel, inputs, inputs).unwrap().training;
        let plain = NewtonStep::from_latent_values(&phi, &DVector::zeros(inputs.nrows())).unwrap();
        let root = cholesky_of_gram_matrix("Phi", &phi).unwrap().factor().transpose();
        let options = CloakingOptions {
            objective: Objective::LogDet,
            rank_tolerance: 1e-10,
            solver: Solver::InteriorPoint,
            release: DroppedDirectionRule::Projection,
        };
        (PrivateNewtonStep::new(&plain, &root, inputs, labels, &options).unwrap(), plain, phi)
    }

    fn labels(n: usize) -> Vec<f64> {
        (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect()
    }

    #[test]
    fn without_noise_it_is_the_step() {
        let inputs = DMatrix::from_fn(30, 1, |i, _| (i % 13) as f64);
        let (private, plain, phi) = step(&inputs, &labels(30));
        let rank = private.cloak().noise_factor().ncols();
        let weights = private.noisy_weights(0.0, &DVector::zeros(rank));
        let expected = plain.feature_weights(&DVector::from_vec(labels(30)));
        assert!((phi * (weights - expected)).amax() < 1e-8);
    }

    /// A flipped label (a change of 2) moves what is released by at most 2 in the metric of the noise.
    #[test]
    fn a_flipped_label_is_covered() {
        let inputs = DMatrix::from_fn(30, 1, |i, _| (i % 13) as f64);
        let (private, _, _) = step(&inputs, &labels(30));
        for row in 0..30 {
            let mut flipped = labels(30);
            flipped[row] = -flipped[row];
            let (other, _, _) = step(&inputs, &flipped);
            let moved =
                private.cloak().noise_factor().clone().try_inverse().unwrap() * (&private.released - &other.released);
            assert!(moved.norm() <= 2.0 * (1.0 + 1e-9), "{row}: {}", moved.norm());
        }
    }
}
