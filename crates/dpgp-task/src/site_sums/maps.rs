//! Features in the axes of the noise on their sums.

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use dpgp_gp::sites::{NoisyFeatures, SummedFeatures};
use dpgp_gp::variational::Bumps;
use dpgp_mechanisms::NoiseAxes;

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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn maps() -> ReleasedMaps {
        let [weighted, plain] =
            [vec![0.0, 1.0], vec![0.0, 0.5, 1.0]].map(|axis| Bumps::new(vec![axis], 0.6, 1.0));
        let turned = DMatrix::from_row_slice(2, 2, &[0.6, -0.8, 0.8, 0.6]);
        let variances = DVector::from_vec(vec![4.0, 0.25]);
        ReleasedMaps {
            weighted: ReleasedMap { noise: NoiseAxes { axes: turned, variances }, bumps: weighted },
            plain: ReleasedMap { noise: NoiseAxes::spherical(3, 9.0), bumps: plain },
        }
    }

    #[test]
    fn blocks_add_up_to_the_whole() {
        let maps = maps();
        for rows in [1, 1024, 2500] {
            let inputs = DMatrix::from_fn(rows, 1, |i, _| (i as f64).sin());
            let targets: Vec<f64> = (0..rows).map(|i| 3.0 * (0.7 * i as f64).cos()).collect();
            let sums = maps.sums(&inputs, &targets, 2.0);
            let clipped = DVector::from_iterator(rows, targets.iter().map(|y| y.clamp(-2.0, 2.0)));
            let [k, p] = [&maps.weighted, &maps.plain].map(|map| map.bumps.features(&inputs));
            let expected = maps.weighted.noise.axes.tr_mul(&k.tr_mul(&clipped));
            assert!((sums.weighted - expected).amax() < 1e-9 && sums.rows == rows);
            assert!((sums.plain - p.row_sum_tr()).amax() < 1e-9);
        }
    }

    /// Mean squares over 4000 releases, each of which is off by 2.2 % on average, are those that are stated.
    #[test]
    fn noise_has_the_variances_that_are_stated() {
        let (maps, mut stream) = (maps(), rand_pcg::Pcg64::seed_from_u64(2));
        let sums = maps.sums(&DMatrix::from_element(1, 1, 0.3), &[1.0], 2.0);
        let (mut weighted, mut plain) = (DVector::zeros(2), DVector::zeros(3));
        for _ in 0..4000 {
            let released = maps.released(&sums, 1.5, &mut stream);
            weighted += (&released.sums.weighted - &sums.weighted)
                .component_div(&released.weighted.map(f64::sqrt))
                .map(|z| z * z);
            plain += (&released.sums.plain - &sums.plain).map(|z| z * z / (9.0 * 2.25));
            assert_eq!(released.weighted.as_slice(), [9.0, 0.5625]);
        }
        for mean in weighted.iter().chain(plain.iter()).map(|sum| sum / 4000.0) {
            assert!((mean - 1.0).abs() < 0.1, "{mean}");
        }
    }
}
