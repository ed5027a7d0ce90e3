//! The noise of all guarantees of a block.

use nalgebra::DMatrix;

use super::TaskError;
use super::model::Process;
use super::noise::Noise;
use dpgp_cloaking::RiskProblem;
use dpgp_gp::LinearMap;
use dpgp_spec::setting::MechanismSetting;

/// One design for all sizes of noise, or one for each.
pub(super) struct Noises(Vec<SizedNoise>);

/// A design.
struct SizedNoise {
    /// The standard deviation that it is for (units of the model); none for any.
    only: Option<f64>,
    noise: Noise,
}

/// What releases are designed from.
pub(super) struct Designer<'a> {
    pub mechanism: &'a MechanismSetting,
    pub process: &'a Process<'a>,
    /// The test inputs.
    pub test: &'a DMatrix<f64>,
    /// From the targets to predictions at them.
    pub map: &'a LinearMap,
    /// Whether predictions are the best ones given what is released.
    pub denoise: bool,
    /// Public weights of the test inputs, where not all count alike: for a design of least risk.
    pub weights: Option<&'a [f64]>,
}

impl Designer<'_> {
    /// The design for noise of this standard deviation (units of the model).
    pub fn noise(&self, scale: f64) -> Result<Noise, TaskError> {
        if self.mechanism.is_risk() {
            return Noise::of_least_risk(&self.problem()?, scale);
        }
        let noise = Noise::new(self.mechanism, self.process, self.test, self.map)?;
        if !self.denoise {
            return Ok(noise);
        }
        noise.denoised(&self.process.moments(self.test, self.map)?, self.map, scale)
    }

    fn problem(&self) -> Result<RiskProblem, TaskError> {
        let problem = RiskProblem::even(self.process.moments(self.test, self.map)?);
        Ok(match self.weights {
            Some(weights) => RiskProblem { weights: weights.to_vec(), ..problem },
            None => problem,
        })
    }

    /// The designs for noise of these standard deviations, of which zero is none.
    pub fn noises(&self, scales: &[f64]) -> Result<Noises, TaskError> {
        if !self.mechanism.is_risk() && !self.denoise {
            return Ok(Noises(vec![SizedNoise { only: None, noise: self.noise(1.0)? }]));
        }
        let private = scales.iter().filter(|scale| **scale > 0.0);
        let designs = private.map(|&scale| Ok(SizedNoise { only: Some(scale), noise: self.noise(scale)? }));
        designs.collect::<Result<_, TaskError>>().map(Noises)
    }
}

impl Noises {
    /// The design for noise of this standard deviation.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if none was made.
    pub fn at(&self, scale: f64) -> Result<&Noise, TaskError> {
        let own = self.0.iter().find(|design| design.only.is_none_or(|only| only == scale));
        own.map(|design| &design.noise).ok_or(TaskError::Missing { needed: "a design for this noise" })
    }
}
