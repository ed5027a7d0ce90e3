//! Features in the axes of the noise on their sums.

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use crate::gp::sites::{NoisyFeatures, SummedFeatures};
use crate::gp::variational::Bumps;
use crate::privacy::NoiseAxes;

/// The variance that says of the sum of squares that nothing is known of it: it is not released.
const UNKNOWN: f64 = 1e300;

/// Rows whose features are computed at a time.
const BLOCK: usize = 1024;

/// Features, and the noise on their sums at the multiplier 1.
#[derive(Debug, Clone)]
pub struct ReleasedMap {
    pub bumps: Bumps,
    pub noise: NoiseAxes,
}

/// Those that targets weigh, `k(x)`, and the plain ones at the midpoints.
#[derive(Debug, Clone)]
pub struct ReleasedMaps {
    pub weighted: ReleasedMap,
    pub plain: ReleasedMap,
}

impl ReleasedMap {
    /// At inputs (n x d), along the axes of the noise (n x k).
    pub fn features(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        self.noise.along(&self.bumps.features(inputs))
    }
}

impl ReleasedMaps {
    /// The sums of rows with inputs (n x d) in the box, their targets clipped to a bound. No array grows with n.
    pub fn sums(&self, inputs: &DMatrix<f64>, targets: &[f64], bound: f64) -> SummedFeatures {
        let mut weighted = DVector::zeros(self.weighted.bumps.len());
        let mut plain = DVector::zeros(self.plain.bumps.len());
        for start in (0..targets.len()).step_by(BLOCK) {
            let here = BLOCK.min(targets.len() - start);
            let rows = inputs.rows(start, here).into_owned();
            let clipped = targets[start..start + here].iter().map(|y| y.clamp(-bound, bound));
            let clipped = DVector::from_iterator(here, clipped);
            weighted += self.weighted.features(&rows).tr_mul(&clipped);
            plain += self.plain.features(&rows).row_sum_tr();
        }
        SummedFeatures { rows: targets.len(), weighted, plain, squares: 0.0 }
    }

    /// A simulation of a release with `sigma` times the noise.
    pub fn released(&self, sums: &SummedFeatures, sigma: f64, stream: &mut impl Rng) -> NoisyFeatures {
        self.noisy(
            SummedFeatures {
                weighted: self.weighted.noise.noisy(&sums.weighted, sigma, stream),
                plain: self.plain.noise.noisy(&sums.plain, sigma, stream),
                ..sums.clone()
            },
            sigma,
        )
    }

    /// Sums along the axes that have `sigma` times the noise on them. The number of rows is public; the sum of squares is not released.
    pub fn noisy(&self, sums: SummedFeatures, sigma: f64) -> NoisyFeatures {
        NoisyFeatures {
            sums,
            weighted: &self.weighted.noise.variances * (sigma * sigma),
            plain: &self.plain.noise.variances * (sigma * sigma),
            squares: UNKNOWN,
            rows: 0.0,
        }
    }
}
