//! Clipping, centring and scaling of targets.

use crate::summary::mean;
use dpgp_accounting::GuaranteeCaveat;
use dpgp_mechanisms::CellSections;
use dpgp_number::Positive;
use dpgp_spec::setting::{NormaliseSetting, PrivateCentreSetting, prior_mean};

/// Targets on the scale of the model.
pub(super) struct NormalisedTargets {
    /// `(clip(y) - centre) / scale`.
    pub targets: Vec<f64>,
    /// The targets in their own units, not clipped.
    pub originals: Vec<f64>,
    /// The offset that was subtracted, in units of the target.
    pub centre: f64,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
    /// Whether private statistics were used, which the guarantee does not account for.
    pub private: bool,
}

/// The ends that targets are clipped to.
#[derive(Clone, Copy)]
struct ClipRange {
    low: f64,
    high: f64,
}

impl ClipRange {
    const NONE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn clip(self, targets: &[f64]) -> Vec<f64> {
        targets.iter().map(|y| y.clamp(self.low, self.high)).collect()
    }
}

impl NormalisedTargets {
    fn new(originals: &[f64], clip: ClipRange, centre: f64, scale: f64, private: bool) -> Self {
        let targets = clip.clip(originals).iter().map(|y| (y - centre) / scale).collect();
        Self { targets, originals: originals.to_vec(), centre, scale, private }
    }

    /// The targets of some rows.
    pub fn select(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&row| self.targets[row]).collect()
    }

    /// The targets of some rows on the same scale, but not clipped.
    pub fn select_unclipped(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&row| (self.originals[row] - self.centre) / self.scale).collect()
    }

    /// A value of the model in units of the target.
    pub fn to_target_units(&self, value: f64) -> f64 {
        value * self.scale + self.centre
    }
}

pub(super) fn normalise(targets: &[f64], setting: &NormaliseSetting) -> NormalisedTargets {
    match *setting {
        NormaliseSetting::None => NormalisedTargets::new(targets, ClipRange::NONE, 0.0, 1.0, false),
        NormaliseSetting::Standardised { low, high } => {
            let clip = ClipRange { low: low.get(), high: high.get() };
            let clipped = clip.clip(targets);
            NormalisedTargets::new(targets, clip, mean(&clipped), population_sd_or_one(&clipped), true)
        }
        NormaliseSetting::Constants { centre, scale } => {
            NormalisedTargets::new(targets, ClipRange::NONE, centre.get(), scale.get(), false)
        }
        NormaliseSetting::Bounds { low, high, centre, scale } => {
            let clip = ClipRange { low: low.get(), high: high.get() };
            NormalisedTargets::new(targets, clip, prior_mean(low, high, centre), scale.get(), false)
        }
        NormaliseSetting::Private { clip, centre, scale } => {
            normalise_by_private_statistics(targets, clip.map(Positive::get), centre, scale)
        }
    }
}

fn normalise_by_private_statistics(
    targets: &[f64],
    clip: Option<f64>,
    centre: PrivateCentreSetting,
    scale: bool,
) -> NormalisedTargets {
    let middle = midrange(targets);
    let clip = clip.map_or(ClipRange::NONE, |half| ClipRange { low: middle - half, high: middle + half });
    let clipped = clip.clip(targets);
    let centre = match centre {
        PrivateCentreSetting::Mean => mean(&clipped),
        PrivateCentreSetting::Midrange => middle,
    };
    let scale = if scale { population_sd_or_one(&clipped) } else { 1.0 };
    NormalisedTargets::new(targets, clip, centre, scale, true)
}

/// Caveat from the use of private targets outside the mechanism.
pub(super) fn normalisation_caveats(
    block: &CellSections,
    normalised: &NormalisedTargets,
) -> [(GuaranteeCaveat, bool); 2] {
    let chosen = block.data.selects_by_target();
    [(GuaranteeCaveat::PrivateNormalisation, normalised.private), (GuaranteeCaveat::PrivateFilter, chosen)]
}

fn midrange(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * (least + greatest)
}

/// One where all values are equal, so that they can be divided by it.
fn population_sd_or_one(values: &[f64]) -> f64 {
    // The mean of equal numbers may be another one, by rounding.
    if values.iter().all(|value| *value == values[0]) {
        return 1.0;
    }
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_statistics() {
        let setting = NormaliseSetting::Private {
            clip: Some(Positive::literal(4.0)),
            centre: PrivateCentreSetting::Mean,
            scale: false,
        };
        // Midrange 5, so the clip is to [1, 9]; then the mean 5 is subtracted.
        let normalised = normalise(&[0.0, 10.0, 4.0, 6.0], &setting);
        assert_eq!(normalised.targets, [-4.0, 4.0, -1.0, 1.0]);
        assert!(normalised.private);
        let setting = NormaliseSetting::Private { clip: None, centre: PrivateCentreSetting::Midrange, scale: true };
        let normalised = normalise(&[0.0, 2.0, 2.0, 0.0], &setting);
        assert_eq!((normalised.targets[0], normalised.scale), (-1.0, 1.0));
    }

    #[test]
    fn equal_targets_keep_their_scale() {
        let setting = NormaliseSetting::Private { clip: None, centre: PrivateCentreSetting::Mean, scale: true };
        for target in [7.0, 0.1] {
            let normalised = normalise(&[target; 7], &setting);
            assert!(normalised.scale == 1.0 && normalised.targets.iter().all(|y| y.abs() < 1e-15));
        }
    }

    #[test]
    fn public_bounds() {
        let bounds = |scale: f64| -> NormaliseSetting {
            toml::from_str(&format!("bounds = {{ low = 2, high = 6, scale = {scale:?} }}")).unwrap()
        };
        let normalised = normalise(&[0.0, 10.0, 4.0], &bounds(1.0));
        assert_eq!(normalised.targets, [-2.0, 2.0, 0.0]);
        assert_eq!(normalise(&[0.0, 10.0, 4.0], &bounds(4.0)).targets, [-0.5, 0.5, 0.0]);
        assert!(!normalised.private);
        let known: NormaliseSetting = toml::from_str("bounds = { low = 2, high = 6, centre = 5 }").unwrap();
        assert_eq!(normalise(&[0.0, 10.0, 4.0], &known).targets, [-3.0, 1.0, -1.0]);
    }
}
