//! Predictions that get noise of their own.
//!
//! Where predictions are released.

use nalgebra::{DMatrix, DVector};
use rand::Rng;

use super::{BeforeNoise, PURPOSE, Predictions, PreparedRelease};
use crate::model::{Fitted, Placing, Process};
use crate::noise::NoiseDesigner;
use crate::normalise::{caveats, normalise};
use crate::{RunCache, Sample, Streams, TargetGuarantee, TaskError};
use dpgp_mechanisms::Sections;
use dpgp_noise::{LatticeMap, LatticeRelease, TargetLattice};
use dpgp_spec::setting::NormaliseSetting;

/// Predictions before their noise.
///
/// Obligation: targets enter `sums` alone, as whole numbers, and [`LatticeRelease`] adds their noise in whole numbers.
/// All else depends on public inputs and settings, so that what is done with the release afterwards is post-processing:
/// `map` is applied to it, and a public offset is added last.
#[derive(Debug, Clone)]
pub(super) struct Means {
    release: LatticeRelease,
    /// The sums of the targets of each distinct input, in units of their lattice.
    sums: Vec<i128>,
    gp_sd: Vec<f64>,
    /// From the released numbers to predictions (t x r).
    map: DMatrix<f64>,
    /// In units of the target.
    pub noise_sd: Vec<f64>,
    /// What is added to them: c + C (middle - c) for the mean c of the prior, since whole numbers are about the middle of the bounds
    /// and the model is about c.
    offset: DVector<f64>,
}

impl Means {
    /// Fits the model to all rows.
    pub fn prepared(
        setting: &Sections,
        sample: &Sample,
        points: &Points,
        streams: &Streams,
    ) -> Result<PreparedRelease, TaskError> {
        let Some(model) = setting.model.as_deref() else {
            return Err(TaskError::NotReleasable { reason: "it has no model" });
        };
        let NormaliseSetting::Bounds { low, high, .. } = *setting.normalise else {
            return Err(TaskError::NotReleasable { reason: super::NO_BOUNDS });
        };
        let normalised = normalise(&sample.targets, &setting.normalise);
        let kernel = model.kernel.covariance(&sample.inputs);
        let placing = Placing { streams, known: &RunCache::default(), purpose: PURPOSE };
        let process = Process::new(model, kernel.as_ref(), &sample.inputs, placing);
        let inputs = &points.inputs;
        let Fitted { map, variance } = process.fitted(inputs)?;
        let target = TargetGuarantee::of_unit(&setting.privacy, &setting.data)?;
        let scale = target.scale() / normalised.scale;
        let mechanism = &setting.privacy.mechanism;
        let denoise = mechanism.denoises_releases();
        let weights = points.weights.as_deref();
        let designer =
            NoiseDesigner { mechanism, process: &process, test: inputs, map: &map, denoise, weights };
        let noise = designer.noise(scale)?;
        let lattice = TargetLattice::new(low.get(), high.get())?;
        let whole: Vec<i64> = sample.targets.iter().map(|y| lattice.whole(*y)).collect();
        let columns = LatticeMap::new(&noise.whitened_columns(&map))?;
        let release = LatticeRelease::new(columns, &lattice, target.change, target.rows, target.sigma())?;
        let noise = noise.covering(release.ratio());
        let record = release.record(noise.ratio);
        let means = Self {
            sums: map.sum_whole_groups(&whole),
            gp_sd: noise
                .model_variances(variance, scale)
                .iter()
                .map(|v| v.sqrt() * normalised.scale)
                .collect(),
            noise_sd: noise
                .standard_deviations()
                .iter()
                .map(|sd| sd * release.sd() * release.unit())
                .collect(),
            offset: noise
                .of_constant(&map, lattice.centre() - normalised.centre)
                .add_scalar(normalised.centre),
            map: noise.map.clone(),
            release,
        };
        Ok(PreparedRelease {
            form: BeforeNoise::Means(Box::new(means)),
            certificate: noise.certificate(target, &caveats(setting, &normalised)).about(setting.data.unit()),
            noise: record,
        })
    }

    pub fn is_finite(&self) -> bool {
        self.gp_sd.iter().chain(&self.map).chain(&self.noise_sd).chain(&self.offset).all(|x| x.is_finite())
    }

    pub fn draw(&self, random: &mut impl Rng) -> Predictions {
        let noisy = &self.map * DVector::from_vec(self.release.draw(&self.sums, random)) + &self.offset;
        let mean = noisy.iter().copied().collect();
        Predictions { mean, gp_sd: self.gp_sd.clone(), noise_sd: self.noise_sd.clone() }
    }

    /// The predictions without noise; never to be shown.
    pub fn exact(&self) -> DVector<f64> {
        &self.map * DVector::from_vec(self.release.exact(&self.sums)) + &self.offset
    }

    /// What is released of these targets, without noise, in standard deviations of it.
    #[cfg(test)]
    pub fn in_deviations(&self) -> DVector<f64> {
        DVector::from_vec(self.release.exact(&self.sums)) / (self.release.sd() * self.release.unit())
    }
}

/// Public points to predict at.
#[derive(Debug, Clone)]
pub struct Points {
    /// Their inputs (t x d).
    pub inputs: DMatrix<f64>,
    /// How much each counts in the expected error (t), not negative; none where all count alike.
    pub weights: Option<Vec<f64>>,
}

impl Points {
    /// All alike.
    pub fn even(inputs: DMatrix<f64>) -> Self {
        Self { inputs, weights: None }
    }

    /// The root of the weighted mean of values at the points.
    pub(super) fn root_mean(&self, values: &[f64]) -> f64 {
        let Some(weights) = &self.weights else {
            return (values.iter().sum::<f64>() / values.len() as f64).sqrt();
        };
        let weighted: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        (weighted / weights.iter().sum::<f64>()).sqrt()
    }
}
