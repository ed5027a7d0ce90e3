//! The interface of private regressions, and its implementations: constants, noisy means of bins, noisy sums,
//! and predictions that are linear in the targets, with fixed or privately chosen lengthscales.

use nalgebra::{DMatrix, DVector};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::moments::{LatticeSumsRegression, WaveMomentsRegression};
use super::{BaselineSetting, FoldPrediction, LeaderboardPosteriorSetting, MASS};
use crate::averaged::{FoldInputs, ModelAveragedReleases};
use crate::binned::{BinNoise, BinStatistics, DenoisedBins, lookup_bin_values};
use crate::cross_validation::FoldRows;
use crate::model::{GpOnTrainingInputs, PredictionMapWithVariances, noise_variance};
use crate::noise::{NoiseDesigner, NoiseDesigns};
use crate::noisy_sums::BoundedTargetSums;
use crate::sample::product_grid;
use crate::selection::LengthscaleCandidates;
use crate::site_sums::{GpPriorOnBox, InducingSums, InputTargetRows, SitePosteriorModel};
use crate::summary::{mean, standard_normal_vector};
use crate::{
    AuditableCertificate, AuditedMechanism, LeaderboardTask, LengthscaleChoiceSetting, ReplicateJob,
    TargetChangeGuarantee, TaskError,
};
use dpgp_accounting::{Certificate, CertifiedMechanism, ReleaseKind};
use dpgp_gp::PredictionMap;
use dpgp_gp::kernel::{ExponentiatedQuadratic, ExponentiatedQuadraticSetting, KernelSetting};
use dpgp_gp::variational::{
    CovariancesWithConditionalVariances, GaussianPrediction, InducingInputs, SufficientStatistics,
    noise_aware_posterior,
};
use dpgp_mechanisms::{
    BinNoiseDistribution, BinStatistic, BinningSetting, MomentFeatures, MomentsSetting, PrivacySetting, SumsSetting,
};
use dpgp_spec::setting::ModelSetting;

/// A private regression on the training rows of a fold, in units of the normalised target.
pub(super) trait PrivateRegression: Sync {
    /// One run of the mechanism: predictions at the test inputs, whose variances account for the privacy noise.
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError>;

    /// Guarantee of one run.
    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError>;

    /// The largest jitter of a factorisation.
    fn jitter(&self) -> f64;
}

/// State shared by all folds.
#[derive(Clone, Copy)]
pub(super) struct LeaderboardContext<'a> {
    pub job: &'a ReplicateJob<'a>,
    pub task: &'a LeaderboardTask,
    pub model: &'a ModelSetting,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
}

impl<'a> LeaderboardContext<'a> {
    /// The method of the block: a baseline, or that of its mechanism.
    pub fn build_regression(&self, rows: &FoldRows) -> Result<Box<dyn PrivateRegression + 'a>, TaskError> {
        if let Some(setting) = self.task.baseline {
            return Ok(Box::new(MeanBaseline::new(self, setting, rows)));
        }
        let mechanism = &self.job.setting.privacy.mechanism;
        if let Some(binning) = mechanism.downcast::<BinningSetting>() {
            return Ok(Box::new(BinnedRegression::new(self, binning, rows)?));
        }
        if let Some(moments) = mechanism.downcast::<MomentsSetting>() {
            return Ok(match moments.features {
                MomentFeatures::Waves => Box::new(WaveMomentsRegression::new(self, moments, rows)?),
                MomentFeatures::Cells => Box::new(LatticeSumsRegression::new(self, rows)?),
            });
        }
        if mechanism.downcast::<SumsSetting>().is_some() {
            return Ok(match self.task.posterior {
                LeaderboardPosteriorSetting::Sites => Box::new(SitePosteriorRegression::new(self, rows)?),
                LeaderboardPosteriorSetting::NoiseAware => Box::new(NoisySumsRegression::new(self, rows)?),
            });
        }
        Ok(match &self.task.choose {
            None => Box::new(NoisyMeanRegression::new(self, self.model, rows)?),
            Some(choose) => Box::new(SelectedLengthscaleRegression::new(self, choose, rows)?),
        })
    }
}

/// One mean for all test inputs.
pub(super) struct MeanBaseline {
    setting: BaselineSetting,
    /// Of the training targets, on the scale of the model.
    mean: f64,
    /// Their number n.
    rows: usize,
    /// The variances of the latent function about the mean, under the prior.
    prior: Vec<f64>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl MeanBaseline {
    pub fn new(context: &LeaderboardContext<'_>, setting: BaselineSetting, rows: &FoldRows) -> Self {
        let mean = mean(&rows.targets);
        let prior = context.model.kernel.build_kernel(&rows.inputs).diagonal(&rows.test);
        Self { setting, mean, rows: rows.targets.len(), prior, scale: context.scale }
    }

    /// The guarantee, if the mean has noise.
    fn guarantee_if_noisy(&self, cell: &PrivacySetting) -> Result<Option<TargetChangeGuarantee>, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        Ok(Some(target).filter(|target| target.is_private() && self.setting == BaselineSetting::Mean))
    }

    /// The standard deviation of the noise (units of the model): one target moves the mean by at most `change / n`.
    fn noise_sd(&self, target: TargetChangeGuarantee) -> f64 {
        target.noise_scale_in_target_units() / self.scale / self.rows as f64
    }

    /// A mean at all test inputs, whose noise has this variance.
    fn constant_prediction(&self, mean: f64, variance: f64) -> GaussianPrediction {
        let points = self.prior.len();
        let variance = self.prior.iter().map(|prior| prior + variance);
        let variance = DVector::from_iterator(points, variance);
        GaussianPrediction { mean: DVector::from_element(points, mean), variance }
    }
}

impl PrivateRegression for MeanBaseline {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let Some(target) = self.guarantee_if_noisy(cell)? else {
            // It claims nothing.
            return Ok(self.constant_prediction(self.mean, 0.0).into());
        };
        let (sd, unit): (f64, f64) = (self.noise_sd(target), StandardNormal.sample(stream));
        Ok(self.constant_prediction(self.mean + sd * unit, sd * sd).into())
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let Some(target) = self.guarantee_if_noisy(cell)? else {
            return Ok(AuditableCertificate::without_claim());
        };
        let certificate =
            target.calibrated_gaussian_release(ReleaseKind::Mean, CertifiedMechanism::Histogram, 1.0).certificate();
        job.auditable_certificate(certificate, || {
            let bins = vec![(self.rows, self.noise_sd(target))];
            vec![AuditedMechanism::Statistics {
                statistic: BinStatistic::Mean,
                bins,
                change: target.change / self.scale,
            }]
        })
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// The noisy statistic of the bin that holds a test input; where there is none, the prior of the model. Or the best linear
/// prediction given all of them.
pub(super) struct BinnedRegression {
    binned: BinStatistics,
    statistic: BinStatistic,
    places: Vec<Option<usize>>,
    /// The variance of the prior at each test input.
    prior: Vec<f64>,
    denoised: Option<DenoisedBins>,
    law: BinNoiseDistribution,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl BinnedRegression {
    pub fn new(context: &LeaderboardContext<'_>, setting: &BinningSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let binned = BinStatistics::new(setting, &rows.inputs, &rows.targets);
        let places = binned.find_bins(&rows.test);
        let prior = context.model.kernel.build_kernel(&rows.inputs).diagonal(&rows.test);
        let denoised = DenoisedBins::from_job(context.job, rows, &binned, context.scale)?;
        Ok(Self {
            places,
            binned,
            statistic: setting.statistic,
            prior,
            denoised,
            law: setting.noise,
            scale: context.scale,
        })
    }

    fn noise(&self, cell: &PrivacySetting) -> Result<BinNoise, TaskError> {
        let Self { statistic, law, scale, .. } = *self;
        Ok(BinNoise { target: TargetChangeGuarantee::for_one_row(cell)?, statistic, law, scale })
    }
}

impl PrivateRegression for BinnedRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let noise = self.noise(cell)?.sd();
        let sds = self.binned.noise_sds(noise);
        let noisy = self.binned.draw_noisy_values(self.law, &sds, stream);
        if let Some(denoised) = &self.denoised {
            let variance = DVector::from_column_slice(denoised.test_prediction_variances(noise)?);
            return Ok(GaussianPrediction {
                mean: denoised.test_prediction_mean(noise, &self.binned, &noisy)?,
                variance,
            }
            .into());
        }
        let mean = lookup_bin_values(&noisy, &self.places);
        let variance = self.places.iter().zip(&self.prior);
        let variance = variance.map(|(place, prior)| place.map_or(*prior, |bin| sds[bin] * sds[bin]));
        Ok(GaussianPrediction { mean, variance: DVector::from_iterator(self.places.len(), variance) }.into())
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        self.noise(cell)?.certify(job, &[&self.binned], &[])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// The exponential mechanism chooses among Gaussian processes for a share of epsilon, and what it chose is released for
/// the rest.
///
/// Obligation: the choice is `share epsilon`-DP and the release, whatever was chosen, `((1 - share) epsilon, delta)`-DP;
/// by basic composition (Dwork et al. 2006) both together are `(epsilon, delta)`-DP for the delta of the release.
pub(super) struct SelectedLengthscaleRegression {
    choice: LengthscaleCandidates,
    candidates: Vec<NoisyMeanRegression>,
    share: f64,
}

impl SelectedLengthscaleRegression {
    pub fn new(
        context: &LeaderboardContext<'_>,
        setting: &LengthscaleChoiceSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let choice =
            LengthscaleCandidates::new(context.job, setting.to_selection_task(context.model), rows, context.scale)?;
        let KernelSetting::Eq(eq) = &context.model.kernel else {
            return Err(TaskError::Missing { needed: "the `eq` kernel" });
        };
        let mut candidates = Vec::with_capacity(setting.lengthscales.len());
        for &lengthscale in &setting.lengthscales {
            let kernel = KernelSetting::Eq(ExponentiatedQuadraticSetting { lengthscale, ..eq.clone() });
            let model = ModelSetting { kernel, ..context.model.clone() };
            candidates.push(NoisyMeanRegression::new(context, &model, rows)?);
        }
        Ok(Self { choice, candidates, share: setting.share.get() })
    }

    /// The guarantee that is left for the release.
    fn release_guarantee(&self, cell: &PrivacySetting) -> Result<TargetChangeGuarantee, TaskError> {
        Ok(TargetChangeGuarantee::for_one_row(cell)?.with_epsilon((1.0 - self.share) * cell.epsilon.get()))
    }

    /// The guarantee of the release, whatever was chosen.
    fn worst_certificate(&self, rest: TargetChangeGuarantee) -> Result<Certificate, TaskError> {
        let mut worst: Option<Certificate> = None;
        for candidate in &self.candidates {
            let own = candidate.certificate(rest)?;
            match &mut worst {
                Some(worst) => worst.merge_larger_delta_and_gap(&own),
                None => worst = Some(own),
            }
        }
        worst.ok_or(TaskError::Missing { needed: "at least one candidate lengthscale" })
    }
}

impl PrivateRegression for SelectedLengthscaleRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let rest = self.release_guarantee(cell)?;
        let chances = self.choice.choice_probabilities(rest, self.share * cell.epsilon.get());
        let place: f64 = stream.random();
        let below = chances.iter().scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        });
        // Rounding may leave the last sum below 1.
        let chosen = below.take_while(|sum| *sum <= place).count().min(chances.len() - 1);
        Ok(self.candidates[chosen].release(rest, stream)?.into())
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let rest = self.release_guarantee(cell)?;
        if !rest.is_private() {
            return Ok(AuditableCertificate::without_claim());
        }
        let releases = self.candidates.iter().map(|candidate| candidate.audited_mechanism(rest));
        let releases = releases.collect::<Result<Vec<AuditedMechanism>, TaskError>>()?;
        job.auditable_certificate(self.worst_certificate(rest)?.with_total_epsilon(cell.epsilon.get()), || {
            let choice = self.choice.audited_mechanism(rest, self.share * cell.epsilon.get());
            std::iter::once(choice).chain(releases).collect()
        })
    }

    fn jitter(&self) -> f64 {
        self.candidates.iter().map(PrivateRegression::jitter).fold(0.0, f64::max)
    }
}

/// The posterior at sites from noisy sums over the training rows.
pub(super) struct SitePosteriorRegression<'a> {
    sums: InducingSums<'a>,
    posterior: SitePosteriorModel,
    test: DMatrix<f64>,
}

impl<'a> SitePosteriorRegression<'a> {
    pub fn new(context: &LeaderboardContext<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let model = GpPriorOnBox::new(context.job)?;
        let summed = InputTargetRows { inputs: &rows.inputs, targets: &rows.targets };
        let sums = InducingSums::new(context.job, &context.task.inducing, &model, summed)?;
        Ok(Self { posterior: SitePosteriorModel::new(model, sums.feature_maps()), sums, test: rows.test.clone() })
    }
}

impl PrivateRegression for SitePosteriorRegression<'_> {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let mixture = self.posterior.condition_on_release(&self.sums.simulate_release(cell, stream))?;
        let targets = self.posterior.predict(&mixture, &self.test).targets;
        Ok(FoldPrediction::Targets { targets, level: MASS })
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// The posterior from noisy sums over the training rows, its covariance corrected for the noise.
pub(super) struct NoisySumsRegression<'a> {
    sums: BoundedTargetSums<'a>,
    kernel: ExponentiatedQuadratic,
    points: DMatrix<f64>,
    statistics: SufficientStatistics,
    located: CovariancesWithConditionalVariances,
    noise_variance: f64,
}

impl<'a> NoisySumsRegression<'a> {
    pub fn new(context: &LeaderboardContext<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let (variance, lengthscale) = context.job.eq_kernel_parameters()?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = product_grid(&context.task.inducing);
        let sums = BoundedTargetSums::new(context.job.sums()?, &context.task.inducing, variance, lengthscale)?;
        let inducing = InducingInputs::new(&kernel, &points)?;
        let statistics = SufficientStatistics::new(&inducing, &rows.inputs, &rows.targets, sums.bound);
        let located = inducing.covariances_with_conditional_variances(&rows.test);
        let noise_variance = noise_variance(context.model)?;
        Ok(Self { sums, points, statistics, located, noise_variance, kernel })
    }
}

impl PrivateRegression for NoisySumsRegression<'_> {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let inducing = InducingInputs::new(&self.kernel, &self.points)?;
        let noisy = self.sums.noise(cell).simulate_release(&self.statistics, stream).scaled(1.0 / self.noise_variance);
        let rule = LeaderboardTask::POSTERIOR;
        let posterior = noise_aware_posterior(&inducing, &noisy, rule.regularisation, rule.correction)?;
        let GaussianPrediction { mean, variance } = posterior.predict(&self.located);
        // What corrects the covariance for the noise may overshoot.
        Ok(GaussianPrediction { mean, variance: variance.map(|v| v.max(0.0)) }.into())
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// A Gaussian process whose mean is released with noise.
pub(super) struct NoisyMeanRegression {
    map: PredictionMap,
    /// The sums of the targets of equal inputs.
    sums: DVector<f64>,
    /// Variances of the latent function.
    variance: DVector<f64>,
    noises: NoiseDesigns,
    /// What follows from releases, where the model is averaged.
    averaged: Option<ModelAveragedReleases>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl NoisyMeanRegression {
    pub fn new(context: &LeaderboardContext<'_>, model: &ModelSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let setting = context.job.setting;
        let kernel = model.prior_kernel(&rows.inputs);
        let process = GpOnTrainingInputs::new(
            model,
            kernel.as_ref(),
            &rows.inputs,
            context.job.inducing_placement(&rows.stream_name()),
        );
        let PredictionMapWithVariances { map, variance } = process.prediction_map_with_variances(&rows.test)?;
        let cells =
            context.job.cells.iter().map(|cell| {
                Ok(TargetChangeGuarantee::for_one_row(cell)?.noise_scale_in_target_units() / context.scale)
            });
        let scales = cells.collect::<Result<Vec<f64>, TaskError>>()?;
        let mechanism = &setting.privacy.mechanism;
        let denoise = mechanism.denoises_in_experiments();
        let designer =
            NoiseDesigner { mechanism, process: &process, test: &rows.test, map: &map, denoise, weights: None };
        let noises = designer.design_noises(&scales)?;
        let seen = FoldInputs { training: &rows.inputs, test: &rows.test, map: &map };
        Ok(Self {
            averaged: ModelAveragedReleases::new(model, &seen, &noises, &scales)?,
            noises,
            sums: map.sum_targets_by_input(&rows.targets),
            variance: DVector::from_vec(variance),
            map,
            scale: context.scale,
        })
    }

    /// One run for a guarantee.
    pub fn release(&self, target: TargetChangeGuarantee, stream: &mut Pcg64) -> Result<GaussianPrediction, TaskError> {
        if !target.is_private() {
            return Ok(GaussianPrediction {
                mean: self.map.distinct_columns() * &self.sums,
                variance: self.variance.clone(),
            });
        }
        let scale = target.noise_scale_in_target_units() / self.scale;
        let noise = self.noises.noise_at_scale(scale)?;
        let drawn = &noise.map * standard_normal_vector(noise.map.ncols(), stream) * scale;
        Ok(GaussianPrediction {
            mean: noise.noiseless_prediction_map(&self.map) * &self.sums + drawn,
            variance: DVector::from_vec(
                noise.latent_variances_excluding_noise(self.variance.as_slice().to_vec(), scale),
            ) + noise.standard_deviations().map(|sd| (scale * sd).powi(2)),
        })
    }

    /// The certificate of such a run.
    pub fn certificate(&self, target: TargetChangeGuarantee) -> Result<Certificate, TaskError> {
        let certificate =
            self.noises.noise_at_scale(target.noise_scale_in_target_units() / self.scale)?.certificate(target, &[]);
        Ok(certificate.with_predictions_of_one_fold())
    }

    /// Samples of such a run.
    pub fn audited_mechanism(&self, target: TargetChangeGuarantee) -> Result<AuditedMechanism, TaskError> {
        Ok(self
            .noises
            .noise_at_scale(target.noise_scale_in_target_units() / self.scale)?
            .audited_mechanism(target.noise_scale_in_target_units(), target.change))
    }
}

impl PrivateRegression for NoisyMeanRegression {
    fn predict_with_noise(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<FoldPrediction, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        if let Some(averaged) = self.averaged.as_ref().filter(|_| target.is_private()) {
            let targets = averaged
                .draw_prediction(target.noise_scale_in_target_units() / self.scale, &self.sums, stream)?
                .targets;
            return Ok(FoldPrediction::Targets { targets, level: MASS });
        }
        Ok(self.release(target, stream)?.into())
    }

    fn certify_run(&self, job: &ReplicateJob<'_>, cell: &PrivacySetting) -> Result<AuditableCertificate, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        if !target.is_private() {
            return Ok(AuditableCertificate::without_claim());
        }
        let sampled = self.audited_mechanism(target)?;
        job.auditable_certificate(self.certificate(target)?, || vec![sampled])
    }

    fn jitter(&self) -> f64 {
        self.map.jitter()
    }
}
