//! The noise of all guarantees of a block.

use nalgebra::DMatrix;

use super::TaskError;
use super::model::{ObservedProcess, Process};
use super::noise::Noise;
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{LinearMap, PriorMoments, Representer};
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::MechanismSetting;
use dpgp_mechanisms::{LinearFit, LinearMechanism};

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
        let (mechanism, fit) = (self.linear()?, Fit { process: self.process.observed()?, designer: self });
        let noise = Noise::new(mechanism.design(&fit, scale)?);
        if !self.denoise || mechanism.is_for_one_scale() {
            return Ok(noise);
        }
        noise.denoised(&fit.moments()?, self.map, scale)
    }

    fn linear(&self) -> Result<&dyn LinearMechanism, TaskError> {
        self.mechanism.linear().ok_or(TaskError::Missing { needed: "a mechanism for predictions" })
    }

    /// The designs for noise of these standard deviations, of which zero is none.
    pub fn noises(&self, scales: &[f64]) -> Result<Noises, TaskError> {
        if !self.linear()?.is_for_one_scale() && !self.denoise {
            return Ok(Noises(vec![SizedNoise { only: None, noise: self.noise(1.0)? }]));
        }
        let private = scales.iter().filter(|scale| **scale > 0.0);
        let designs = private.map(|&scale| Ok(SizedNoise { only: Some(scale), noise: self.noise(scale)? }));
        designs.collect::<Result<_, TaskError>>().map(Noises)
    }
}

/// A process at the test inputs of a designer.
struct Fit<'a> {
    process: ObservedProcess<'a>,
    designer: &'a Designer<'a>,
}

impl LinearFit for Fit<'_> {
    fn map(&self) -> &LinearMap {
        self.designer.map
    }

    fn test(&self) -> &DMatrix<f64> {
        self.designer.test
    }

    fn kernel(&self) -> &dyn Kernel {
        self.process.kernel
    }

    fn representer(&self) -> Result<Representer, LinalgError> {
        self.process.representer()
    }

    fn moments(&self) -> Result<PriorMoments, LinalgError> {
        self.process.moments(self.designer.test, self.designer.map)
    }

    fn weights(&self) -> Option<&[f64]> {
        self.designer.weights
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
