//! Noise on Fourier moments.

use nalgebra::DVector;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::MomentsDesign;
use dpgp_gp::sites::{NoisyFeatures, SummedFeatures};

/// The relative excess of the noise, which covers the rounding of closed forms for up to F = 256 frequencies (designs of least risk have
/// at most 213): with `u = 2^-53` the sum of the weights is off by F u, a weight of a plain sum, which adds 2 F products, by 2 F u, both
/// relative and under a root, and a dozen operations by u each: `(F + 2 F) u / 2 + 12 u < 4.5e-14`.
const EXCESS: f64 = 5.7e-14;

/// Standard deviations of independent noise on the moments.
///
/// Obligation: with `s = sigma D` the noise on a number of weight w is at least `s / sqrt(w)`, so that in units of the noise the
/// release moves by at most `1 / sigma` ([`super::SquareRule`]).
#[derive(Debug, Clone, PartialEq)]
pub struct MomentsNoise {
    /// On each sum that targets weigh (m).
    pub weighted: DVector<f64>,
    /// On each plain sum (k).
    pub plain: DVector<f64>,
    /// On the sum of squared targets.
    pub squares: f64,
    /// On the number of rows; none where it is public.
    pub rows: Option<f64>,
    /// On a number of weight 1: `s`.
    pub scale: f64,
}

impl MomentsNoise {
    /// Of a scale s, which is divided by the root of each weight.
    pub(super) fn new(design: &MomentsDesign, scale: f64) -> Self {
        let scale = scale * (1.0 + EXCESS);
        let weighted: Vec<f64> = design.weights.iter().map(|u| scale / u.sqrt()).collect();
        let plain: Vec<f64> = design.pair_weights.iter().map(|t| scale / t.sqrt()).collect();
        Self {
            scale,
            weighted: design.frequencies.spread(&weighted),
            plain: design.pairs.spread(&plain),
            squares: scale / design.rule.square_weight().sqrt(),
            rows: design.counted.then(|| scale / design.rule.count_weight().sqrt()),
        }
    }

    /// A simulation of a release, with noise in floating point.
    pub fn release(&self, sums: &SummedFeatures, stream: &mut impl Rng) -> NoisyFeatures {
        let mut noisy = sums.clone();
        noisy.weighted += self.weighted.map(|sd| sd * normal(stream));
        noisy.plain += self.plain.map(|sd| sd * normal(stream));
        noisy.squares += self.squares * normal(stream);
        if let Some(sd) = self.rows {
            noisy.rows = (noisy.rows as f64 + sd * normal(stream)).round().max(1.0) as usize;
        }
        self.stated(noisy)
    }

    /// Sums with this noise on them.
    pub fn stated(&self, sums: SummedFeatures) -> NoisyFeatures {
        NoisyFeatures {
            sums,
            weighted: self.weighted.map(|sd| sd * sd),
            plain: self.plain.map(|sd| sd * sd),
            squares: self.squares * self.squares,
            rows: self.rows.map_or(0.0, |sd| sd * sd),
        }
    }
}

fn normal(stream: &mut impl Rng) -> f64 {
    StandardNormal.sample(stream)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    fn sums() -> SummedFeatures {
        let zeros = |n| DVector::zeros(n);
        SummedFeatures { rows: 1000, weighted: zeros(200), plain: zeros(300), squares: 50.0 }
    }

    fn noise(rows: Option<f64>) -> MomentsNoise {
        let of = |n, sd| DVector::from_element(n, sd);
        MomentsNoise { weighted: of(200, 2.0), plain: of(300, 3.0), squares: 4.0, rows, scale: 1.0 }
    }

    /// Means of 200 and 300 squares are within 5 standard errors of their variances; the variances are those that are stated.
    #[test]
    fn a_simulation_has_the_noise_that_it_states() {
        let mut stream = Pcg64::seed_from_u64(3);
        let released = noise(None).release(&sums(), &mut stream);
        let of_b = released.sums.weighted.norm_squared() / 200.0 / 4.0;
        let of_t = released.sums.plain.norm_squared() / 300.0 / 9.0;
        assert!((of_b - 1.0).abs() < 0.5 && (of_t - 1.0).abs() < 0.41, "{of_b} {of_t}");
        assert!(released.sums.weighted.mean().abs() < 0.75 && released.sums.squares != 50.0);
        assert!(released.weighted.iter().all(|v| *v == 4.0) && released.plain.iter().all(|v| *v == 9.0));
        assert_eq!((released.squares, released.rows, released.sums.rows), (16.0, 0.0, 1000));
        // A number of rows that is private moves by its noise, and is at least 1.
        let rows: Vec<f64> = (0..400)
            .map(|_| noise(Some(20.0)).release(&sums(), &mut stream).sums.rows as f64 - 1000.0)
            .collect();
        let square = rows.iter().map(|x| x * x).sum::<f64>() / 400.0 / 400.0;
        assert!((square - 1.0).abs() < 0.36, "{square}");
        let few = SummedFeatures { rows: 2, ..sums() };
        assert!((0..50).all(|_| noise(Some(1e3)).release(&few, &mut stream).sums.rows >= 1));
        assert_eq!(noise(Some(5.0)).stated(sums()).rows, 25.0);
    }

    /// A number of rows of weight `w_n = 2 * 9 * 5 / 2 = 45` has noise of the scale over the root of it.
    #[test]
    fn a_private_number_of_rows_has_noise_by_its_weight() {
        use super::super::Frequencies;
        let frequencies = Frequencies::half_space([vec![0], vec![1]]);
        let design = MomentsDesign::of(frequencies, vec![4.0, 1.0], 1.5, 3.0, 2.0).unwrap();
        let counted = MomentsDesign { counted: true, ..design };
        let noise = MomentsNoise::new(&counted, 2.0);
        assert!((noise.rows.unwrap() * 45f64.sqrt() / noise.scale - 1.0).abs() < 1e-14);
    }

    /// The stream's draws are added as they come: those of b, of T, of the squares, of the rows.
    #[test]
    fn draws_are_added_in_their_order() {
        let mut streams = [0, 1].map(|_| Pcg64::seed_from_u64(4));
        let noise = MomentsNoise {
            weighted: DVector::from_element(1, 2.0),
            plain: DVector::from_element(1, 3.0),
            squares: 4.0,
            rows: Some(50.0),
            scale: 1.0,
        };
        let sums = SummedFeatures {
            rows: 1000,
            weighted: DVector::zeros(1),
            plain: DVector::zeros(1),
            squares: 50.0,
        };
        let found = noise.release(&sums, &mut streams[0]).sums;
        let drawn: Vec<f64> = (0..4).map(|_| normal(&mut streams[1])).collect();
        let wider = MomentsNoise { weighted: DVector::from_element(1, 5.0), ..noise.clone() };
        assert_eq!(wider.stated(found.clone()).weighted[0], 25.0);
        assert_eq!((found.weighted[0], found.plain[0]), (2.0 * drawn[0], 3.0 * drawn[1]));
        assert_eq!(
            (found.squares, found.rows),
            (50.0 + 4.0 * drawn[2], (1000.0 + 50.0 * drawn[3]).round() as usize)
        );
    }
}
