//! Regression from noisy Fourier moments, with intervals calibrated by a noisy count of rows, and from noisy sums
//! and counts of nested cells. Both hide inputs and targets.

use std::sync::Arc;

use nalgebra::DMatrix;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::method::{LeaderboardContext, PrivateRegression};
use super::{FoldPrediction, IntervalCalibrationSetting, MASS};
use crate::cross_validation::FoldRows;
use crate::{AuditableCertificate, AuditedMechanism, ReplicateJob, Sample, TaskError};
use dpgp_gp::PredictiveMixture;
use dpgp_gp::sites::{
    FeatureSums, HyperparameterGrid, InputPosterior, NoisyFeatureSums, SiteFeatures, fit_mixture_from_kernel_matrices,
};
use dpgp_mechanisms::{
    AuditedMomentsNoise, AuditedWavesNoise, FourierDesignProblem, FourierMomentsDesign, LEAST_SIGMA, MomentsModel,
    MomentsSetting, PrivacySetting, SimulatedMoments, moments_certificate, reference_model_for_moments,
    scale_and_clip_to_box,
};
use dpgp_stream::LatticeSums;

/// The mixture of processes that follows from noisy moments of the training rows.
pub(super) struct WaveMomentsRegression {
    grid: HyperparameterGrid,
    /// A release for each noise multiplier.
    releases: Vec<UnnoisedMomentsRelease>,
    calibration: Option<IntervalCalibration>,
    training: TrainingRows,
    kernels: KernelMatrices,
}

/// The rows that intervals are counted by.
struct TrainingRows {
    /// In units of the box.
    inputs: DMatrix<f64>,
    targets: Vec<f64>,
}

/// The matrices of the kernels between the sites, which all releases share, and inputs.
struct KernelMatrices {
    /// The sites themselves.
    sites: Arc<Vec<DMatrix<f64>>>,
    /// The held-out inputs.
    test: Vec<DMatrix<f64>>,
}

impl WaveMomentsRegression {
    pub fn new(context: &LeaderboardContext<'_>, setting: &MomentsSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let reference = reference_model_for_moments(context.model, setting, rows.targets.len())?;
        let inputs = scale_and_clip_to_box(&rows.inputs, &setting.domain);
        let calibration = context.task.calibrate.map(IntervalCalibration::new);
        let mut releases: Vec<UnnoisedMomentsRelease> = Vec::new();
        for cell in context.job.cells {
            let sigma = moments_noise_multiplier(calibration, cell.noise_multiplier());
            if releases.iter().any(|release| release.sigma == sigma) {
                continue;
            }
            let question = FourierDesignProblem {
                reference: reference.clone(),
                sigma: sigma.max(LEAST_SIGMA),
                period: setting.period,
            };
            let design =
                context.job.known.designs.get_or_compute(&question, || question.solve_design().map(Arc::new))?;
            releases.push(UnnoisedMomentsRelease {
                sums: design.compute_moments(&inputs, &rows.targets),
                features: design.site_features(reference.kernel.is_sum_over_inputs_or_pairs()),
                sigma,
                design,
            });
        }
        let (grid, sites) = (HyperparameterGrid::around_reference(&reference), shared_sites(&releases)?);
        let kernels = KernelMatrices {
            sites: context
                .job
                .known
                .kernels
                .get_or_compute(&reference.kernel, || Arc::new(grid.kernel_matrices(sites, sites))),
            test: grid.kernel_matrices(sites, &scale_and_clip_to_box(&rows.test, &setting.domain)),
        };
        let training = TrainingRows { inputs, targets: rows.targets.clone() };
        Ok(Self { grid, releases, calibration, training, kernels })
    }

    /// The noise on counts of rows.
    fn count_noise_sds(&self, cell: &PrivacySetting) -> Vec<f64> {
        self.calibration.map_or(Vec::new(), |calibration| calibration.count_noise_sds(cell.noise_multiplier()))
    }

    fn release_for_cell(&self, cell: &PrivacySetting) -> Result<&UnnoisedMomentsRelease, TaskError> {
        let sigma = moments_noise_multiplier(self.calibration, cell.noise_multiplier());
        let found = self.releases.iter().find(|release| release.sigma == sigma);
        found.ok_or(TaskError::Missing { needed: "a moments release" })
    }
}

/// The sites, which depend on the number of inputs alone.
fn shared_sites(releases: &[UnnoisedMomentsRelease]) -> Result<&DMatrix<f64>, TaskError> {
    let first = releases.first().ok_or(TaskError::Missing { needed: "a moments release" })?;
    Ok(&first.features.sites)
}

/// The noise multiplier of the moments.
fn moments_noise_multiplier(calibration: Option<IntervalCalibration>, sigma: f64) -> f64 {
    calibration.map_or(sigma, |calibration| calibration.release_noise_multiplier(sigma))
}

impl PrivateRegression for WaveMomentsRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let planned = self.release_for_cell(cell)?;
        let released = planned.simulate_release(stream);
        let inputs = InputPosterior::new(&planned.features, &released)?;
        let KernelMatrices { sites, test } = &self.kernels;
        let mixture = fit_mixture_from_kernel_matrices(sites, &planned.features, &released, &inputs, &self.grid)?;
        let level = match self.calibration {
            None => MASS,
            Some(calibration) => {
                let predicted = &mixture.predict(&self.training.inputs).targets;
                let rows = PredictionsWithTargets { predicted, targets: &self.training.targets };
                calibration.calibrate_interval_mass(rows, cell.noise_multiplier(), stream)
            }
        };
        Ok(FoldPrediction::Targets { targets: mixture.predict_from_kernel_matrices(test).targets, level })
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let planned = self.release_for_cell(cell)?;
        job.auditable_certificate(moments_certificate(cell), || {
            vec![planned.audited_mechanism(self.count_noise_sds(cell))]
        })
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// Prior of the share of rows outside, before they are counted: its standard deviation about `1 - MASS`. The second
/// count is of intervals that the first has corrected.
const DOUBTS: [f64; 2] = [0.07, 0.05];
/// The shares that are believed possible.
const OUTSIDE: [f64; 2] = [0.005, 0.5];

/// A share of the budget for two counts of the training rows outside the central 90 % intervals of a release, the second after the first has
/// corrected them.
///
/// Obligation: the release has the noise multiplier `sigma / sqrt(1 - share)`, that is `mu = sqrt(1 - share) / sigma` for the multiplier sigma
/// of the whole guarantee. When one record is replaced by another, each count moves by at most 1, whatever was released before, so that
/// with noise of standard deviation `sigma / sqrt(share / 2)` it has `mu = sqrt(share / 2) / sigma`. One after the other, each chosen in sight of
/// those before, they have the root of the sum of squares (Dong, Roth and Su 2022, Corollary 3.3): `1 / sigma`, that of the guarantee.
#[derive(Debug, Clone, Copy)]
struct IntervalCalibration {
    share: f64,
}

/// Predictions of training rows beside their true targets, which are private.
struct PredictionsWithTargets<'a> {
    /// Predictions of the targets.
    pub predicted: &'a PredictiveMixture,
    /// The targets.
    pub targets: &'a [f64],
}

impl IntervalCalibration {
    pub fn new(setting: IntervalCalibrationSetting) -> Self {
        Self { share: setting.share.get() }
    }

    /// The noise multiplier that is left for the release.
    pub fn release_noise_multiplier(self, sigma: f64) -> f64 {
        sigma / (1.0 - self.share).sqrt()
    }

    /// The standard deviation of the noise on each count.
    pub fn count_noise_sd(self, sigma: f64) -> f64 {
        sigma / (self.share / DOUBTS.len() as f64).sqrt()
    }

    /// The standard deviations of the noise on all counts, one for each.
    pub fn count_noise_sds(self, sigma: f64) -> Vec<f64> {
        DOUBTS.map(|_| self.count_noise_sd(sigma)).to_vec()
    }

    /// The mass of the model's central interval that is used as the interval of mass 0.9.
    ///
    /// If the share o of rows outside the interval of mass u is not 0.1, masses are taken to have the tail `P(mass > v) = (1 - v)^a`, with the a
    /// that makes it o there: `a = ln o / ln(1 - u)`. So 0.1 of the rows lie outside the interval of mass `1 - 0.1^(1 / a)`, the next u. Of o the
    /// count is one observation: with n rows and noise of standard deviation s its variance is `s^2 / n^2` and that of a share of n rows, beside
    /// the belief in 0.1. What is done with the counts is post-processing.
    pub fn calibrate_interval_mass(self, rows: PredictionsWithTargets<'_>, sigma: f64, stream: &mut Pcg64) -> f64 {
        let masses = rows.predicted.central_interval_masses(rows.targets);
        let (n, sd) = (masses.len() as f64, self.count_noise_sd(sigma));
        let variance = (sd / n).powi(2) + MASS * (1.0 - MASS) / n;
        let mut level = MASS;
        for doubt in DOUBTS {
            let outside = masses.iter().filter(|mass| **mass > level).count() as f64;
            let unit: f64 = StandardNormal.sample(stream);
            level = NoisyShareOutsideInterval { outside: (outside + sd * unit) / n, variance }
                .corrected_interval_mass(level, doubt);
        }
        level
    }
}

/// A share of rows outside intervals of one mass.
struct NoisyShareOutsideInterval {
    outside: f64,
    variance: f64,
}

impl NoisyShareOutsideInterval {
    fn corrected_interval_mass(self, level: f64, doubt: f64) -> f64 {
        let expected = 1.0 - MASS;
        let weight = doubt * doubt / (doubt * doubt + self.variance);
        let [least, most] = OUTSIDE;
        let outside = (expected + weight * (self.outside - expected)).clamp(least, most);
        1.0 - (expected.ln() * (1.0 - level).ln() / outside.ln()).exp()
    }
}

/// Released values at one noise multiplier, before noise.
struct UnnoisedMomentsRelease {
    pub sigma: f64,
    pub design: Arc<FourierMomentsDesign>,
    pub sums: FeatureSums,
    pub features: SiteFeatures,
}

impl UnnoisedMomentsRelease {
    /// Simulates the release with noise drawn from `stream`; without privacy it adds none.
    pub fn simulate_release(&self, stream: &mut Pcg64) -> NoisyFeatureSums {
        let noise = self.design.noise(self.sigma.max(LEAST_SIGMA));
        if self.sigma > 0.0 {
            noise.simulate_release(&self.sums, stream)
        } else {
            noise.attach_variances(self.sums.clone())
        }
    }

    /// Evidence for an audit, with the noise on counts of rows beside the moments.
    pub fn audited_mechanism(&self, counts: Vec<f64>) -> AuditedMechanism {
        let design = &self.design;
        AuditedMechanism::Moments(AuditedMomentsNoise::Waves(AuditedWavesNoise {
            weighted: design.frequencies.clone(),
            plain: design.pairs.clone(),
            noise: design.noise(self.sigma),
            period: design.period,
            bound: design.rule.target_bound(),
            counts,
        }))
    }
}

/// The mixture of processes that follows from noisy sums and counts of the training rows.
pub(super) struct LatticeSumsRegression {
    model: MomentsModel,
    sums: LatticeSums,
    test: DMatrix<f64>,
}

impl LatticeSumsRegression {
    pub fn new(context: &LeaderboardContext<'_>, rows: &FoldRows) -> Result<Self, TaskError> {
        let model = MomentsModel::new(context.job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        // Rows are summed in the units of a file.
        let targets = rows.targets.iter().map(|target| model.to_target_units(*target)).collect();
        let training = Sample { inputs: rows.inputs.clone(), targets, persons: Vec::new() };
        Ok(Self { sums: model.sum_rows_on_lattice(training.columns())?, test: rows.test.clone(), model })
    }
}

impl PrivateRegression for LatticeSumsRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let SimulatedMoments { released, .. } = self.model.simulate_release(&self.sums, cell, stream)?;
        let targets = self.model.predict_in_model_units(&self.model.posterior(&released)?, &self.test).targets;
        Ok(FoldPrediction::Targets { targets, level: MASS })
    }

    /// Neither the certificate nor the size of the noise depends on the draw, so one more draw provides both.
    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let mut stream = job.streams.block_stream("evidence");
        let SimulatedMoments { guarantee, sampled, .. } = self.model.simulate_release(&self.sums, cell, &mut stream)?;
        job.auditable_certificate(guarantee.certificate, || vec![AuditedMechanism::Moments(sampled)])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_gp::WeightedNormals;
    use nalgebra::DVector;
    use rand::SeedableRng;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    fn level_of(outside: f64, variance: f64) -> f64 {
        NoisyShareOutsideInterval { outside, variance }.corrected_interval_mass(0.9, 0.07)
    }

    /// Counts without noise: by what is expected nothing changes, and with half of it the interval of mass `1 - 0.1^(ln 0.1 / ln 0.05)`.
    #[test]
    fn a_count_moves_the_level() {
        assert!((level_of(0.1, 0.0) - 0.9).abs() < 1e-12);
        assert!((level_of(0.05, 0.0) - (1.0 - 0.1f64.powf(0.1f64.ln() / 0.05f64.ln()))).abs() < 1e-12);
        assert!(level_of(0.05, 0.0) < 0.9 && level_of(0.2, 0.0) > 0.9);
        // As much doubt as variance: half of the way, to .15 of the rows.
        assert!((level_of(0.2, 0.07f64.powi(2)) - level_of(0.15, 0.0)).abs() < 1e-12);
        // Noise that tells nothing leaves the model its intervals, and what no share can be is not believed.
        assert!((level_of(-40.0, 1e9) - 0.9).abs() < 1e-6);
        assert_eq!(level_of(-1.0, 0.0), level_of(0.0, 0.0));
        // A tail of (1 - u)^2: at the mass 1 - sqrt(.1) a tenth is outside, and so it is kept.
        let held = 1.0 - 0.1f64.sqrt();
        assert!(
            (NoisyShareOutsideInterval { outside: 0.1, variance: 0.0 }.corrected_interval_mass(held, 0.07) - held)
                .abs()
                < 1e-12
        );
    }

    /// Of Student's distribution with three degrees of freedom, taken for the normal distribution with its variance, `P(|t| <= 1.6449 sqrt 3) =
    /// 2/pi (atan 1.6449 + 1.6449 / (1 + 1.6449^2)) = .9348` lie within the interval of mass .9; of its quantiles the level found holds .9.
    #[test]
    fn heavy_tails_are_taken_in() {
        let quantiles: Vec<f64> = (0..4000).map(|i| student_quantile((f64::from(i) + 0.5) / 4000.0)).collect();
        let part =
            WeightedNormals { weight: 1.0, mean: DVector::zeros(4000), variance: DVector::from_element(4000, 3.0) };
        let predicted = PredictiveMixture::from_parts(vec![part]);
        let calibration = IntervalCalibration { share: 0.1 };
        let rows = PredictionsWithTargets { predicted: &predicted, targets: &quantiles };
        let level = calibration.calibrate_interval_mass(rows, 0.0, &mut Pcg64::seed_from_u64(1));
        let masses = predicted.central_interval_masses(&quantiles);
        let held = masses.iter().filter(|mass| **mass <= level).count() as f64 / 4000.0;
        let before = masses.iter().filter(|mass| **mass <= MASS).count() as f64 / 4000.0;
        assert!((before - 0.9348).abs() < 0.001, "{before}");
        assert!((held - 0.9).abs() < 0.01, "{held}");
    }

    fn student_quantile(p: f64) -> f64 {
        StudentsT::new(0.0, 1.0, 3.0).unwrap().inverse_cdf(p)
    }

    /// All parts together have the mu of the guarantee.
    #[test]
    fn the_budget_is_spent_once() {
        let (calibration, sigma) = (IntervalCalibration { share: 0.15 }, 3.7);
        let mu = (calibration.release_noise_multiplier(sigma).powi(-2)
            + 2.0 * calibration.count_noise_sd(sigma).powi(-2))
        .sqrt();
        assert!((mu * sigma - 1.0).abs() < 1e-14);
    }
}
