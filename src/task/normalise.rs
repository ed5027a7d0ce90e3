//! Clipping, centring and scaling of targets.

use crate::privacy::Caveat;
use crate::spec::{CentreSetting, NormaliseSetting, Setting};

/// Targets on the scale of the model.
pub(super) struct Normalised {
    /// `(clip(y) - centre) / scale`.
    pub targets: Vec<f64>,
    /// The targets in their own units, not clipped.
    pub originals: Vec<f64>,
    /// What was subtracted, in units of the target.
    pub centre: f64,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
    /// Whether private statistics were used, which nobody pays for.
    pub private: bool,
}

impl Normalised {
    /// `(clip(y) - centre) / scale` for all targets.
    fn new(originals: &[f64], (low, high): (f64, f64), centre: f64, scale: f64, private: bool) -> Self {
        let targets = originals.iter().map(|y| (y.clamp(low, high) - centre) / scale).collect();
        Self { targets, originals: originals.to_vec(), centre, scale, private }
    }
}

pub(super) fn normalise(targets: &[f64], setting: &NormaliseSetting) -> Normalised {
    match *setting {
        NormaliseSetting::None => {
            Normalised::new(targets, (f64::NEG_INFINITY, f64::INFINITY), 0.0, 1.0, false)
        }
        NormaliseSetting::Standardised { low, high } => {
            let clipped: Vec<f64> = targets.iter().map(|y| y.clamp(low, high)).collect();
            Normalised::new(targets, (low, high), mean(&clipped), population_sd(&clipped), true)
        }
        NormaliseSetting::Constants { centre, scale } => {
            Normalised::new(targets, (f64::NEG_INFINITY, f64::INFINITY), centre, scale, false)
        }
        NormaliseSetting::Bounds { low, high, scale } => {
            Normalised::new(targets, (low, high), 0.5 * (low + high), scale, false)
        }
        NormaliseSetting::Private { clip, centre, scale } => private(targets, clip, centre, scale),
    }
}

fn private(targets: &[f64], clip: Option<f64>, centre: CentreSetting, scale: bool) -> Normalised {
    let middle = midrange(targets);
    let half = clip.unwrap_or(f64::INFINITY);
    let bounds = (middle - half, middle + half);
    let clipped: Vec<f64> = targets.iter().map(|y| y.clamp(bounds.0, bounds.1)).collect();
    let centre = match centre {
        CentreSetting::Mean => mean(&clipped),
        CentreSetting::Midrange => middle,
    };
    let scale = if scale { population_sd(&clipped) } else { 1.0 };
    Normalised::new(targets, bounds, centre, scale, true)
}

/// What the use of private targets outside the mechanism takes from the guarantee.
pub(super) fn caveats(block: &Setting, normalised: &Normalised) -> [(Caveat, bool); 2] {
    let chosen = block.data.chosen_by_target();
    [(Caveat::PrivateNormalisation, normalised.private), (Caveat::PrivateFilter, chosen)]
}

fn midrange(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * (least + greatest)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One where all values are equal, so that they can be divided by it.
fn population_sd(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_statistics() {
        let setting =
            NormaliseSetting::Private { clip: Some(4.0), centre: CentreSetting::Mean, scale: false };
        // Midrange 5, so the clip is to [1, 9]; then the mean 5 is subtracted.
        let normalised = normalise(&[0.0, 10.0, 4.0, 6.0], &setting);
        assert_eq!(normalised.targets, [-4.0, 4.0, -1.0, 1.0]);
        assert!(normalised.private);
        let setting = NormaliseSetting::Private { clip: None, centre: CentreSetting::Midrange, scale: true };
        let normalised = normalise(&[0.0, 2.0, 2.0, 0.0], &setting);
        assert_eq!((normalised.targets[0], normalised.scale), (-1.0, 1.0));
    }

    #[test]
    fn public_bounds() {
        let bounds = |scale| NormaliseSetting::Bounds { low: 2.0, high: 6.0, scale };
        let normalised = normalise(&[0.0, 10.0, 4.0], &bounds(1.0));
        assert_eq!(normalised.targets, [-2.0, 2.0, 0.0]);
        assert_eq!(normalise(&[0.0, 10.0, 4.0], &bounds(4.0)).targets, [-0.5, 0.5, 0.0]);
        assert!(!normalised.private);
    }
}
