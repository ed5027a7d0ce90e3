//! The design of a release of Fourier moments: which moments it includes, their sensitivity and the noise on
//! each.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{Frequencies, FrequencyPairTable};
use dpgp_gp::sites::{
    CountingSites, FeatureSums, NoisyFeatureSums, SiteFeatures, SiteInterpolationVariance, additive_site_points,
};
use dpgp_number::{OutOfRangeError, Positive};

/// Frequencies, weights and period of a release of Fourier moments of inputs in the unit box; the obligation is that of
/// [`FourierSensitivityRule`]. Everything in it is public.
#[derive(Debug, Clone)]
pub struct FourierMomentsDesign {
    /// The frequencies of the sums that targets weigh.
    pub frequencies: Frequencies,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The frequencies of the plain sums.
    pub pairs: Frequencies,
    /// Their weights.
    pub pair_weights: Vec<f64>,
    /// The rule that both obey.
    pub rule: FourierSensitivityRule,
    /// P, in sides of the box.
    pub period: f64,
    /// The expected mean squared error under the reference.
    pub risk: f64,
    /// Whether the number of rows is released with them, because it is private.
    pub counted: bool,
}

/// Plain sums whose weight is below this part of the greatest are left out.
const PRUNED_PAIRS: f64 = 1e-4;

impl FourierMomentsDesign {
    /// With these weights, whose expected error is not known.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the weights do not add up to a positive number, kappa is less than 1, or the bound is not positive.
    pub fn from_weights(
        frequencies: Frequencies,
        weights: Vec<f64>,
        period: f64,
        bound: f64,
        kappa: f64,
    ) -> Result<Self, OutOfRangeError> {
        let rule = sensitivity_rule(&weights, bound, kappa)?;
        let table = FrequencyPairTable::new(&frequencies);
        let pair_weights = rule.pair_weights(&table, &weights);
        let least = PRUNED_PAIRS * pair_weights.iter().copied().fold(0.0, f64::max);
        let kept: Vec<bool> = pair_weights.iter().map(|weight| *weight > least).collect();
        Ok(Self {
            pairs: table.frequencies.filter_flagged(&kept),
            pair_weights: pair_weights.into_iter().filter(|weight| *weight > least).collect(),
            frequencies,
            weights,
            rule,
            period,
            risk: f64::NAN,
            counted: false,
        })
    }

    /// How many numbers are released.
    pub fn released_number_count(&self) -> usize {
        self.frequencies.column_count() + self.pairs.column_count() + 1 + usize::from(self.counted)
    }

    /// The noise of `sigma` sensitivities.
    pub fn noise(&self, sigma: f64) -> FourierMomentsNoise {
        FourierMomentsNoise::new(self, sigma * self.rule.sensitivity())
    }

    /// The moments of rows with inputs (n x d) in units of the box; targets are clipped to the bound.
    pub fn compute_moments(&self, inputs: &DMatrix<f64>, targets: &[f64]) -> FeatureSums {
        let bound = self.rule.target_bound();
        let clipped: Vec<f64> = targets.iter().map(|y| y.clamp(-bound, bound)).collect();
        let weighted = self.frequencies.features(inputs, self.period);
        FeatureSums::new(&weighted, &self.pairs.features(inputs, self.period), &clipped)
    }

    /// The features at the sites; of an additive kernel with their Gram matrix.
    pub fn site_features(&self, additive: bool) -> SiteFeatures {
        self.frequencies.site_features(&self.pairs, self.period, additive)
    }
}

impl Frequencies {
    /// These features, whose sums targets weigh, and those of the plain sums, at the sites; of an additive kernel with their Gram matrix.
    pub fn site_features(&self, pairs: &Self, period: f64, additive: bool) -> SiteFeatures {
        let inputs = self.vectors().first().map_or(1, Vec::len);
        let sites = match additive {
            true => CountingSites::from_even_points(additive_site_points(inputs)),
            false => CountingSites::grid_with_boundary(inputs),
        };
        SiteFeatures {
            weighted: self.features(&sites.places, period),
            plain: pairs.features(&sites.places, period),
            between: (!additive).then(|| pairs.site_interpolation_variance(sites.spacing, period)),
            gram: additive.then(|| self.gram_map(pairs, &sites.places, period)),
            shares: sites.shares,
            sites: sites.places,
        }
    }
}

impl Frequencies {
    /// The part of the sums of these waves that counts at the sites of a grid do not explain.
    fn site_interpolation_variance(&self, spacing: f64, period: f64) -> SiteInterpolationVariance {
        let unit = std::f64::consts::TAU * spacing / period;
        let errors = self.vectors().iter().map(|vector| {
            let angles: Vec<f64> = vector.iter().map(|entry| unit * *entry as f64).collect();
            SiteInterpolationVariance::cosine_mean_square_error(&angles)
        });
        SiteInterpolationVariance { spacing, plain: self.repeat_per_column(&errors.collect::<Vec<f64>>()) }
    }
}

/// The rule for some weights.
pub(super) fn sensitivity_rule(
    weights: &[f64],
    bound: f64,
    kappa: f64,
) -> Result<FourierSensitivityRule, OutOfRangeError> {
    FourierSensitivityRule::new(Positive::new(weights.iter().sum())?, Positive::new(bound)?, kappa)
}

/// The relative excess of the noise, which covers the rounding of closed forms for up to F = 256 frequencies (designs of least risk have
/// at most 213): with `u = 2^-53` the sum of the weights is off by F u, a weight of a plain sum, which adds 2 F products, by 2 F u, both
/// relative and under a root, and a dozen operations by u each: `(F + 2 F) u / 2 + 12 u < 4.5e-14`.
const EXCESS: f64 = 5.7e-14;

/// Standard deviations of independent noise on the moments.
///
/// Obligation: with `s = sigma D` the noise on a number of weight w is at least `s / sqrt(w)`, so that in units of the noise the
/// release moves by at most `1 / sigma` ([`super::FourierSensitivityRule`]).
#[derive(Debug, Clone, PartialEq)]
pub struct FourierMomentsNoise {
    /// On each sum that targets weigh (m).
    pub weighted: DVector<f64>,
    /// On each plain sum (k).
    pub plain: DVector<f64>,
    /// On the sum of squared targets.
    pub squares: f64,
    /// On the number of rows; none if it is public.
    pub rows: Option<f64>,
    /// On a number of weight 1: `s`.
    pub scale: f64,
}

impl FourierMomentsNoise {
    /// Of a scale s, which is divided by the root of each weight.
    pub(super) fn new(design: &FourierMomentsDesign, scale: f64) -> Self {
        let scale = scale * (1.0 + EXCESS);
        let weighted: Vec<f64> = design.weights.iter().map(|u| scale / u.sqrt()).collect();
        let plain: Vec<f64> = design.pair_weights.iter().map(|t| scale / t.sqrt()).collect();
        Self {
            scale,
            weighted: design.frequencies.repeat_per_column(&weighted),
            plain: design.pairs.repeat_per_column(&plain),
            squares: scale / design.rule.squared_target_sum_weight().sqrt(),
            rows: design.counted.then(|| scale / design.rule.row_count_weight().sqrt()),
        }
    }

    /// A simulation of a release, with noise in floating point.
    pub fn simulate_release(&self, sums: &FeatureSums, stream: &mut impl Rng) -> NoisyFeatureSums {
        let mut noisy = sums.clone();
        noisy.weighted += self.weighted.map(|sd| sd * draw_standard_normal(stream));
        noisy.plain += self.plain.map(|sd| sd * draw_standard_normal(stream));
        noisy.squares += self.squares * draw_standard_normal(stream);
        if let Some(sd) = self.rows {
            noisy.rows = (noisy.rows as f64 + sd * draw_standard_normal(stream)).round().max(1.0) as usize;
        }
        self.attach_variances(noisy)
    }

    /// Sums with this noise on them.
    pub fn attach_variances(&self, sums: FeatureSums) -> NoisyFeatureSums {
        NoisyFeatureSums {
            sums,
            weighted: self.weighted.map(|sd| sd * sd),
            plain: self.plain.map(|sd| sd * sd),
            squares: self.squares * self.squares,
            rows: self.rows.map_or(0.0, |sd| sd * sd),
        }
    }
}

fn draw_standard_normal(stream: &mut impl Rng) -> f64 {
    StandardNormal.sample(stream)
}

/// Weights under which sums of cosines and sines have a sensitivity in closed form, in any dimension.
///
/// Released are, for frequencies j with weights `u_j` (`sum u_j = V_0`) and their sums and differences k with weights `t_k`,
/// `b_j = sum_i y_i e_j(x_i)`, `T_k = sum_i e_k(x_i)` with `e_j = (cos, sin)(2 pi j.x / P)`, and `q = sum_i y_i^2` with the weight `q_0`.
///
/// Obligation: one record (x, y) is replaced by any other, `|y| <= R`, inputs anywhere. With `kappa >= 1`, `c = kappa R^2 / (2 V_0)`,
/// `t` at most `c` times the coefficients of the square of `V(d) = sum_j u_j cos(2 pi j.d / P)` ([`FrequencyPairTable::autoconvolution`]) and
/// `q_0` at most `(1 + 1 / kappa) V_0 / R^2`, the vector `(sqrt(u_j) b_j, sqrt(t_k) T_k, sqrt(q_0) q)` moves by at most
///
/// ```text
/// D = R sqrt(V_0 (2 + kappa + 1 / kappa)).
/// ```
///
/// *Proof.* As `cos a cos b + sin a sin b = cos(a - b)`, the squared distance depends on the inputs by `V = V(x - x')` alone:
/// `2 c (V_0^2 - V^2) + (y^2 + y'^2) V_0 - 2 y y' V + q_0 (y^2 - y'^2)^2`, where the constant term of `V^2` cancels. With `s = y + y'` and
/// `e = y - y'` it is `2 c (V_0^2 - V^2) + (s^2 / 2)(V_0 - V) + (e^2 / 2)(V_0 + V) + q_0 s^2 e^2`. As `|V| <= V_0` it rises with `|s|` and `|e|`,
/// and `|s| + |e| <= 2 R`; so let `|e| = R (1 + r)`, `|s| = R (1 - r)`, `-1 <= r <= 1`. Then it is
/// `R^2 V_0 (1 + r^2) + 2 R^2 r V + 2 c (V_0^2 - V^2) + q_0 R^4 (1 - r^2)^2`, concave in V and greatest at `V = V_0 r / kappa`, where it is
/// `R^2 V_0 (1 + kappa + (1 + 1 / kappa) r^2) + q_0 R^4 (1 - r^2)^2`. That is convex in `r^2`, so that its maximum is at an endpoint:
/// `r^2 = 1` gives `D^2`, and `r^2 = 0` gives `R^2 V_0 (1 + kappa) + q_0 R^4`, `D^2` at most. Smaller weights, and numbers that
/// are left out, only reduce the sum of squares.
///
/// Removing or adding a record moves them less, so that the number of rows can be released with them, with the weight
/// `w_n = kappa R^2 V_0 / 2`: such a neighbour moves the four by at most `R^2 V_0 + c V_0^2 + w_n + q_0 R^4`, of which `c V_0^2 = w_n`, and so by
/// `R^2 V_0 (2 + kappa + 1 / kappa) = D^2`; one that is replaced does not move the number of rows.
///
/// With `kappa = 1` and no q this is Eq. 6 of Honkela 2021 for features of constant norm.
///
/// ```
/// use dpgp_number::Positive;
/// use dpgp_mechanisms::FourierSensitivityRule;
/// let one = Positive::ONE;
/// assert_eq!(FourierSensitivityRule::new(one, one, 1.0)?.sensitivity(), 2.0);
/// assert!(FourierSensitivityRule::new(one, one, 0.9).is_err());
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FourierSensitivityRule {
    total: f64,
    bound: f64,
    kappa: f64,
}

impl FourierSensitivityRule {
    /// For weights that add up to `total` (V_0), targets within `bound` (R), and kappa.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless kappa is at least 1 and finite: the proof needs it.
    pub fn new(total: Positive, bound: Positive, kappa: f64) -> Result<Self, OutOfRangeError> {
        if kappa >= 1.0 && kappa.is_finite() {
            return Ok(Self { total: total.get(), bound: bound.get(), kappa });
        }
        Err(OutOfRangeError::new("at least 1 and finite", kappa))
    }

    /// `D`.
    pub fn sensitivity(&self) -> f64 {
        self.bound * (self.total * (2.0 + self.kappa + 1.0 / self.kappa)).sqrt()
    }

    /// `c`, the weights of the plain sums over the coefficients of V^2.
    pub fn plain_weight_factor(&self) -> f64 {
        self.kappa * self.bound * self.bound / (2.0 * self.total)
    }

    /// `q_0`.
    pub fn squared_target_sum_weight(&self) -> f64 {
        (1.0 + 1.0 / self.kappa) * self.total / (self.bound * self.bound)
    }

    /// `w_n`, the weight of the number of rows where it is private.
    pub fn row_count_weight(&self) -> f64 {
        0.5 * self.kappa * self.bound * self.bound * self.total
    }

    /// R.
    pub fn target_bound(&self) -> f64 {
        self.bound
    }

    /// Kappa.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// `t_k` for these `u_j`.
    pub fn pair_weights(&self, table: &FrequencyPairTable, weights: &[f64]) -> Vec<f64> {
        let factor = self.plain_weight_factor();
        table.autoconvolution(weights).into_iter().map(|coefficient| factor * coefficient).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constant and one wave, of weights 4 and 1, for R = 3 and kappa = 2. Their products are waves of frequency 1 and 2, and the
    /// number of rows.
    fn two_waves() -> FourierMomentsDesign {
        let frequencies = Frequencies::from_vectors([vec![0], vec![1]]);
        FourierMomentsDesign::from_weights(frequencies, vec![4.0, 1.0], 1.5, 3.0, 2.0).unwrap()
    }

    #[test]
    fn numbers_are_counted_with_their_squares() {
        let mut design = two_waves();
        let pairs = design.pairs.column_count();
        assert_eq!((design.frequencies.column_count(), design.released_number_count()), (3, 3 + pairs + 1));
        assert_eq!(pairs, 4);
        design.counted = true;
        assert_eq!(design.released_number_count(), 3 + pairs + 2);
        assert!(design.pair_weights.len() == design.pairs.len() && design.weights == [4.0, 1.0]);
    }

    /// D is that of the rule; on the lattice `2 eta` more, `eta = 2^-39 sqrt(2 sum t + 2 * 9 * 5)`.
    #[test]
    fn noise_is_scaled_by_the_roots_of_weights() {
        let design = two_waves();
        let sensitivity = design.rule.sensitivity();
        assert!((sensitivity - 3.0 * (5.0f64 * 4.5).sqrt()).abs() < 1e-12);
        let noise = design.noise(2.0);
        for (found, weight) in noise.weighted.iter().zip([4.0f64, 1.0, 1.0]) {
            assert!((found * weight.sqrt() / (2.0 * sensitivity) - 1.0).abs() < 1e-12, "{found}");
        }
        assert!((noise.squares * design.rule.squared_target_sum_weight().sqrt() / noise.scale - 1.0).abs() < 1e-12);
        assert!(noise.rows.is_none() && noise.scale >= 2.0 * sensitivity);
        let spread = design.pairs.repeat_per_column(&design.pair_weights);
        for (found, weight) in noise.plain.iter().zip(spread.iter()) {
            assert!((found * weight.sqrt() / noise.scale - 1.0).abs() < 1e-12, "{found}");
        }
        let entries = 2.0 * design.pair_weights.iter().sum::<f64>() + 90.0;
        let more = 2.0 * f64::from(-39).exp2() * entries.sqrt();
        let lattice = design.lattice_sensitivity() - sensitivity;
        assert!((lattice / more - 1.0).abs() < 1e-3, "{lattice:e} {more:e}");
        // The noise of the lattice is scaled by it.
        assert!((design.lattice_noise(2.0).scale / (2.0 * design.lattice_sensitivity()) - 1.0).abs() < 1e-13);
    }

    /// Products of frequencies whose weight is below a ten thousandth of the greatest are left out.
    #[test]
    fn plain_sums_of_little_weight_are_left_out() {
        let frequencies = Frequencies::from_vectors([vec![0], vec![1], vec![7]]);
        let weights = vec![400.0, 90.0, 2e-3];
        let design = FourierMomentsDesign::from_weights(frequencies.clone(), weights.clone(), 1.5, 3.0, 2.0).unwrap();
        let all = design.rule.pair_weights(&FrequencyPairTable::new(&frequencies), &weights);
        let greatest = all.iter().copied().fold(0.0, f64::max);
        assert!(all.iter().any(|weight| (1e-4 / greatest..1e-5 * greatest).contains(weight)), "{all:?}");
        let kept: Vec<f64> = all.into_iter().filter(|weight| *weight > 1e-4 * greatest).collect();
        assert_eq!(design.pair_weights, kept);
        assert!(kept.len() == design.pairs.len() && kept.len() >= 2, "{kept:?}");
    }

    /// Between sites a fifth apart, in a period of 3/2, a wave of frequency 1 turns by `2 pi / 7.5`.
    #[test]
    fn waves_turn_between_sites() {
        let frequencies = Frequencies::from_vectors([vec![0], vec![1]]);
        let between = frequencies.site_interpolation_variance(0.2, 1.5);
        let error = (std::f64::consts::TAU / 7.5).powi(4) / 240.0;
        assert_eq!((between.plain.len(), between.plain[0]), (3, 0.0));
        assert!(between.plain.iter().skip(1).all(|e| (e / error - 1.0).abs() < 1e-12), "{}", between.plain);
    }
}

#[cfg(test)]
mod noise_tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    fn sums() -> FeatureSums {
        let zeros = |n| DVector::zeros(n);
        FeatureSums { rows: 1000, weighted: zeros(200), plain: zeros(300), squares: 50.0 }
    }

    fn noise(rows: Option<f64>) -> FourierMomentsNoise {
        let of = |n, sd| DVector::from_element(n, sd);
        FourierMomentsNoise { weighted: of(200, 2.0), plain: of(300, 3.0), squares: 4.0, rows, scale: 1.0 }
    }

    /// Means of 200 and 300 squares are within 5 standard errors of their variances; the variances are those that are stated.
    #[test]
    fn a_simulation_has_the_noise_that_it_states() {
        let mut stream = Pcg64::seed_from_u64(3);
        let released = noise(None).simulate_release(&sums(), &mut stream);
        let of_b = released.sums.weighted.norm_squared() / 200.0 / 4.0;
        let of_t = released.sums.plain.norm_squared() / 300.0 / 9.0;
        assert!((of_b - 1.0).abs() < 0.5 && (of_t - 1.0).abs() < 0.41, "{of_b} {of_t}");
        assert!(released.sums.weighted.mean().abs() < 0.75 && released.sums.squares != 50.0);
        assert!(released.weighted.iter().all(|v| *v == 4.0) && released.plain.iter().all(|v| *v == 9.0));
        assert_eq!((released.squares, released.rows, released.sums.rows), (16.0, 0.0, 1000));
        // A number of rows that is private moves by its noise, and is at least 1.
        let rows: Vec<f64> = (0..400)
            .map(|_| noise(Some(20.0)).simulate_release(&sums(), &mut stream).sums.rows as f64 - 1000.0)
            .collect();
        let square = rows.iter().map(|x| x * x).sum::<f64>() / 400.0 / 400.0;
        assert!((square - 1.0).abs() < 0.36, "{square}");
        let few = FeatureSums { rows: 2, ..sums() };
        assert!((0..50).all(|_| noise(Some(1e3)).simulate_release(&few, &mut stream).sums.rows >= 1));
        assert_eq!(noise(Some(5.0)).attach_variances(sums()).rows, 25.0);
    }

    /// A number of rows of weight `w_n = 2 * 9 * 5 / 2 = 45` has noise of the scale over the root of it.
    #[test]
    fn a_private_number_of_rows_has_noise_by_its_weight() {
        use super::super::Frequencies;
        let frequencies = Frequencies::from_vectors([vec![0], vec![1]]);
        let design = FourierMomentsDesign::from_weights(frequencies, vec![4.0, 1.0], 1.5, 3.0, 2.0).unwrap();
        let counted = FourierMomentsDesign { counted: true, ..design };
        let noise = FourierMomentsNoise::new(&counted, 2.0);
        assert!((noise.rows.unwrap() * 45f64.sqrt() / noise.scale - 1.0).abs() < 1e-14);
    }

    /// The stream's draws are added as they come: those of b, of T, of the squares, of the rows.
    #[test]
    fn draws_are_added_in_their_order() {
        let mut streams = [0, 1].map(|_| Pcg64::seed_from_u64(4));
        let noise = FourierMomentsNoise {
            weighted: DVector::from_element(1, 2.0),
            plain: DVector::from_element(1, 3.0),
            squares: 4.0,
            rows: Some(50.0),
            scale: 1.0,
        };
        let sums = FeatureSums { rows: 1000, weighted: DVector::zeros(1), plain: DVector::zeros(1), squares: 50.0 };
        let found = noise.simulate_release(&sums, &mut streams[0]).sums;
        let drawn: Vec<f64> = (0..4).map(|_| draw_standard_normal(&mut streams[1])).collect();
        let wider = FourierMomentsNoise { weighted: DVector::from_element(1, 5.0), ..noise.clone() };
        assert_eq!(wider.attach_variances(found.clone()).weighted[0], 25.0);
        assert_eq!((found.weighted[0], found.plain[0]), (2.0 * drawn[0], 3.0 * drawn[1]));
        assert_eq!((found.squares, found.rows), (50.0 + 4.0 * drawn[2], (1000.0 + 50.0 * drawn[3]).round() as usize));
    }
}

#[cfg(test)]
mod square_rule_tests {
    use super::*;

    /// U = 4, R = 3, kappa = 2: `3 sqrt(4 (4 + 1/2))`, `2 * 9 / 8`, `3/2 * 4 / 9` and `9 * 4`.
    #[test]
    fn weights_follow_from_the_total() {
        let rule = FourierSensitivityRule { total: 4.0, bound: 3.0, kappa: 2.0 };
        assert!((rule.sensitivity() - 3.0 * 18f64.sqrt()).abs() < 1e-12);
        assert_eq!((rule.plain_weight_factor(), rule.row_count_weight()), (2.25, 36.0));
        assert!((rule.squared_target_sum_weight() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!((rule.target_bound(), rule.kappa()), (3.0, 2.0));
    }
}
