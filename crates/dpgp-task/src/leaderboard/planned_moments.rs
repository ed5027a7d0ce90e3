//! Moments before their noise.

use std::sync::Arc;

use rand_pcg::Pcg64;

use crate::Sampled;
use dpgp_gp::sites::{NoisyFeatures, SiteFeatures, SummedFeatures};
use dpgp_mechanisms::LEAST_SIGMA;
use dpgp_mechanisms::MomentsDesign;
use dpgp_mechanisms::MomentsRelease;

/// What is released at one noise multiplier, before its noise.
pub(super) struct PlannedMoments {
    pub sigma: f64,
    pub design: Arc<MomentsDesign>,
    pub sums: SummedFeatures,
    pub features: SiteFeatures,
}

impl PlannedMoments {
    /// With noise from a stream; without privacy there is none.
    pub fn released(&self, stream: &mut Pcg64) -> NoisyFeatures {
        let noise = self.design.noise(self.sigma.max(LEAST_SIGMA));
        if self.sigma > 0.0 { noise.release(&self.sums, stream) } else { noise.stated(self.sums.clone()) }
    }

    /// What an audit judges, with the noise on counts of rows beside the moments.
    pub fn sampled(&self, counts: Vec<f64>) -> Sampled {
        let design = &self.design;
        Sampled::Moments(MomentsRelease {
            weighted: design.frequencies.clone(),
            plain: design.pairs.clone(),
            noise: design.noise(self.sigma),
            period: design.period,
            bound: design.rule.bound(),
            counts,
        })
    }
}
