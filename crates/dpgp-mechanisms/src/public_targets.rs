//! Targets on a public scale.

use dpgp_spec::setting::{NormaliseSetting, prior_mean};
use dpgp_stream::TargetQuantizer;

/// Normalisation by public constants and a bound; none by private statistics.
pub fn public_target_quantizer(normalise: &NormaliseSetting, bound: f64) -> Option<TargetQuantizer> {
    let free = TargetQuantizer { low: f64::NEG_INFINITY, high: f64::INFINITY, centre: 0.0, scale: 1.0, bound };
    match *normalise {
        NormaliseSetting::None => Some(free),
        NormaliseSetting::Constants { centre, scale } => {
            Some(TargetQuantizer { centre: centre.get(), scale: scale.get(), ..free })
        }
        NormaliseSetting::Bounds { low, high, centre, scale } => Some(TargetQuantizer {
            low: low.get(),
            high: high.get(),
            centre: prior_mean(low, high, centre),
            scale: scale.get(),
            bound,
        }),
        NormaliseSetting::Private { .. } | NormaliseSetting::Standardised { .. } => None,
    }
}
