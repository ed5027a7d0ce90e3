//! Sums over rows as they are released, and noise on them that differs from that of the published release.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;

use super::{BoxModel, ReleasedMap, ReleasedMaps};
use crate::known::RunCache;
use crate::noisy_sums::{TargetSums, noisy_sums};
use crate::sample::product_grid;
use crate::{Certified, Job, Sampled, ShapedRelease, TaskError};
use dpgp_accounting::{Certificate, Release};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::sites::{NoisyFeatures, SummedFeatures};
use dpgp_gp::variational::{Bumps, Inducing, InducingGrid, Statistics};
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::{
    Ellipsoid, LEAST_SIGMA, MidpointBounds, NoiseAxes, PrivacySetting, ProductsSetting, RecordBounds,
    SumMaps, SumsSetting, SumsShape,
};
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

    /// The sums, and the noise on them.
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

    /// Guarantee of one release for a cell.
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

/// Parameters of an ellipsoid.
#[derive(Debug, Clone, PartialEq)]
pub struct EllipsoidKey {
    maps: SumMaps,
    domain: Vec<[f64; 2]>,
}

/// Sums at the midpoints, or with noise in an ellipsoid.
pub struct ShapedSums {
    pub maps: ReleasedMaps,
    domain: Vec<[f64; 2]>,
    /// Of the trace of an ellipsoid.
    gap: Option<f64>,
}

impl ShapedSums {
    /// As a setting asks for, for inputs in a box.
    ///
    /// # Errors
    /// [`TaskError`] if an ellipsoid is not found.
    pub fn new(
        setting: &SumsSetting,
        grid: &InducingGrid,
        target: &TargetSums<'_>,
        domain: &[[f64; 2]],
        known: &RunCache,
    ) -> Result<Self, TaskError> {
        let maps = SumMaps { weighted: grid.covariances(), plain: plain(setting, grid), bound: target.bound };
        let (maps, gap) = match setting.noise {
            SumsShape::Spherical => {
                let record = RecordBounds { features: target.sums.features, target: target.bound };
                let most = MidpointBounds::new(grid, record, domain).sensitivity(setting.split.get());
                (spherical(&maps, most * most), None)
            }
            SumsShape::Ellipsoid => {
                let question = EllipsoidKey { maps: maps.clone(), domain: domain.to_vec() };
                let shape = known.ellipsoids.get_or_compute(&question, || question.shape())?;
                (elliptic(&maps, &shape), Some(shape.gap))
            }
        };
        Ok(Self { maps, domain: domain.to_vec(), gap })
    }

    /// Guarantee: one record moves the sums by one standard deviation of the noise at the multiplier 1 at most.
    pub fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        noisy_sums(Release::Posterior, cell, 1.0).with_gap(self.gap)
    }

    /// Samples drawn with `sigma` times the noise, of sums of these targets.
    pub fn sampled(&self, target: &TargetSums<'_>, sigma: f64) -> Sampled {
        let ReleasedMaps { weighted, plain } = &self.maps;
        let mut of_plain = plain.noise.scaled(sigma * sigma).covariance();
        // In units of the features themselves.
        let scales = plain.bumps.scales();
        for (j, mut column) in of_plain.column_iter_mut().enumerate() {
            column.iter_mut().zip(scales.iter()).for_each(|(entry, scale)| *entry /= scale * scales[j]);
        }
        Sampled::Shaped(ShapedRelease {
            weighted: weighted.noise.scaled(sigma * sigma).covariance(),
            plain: of_plain,
            kernel: target.sums.kernel,
            inducing: target.sums.inducing.to_vec(),
            domain: self.domain.clone(),
            bound: target.bound,
        })
    }
}

/// The plain features, in the units that their noise is measured in.
fn plain(setting: &SumsSetting, grid: &InducingGrid) -> Bumps {
    let (c, middles) = (setting.split.get(), grid.midpoints());
    let squares = match setting.products {
        // What they are in B.
        ProductsSetting::All => grid.multiplicities(),
        ProductsSetting::Midpoints => DVector::from_element(middles.len(), 1.0),
    };
    middles.scaled(&squares.map(|square| (c * square).sqrt()))
}

/// With noise of one variance on every sum.
fn spherical(maps: &SumMaps, variance: f64) -> ReleasedMaps {
    let [weighted, plain] = [&maps.weighted, &maps.plain].map(|bumps| ReleasedMap {
        noise: NoiseAxes::spherical(bumps.len(), variance),
        bumps: bumps.clone(),
    });
    ReleasedMaps { weighted, plain }
}

fn elliptic(maps: &SumMaps, shape: &Ellipsoid) -> ReleasedMaps {
    let SumMaps { weighted, plain, .. } = maps.clone();
    ReleasedMaps {
        weighted: ReleasedMap { bumps: weighted, noise: shape.weighted.clone() },
        plain: ReleasedMap { bumps: plain, noise: shape.plain.clone() },
    }
}

impl EllipsoidKey {
    fn shape(&self) -> Result<Arc<Ellipsoid>, LinalgError> {
        Ellipsoid::around(&self.maps, &self.domain).map(Arc::new)
    }
}
