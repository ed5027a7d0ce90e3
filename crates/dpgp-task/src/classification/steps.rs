//! What private Newton steps guarantee together.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use crate::streams::normal_vector;
use crate::{Certified, Job, OneTarget, Sampled, TaskError};
use dpgp_accounting::{Caveat, CertifiedMechanism, Release};
use dpgp_linalg::largest;
use dpgp_mechanisms::{LinearRelease, PrivateStep};

/// What a flipped label, -1 or 1, moves by.
const LABEL_CHANGE: f64 = 2.0;

/// Private steps one after the other, each for the same guarantee, and perhaps several runs of them. A step is seen once
/// for all that follows from it: the noise on it, the certificate of all steps and its evidence.
pub(crate) struct Steps<'a> {
    job: &'a Job<'a>,
    /// The guarantee of one step.
    each: OneTarget,
    stream: Pcg64,
    sensitivities: Vec<f64>,
    gaps: Vec<Option<f64>>,
    /// At each place of the sequence the releases of all runs; empty unless the job is audited.
    places: Vec<Vec<LinearRelease>>,
}

impl<'a> Steps<'a> {
    /// A sequence of so many steps.
    pub fn new(job: &'a Job<'a>, each: OneTarget, steps: usize) -> Self {
        Self {
            job,
            each,
            stream: job.streams.of_block("noise"),
            sensitivities: Vec::new(),
            gaps: Vec::new(),
            places: vec![Vec::new(); steps],
        }
    }

    /// Takes the design of a step into account.
    pub fn see(&mut self, place: usize, step: &PrivateStep) {
        let cloak = step.cloak();
        self.sensitivities.push(cloak.sensitivity);
        self.gaps.push(cloak.gap);
        if self.job.audited {
            self.places[place].push(LinearRelease::of(cloak));
        }
    }

    /// The weights after a step that was seen, with fresh noise.
    pub fn weights(&mut self, step: &PrivateStep) -> DVector<f64> {
        let rank = step.cloak().noise_factor().ncols();
        step.weights(self.each.scale(), &normal_vector(rank, &mut self.stream))
    }

    /// What all steps guarantee together.
    pub fn certified(self) -> Result<Certified, TaskError> {
        let Self { job, each, sensitivities, gaps, places, .. } = self;
        let gaps: Option<Vec<f64>> = gaps.into_iter().collect();
        let step =
            each.gaussian(Release::LatentFunction, CertifiedMechanism::Cloaking, largest(sensitivities));
        let certificate = step.repeated(places.len()).with_gap(gaps.map(largest));
        let chosen = (Caveat::PrivateFilter, job.setting.data.chosen_by_target());
        job.certify(certificate.with_caveats(&[chosen]), || {
            vec![Sampled::Linear { places, scale: each.scale(), change: LABEL_CHANGE }]
        })
    }
}
