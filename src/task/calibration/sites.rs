//! Predictions from noisy sums by a process on the public box.

use super::measure::data_frame;
use super::test_rows::TestRows;
use crate::gp::sites::{NoisyFeatures, SummedFeatures};
use crate::gp::variational::{Inducing, InducingGrid, Statistics};
use crate::kernel::ExponentiatedQuadratic;
use crate::privacy::NoiseAxes;
use crate::setting::{PrivacySetting, RangeSetting, SumsSetting};
use crate::task::grid::grid;
use crate::task::model::noise_variance;
use crate::task::noisy_sums::TargetSums;
use crate::task::site_sums::{BoxModel, ReleasedMap, ReleasedMaps, ShapedSums, SitePosterior};
use crate::task::{CalibrationTask, Certified, Described, Job, Measured, Sample, TaskError};

/// What all cells of a block share.
pub(super) struct SitesBlock<'a> {
    task: &'a CalibrationTask,
    job: &'a Job<'a>,
    posterior: SitePosterior,
    released: Released<'a>,
    noise_variance: f64,
    test: TestRows,
}

/// The sums without noise, by how they are released.
enum Released<'a> {
    /// All products, with spherical noise.
    Plain { sums: &'a TargetSums<'a>, statistics: Statistics, grid: InducingGrid, maps: ReleasedMaps },
    /// Along the axes of other noise.
    Shaped { sums: ShapedSums<'a>, features: SummedFeatures },
}

impl<'a> SitesBlock<'a> {
    /// Of the training rows; `sums` are those of the spec.
    pub fn new(
        task: &'a CalibrationTask,
        job: &'a Job<'a>,
        training: &Sample,
        test: TestRows,
        sums: &'a TargetSums<'a>,
    ) -> Result<Self, TaskError> {
        let (setting, (variance, lengthscale)) = (job.sums()?, job.exponentiated_quadratic()?);
        let noise_variance = noise_variance(job.model()?)?;
        let domain = setting.domain().map_err(|_| TaskError::Missing { needed: "a public box" })?.to_vec();
        let model = BoxModel { domain, variance, lengthscale, noise_variance };
        let sides = task.inducing.iter().map(|range| (0..range.points).map(|j| range.at(j)).collect());
        let grid = InducingGrid { sides: sides.collect(), variance, lengthscale };
        // The obligations hold for inputs in the box; an input from outside counts as one at its end.
        let training = Sample { inputs: model.clipped(&training.inputs), ..training.clone() };
        let released = match setting.is_plain() {
            Ok(()) => Released::plain(setting, sums, grid, &task.inducing, &training)?,
            Err(_) => {
                let shaped = ShapedSums::new(setting, &grid, sums, &model.domain, job.known)?;
                let features = shaped.maps.sums(&training.inputs, &training.targets, sums.bound);
                Released::Shaped { sums: shaped, features }
            }
        };
        let posterior = SitePosterior::new(model, released.maps());
        Ok(Self { task, job, posterior, released, noise_variance, test })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mixture = self.posterior.given(&self.released.noisy(cell, self.job))?;
        let prediction = self.posterior.predict(&mixture, &self.test.inputs);
        let values = self.test.scores(self.task, &prediction, self.noise_variance);
        let certified = self.released.certify(cell, self.job)?;
        let measured = certified.measured(0.0, self.task.metrics(1).into_iter().zip(values));
        if !self.task.curve {
            return Ok(measured);
        }
        let frames = vec![self.test.curve(&prediction), data_frame(self.task, self.job.sample)];
        Ok(measured.with_frames(frames))
    }
}

impl<'a> Released<'a> {
    fn plain(
        setting: &SumsSetting,
        sums: &'a TargetSums<'a>,
        grid_of_inducing: InducingGrid,
        ranges: &[RangeSetting],
        training: &Sample,
    ) -> Result<Self, TaskError> {
        let InducingGrid { variance, lengthscale, .. } = grid_of_inducing;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let inducing = Inducing::new(&kernel, &grid(ranges))?;
        let statistics = Statistics::new(&inducing, &training.inputs, &training.targets, sums.bound);
        let square = sums.sensitivity.assumed.powi(2);
        let weighted = grid_of_inducing.covariances();
        let plain = grid_of_inducing.midpoints().scaled(&grid_of_inducing.multiplicities().map(f64::sqrt));
        let maps = ReleasedMaps {
            weighted: ReleasedMap { noise: NoiseAxes::spherical(weighted.len(), square), bumps: weighted },
            plain: ReleasedMap {
                noise: NoiseAxes::spherical(plain.len(), square / setting.split.get()),
                bumps: plain,
            },
        };
        Ok(Self::Plain { sums, statistics, grid: grid_of_inducing, maps })
    }

    fn maps(&self) -> &ReleasedMaps {
        match self {
            Self::Plain { maps, .. } => maps,
            Self::Shaped { sums, .. } => &sums.maps,
        }
    }

    /// A simulation of the release of a cell.
    fn noisy(&self, cell: &PrivacySetting, job: &Job<'_>) -> NoisyFeatures {
        let (sigma, mut stream) = (multiplier(cell), job.streams.of_block("noise"));
        match self {
            Self::Plain { sums, statistics, grid, maps } => {
                let noisy = sums.noise(cell).release(statistics, &mut stream);
                let plain = grid.folded(&noisy.b).component_mul(maps.plain.bumps.scales());
                let sums = SummedFeatures { rows: statistics.rows, weighted: noisy.a, plain, squares: 0.0 };
                maps.noisy(sums, sigma)
            }
            Self::Shaped { sums, features } => sums.maps.released(features, sigma, &mut stream),
        }
    }

    fn certify(&self, cell: &PrivacySetting, job: &Job<'_>) -> Result<Certified, TaskError> {
        match self {
            Self::Plain { sums, .. } => sums.certify(job, cell),
            Self::Shaped { sums, .. } => {
                job.certify(sums.certificate(cell), || vec![sums.sampled(multiplier(cell))])
            }
        }
    }
}

/// The noise multiplier of a cell.
fn multiplier(cell: &PrivacySetting) -> f64 {
    cell.calibration.sigma(cell.epsilon.get(), cell.delta.get())
}
