//! Sums over rows as they are released, and noise on them that differs from that of the published release.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use rand_pcg::Pcg64;

use super::{FeatureMapWithSumNoise, FeatureMapsWithSumNoise, GpPriorOnBox};
use crate::job::RunCache;
use crate::noisy_sums::{BoundedTargetSums, noisy_sums_certificate};
use crate::sample::product_grid;
use crate::{AuditableCertificate, AuditedAnisotropicSumsNoise, AuditedMechanism, ReplicateJob, TaskError};
use dpgp_accounting::{Certificate, ReleaseKind};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::sites::{FeatureSums, NoisyFeatureSums};
use dpgp_gp::variational::{GaussianBumpGrid, InducingGrid, InducingInputs, SufficientStatistics};
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::{
    LEAST_SIGMA, MidpointFeatureBounds, NoiseAxes, NoiseEllipsoid, PrivacySetting, RecordBounds, SecondSumSetting,
    SumFeatureMaps, SumsNoiseShape, SumsSetting,
};
use dpgp_spec::setting::RangeSetting;

/// Rows that are summed.
#[derive(Clone, Copy)]
pub struct InputTargetRows<'a> {
    /// Inputs (n x d); from outside the public box they count at its edge.
    pub inputs: &'a DMatrix<f64>,
    /// Targets.
    pub targets: &'a [f64],
}

/// Sums at inducing inputs before their noise.
pub struct InducingSums<'a> {
    target: BoundedTargetSums<'a>,
    form: InducingSumsForm,
}

enum InducingSumsForm {
    /// All products, with spherical noise.
    Plain { statistics: SufficientStatistics, grid: InducingGrid, maps: FeatureMapsWithSumNoise },
    /// Along the axes of other noise.
    Shaped { sums: SumNoiseDesign, features: FeatureSums },
}

impl<'a> InducingSums<'a> {
    /// Of rows, as the spec of a job asks for.
    ///
    /// # Errors
    /// [`TaskError`] if the spec has no noisy sums with a box, or an ellipsoid is not found.
    pub fn new(
        job: &ReplicateJob<'a>,
        inducing: &'a [RangeSetting],
        model: &GpPriorOnBox,
        rows: InputTargetRows<'_>,
    ) -> Result<Self, TaskError> {
        let (setting, variance, lengthscale) = (job.sums()?, model.variance, model.lengthscale);
        let target = BoundedTargetSums::new(setting, inducing, variance, lengthscale)?;
        let sides = inducing.iter().map(|range| (0..range.points).map(|j| range.value_at(j)).collect());
        let of_inducing = InducingGrid { sides: sides.collect(), variance, lengthscale };
        // The obligations hold for inputs in the box.
        let inputs = model.clip_inputs(rows.inputs);
        let form = if setting.check_all_products_spherical().is_ok() {
            let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
            let points = product_grid(inducing);
            let places = InducingInputs::new(&kernel, &points)?;
            let statistics = SufficientStatistics::new(&places, &inputs, rows.targets, target.bound);
            let maps = published_noise_maps(&of_inducing, &target, setting.split.get());
            InducingSumsForm::Plain { statistics, grid: of_inducing, maps }
        } else {
            let sums = SumNoiseDesign::new(setting, &of_inducing, &target, &model.domain, job.known)?;
            let features = sums.maps.sums(&inputs, rows.targets, target.bound);
            InducingSumsForm::Shaped { sums, features }
        };
        Ok(Self { target, form })
    }

    /// The sums, and the noise on them.
    pub fn feature_maps(&self) -> &FeatureMapsWithSumNoise {
        match &self.form {
            InducingSumsForm::Plain { maps, .. } => maps,
            InducingSumsForm::Shaped { sums, .. } => &sums.maps,
        }
    }

    /// A simulation of the release of a cell; without privacy the sums themselves, which are said to have the least noise that matrices need.
    pub fn simulate_release(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> NoisyFeatureSums {
        let (drawn, stated) = (cell.noise_multiplier(), cell.noise_multiplier().max(LEAST_SIGMA));
        match &self.form {
            InducingSumsForm::Plain { statistics, grid, maps } => {
                let noisy = self.target.noise(cell).simulate_release(statistics, stream);
                let plain = grid.fold_onto_midpoints(&noisy.b).component_mul(maps.plain.bumps.scales());
                let sums = FeatureSums { rows: statistics.rows, weighted: noisy.a, plain, squares: 0.0 };
                maps.attach_noise_variances(sums, stated)
            }
            InducingSumsForm::Shaped { sums, features } if drawn == 0.0 => {
                sums.maps.attach_noise_variances(features.clone(), stated)
            }
            InducingSumsForm::Shaped { sums, features } => sums.maps.simulate_release(features, drawn, stream),
        }
    }

    /// Guarantee of one release for a cell.
    ///
    /// # Errors
    /// [`TaskError`] if an audited claim lacks its mechanism.
    pub fn certify(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        match &self.form {
            InducingSumsForm::Plain { .. } => self.target.certify(job, cell),
            InducingSumsForm::Shaped { sums, .. } => job.auditable_certificate(sums.certificate(cell), || {
                vec![sums.audited_mechanism(&self.target, cell.noise_multiplier())]
            }),
        }
    }
}

/// The published release.
fn published_noise_maps(grid: &InducingGrid, target: &BoundedTargetSums<'_>, split: f64) -> FeatureMapsWithSumNoise {
    let square = target.sensitivity.assumed.powi(2);
    let weighted = grid.covariance_bumps();
    let plain = grid.covariance_product_bumps().scaled(&grid.midpoint_weights().map(f64::sqrt));
    FeatureMapsWithSumNoise {
        weighted: FeatureMapWithSumNoise { noise: NoiseAxes::spherical(weighted.len(), square), bumps: weighted },
        plain: FeatureMapWithSumNoise { noise: NoiseAxes::spherical(plain.len(), square / split), bumps: plain },
    }
}

/// Parameters of an ellipsoid.
#[derive(Debug, Clone, PartialEq)]
pub struct EllipsoidKey {
    maps: SumFeatureMaps,
    domain: Vec<[f64; 2]>,
}

/// Sums at the midpoints, or with noise in an ellipsoid.
pub struct SumNoiseDesign {
    pub maps: FeatureMapsWithSumNoise,
    domain: Vec<[f64; 2]>,
    /// Of the trace of an ellipsoid.
    gap: Option<f64>,
}

impl SumNoiseDesign {
    /// As a setting asks for, for inputs in a box.
    ///
    /// # Errors
    /// [`TaskError`] if an ellipsoid is not found.
    pub fn new(
        setting: &SumsSetting,
        grid: &InducingGrid,
        target: &BoundedTargetSums<'_>,
        domain: &[[f64; 2]],
        known: &RunCache,
    ) -> Result<Self, TaskError> {
        let maps = SumFeatureMaps {
            weighted: grid.covariance_bumps(),
            plain: features_of_unweighted_sums(setting, grid),
            bound: target.bound,
        };
        let (maps, gap) = match setting.noise {
            SumsNoiseShape::Spherical => {
                let record = RecordBounds { features: target.sums.features, target: target.bound };
                let most = MidpointFeatureBounds::new(grid, record, domain).sensitivity(setting.split.get());
                (spherical_noise_maps(&maps, most * most), None)
            }
            SumsNoiseShape::Ellipsoid => {
                let question = EllipsoidKey { maps: maps.clone(), domain: domain.to_vec() };
                let shape = known.ellipsoids.get_or_compute(&question, || question.solve_least_trace_ellipsoid())?;
                (elliptic_noise_maps(&maps, &shape), Some(shape.gap))
            }
        };
        Ok(Self { maps, domain: domain.to_vec(), gap })
    }

    /// Guarantee: one record moves the sums by one standard deviation of the noise at the multiplier 1 at most.
    pub fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        noisy_sums_certificate(ReleaseKind::Posterior, cell, 1.0).with_optimality_gap(self.gap)
    }

    /// Samples drawn with `sigma` times the noise, of sums of these targets.
    pub fn audited_mechanism(&self, target: &BoundedTargetSums<'_>, sigma: f64) -> AuditedMechanism {
        let FeatureMapsWithSumNoise { weighted, plain } = &self.maps;
        let mut of_plain = plain.noise.scaled(sigma * sigma).covariance();
        // In units of the features themselves.
        let scales = plain.bumps.scales();
        for (j, mut column) in of_plain.column_iter_mut().enumerate() {
            column.iter_mut().zip(scales.iter()).for_each(|(entry, scale)| *entry /= scale * scales[j]);
        }
        AuditedMechanism::Shaped(AuditedAnisotropicSumsNoise {
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
fn features_of_unweighted_sums(setting: &SumsSetting, grid: &InducingGrid) -> GaussianBumpGrid {
    let (c, middles) = (setting.split.get(), grid.covariance_product_bumps());
    let squares = match setting.products {
        // What they are in B.
        SecondSumSetting::All => grid.midpoint_weights(),
        SecondSumSetting::Midpoints => DVector::from_element(middles.len(), 1.0),
    };
    middles.scaled(&squares.map(|square| (c * square).sqrt()))
}

/// With noise of one variance on every sum.
fn spherical_noise_maps(maps: &SumFeatureMaps, variance: f64) -> FeatureMapsWithSumNoise {
    let [weighted, plain] = [&maps.weighted, &maps.plain].map(|bumps| FeatureMapWithSumNoise {
        noise: NoiseAxes::spherical(bumps.len(), variance),
        bumps: bumps.clone(),
    });
    FeatureMapsWithSumNoise { weighted, plain }
}

fn elliptic_noise_maps(maps: &SumFeatureMaps, shape: &NoiseEllipsoid) -> FeatureMapsWithSumNoise {
    let SumFeatureMaps { weighted, plain, .. } = maps.clone();
    FeatureMapsWithSumNoise {
        weighted: FeatureMapWithSumNoise { bumps: weighted, noise: shape.weighted.clone() },
        plain: FeatureMapWithSumNoise { bumps: plain, noise: shape.plain.clone() },
    }
}

impl EllipsoidKey {
    fn solve_least_trace_ellipsoid(&self) -> Result<Arc<NoiseEllipsoid>, LinalgError> {
        NoiseEllipsoid::with_least_trace(&self.maps, &self.domain).map(Arc::new)
    }
}
