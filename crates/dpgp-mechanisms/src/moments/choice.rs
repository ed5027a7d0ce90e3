//! The design of least expected error.

use super::design::sensitivity_rule;
use super::search::normalise_to_unit_sum;
use super::{FourierMomentsDesign, Frequencies, LeastRiskWeights, SitePrior, WeightRiskObjective};
use dpgp_gp::kernel::ExponentiatedQuadraticTerm;
use dpgp_gp::sites::PublicReferenceModel;
use dpgp_noise::PrivacyError;

/// Kappa to choose from.
pub(super) const KAPPAS: [f64; 4] = [1.0, 1.5, 2.0, 3.0];
/// Standard deviations of the kernel's spectrum that frequencies reach to: beyond lies less than a thousandth of it.
const REACH: f64 = 3.2;
/// The greatest entry of a frequency, by the number of inputs.
const MOST: [i64; 4] = [40, 7, 4, 1];
/// The same for the functions of one and of two inputs that an additive kernel is the sum of.
const MOST_OF_PARTS: [i64; 2] = [7, 3];
/// Steps of the search for weights.
const STEPS: usize = 30;
/// Weights below this part of the greatest carry nothing.
const PRUNED: f64 = 0.02;

impl FourierMomentsDesign {
    /// The periods to choose from where none is wanted, in sides of the box.
    pub const PERIODS: [f64; 2] = [1.2, 1.6];

    /// The design of least expected error over some periods and kappa, for noise of `sigma` sensitivities.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn with_least_risk(
        reference: &PublicReferenceModel,
        sigma: f64,
        periods: &[f64],
    ) -> Result<Self, PrivacyError> {
        let prior = SitePrior::new(reference);
        let mut best: Option<Self> = None;
        for &period in periods {
            let all = kernel_frequencies(reference, period);
            let search = WeightRiskObjective::new(&prior, all.clone(), period);
            for kappa in KAPPAS {
                let rule = sensitivity_rule(&[1.0], reference.bound, kappa)?;
                let uniform = vec![1.0 / all.len() as f64; all.len()];
                let found = search.minimise_risk(&rule, sigma, uniform, STEPS)?;
                let first = WeightedFrequencies { frequencies: all.clone(), found }.prune_frequencies();
                // The weights of the frequencies that are left are found again.
                let search = WeightRiskObjective::new(&prior, first.frequencies.clone(), period);
                let found = search.minimise_risk(&rule, sigma, first.found.weights, STEPS)?;
                let WeightedFrequencies { frequencies, found } =
                    WeightedFrequencies { frequencies: first.frequencies, found }.prune_frequencies();
                if best.as_ref().is_none_or(|known| found.risk < known.risk) {
                    let design = Self::from_weights(frequencies, found.weights, period, reference.bound, kappa)?;
                    best = Some(Self { risk: found.risk, ..design });
                }
            }
        }
        best.ok_or(PrivacyError::NothingToProtect)
    }
}

/// The frequencies that the kernel of the reference reaches: a ball of them on a line, in the plane and in space, those of squared norm 2
/// beyond; of an additive kernel those of its parts.
pub(super) fn kernel_frequencies(reference: &PublicReferenceModel, period: f64) -> Frequencies {
    let (kernel, dimensions) = (&reference.kernel, reference.kernel.dimensions());
    let parts = kernel.exponentiated_quadratic_terms().filter(|_| kernel.is_sum_over_inputs_or_pairs());
    if let Some(parts) = parts {
        return Frequencies::from_vectors(parts.iter().flat_map(|part| additive_part_frequencies(part, period)));
    }
    let side = max_frequency_entry(kernel.shortest_lengthscale(), period, MOST[dimensions.clamp(1, MOST.len()) - 1]);
    Frequencies::ball(side, if dimensions < 4 { side * side } else { 2 }, dimensions)
}

/// A ball of frequencies of the inputs that a part of an additive kernel depends on, the zero among them.
fn additive_part_frequencies(part: &ExponentiatedQuadraticTerm, period: f64) -> Vec<Vec<i64>> {
    let inputs = part.active_inputs();
    let shortest = inputs.iter().map(|input| part.lengthscales[*input]).fold(f64::INFINITY, f64::min);
    let side = max_frequency_entry(shortest, period, MOST_OF_PARTS[inputs.len().clamp(1, MOST_OF_PARTS.len()) - 1]);
    let ball = Frequencies::ball(side, side * side, inputs.len());
    let mut vectors = vec![vec![0; part.lengthscales.len()]; ball.len()];
    for (vector, entries) in vectors.iter_mut().zip(ball.vectors()) {
        inputs.iter().zip(entries).for_each(|(input, entry)| vector[*input] = *entry);
    }
    vectors
}

/// The greatest entry that a lengthscale asks for.
fn max_frequency_entry(lengthscale: f64, period: f64, most: i64) -> i64 {
    let wanted = (REACH * period / (std::f64::consts::TAU * lengthscale)).ceil();
    (wanted.min(1e6) as i64).clamp(1, most)
}

/// Frequencies with the best weights that were found for them.
struct WeightedFrequencies {
    frequencies: Frequencies,
    found: LeastRiskWeights,
}

impl WeightedFrequencies {
    /// Without the frequencies that carry nothing; the zero stays.
    fn prune_frequencies(self) -> Self {
        let LeastRiskWeights { weights, risk } = self.found;
        let least = PRUNED * weights.iter().copied().fold(0.0, f64::max);
        let kept: Vec<bool> = (0..weights.len()).map(|j| j == 0 || weights[j] >= least).collect();
        let weights = weights.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(u, _)| u).collect();
        let found = LeastRiskWeights { weights: normalise_to_unit_sum(weights), risk };
        Self { frequencies: self.frequencies.filter_flagged(&kept), found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3.2 standard deviations `P / (2 pi l)` of the spectrum: `3.2 * 1.6 / (2 pi * .2) = 4.07`. A frequency is at least 1, whatever the kernel.
    #[test]
    fn lengthscales_ask_for_frequencies() {
        assert_eq!(
            (max_frequency_entry(0.2, 1.6, 40), max_frequency_entry(0.2, 1.6, 4), max_frequency_entry(9.0, 1.6, 40)),
            (5, 4, 1)
        );
        assert_eq!((max_frequency_entry(0.0, 1.6, 40), max_frequency_entry(f64::INFINITY, 1.6, 40)), (40, 1));
    }

    fn reference(kernel: &str, dimensions: usize) -> PublicReferenceModel {
        let kernel = toml::from_str(kernel).unwrap();
        PublicReferenceModel {
            rows: 100,
            bound: 1.0,
            bias: 0.1,
            kernel: dpgp_gp::kernel::BoxKernel::new(&kernel, vec![1.0; dimensions]).unwrap(),
            noise_variance: 0.1,
            concentration: 1.0,
        }
    }

    /// On a line the zero and 1 to 5; with four inputs those of squared norm up to 2: the zero, half of 8 and half of 24.
    #[test]
    fn kernels_reach_a_ball() {
        let kernel = "eq = { variance = 1.0, lengthscale = 0.2 }";
        let line = kernel_frequencies(&reference(kernel, 1), 1.6);
        assert_eq!(line.vectors(), [0, 1, 2, 3, 4, 5].map(|j| vec![j]));
        assert_eq!(kernel_frequencies(&reference(kernel, 4), 1.6).len(), 17);
        // In the plane the greatest entry is 5 too, and the corner of the square is left out.
        let plane = kernel_frequencies(&reference(kernel, 2), 1.6);
        assert!(plane.vectors().contains(&vec![3, 4]) && !plane.vectors().contains(&vec![4, 4]));
        assert!(plane.vectors().iter().all(|j| j.iter().all(|entry| entry.abs() <= 5)));
    }

    /// A function of the first input, and one of both, whose frequencies end at 3.
    #[test]
    fn additive_kernels_reach_along_their_parts() {
        let text = "additive = { lengthscales = [0.2, 0.3], variances = [1.5, 0.0], pairs = [{ inputs = [0, 1], variance = 0.5 }] }";
        let found = kernel_frequencies(&reference(text, 2), 1.6);
        for (vector, within) in [
            ([0, 0], true),
            ([5, 0], true),
            ([6, 0], false),
            ([0, 3], true),
            ([0, 4], false),
            ([2, -2], true),
            ([3, 1], false),
            ([4, 1], false),
        ] {
            assert_eq!(found.vectors().contains(&vector.to_vec()), within, "{vector:?}");
        }
    }

    /// Less than a fiftieth of the greatest goes, but for the zero; the others add up to 1 again.
    #[test]
    fn frequencies_that_carry_nothing_go() {
        let found = LeastRiskWeights { weights: vec![0.0005, 0.5, 0.0099, 0.0101], risk: 0.25 };
        let all = Frequencies::ball(3, 9, 1);
        let WeightedFrequencies { frequencies, found } =
            WeightedFrequencies { frequencies: all, found }.prune_frequencies();
        assert_eq!(frequencies.vectors(), [0, 1, 3].map(|j| vec![j]));
        let total = 0.5106;
        for (weight, expected) in found.weights.iter().zip([0.0005, 0.5, 0.0101]) {
            assert!((weight - expected / total).abs() < 1e-15, "{:?}", found.weights);
        }
        assert_eq!(found.risk, 0.25);
    }

    fn risk(reference: &PublicReferenceModel, periods: &[f64]) -> f64 {
        FourierMomentsDesign::with_least_risk(reference, 1.0, periods).unwrap().risk
    }

    fn bound(reference: &PublicReferenceModel, periods: &[f64]) -> f64 {
        FourierMomentsDesign::risk_lower_bound(reference, 1.0, periods).unwrap()
    }

    /// The best of two periods is the better of each alone.
    #[test]
    fn the_best_period_is_chosen() {
        let reference = reference("eq = { variance = 0.3, lengthscale = 0.5 }", 1);
        let (short, long) = (risk(&reference, &[1.2]), risk(&reference, &[2.5]));
        assert!(short != long && risk(&reference, &[1.2, 2.5]) == short.min(long), "{short} {long}");
        assert_eq!(risk(&reference, &[2.5, 1.2]), short.min(long));
        assert!(FourierMomentsDesign::with_least_risk(&reference, 1.0, &[]).is_err());
        // None that it chooses from is better than the bound, which is that of the better period too.
        let both = bound(&reference, &[1.2, 2.5]);
        assert_eq!(both, bound(&reference, &[1.2]).min(bound(&reference, &[2.5])));
        assert!(both <= short.min(long) && both > 0.7 * short.min(long), "{both} {short} {long}");
    }
}
