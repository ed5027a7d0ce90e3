//! The sums of some rows, as they are released.

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::{BoxModel, ReleasedMap, ReleasedMaps, ShapedSums};
use crate::grid::product_grid;
use crate::noisy_sums::TargetSums;
use crate::{Certified, Job, TaskError};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::sites::{NoisyFeatures, SummedFeatures};
use dpgp_gp::variational::{Inducing, InducingGrid, Statistics};
use dpgp_mechanisms::LEAST_SIGMA;
use dpgp_mechanisms::NoiseAxes;
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::setting::RangeSetting;

/// Rows that are summed.
#[derive(Clone, Copy)]
pub struct SiteRows<'a> {
    /// Inputs (n x d); from outside the public box they count at its edge.
    pub inputs: &'a DMatrix<f64>,
    /// Targets.
    pub targets: &'a [f64],
}

/// Sums at inducing inputs before their noise.
pub struct SummedRows<'a> {
    target: TargetSums<'a>,
    form: Form,
}

enum Form {
    /// All products, with spherical noise.
    Plain { statistics: Statistics, grid: InducingGrid, maps: ReleasedMaps },
    /// Along the axes of other noise.
    Shaped { sums: ShapedSums, features: SummedFeatures },
}

impl<'a> SummedRows<'a> {
    /// Of rows, as the spec of a job asks for.
    ///
    /// # Errors
    /// [`TaskError`] if the spec has no noisy sums with a box, or an ellipsoid is not found.
    pub fn new(
        job: &Job<'a>,
        inducing: &'a [RangeSetting],
        model: &BoxModel,
        rows: SiteRows<'_>,
    ) -> Result<Self, TaskError> {
        let (setting, variance, lengthscale) = (job.sums()?, model.variance, model.lengthscale);
        let target = TargetSums::new(setting, inducing, variance, lengthscale)?;
        let sides = inducing.iter().map(|range| (0..range.points).map(|j| range.at(j)).collect());
        let of_inducing = InducingGrid { sides: sides.collect(), variance, lengthscale };
        // The obligations hold for inputs in the box.
        let inputs = model.clipped(rows.inputs);
        let form = if setting.is_plain().is_ok() {
            let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
            let points = product_grid(inducing);
            let places = Inducing::new(&kernel, &points)?;
            let statistics = Statistics::new(&places, &inputs, rows.targets, target.bound);
            let maps = plain_maps(&of_inducing, &target, setting.split.get());
            Form::Plain { statistics, grid: of_inducing, maps }
        } else {
            let sums = ShapedSums::new(setting, &of_inducing, &target, &model.domain, job.known)?;
            let features = sums.maps.sums(&inputs, rows.targets, target.bound);
            Form::Shaped { sums, features }
        };
        Ok(Self { target, form })
    }

    /// What is summed, and the noise on it.
    pub fn maps(&self) -> &ReleasedMaps {
        match &self.form {
            Form::Plain { maps, .. } => maps,
            Form::Shaped { sums, .. } => &sums.maps,
        }
    }

    /// A simulation of the release of a cell; without privacy the sums themselves, which are said to have the least noise that matrices need.
    pub fn noisy(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> NoisyFeatures {
        let (drawn, stated) = (cell.noise_multiplier(), cell.noise_multiplier().max(LEAST_SIGMA));
        match &self.form {
            Form::Plain { statistics, grid, maps } => {
                let noisy = self.target.noise(cell).release(statistics, stream);
                let plain = grid.folded(&noisy.b).component_mul(maps.plain.bumps.scales());
                let sums = SummedFeatures { rows: statistics.rows, weighted: noisy.a, plain, squares: 0.0 };
                maps.noisy(sums, stated)
            }
            Form::Shaped { sums, features } if drawn == 0.0 => sums.maps.noisy(features.clone(), stated),
            Form::Shaped { sums, features } => sums.maps.released(features, drawn, stream),
        }
    }

    /// What is guaranteed about one release for a cell.
    ///
    /// # Errors
    /// [`TaskError`] if the claim has no evidence.
    pub fn certify(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        match &self.form {
            Form::Plain { .. } => self.target.certify(job, cell),
            Form::Shaped { sums, .. } => job.certify(sums.certificate(cell), || {
                vec![sums.sampled(&self.target, cell.noise_multiplier())]
            }),
        }
    }
}

/// The published release.
fn plain_maps(grid: &InducingGrid, target: &TargetSums<'_>, split: f64) -> ReleasedMaps {
    let square = target.sensitivity.assumed.powi(2);
    let weighted = grid.covariances();
    let plain = grid.midpoints().scaled(&grid.multiplicities().map(f64::sqrt));
    ReleasedMaps {
        weighted: ReleasedMap { noise: NoiseAxes::spherical(weighted.len(), square), bumps: weighted },
        plain: ReleasedMap { noise: NoiseAxes::spherical(plain.len(), square / split), bumps: plain },
    }
}
