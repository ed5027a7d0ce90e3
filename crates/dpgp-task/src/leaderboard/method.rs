//! The interface of private regressions, and its implementations: constants, noisy means of bins, noisy sums,
//! and predictions that are linear in the targets, with fixed or privately chosen lengthscales.

use nalgebra::{DMatrix, DVector};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::measure::{MASS, Predicted};
use super::moments::MomentsRegression;
use super::setting::{BaselineSetting, BoardPosterior};
use crate::averaged::{AveragedReleases, AveragedRows};
use crate::binned::{BinNoise, Binned, of_bins};
use crate::cross_validation::FoldRows;
use crate::denoised_bins::DenoisedBins;
use crate::model::{Fitted, Process, noise_variance};
use crate::noise::{NoiseDesigner, NoiseDesigns};
use crate::noisy_sums::TargetSums;
use crate::sample::product_grid;
use crate::selection::Choice;
use crate::site_sums::{BoxModel, SitePosterior, SiteRows, SummedRows};
use crate::summary::normal_vector;
use crate::{Certified, ChooseSetting, Job, LeaderboardTask, Sampled, TargetGuarantee, TaskError};
use dpgp_accounting::{Certificate, CertifiedMechanism, Release};
use dpgp_gp::LinearMap;
use dpgp_gp::kernel::{EqSetting, ExponentiatedQuadratic, KernelSetting};
use dpgp_gp::variational::{Inducing, Located, Prediction, Statistics, noise_aware};
use dpgp_mechanisms::{BinNoiseLaw, BinningSetting, MomentsSetting, PrivacySetting, Statistic, SumsSetting};
use dpgp_spec::setting::ModelSetting;

/// A private regression on the training rows of a fold, in units of the normalised target.
pub(super) trait Method {
    /// One run of the mechanism: predictions at the test inputs, whose variances account for the privacy noise.
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError>;

    /// Guarantee of one run.
    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError>;

    /// The largest jitter of a factorisation.
    fn jitter(&self) -> f64;
}

/// State shared by all folds.
#[derive(Clone, Copy)]
pub(super) struct Leaderboard<'a> {
    pub job: &'a Job<'a>,
    pub task: &'a LeaderboardTask,
    pub model: &'a ModelSetting,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
}

impl<'a> Leaderboard<'a> {
    /// The method of the block: a baseline, or that of its mechanism.
    pub fn method(&self, rows: &FoldRows) -> Result<Box<dyn Method + 'a>, TaskError> {
        if let Some(setting) = self.task.baseline {
            return Ok(Box::new(Baseline::new(self, setting, rows)));
        }
        let mechanism = &self.job.setting.privacy.mechanism;
        if let Some(binning) = mechanism.downcast::<BinningSetting>() {
            return Ok(Box::new(BinnedRegression::new(self, binning, rows)?));
        }
        if let Some(moments) = mechanism.downcast::<MomentsSetting>() {
            return Ok(Box::new(MomentsRegression::new(self, moments, rows)?));
        }
        if mechanism.downcast::<SumsSetting>().is_some() {
            return Ok(match self.task.posterior {
                BoardPosterior::Sites => Box::new(SitesRegression::new(self, rows)?),
                BoardPosterior::NoiseAware => Box::new(SummedRegression::new(self, rows)?),
            });
        }
        Ok(match &self.task.choose {
            None => Box::new(NoisyRegression::new(self, self.model, rows)?),
            Some(choose) => Box::new(ChosenRegression::new(self, choose, rows)?),
        })
    }
}

/// One mean for all test inputs.
pub(super) struct Baseline {
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

impl Baseline {
    pub fn new(context: &Leaderboard<'_>, setting: BaselineSetting, rows: &FoldRows) -> Self {
        let mean = rows.targets.iter().sum::<f64>() / rows.targets.len() as f64;
        let prior = context.model.kernel.covariance(&rows.inputs).diagonal(&rows.test);
        Self { setting, mean, rows: rows.targets.len(), prior, scale: context.scale }
    }

    /// The guarantee, if the mean has noise.
    fn target(&self, cell: &PrivacySetting) -> Result<Option<TargetGuarantee>, TaskError> {
        let target = TargetGuarantee::from_privacy(cell)?;
        Ok(Some(target).filter(|target| target.is_private() && self.setting == BaselineSetting::Mean))
    }

    /// The standard deviation of the noise (units of the model): one target moves the mean by at most `change / n`.
    fn sd(&self, target: TargetGuarantee) -> f64 {
        target.scale() / self.scale / self.rows as f64
    }

    /// A mean at all test inputs, whose noise has this variance.
    fn predicted(&self, mean: f64, variance: f64) -> Prediction {
        let points = self.prior.len();
        let variance = self.prior.iter().map(|prior| prior + variance);
        let variance = DVector::from_iterator(points, variance);
        Prediction { mean: DVector::from_element(points, mean), variance }
    }
}

impl Method for Baseline {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let Some(target) = self.target(cell)? else {
            // It claims nothing.
            return Ok(self.predicted(self.mean, 0.0).into());
        };
        let (sd, unit): (f64, f64) = (self.sd(target), StandardNormal.sample(stream));
        Ok(self.predicted(self.mean + sd * unit, sd * sd).into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let Some(target) = self.target(cell)? else {
            return Ok(Certified::nothing());
        };
        let certificate =
            target.gaussian(Release::Histogram, CertifiedMechanism::Histogram, 1.0).certificate();
        job.certify(certificate, || {
            let bins = vec![(self.rows, self.sd(target))];
            vec![Sampled::Statistics { statistic: Statistic::Mean, bins, change: target.change / self.scale }]
        })
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// The noisy statistic of the bin that holds a test input; where there is none, the prior of the model. Or the best linear
/// prediction given all of them.
pub(super) struct BinnedRegression {
    binned: Binned,
    statistic: Statistic,
    places: Vec<Option<usize>>,
    /// The variance of the prior at each test input.
    prior: Vec<f64>,
    denoised: Option<DenoisedBins>,
    law: BinNoiseLaw,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl BinnedRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &BinningSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let binned = Binned::new(setting, &rows.inputs, &rows.targets);
        let places = binned.places(&rows.test);
        let prior = context.model.kernel.covariance(&rows.inputs).diagonal(&rows.test);
        let denoised = DenoisedBins::for_job(context.job, rows, &binned, context.scale)?;
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
        Ok(BinNoise { target: TargetGuarantee::from_privacy(cell)?, statistic, law, scale })
    }
}

impl Method for BinnedRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let noise = self.noise(cell)?.sd();
        let sds = self.binned.sds(noise);
        let noisy = self.binned.noisy(self.law, &sds, stream);
        if let Some(denoised) = &self.denoised {
            let variance = DVector::from_column_slice(denoised.variances(noise)?);
            return Ok(Prediction { mean: denoised.mean(noise, &self.binned, &noisy)?, variance }.into());
        }
        let mean = of_bins(&noisy, &self.places);
        let variance = self.places.iter().zip(&self.prior);
        let variance = variance.map(|(place, prior)| place.map_or(*prior, |bin| sds[bin] * sds[bin]));
        Ok(Prediction { mean, variance: DVector::from_iterator(self.places.len(), variance) }.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
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
pub(super) struct ChosenRegression {
    choice: Choice,
    candidates: Vec<NoisyRegression>,
    share: f64,
}

impl ChosenRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &ChooseSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let choice = Choice::new(context.job, setting.task(context.model), rows, context.scale)?;
        let KernelSetting::Eq(eq) = &context.model.kernel else {
            return Err(TaskError::Missing { needed: "the kernel eq" });
        };
        let mut candidates = Vec::with_capacity(setting.lengthscales.len());
        for &lengthscale in &setting.lengthscales {
            let kernel = KernelSetting::Eq(EqSetting { lengthscale, ..eq.clone() });
            let model = ModelSetting { kernel, ..context.model.clone() };
            candidates.push(NoisyRegression::new(context, &model, rows)?);
        }
        Ok(Self { choice, candidates, share: setting.share.get() })
    }

    /// The guarantee that is left for the release.
    fn rest(&self, cell: &PrivacySetting) -> Result<TargetGuarantee, TaskError> {
        Ok(TargetGuarantee::from_privacy(cell)?.spending((1.0 - self.share) * cell.epsilon.get()))
    }

    /// The guarantee of the release, whatever was chosen.
    fn worst_certificate(&self, rest: TargetGuarantee) -> Result<Certificate, TaskError> {
        let mut worst: Option<Certificate> = None;
        for candidate in &self.candidates {
            let own = candidate.certificate(rest)?;
            match &mut worst {
                Some(worst) => worst.absorb(&own),
                None => worst = Some(own),
            }
        }
        worst.ok_or(TaskError::Missing { needed: "at least one candidate lengthscale" })
    }
}

impl Method for ChosenRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let rest = self.rest(cell)?;
        let chances = self.choice.probabilities(rest, self.share * cell.epsilon.get());
        let place: f64 = stream.random();
        let below = chances.iter().scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        });
        // Rounding may leave the last sum below 1.
        let chosen = below.take_while(|sum| *sum <= place).count().min(chances.len() - 1);
        Ok(self.candidates[chosen].release(rest, stream)?.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let rest = self.rest(cell)?;
        if !rest.is_private() {
            return Ok(Certified::nothing());
        }
        let releases = self.candidates.iter().map(|candidate| candidate.sampled(rest));
        let releases = releases.collect::<Result<Vec<Sampled>, TaskError>>()?;
        job.certify(self.worst_certificate(rest)?.after_choice(cell.epsilon.get()), || {
            let choice = self.choice.sampled(rest, self.share * cell.epsilon.get());
            std::iter::once(choice).chain(releases).collect()
        })
    }

    fn jitter(&self) -> f64 {
        self.candidates.iter().map(Method::jitter).fold(0.0, f64::max)
    }
}

/// The posterior at sites from noisy sums over the training rows.
pub(super) struct SitesRegression<'a> {
    sums: SummedRows<'a>,
    posterior: SitePosterior,
    test: DMatrix<f64>,
}

impl<'a> SitesRegression<'a> {
    pub fn new(context: &Leaderboard<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let model = BoxModel::new(context.job)?;
        let summed = SiteRows { inputs: &rows.inputs, targets: &rows.targets };
        let sums = SummedRows::new(context.job, &context.task.inducing, &model, summed)?;
        Ok(Self { posterior: SitePosterior::new(model, sums.maps()), sums, test: rows.test.clone() })
    }
}

impl Method for SitesRegression<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let mixture = self.posterior.given(&self.sums.noisy(cell, stream))?;
        let targets = self.posterior.predict(&mixture, &self.test).targets;
        Ok(Predicted::Targets { targets, level: MASS })
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// The posterior from noisy sums over the training rows, its covariance corrected for the noise.
pub(super) struct SummedRegression<'a> {
    sums: TargetSums<'a>,
    kernel: ExponentiatedQuadratic,
    points: DMatrix<f64>,
    statistics: Statistics,
    located: Located,
    noise_variance: f64,
}

impl<'a> SummedRegression<'a> {
    pub fn new(context: &Leaderboard<'a>, rows: &FoldRows) -> Result<Self, TaskError> {
        let (variance, lengthscale) = context.job.exponentiated_quadratic()?;
        let kernel = ExponentiatedQuadratic::isotropic(variance, lengthscale);
        let points = product_grid(&context.task.inducing);
        let sums = TargetSums::new(context.job.sums()?, &context.task.inducing, variance, lengthscale)?;
        let inducing = Inducing::new(&kernel, &points)?;
        let statistics = Statistics::new(&inducing, &rows.inputs, &rows.targets, sums.bound);
        let located = inducing.locate(&rows.test);
        let noise_variance = noise_variance(context.model)?;
        Ok(Self { sums, points, statistics, located, noise_variance, kernel })
    }
}

impl Method for SummedRegression<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let inducing = Inducing::new(&self.kernel, &self.points)?;
        let noisy = self.sums.noise(cell).release(&self.statistics, stream).scaled(1.0 / self.noise_variance);
        let rule = LeaderboardTask::POSTERIOR;
        let posterior = noise_aware(&inducing, &noisy, rule.regularisation, rule.correction)?;
        let Prediction { mean, variance } = posterior.predict(&self.located);
        // What corrects the covariance for the noise may overshoot.
        Ok(Prediction { mean, variance: variance.map(|v| v.max(0.0)) }.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        self.sums.certify(job, cell)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// A Gaussian process whose mean is released with noise.
pub(super) struct NoisyRegression {
    map: LinearMap,
    /// The sums of the targets of equal inputs.
    sums: DVector<f64>,
    /// Variances of the latent function.
    variance: DVector<f64>,
    noises: NoiseDesigns,
    /// What follows from releases, where the model is averaged.
    averaged: Option<AveragedReleases>,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl NoisyRegression {
    pub fn new(context: &Leaderboard<'_>, model: &ModelSetting, rows: &FoldRows) -> Result<Self, TaskError> {
        let setting = context.job.setting;
        let kernel = model.covariance(&rows.inputs);
        let process =
            Process::new(model, kernel.as_ref(), &rows.inputs, context.job.placing(&rows.purpose()));
        let Fitted { map, variance } = process.fitted(&rows.test)?;
        let cells = context
            .job
            .cells
            .iter()
            .map(|cell| Ok(TargetGuarantee::from_privacy(cell)?.scale() / context.scale));
        let scales = cells.collect::<Result<Vec<f64>, TaskError>>()?;
        let mechanism = &setting.privacy.mechanism;
        let denoise = mechanism.denoises_experiments();
        let designer = NoiseDesigner {
            mechanism,
            process: &process,
            test: &rows.test,
            map: &map,
            denoise,
            weights: None,
        };
        let noises = designer.noises(&scales)?;
        let seen = AveragedRows { training: &rows.inputs, test: &rows.test, map: &map };
        Ok(Self {
            averaged: AveragedReleases::new(model, &seen, &noises, &scales)?,
            noises,
            sums: map.sum_groups(&rows.targets),
            variance: DVector::from_vec(variance),
            map,
            scale: context.scale,
        })
    }

    /// One run for a guarantee.
    pub fn release(&self, target: TargetGuarantee, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        if !target.is_private() {
            return Ok(Prediction { mean: self.map.columns() * &self.sums, variance: self.variance.clone() });
        }
        let scale = target.scale() / self.scale;
        let noise = self.noises.at(scale)?;
        let drawn = &noise.map * normal_vector(noise.map.ncols(), stream) * scale;
        Ok(Prediction {
            mean: noise.released_columns(&self.map) * &self.sums + drawn,
            variance: DVector::from_vec(noise.model_variances(self.variance.as_slice().to_vec(), scale))
                + noise.standard_deviations().map(|sd| (scale * sd).powi(2)),
        })
    }

    /// The certificate of such a run.
    pub fn certificate(&self, target: TargetGuarantee) -> Result<Certificate, TaskError> {
        Ok(self.noises.at(target.scale() / self.scale)?.certificate(target, &[]))
    }

    /// Samples of such a run.
    pub fn sampled(&self, target: TargetGuarantee) -> Result<Sampled, TaskError> {
        Ok(self.noises.at(target.scale() / self.scale)?.sampled(target.scale(), target.change))
    }
}

impl Method for NoisyRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let target = TargetGuarantee::from_privacy(cell)?;
        if let Some(averaged) = self.averaged.as_ref().filter(|_| target.is_private()) {
            let targets = averaged.draw(target.scale() / self.scale, &self.sums, stream)?.targets;
            return Ok(Predicted::Targets { targets, level: MASS });
        }
        Ok(self.release(target, stream)?.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let target = TargetGuarantee::from_privacy(cell)?;
        if !target.is_private() {
            return Ok(Certified::nothing());
        }
        let sampled = self.sampled(target)?;
        job.certify(self.certificate(target)?, || vec![sampled])
    }

    fn jitter(&self) -> f64 {
        self.map.jitter()
    }
}
