//! The private release of the two sums of a variational model, whose guarantee allows one record to be
//! replaced entirely.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use dpgp_gp::variational::{IntegerSums, NoisySufficientStatistics, SufficientStatistics};
use dpgp_noise::RoundedGaussian;
use dpgp_number::{OutOfRangeError, Positive};

/// Bounds on what one record contributes: `|k| <= features`, `|y| <= target`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordBounds {
    /// `R_k`, the bound on the norm of the covariances with the inducing inputs.
    pub features: f64,
    /// `R_y`, the bound on the absolute value of the target.
    pub target: f64,
}

/// How the sensitivity of the sums is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SumsSensitivityRule {
    /// `sqrt(R_y^4 / (2 c) + 2 R_y^2 R_k^2 + 2 c R_k^4)`: Honkela 2021, Eq. 6. A bound for all c, exact if
    /// `R_y^2 <= 2 c R_k^2`.
    Published,
    /// The exact value: Eq. 6 where it is exact, otherwise `2 R_y R_k`.
    Exact,
}

impl SumsSensitivityRule {
    /// The L2 sensitivity of `(A, sqrt(c) B^)` when one record is replaced, in units of the noise on A. `c =
    /// sigma_a^2 / sigma_b^2` is the split ratio; `B^` holds the diagonal of B and `sqrt 2` times its upper
    /// triangle.
    ///
    /// With `t = k.k'` the squared distance of two records is at most `2 R_k^2 R_y^2 + 2 R_y^2 |t| + 2 c R_k^4
    /// - 2 c t^2`, reached for opposite targets at the bound. It is greatest at `t = R_y^2 / (2 c)`, or at the
    /// end `t = R_k^2` if that is beyond it.
    ///
    /// ```
    /// use dpgp_mechanisms::{RecordBounds, SumsSensitivityRule};
    /// let bounds = RecordBounds { features: 1.0, target: 3.0 };
    /// // R_y^2 = 9 > 2 c R_k^2 = 2: the end t = 1, where the distance is 2 R_y R_k.
    /// assert_eq!(SumsSensitivityRule::Exact.sensitivity(bounds, 1.0), 6.0);
    /// assert_eq!(SumsSensitivityRule::Published.sensitivity(bounds, 1.0), (81f64 / 2.0 + 18.0 + 2.0).sqrt());
    /// ```
    pub fn sensitivity(self, bounds: RecordBounds, c: f64) -> f64 {
        let (k, y) = (bounds.features.powi(2), bounds.target.powi(2));
        // At the end t = R_k^2 the terms in c cancel.
        if self == Self::Exact && y > 2.0 * c * k {
            return 2.0 * bounds.target * bounds.features;
        }
        (y * y / (2.0 * c) + 2.0 * y * k + 2.0 * c * k * k).sqrt()
    }
}

/// The split ratio up to which noise on B costs nothing: for `c <= R_y^2 / (2 R_k^2)` the sensitivity is `2 R_y
/// R_k` whatever c is.
pub fn max_free_split_ratio(bounds: RecordBounds) -> f64 {
    (bounds.target / bounds.features).powi(2) / 2.0
}

/// The L2 sensitivity of the sums `(M_j, sqrt(c) N^_j)` over the rows of each class j, all classes together,
/// when one record and its class are replaced: `sqrt(2 R_k^2 + 2 c R_k^4)`, whatever the number of classes. A
/// change of class moves two pairs of sums, each by the norm of one contribution; within a class the distance
/// of two contributions is no greater.
///
/// ```
/// // A record with |k| = 1 that changes its class takes (k, k k') out of one class and adds it to another.
/// assert_eq!(dpgp_mechanisms::class_sums_sensitivity(1.0, 1.0), 2.0);
/// ```
pub fn class_sums_sensitivity(features: f64, c: f64) -> f64 {
    let k = features * features;
    (2.0 * k + 2.0 * c * k * k).sqrt()
}

/// By what factor heteroscedastic noise raises the sensitivity of `A = sum k_i y_i / sigma_i^2` and `B = sum k_i k_i' /
/// sigma_i^2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeteroscedasticSensitivityRule {
    /// `max sigma_i^2`, as stated in Honkela 2021, Appendix D. It is not a bound: if noise variances are below 1, the added
    /// noise can be as little as `max sigma^2 min sigma^2` times what is needed.
    Published,
    /// `1 / min sigma_i^2`: a record with weight s contributes like one with `sqrt(s) k` and `sqrt(s) y`,
    /// and the sensitivity is homogeneous of degree 2 in `(R_k, R_y)`.
    Corrected,
}

impl HeteroscedasticSensitivityRule {
    /// The factor, for noise variances within [least, greatest].
    pub fn factor(self, least: f64, greatest: f64) -> f64 {
        match self {
            Self::Published => greatest,
            Self::Corrected => 1.0 / least,
        }
    }
}

/// The noise on the sums.
///
/// Obligation: for neighbours, `(A, sqrt(c) B^)` moves by at most the sensitivity D, and noise of standard deviation `sd_a`
/// on each of its entries is a Gaussian mechanism with `mu = D / sd_a`. Its entries are those of A, the diagonal of B and
/// `sqrt 2` times what is above it, so that noise of `sd_b = sd_a / sqrt(c)` on the diagonal is one of `sd_b / sqrt 2`
/// elsewhere. B below the diagonal is a copy, and free.
///
/// ```
/// use dpgp_gp::variational::SufficientStatistics;
/// use dpgp_mechanisms::SumsNoise;
/// use nalgebra::{DMatrix, DVector};
/// use rand::SeedableRng;
/// let noise = SumsNoise::new(3.0, 4.0);
/// assert_eq!(noise.sd_b, 1.5);
/// let sums = SufficientStatistics { a: DVector::zeros(2), b: DMatrix::zeros(2, 2), rows: 0 };
/// let released = noise.simulate_release(&sums, &mut rand_pcg::Pcg64::seed_from_u64(1));
/// assert_eq!(released.b[(0, 1)], released.b[(1, 0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumsNoise {
    /// The standard deviation on each entry of A.
    pub sd_a: f64,
    /// The standard deviation on the diagonal of B; `sqrt 2` times smaller elsewhere.
    pub sd_b: f64,
}

impl SumsNoise {
    /// From the noise on A and the split ratio: `sd_b = sd_a / sqrt(c)`. (c is the ratio of the variances,
    /// as in Appendix A of the paper; its Algorithm 1 gives that name to the ratio of the standard deviations.)
    pub fn new(sd_a: f64, c: f64) -> Self {
        Self { sd_a, sd_b: sd_a / c.sqrt() }
    }

    /// The sums with exactly rounded noise on them; B stays symmetric.
    ///
    /// Obligation: as of [`SumsNoise`], to which this adds rounding to whole numbers alone: a whole number plus a rounded one
    /// is their rounded sum. The noise is never less than asked for.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for noise beyond 128 bits.
    pub fn release_integers(
        self,
        sums: IntegerSums<'_>,
        source: &mut impl Rng,
    ) -> Result<NoisySufficientStatistics, OutOfRangeError> {
        let on_a = rounded_noise_at_least(self.sd_a, sums.units.a)?;
        let on_diagonal = rounded_noise_at_least(self.sd_b, sums.units.b)?;
        let beside = rounded_noise_at_least(self.sd_b * std::f64::consts::FRAC_1_SQRT_2, sums.units.b)?;
        let a = on_a.add_noise(sums.a, source);
        let (mut b, mut rest) = (Vec::with_capacity(sums.b.len()), sums.b);
        for length in (1..=sums.size()).rev() {
            let (column, after) = rest.split_at(length);
            b.extend(on_diagonal.add_noise(&column[..1], source));
            b.extend(beside.add_noise(&column[1..], source));
            rest = after;
        }
        let noisy = IntegerSums { a: &a, b: &b, ..sums };
        Ok(NoisySufficientStatistics {
            a: noisy.linear_sums(),
            b: noisy.quadratic_sums(),
            sd_a: self.sd_a,
            sd_b: self.sd_b,
        })
    }

    /// A simulation of a release, with noise in floating point; B stays symmetric.
    pub fn simulate_release(self, sums: &SufficientStatistics, stream: &mut impl Rng) -> NoisySufficientStatistics {
        let (mut a, mut b) = (sums.a.clone(), sums.b.clone());
        a.iter_mut().for_each(|v| *v += self.sd_a * draw_standard_normal(stream));
        for j in 0..a.len() {
            b[(j, j)] += self.sd_b * draw_standard_normal(stream);
            for i in j + 1..a.len() {
                b[(i, j)] += self.sd_b * std::f64::consts::FRAC_1_SQRT_2 * draw_standard_normal(stream);
                // One draw for both: an average of two would have half the variance.
                b[(j, i)] = b[(i, j)];
            }
        }
        NoisySufficientStatistics { a, b, sd_a: self.sd_a, sd_b: self.sd_b }
    }
}

/// Noise of at least this standard deviation, in whole numbers of a unit.
fn rounded_noise_at_least(sd: f64, unit: f64) -> Result<RoundedGaussian, OutOfRangeError> {
    // The closed form of the sensitivity, its product with the noise multiplier and this quotient are off by less.
    RoundedGaussian::new(Positive::new(sd / unit * (1.0 + f64::from(-45).exp2()))?)
}

fn draw_standard_normal(stream: &mut impl Rng) -> f64 {
    StandardNormal.sample(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    use nalgebra::{DMatrix, DVector};
    use rand::SeedableRng;

    /// At the free split Eq. 6 is `2 R_y R_k`, and beyond it more.
    #[test]
    fn noise_on_b_is_free_up_to_a_split() {
        let bounds = RecordBounds { features: 2.0, target: 3.0 };
        let free = max_free_split_ratio(bounds);
        assert!((SumsSensitivityRule::Published.sensitivity(bounds, free) - 12.0).abs() < 1e-12);
        assert!(SumsSensitivityRule::Exact.sensitivity(bounds, 1.01 * free) > 12.0);
    }

    /// A change of class moves `k = 2` and `sqrt(c) k^2` twice: `sqrt(2 (4 + 16 c))`.
    #[test]
    fn a_change_of_class_moves_four_sums() {
        assert!((class_sums_sensitivity(2.0, 0.5) - 24f64.sqrt()).abs() < 1e-14);
    }

    /// The root mean squares of the noise on 150 entries of A and of the diagonal, and of 11175 beside it.
    #[test]
    fn a_simulated_release_has_the_noise_that_it_states() {
        let size = 150;
        let sums = SufficientStatistics {
            a: DVector::from_element(size, 5.0),
            b: DMatrix::from_element(size, size, 7.0),
            rows: 9,
        };
        let mut stream = rand_pcg::Pcg64::seed_from_u64(5);
        let noisy = SumsNoise { sd_a: 2.0, sd_b: 3.0 }.simulate_release(&sums, &mut stream);
        let (a, b) = (noisy.a.add_scalar(-5.0), noisy.b.add_scalar(-7.0));
        assert_eq!(b, b.transpose());
        let on_diagonal = b.diagonal().norm_squared();
        let beside = (b.norm_squared() - on_diagonal) / (size * (size - 1)) as f64;
        // Five standard deviations of a mean of 150 squares are .58 of it, and of 11175 .067.
        assert!((a.norm_squared() / size as f64 / 4.0 - 1.0).abs() < 0.58);
        assert!((on_diagonal / size as f64 / 9.0 - 1.0).abs() < 0.58);
        assert!((beside / 4.5 - 1.0).abs() < 0.067, "{beside}");
        assert!(a.mean().abs() < 1.0 && b.mean().abs() < 0.2);
    }

    /// `R_k = 2`, `R_y = 3`: with `c = 1/2` the squares 9 > 4 leave `2 * 3 * 2`; with c = 2 the closed form is
    /// `81/4 + 2*9*4 + 4*16`.
    #[test]
    fn sensitivities_have_two_branches() {
        let bounds = RecordBounds { features: 2.0, target: 3.0 };
        assert_eq!(max_free_split_ratio(bounds), 1.125);
        assert_eq!(SumsSensitivityRule::Exact.sensitivity(bounds, 0.5), 12.0);
        let closed = 156.25f64.sqrt();
        assert_eq!(SumsSensitivityRule::Exact.sensitivity(bounds, 2.0), closed);
        assert_eq!(SumsSensitivityRule::Published.sensitivity(bounds, 2.0), closed);
        assert_eq!(SumsSensitivityRule::Published.sensitivity(bounds, 0.5), (81.0f64 + 72.0 + 16.0).sqrt());
    }

    #[test]
    fn noise_variances_raise_the_sensitivity() {
        assert_eq!(HeteroscedasticSensitivityRule::Published.factor(0.25, 8.0), 8.0);
        assert_eq!(HeteroscedasticSensitivityRule::Corrected.factor(0.25, 8.0), 4.0);
        let noise = SumsNoise::new(6.0, 4.0);
        assert_eq!((noise.sd_a, noise.sd_b), (6.0, 3.0));
    }

    /// 3 in units of 1/2 is 6, and a part in 2^45 more.
    #[test]
    fn whole_noise_is_not_less_than_asked_for() {
        let more = rounded_noise_at_least(3.0, 0.5).unwrap().sd() / 6.0 - 1.0;
        assert!((more / f64::from(-45).exp2() - 1.0).abs() < 0.02, "{more:e}");
    }

    /// Draws are added in the order of A, then column by column of B below its diagonal, each times its standard deviation.
    #[test]
    fn a_simulation_adds_what_it_draws() {
        let sums =
            SufficientStatistics { a: DVector::from_element(2, 10.0), b: DMatrix::from_element(2, 2, 20.0), rows: 3 };
        let mut streams = [0, 1].map(|_| rand_pcg::Pcg64::seed_from_u64(2));
        let found = SumsNoise { sd_a: 1.0, sd_b: 3.0 }.simulate_release(&sums, &mut streams[0]);
        let drawn: Vec<f64> = (0..5).map(|_| draw_standard_normal(&mut streams[1])).collect();
        assert_eq!(found.a.as_slice(), [10.0 + drawn[0], 10.0 + drawn[1]]);
        let beside = 20.0 + 3.0 * std::f64::consts::FRAC_1_SQRT_2 * drawn[3];
        assert_eq!(found.b.as_slice(), [20.0 + 3.0 * drawn[2], beside, beside, 20.0 + 3.0 * drawn[4]]);
    }

    fn mean_square(values: &[f64]) -> f64 {
        values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64
    }

    /// On whole numbers in units of 1/2 and 1/4: noise of 8 on A and of 24 on the diagonal of B, of `24 / sqrt 2` beside it; mean squares are
    /// within five standard errors.
    #[test]
    fn whole_noise_is_smaller_beside_the_diagonal() {
        let (a, b) = (vec![0i128; 60], vec![0i128; 60 * 61 / 2]);
        let units = dpgp_gp::variational::IntegerSumUnits { a: 0.5, b: 0.25, squares: 1.0 };
        let mut stream = rand_pcg::Pcg64::seed_from_u64(8);
        let found = SumsNoise { sd_a: 4.0, sd_b: 6.0 }
            .release_integers(IntegerSums { a: &a, b: &b, units }, &mut stream)
            .unwrap();
        let beside: Vec<f64> = (0..60).flat_map(|j| (j + 1..60).map(move |i| (i, j))).map(|at| found.b[at]).collect();
        assert!((mean_square(&beside) / 18.0 - 1.0).abs() < 0.17, "{}", mean_square(&beside));
        let diagonal = mean_square(found.b.diagonal().as_slice());
        assert!((diagonal / 36.0 - 1.0).abs() < 0.91, "{diagonal}");
        assert!((mean_square(found.a.as_slice()) / 16.0 - 1.0).abs() < 0.91);
        assert_eq!(found.b, found.b.transpose());
    }

    /// `k = 4`, `c = 3`: `2 * 4 + 2 * 3 * 16`.
    #[test]
    fn a_record_that_changes_its_class_moves_two_pairs_of_sums() {
        assert!((class_sums_sensitivity(2.0, 3.0) - 104f64.sqrt()).abs() < 1e-12);
    }
}
