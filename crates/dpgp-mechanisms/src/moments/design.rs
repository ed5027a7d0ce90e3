//! Which moments are released, and how much noise each has.

use nalgebra::DMatrix;

use super::{Frequencies, MomentsNoise, PairTable, SquareRule};
use dpgp_gp::sites::{BetweenSites, CountSites, SiteFeatures, SummedFeatures, site_grid};
use dpgp_number::{OutOfRange, Positive};

/// Frequencies, weights and period of a release of Fourier moments of inputs in the unit box; the obligation is that of
/// [`SquareRule`]. Everything in it is public.
#[derive(Debug, Clone)]
pub struct MomentsDesign {
    /// The frequencies of the sums that targets weigh.
    pub frequencies: Frequencies,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The frequencies of the plain sums.
    pub pairs: Frequencies,
    /// Their weights.
    pub pair_weights: Vec<f64>,
    /// The rule that both obey.
    pub rule: SquareRule,
    /// P, in sides of the box.
    pub period: f64,
    /// The expected mean squared error under the reference.
    pub risk: f64,
    /// Whether the number of rows is released with them, because it is private.
    pub counted: bool,
}

/// Plain sums whose weight is below this part of the greatest are left out.
const PRUNED_PAIRS: f64 = 1e-4;

impl MomentsDesign {
    /// With these weights, whose expected error is not known.
    ///
    /// # Errors
    /// [`OutOfRange`] if the weights do not add up to a positive number, kappa is less than 1, or the bound is not positive.
    pub fn of(
        frequencies: Frequencies,
        weights: Vec<f64>,
        period: f64,
        bound: f64,
        kappa: f64,
    ) -> Result<Self, OutOfRange> {
        let rule = rule(&weights, bound, kappa)?;
        let table = PairTable::new(&frequencies);
        let pair_weights = rule.pair_weights(&table, &weights);
        let least = PRUNED_PAIRS * pair_weights.iter().copied().fold(0.0, f64::max);
        let kept: Vec<bool> = pair_weights.iter().map(|weight| *weight > least).collect();
        Ok(Self {
            pairs: table.frequencies.kept(&kept),
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
    pub fn numbers(&self) -> usize {
        self.frequencies.columns() + self.pairs.columns() + 1 + usize::from(self.counted)
    }

    /// The noise of `sigma` sensitivities.
    pub fn noise(&self, sigma: f64) -> MomentsNoise {
        MomentsNoise::new(self, sigma * self.rule.sensitivity())
    }

    /// The moments of rows with inputs (n x d) in units of the box; targets are clipped to the bound.
    pub fn moments(&self, inputs: &DMatrix<f64>, targets: &[f64]) -> SummedFeatures {
        let bound = self.rule.bound();
        let clipped: Vec<f64> = targets.iter().map(|y| y.clamp(-bound, bound)).collect();
        let weighted = self.frequencies.features(inputs, self.period);
        SummedFeatures::new(&weighted, &self.pairs.features(inputs, self.period), &clipped)
    }

    /// The features at the sites; of an additive kernel with their Gram matrix.
    pub fn at_sites(&self, additive: bool) -> SiteFeatures {
        self.frequencies.at_sites(&self.pairs, self.period, additive)
    }
}

impl Frequencies {
    /// These features, whose sums targets weigh, and those of the plain sums, at the sites; of an additive kernel with their Gram matrix.
    pub fn at_sites(&self, pairs: &Self, period: f64, additive: bool) -> SiteFeatures {
        let inputs = self.vectors().first().map_or(1, Vec::len);
        let sites = match additive {
            true => CountSites::even(site_grid(inputs)),
            false => CountSites::to_the_ends(inputs),
        };
        SiteFeatures {
            weighted: self.features(&sites.places, period),
            plain: pairs.features(&sites.places, period),
            between: (!additive).then(|| pairs.between(sites.spacing, period)),
            gram: additive.then(|| self.gram_map(pairs, &sites.places, period)),
            shares: sites.shares,
            sites: sites.places,
        }
    }
}

impl Frequencies {
    /// What counts at the sites of a grid leave out of the sums of these waves.
    fn between(&self, spacing: f64, period: f64) -> BetweenSites {
        let unit = std::f64::consts::TAU * spacing / period;
        let errors = self.vectors().iter().map(|vector| {
            let angles: Vec<f64> = vector.iter().map(|entry| unit * *entry as f64).collect();
            BetweenSites::of_wave(&angles)
        });
        BetweenSites { spacing, plain: self.spread(&errors.collect::<Vec<f64>>()) }
    }
}

/// The rule for some weights.
pub(super) fn rule(weights: &[f64], bound: f64, kappa: f64) -> Result<SquareRule, OutOfRange> {
    SquareRule::new(Positive::new(weights.iter().sum())?, Positive::new(bound)?, kappa)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constant and one wave, of weights 4 and 1, for R = 3 and kappa = 2. Their products are waves of frequency 1 and 2, and the
    /// number of rows.
    fn two_waves() -> MomentsDesign {
        let frequencies = Frequencies::half_space([vec![0], vec![1]]);
        MomentsDesign::of(frequencies, vec![4.0, 1.0], 1.5, 3.0, 2.0).unwrap()
    }

    #[test]
    fn numbers_are_counted_with_their_squares() {
        let mut design = two_waves();
        let pairs = design.pairs.columns();
        assert_eq!((design.frequencies.columns(), design.numbers()), (3, 3 + pairs + 1));
        assert_eq!(pairs, 4);
        design.counted = true;
        assert_eq!(design.numbers(), 3 + pairs + 2);
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
        assert!((noise.squares * design.rule.square_weight().sqrt() / noise.scale - 1.0).abs() < 1e-12);
        assert!(noise.rows.is_none() && noise.scale >= 2.0 * sensitivity);
        let spread = design.pairs.spread(&design.pair_weights);
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
        let frequencies = Frequencies::half_space([vec![0], vec![1], vec![7]]);
        let weights = vec![400.0, 90.0, 2e-3];
        let design = MomentsDesign::of(frequencies.clone(), weights.clone(), 1.5, 3.0, 2.0).unwrap();
        let all = design.rule.pair_weights(&PairTable::new(&frequencies), &weights);
        let greatest = all.iter().copied().fold(0.0, f64::max);
        assert!(all.iter().any(|weight| (1e-4 / greatest..1e-5 * greatest).contains(weight)), "{all:?}");
        let kept: Vec<f64> = all.into_iter().filter(|weight| *weight > 1e-4 * greatest).collect();
        assert_eq!(design.pair_weights, kept);
        assert!(kept.len() == design.pairs.len() && kept.len() >= 2, "{kept:?}");
    }

    /// Between sites a fifth apart, in a period of 3/2, a wave of frequency 1 turns by `2 pi / 7.5`.
    #[test]
    fn waves_turn_between_sites() {
        let frequencies = Frequencies::half_space([vec![0], vec![1]]);
        let between = frequencies.between(0.2, 1.5);
        let error = (std::f64::consts::TAU / 7.5).powi(4) / 240.0;
        assert_eq!((between.plain.len(), between.plain[0]), (3, 0.0));
        assert!(between.plain.iter().skip(1).all(|e| (e / error - 1.0).abs() < 1e-12), "{}", between.plain);
    }
}
