//! Private choice of hyperparameters, by private selection, by composition or by the evidence of noisy
//! moments: settings, candidates, and how often the choice is correct.

use std::f64::consts::TAU;
use std::sync::Arc;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::noise_variance;
use crate::noisy_sums::{BoundedTargetSums, noisy_sums_certificate, split_off_training_inputs};
use crate::sample::product_grid;
use crate::{
    AuditableCertificate, AuditedMechanism, AuditedPrivateSelection, CellMeasurements, MeasurableTask, ReplicateJob,
    TaskError, TaskRequirements,
};
use dpgp_accounting::{Certificate, ReleaseKind, gaussian_rho_budget, zcdp_rho_classic};
use dpgp_gp::kernel::{BoxKernel, ExponentiatedQuadratic, ExponentiatedQuadraticSetting, KernelSetting};
use dpgp_gp::sites::{HyperparameterGrid, KernelWithLogPrior, ValueWithLogPrior};
use dpgp_gp::variational::{
    CovariancesWithConditionalVariances, GaussianPrediction, InducingInputs, NoisySufficientStatistics,
    SufficientStatistics, noise_aware_posterior,
};
use dpgp_mechanisms::{
    CellSections, MeanInterval, MomentsModel, MomentsSetting, PrivacySetting, PrivateSelection, SimulatedMoments,
    SummedValueKind, SumsNoise, check_spec_for_moments, check_waves_only, coinpress_mean, split_coinpress_budget,
};
use dpgp_number::{Budget, Count, Positive, Share};
use dpgp_spec::setting::rules::{check_leaves_test_rows, check_range, fail};
use dpgp_spec::setting::{CheckResult, NoiseAwareInverseSetting, RangeSetting, SpecProblem};
use dpgp_stream::LatticeSums;

/// The metrics `lengthscale/L` and `noise-sd/S` (1 where the selection has this value, else 0), `both` (1 where
/// both are those of the model section), and for private selection `root` (t), `draw-delta` (delta of one draw)
/// and `most-draws` (T).
impl MeasurableTask for HyperparametersTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        if let HyperparametersMethod::Evidence {} = self.method {
            let block = ModelEvidenceReplicateState::new(self, job)?;
            return job.measure_each_cell(|cell| block.measure_cell(cell));
        }
        let (variance, lengthscale) = job.eq_kernel_parameters()?;
        let kernels: Vec<ExponentiatedQuadratic> =
            self.lengthscales.iter().map(|l| ExponentiatedQuadratic::isotropic(variance, l.get())).collect();
        let (points, (training, validation)) =
            (product_grid(&self.inducing), split_off_training_inputs(&job.sample.inputs, self.train.get()));
        let (targets, observed) = job.sample.targets.split_at(self.train.get());
        let mut prepared = Vec::with_capacity(kernels.len());
        for (kernel, lengthscale) in kernels.iter().zip(&self.lengthscales) {
            let inducing = InducingInputs::new(kernel, &points)?;
            let sums = BoundedTargetSums::new(job.sums()?, &self.inducing, variance, lengthscale.get())?;
            let statistics = SufficientStatistics::new(&inducing, &training, targets, sums.bound);
            let validation = inducing.covariances_with_conditional_variances(&validation);
            prepared.push(LengthscaleSums { inducing, sums, statistics, validation });
        }
        let truth = TrueHyperparameters { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        let rule = self.posterior.ok_or(TaskError::Missing { needed: "task.hyperparameters.posterior" })?;
        let block = HyperparametersReplicateState { task: self, job, prepared, observed, truth, rule };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

/// A lengthscale's sums of the training rows, and the validation rows.
pub(super) struct LengthscaleSums<'a> {
    pub inducing: InducingInputs<'a>,
    pub sums: BoundedTargetSums<'a>,
    pub statistics: SufficientStatistics,
    pub validation: CovariancesWithConditionalVariances,
}

/// State shared by all cells of a block.
pub(super) struct HyperparametersReplicateState<'a> {
    pub task: &'a HyperparametersTask,
    job: &'a ReplicateJob<'a>,
    pub prepared: Vec<LengthscaleSums<'a>>,
    /// The validation targets.
    pub observed: &'a [f64],
    truth: TrueHyperparameters,
    rule: NoiseAwareInverseSetting,
}

/// The true lengthscale and standard deviation of the noise: those of the model section.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrueHyperparameters {
    pub lengthscale: f64,
    pub noise_sd: f64,
}

/// A candidate, by the positions of its lengthscale and its noise standard deviation in the lists of the task.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateIndices {
    pub lengthscale: usize,
    pub noise_sd: usize,
}

impl HyperparametersReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        match self.task.method {
            HyperparametersMethod::PrivateSelection { gamma, steps, refuse, budget } => {
                let selection = PrivateSelection::new(Budget { epsilon: cell.epsilon, delta: cell.delta }, gamma.get())
                    .ok_or(TaskError::Missing { needed: "an epsilon large enough for private selection" })?;
                let rules = CandidateScoringRules { steps: steps.get(), refuse, budget };
                self.measure_private_selection(cell, selection, rules)
            }
            HyperparametersMethod::Composition { clip } => self.measure_composition(cell, clip.get()),
            HyperparametersMethod::Evidence {} => Err(TaskError::Missing {
                needed: "a method other than \
             `evidence`",
            }),
        }
    }

    fn measure_private_selection(
        &self,
        cell: &PrivacySetting,
        selection: PrivateSelection,
        rules: CandidateScoringRules,
    ) -> Result<CellMeasurements, TaskError> {
        let draws = CandidateDraws::new(self, cell, &selection, rules);
        let mut stream = self.job.streams.block_stream("noise");
        let chosen = selection.select(&mut stream, |stream| draws.draw_candidate_score(stream))?;
        let mut values = self.truth.choice_indicators(self.task, chosen);
        values.extend([selection.root, selection.draw.delta.get(), f64::from(selection.most)]);
        let certificate = Certificate::private_selection(cell.guarantee());
        let certified = self.job.auditable_certificate(certificate, || {
            vec![AuditedMechanism::Selection(draws.audited_selection(selection))]
        })?;
        Ok(certified.into_measurements(0.0, self.task.metric_names(1).into_iter().zip(values)))
    }

    fn measure_composition(&self, cell: &PrivacySetting, clip: f64) -> Result<CellMeasurements, TaskError> {
        let composition = ComposedSelection::new(self, cell, clip);
        let chosen = composition.select_best_pair(&mut self.job.streams.block_stream("noise"))?;
        let certified = match cell.epsilon.get().is_finite() {
            false => AuditableCertificate::without_claim(),
            true => {
                let certificate = noisy_sums_certificate(ReleaseKind::SelectedIndex, cell, 1.0);
                self.job.auditable_certificate(certificate, || composition.audited_mechanism())?
            }
        };
        Ok(certified.into_measurements(
            0.0,
            self.task.metric_names(1).into_iter().zip(self.truth.choice_indicators(self.task, Some(chosen))),
        ))
    }

    /// The predictions for the validation rows from the noisy sums of a lengthscale.
    pub fn predict(
        &self,
        pair: CandidateIndices,
        noisy: &NoisySufficientStatistics,
    ) -> Result<GaussianPrediction, TaskError> {
        let LengthscaleSums { inducing, validation, .. } = &self.prepared[pair.lengthscale];
        let unit = noisy.scaled(self.task.noise_sds[pair.noise_sd].get().powi(-2));
        let NoiseAwareInverseSetting { regularisation, correction } = self.rule;
        Ok(noise_aware_posterior(inducing, &unit, regularisation, correction)?.predict(validation))
    }
}

impl TrueHyperparameters {
    /// Which lengthscale and standard deviation were chosen, and whether both are right.
    pub fn choice_indicators(self, task: &HyperparametersTask, chosen: Option<CandidateIndices>) -> Vec<f64> {
        let HyperparametersTask { lengthscales, noise_sds, .. } = task;
        let mut indicators: Vec<bool> =
            (0..lengthscales.len()).map(|i| chosen.is_some_and(|pair| pair.lengthscale == i)).collect();
        indicators.extend((0..noise_sds.len()).map(|j| chosen.is_some_and(|pair| pair.noise_sd == j)));
        indicators.push(chosen.is_some_and(|pair| {
            is_close(lengthscales[pair.lengthscale].get(), self.lengthscale)
                && is_close(noise_sds[pair.noise_sd].get(), self.noise_sd)
        }));
        indicators.into_iter().map(|yes| f64::from(u8::from(yes))).collect()
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b
}

/// The greatest log-likelihood of one row: `-ln(2 pi) / 2 - ln sd`.
pub(super) fn max_row_log_likelihood(noise_sd: f64) -> f64 {
    -0.5 * TAU.ln() - noise_sd.ln()
}

/// One release per lengthscale, `sqrt(lengthscales)` times as noisy, serves all standard deviations. The mean
/// log-likelihoods of all pairs, clipped to `clip` nats below their greatest value, are one vector with sensitivity
/// `clip sqrt(pairs) / rows`. Training and validation rows are apart, so that either may spend all of the budget.
pub(super) struct ComposedSelection<'a> {
    block: &'a HyperparametersReplicateState<'a>,
    clip: f64,
    /// The noise multiplier.
    sigma: f64,
    pairs: usize,
}

impl<'a> ComposedSelection<'a> {
    pub fn new(block: &'a HyperparametersReplicateState<'a>, cell: &PrivacySetting, clip: f64) -> Self {
        let sigma = cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        Self { block, clip, sigma, pairs: block.prepared.len() * block.task.noise_sds.len() }
    }

    /// The noise on the sums of a lengthscale.
    fn sums_noise(&self, prepared: &LengthscaleSums<'_>) -> SumsNoise {
        let releases = (self.block.prepared.len() as f64).sqrt();
        let sums = &prepared.sums;
        SumsNoise::new(self.sigma * releases * sums.sensitivity.assumed, sums.sums.setting.split.get())
    }

    /// The standard deviation of the noise on a mean.
    fn mean_noise_sd(&self) -> f64 {
        self.sigma * self.clip * (self.pairs as f64).sqrt() / self.block.observed.len() as f64
    }

    pub fn audited_mechanism(&self) -> Vec<AuditedMechanism> {
        let HyperparametersReplicateState { prepared, observed, .. } = self.block;
        let sums = prepared.iter().map(|p| p.sums.sums_release(self.sums_noise(p))).collect();
        let means = AuditedMechanism::Means {
            sd: self.mean_noise_sd(),
            means: self.pairs,
            range: self.clip,
            rows: observed.len(),
        };
        vec![AuditedMechanism::Records(prepared[0].sums.sums.joint_release(sums)), means]
    }

    /// The pair with the greatest noisy mean.
    pub fn select_best_pair(&self, stream: &mut impl Rng) -> Result<CandidateIndices, TaskError> {
        let (mut best, mut pair) = (f64::NEG_INFINITY, CandidateIndices { lengthscale: 0, noise_sd: 0 });
        for (lengthscale, prepared) in self.block.prepared.iter().enumerate() {
            let noisy = self.sums_noise(prepared).simulate_release(&prepared.statistics, stream);
            for (noise_sd, sd) in self.block.task.noise_sds.iter().enumerate() {
                let candidate = CandidateIndices { lengthscale, noise_sd };
                let prediction = self.block.predict(candidate, &noisy)?;
                let most = max_row_log_likelihood(sd.get());
                let densities =
                    prediction.with_observation_noise(sd.get() * sd.get()).log_densities(self.block.observed);
                let sum: f64 = densities.iter().map(|v| v.clamp(most - self.clip, most)).sum();
                let noise: f64 = StandardNormal.sample(stream);
                let score = sum / self.block.observed.len() as f64 + self.mean_noise_sd() * noise;
                if score > best {
                    (best, pair) = (score, candidate);
                }
            }
        }
        Ok(pair)
    }
}

/// How a candidate is scored.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateScoringRules {
    /// Steps of CoinPress.
    pub steps: usize,
    pub refuse: ScoreRefusalRule,
    pub budget: BudgetConversionRule,
}

/// Draws of candidates: a release, and the CoinPress mean of its log-likelihoods.
pub(super) struct CandidateDraws<'a> {
    block: &'a HyperparametersReplicateState<'a>,
    /// The noise on the sums of each lengthscale.
    noise: Vec<SumsNoise>,
    shares: Vec<f64>,
    refuse: ScoreRefusalRule,
}

impl<'a> CandidateDraws<'a> {
    pub fn new(
        block: &'a HyperparametersReplicateState<'a>,
        cell: &PrivacySetting,
        selection: &PrivateSelection,
        rules: CandidateScoringRules,
    ) -> Self {
        let Budget { epsilon, delta } = selection.draw;
        let rho = match rules.budget {
            BudgetConversionRule::Concentrated => zcdp_rho_classic(epsilon.get(), delta.get()),
            BudgetConversionRule::Gaussian => gaussian_rho_budget(epsilon.get(), delta.get()),
        };
        let each = PrivacySetting { epsilon, delta, ..cell.clone() };
        let noise = block.prepared.iter().map(|prepared| prepared.sums.noise(&each)).collect();
        Self { block, noise, shares: split_coinpress_budget(rules.steps, rho), refuse: rules.refuse }
    }

    /// What an audit needs to know about these draws and the selection that chooses among them.
    pub fn audited_selection(&self, selection: PrivateSelection) -> AuditedPrivateSelection {
        let HyperparametersReplicateState { prepared, task, observed, .. } = self.block;
        let mut sums = Vec::with_capacity(prepared.len());
        let mut ranges = Vec::with_capacity(prepared.len() * task.noise_sds.len());
        for (prepared, noise) in prepared.iter().zip(&self.noise) {
            sums.push(prepared.sums.sums.joint_release(vec![prepared.sums.sums_release(*noise)]));
            for noise_sd in &task.noise_sds {
                let radius = clip_radius(prepared, noise_sd.get());
                ranges.push((max_row_log_likelihood(noise_sd.get()) - radius, radius));
            }
        }
        AuditedPrivateSelection { selection, sums, rows: observed.len(), ranges, shares: self.shares.clone() }
    }

    /// The score of a candidate drawn at random; none if it is refused.
    pub fn draw_candidate_score(&self, stream: &mut impl Rng) -> Result<Option<(f64, CandidateIndices)>, TaskError> {
        let HyperparametersReplicateState { prepared, task, observed, .. } = self.block;
        let lengthscale = stream.random_range(0..prepared.len());
        let pair = CandidateIndices { lengthscale, noise_sd: stream.random_range(0..task.noise_sds.len()) };
        let (prepared, noise_sd) = (&prepared[pair.lengthscale], task.noise_sds[pair.noise_sd]);
        let noisy = self.noise[pair.lengthscale].simulate_release(&prepared.statistics, stream);
        let prediction = self.block.predict(pair, &noisy)?;
        let mut densities = prediction.with_observation_noise(noise_sd.get() * noise_sd.get()).log_densities(observed);
        let (most, radius) = (max_row_log_likelihood(noise_sd.get()), clip_radius(prepared, noise_sd.get()));
        densities.iter_mut().for_each(|v| *v = v.clamp(most - 2.0 * radius, most));
        let within = MeanInterval { centre: most - radius, radius };
        let mean = coinpress_mean(&mut densities, within, &self.shares, stream);
        let score = mean * observed.len() as f64;
        // The printed rule compares the sum of many log-likelihoods with the greatest of one.
        let tested = match self.refuse {
            ScoreRefusalRule::Published => score,
            ScoreRefusalRule::Corrected => mean,
        };
        Ok((tested <= most).then_some((score, pair)))
    }
}

/// Half the range that log-likelihoods are clipped to.
fn clip_radius(prepared: &LengthscaleSums<'_>, noise_sd: f64) -> f64 {
    (prepared.sums.bound / noise_sd).powi(2)
}

/// State shared by all cells of a block. One release of all rows serves all candidates: none is left out to validate.
pub(super) struct ModelEvidenceReplicateState<'a> {
    task: &'a HyperparametersTask,
    job: &'a ReplicateJob<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    truth: TrueHyperparameters,
}

impl<'a> ModelEvidenceReplicateState<'a> {
    pub fn new(task: &'a HyperparametersTask, job: &'a ReplicateJob<'a>) -> Result<Self, TaskError> {
        let model = MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        let (_, lengthscale) = job.eq_kernel_parameters()?;
        let truth = TrueHyperparameters { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        Ok(Self { task, job, sums: model.sum_rows_on_lattice(job.sample.columns())?, model, truth })
    }

    pub fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let mut stream = self.job.streams.block_stream("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulate_release(&self.sums, cell, &mut stream)?;
        let weights = self.model.evidence_weights(&released, &self.candidate_grid()?)?;
        let (mut best, mut chosen) = (f64::NEG_INFINITY, None);
        for (place, weight) in weights.iter().enumerate().filter(|(_, weight)| !weight.is_nan()) {
            if *weight > best {
                let each = self.task.noise_sds.len();
                (best, chosen) =
                    (*weight, Some(CandidateIndices { lengthscale: place / each, noise_sd: place % each }));
            }
        }
        let certified =
            self.job.auditable_certificate(guarantee.certificate, || vec![AuditedMechanism::Moments(sampled)])?;
        let values = self.truth.choice_indicators(self.task, chosen);
        Ok(certified.into_measurements(0.0, self.task.metric_names(1).into_iter().zip(values)))
    }

    /// All pairs as likely as each other, with the variance of the model.
    fn candidate_grid(&self) -> Result<HyperparameterGrid, TaskError> {
        let (variance, _) = self.job.eq_kernel_parameters()?;
        let model = self.job.model()?;
        let moments: &MomentsSetting = self.model.mechanism();
        let KernelSetting::Eq(eq) = &model.kernel else {
            return Err(TaskError::Missing { needed: "the `eq` kernel" });
        };
        let mut kernels = Vec::with_capacity(self.task.lengthscales.len());
        for &lengthscale in &self.task.lengthscales {
            let kernel = KernelSetting::Eq(ExponentiatedQuadraticSetting { lengthscale, ..eq.clone() });
            let kernel = BoxKernel::new(&kernel, moments.box_side_lengths());
            let kernel = kernel.ok_or(TaskError::Missing { needed: "a stationary kernel" })?;
            kernels
                .push(KernelWithLogPrior { correlations: Arc::from(kernel.correlation_kernel(1.0)), log_prior: 0.0 });
        }
        let noises = self.task.noise_sds.iter();
        let noises = noises.map(|sd| ValueWithLogPrior { value: sd.get() * sd.get(), log_prior: 0.0 });
        let variances = vec![ValueWithLogPrior { value: variance, log_prior: 0.0 }];
        // The kernel is all there is to the process: it has no mean of its own.
        Ok(HyperparameterGrid { kernels, variances, noises: noises.collect(), steps: 1, bias: 0.0, first: variance })
    }
}

/// How often private selection finds the true hyperparameters, which are those of the model section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperparametersTask {
    /// The number of training rows, taken from the beginning of the data. The others are validation rows.
    pub train: Count,
    /// The public inducing inputs of noisy sums: a product grid with a range for each input. Noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// The lengthscales to choose from.
    pub lengthscales: Vec<Positive>,
    /// The standard deviations of the noise to choose from.
    pub noise_sds: Vec<Positive>,
    /// How posteriors are computed from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<NoiseAwareInverseSetting>,
    /// How the hyperparameters are chosen.
    pub method: HyperparametersMethod,
}

/// How hyperparameters are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HyperparametersMethod {
    /// Candidates are drawn at random; after each draw, the selection stops with a fixed probability. Each is scored by the
    /// CoinPress mean of its log-likelihoods, from a fresh release. The best is chosen.
    PrivateSelection {
        /// The probability of stopping after each draw.
        gamma: Share,
        /// The number of CoinPress steps for each mean.
        steps: Count,
        /// Which candidates are refused because their scores are impossible.
        refuse: ScoreRefusalRule,
        /// How the budget of each CoinPress mean is computed.
        budget: BudgetConversionRule,
    },
    /// The composition of one release per lengthscale and one release of all mean log-likelihoods.
    Composition {
        /// How far below its greatest possible value a log-likelihood is clipped, in nats.
        clip: Positive,
    },
    /// The hyperparameters with the highest marginal likelihood (evidence), given noisy moments of all rows. The evidence is
    /// computed after the release and costs no budget.
    Evidence {},
}

/// Which candidates are refused because their scores are impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreRefusalRule {
    /// Candidates for which the sum of the log-likelihoods exceeds the bound on a single log-likelihood, as printed in the paper.
    Published,
    /// Candidates for which the mean of the log-likelihoods exceeds the bound on a single log-likelihood.
    Corrected,
}

/// How (epsilon, delta) is converted to a budget for a sequence of Gaussian mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetConversionRule {
    /// By zero-concentrated differential privacy.
    Concentrated,
    /// By the exact delta of the Gaussian mechanism.
    Gaussian,
}

impl HyperparametersMethod {
    fn check(&self, privacy: &PrivacySetting) -> CheckResult {
        match *self {
            Self::PrivateSelection { gamma, .. } => {
                let epsilon = privacy.epsilon;
                let total = Budget { epsilon, delta: privacy.delta };
                let enough = !epsilon.is_unprotected() && PrivateSelection::new(total, gamma.get()).is_some();
                check_range("privacy.epsilon", enough, "finite and large enough for private selection", epsilon.get())
            }
            Self::Composition { .. } | Self::Evidence {} => Ok(()),
        }
    }

    /// The metrics on what a choice spends.
    fn budget_metrics(&self) -> &'static [&'static str] {
        match self {
            Self::PrivateSelection { .. } => &["root", "draw-delta", "most-draws"],
            Self::Composition { .. } | Self::Evidence {} => &[],
        }
    }
}

impl HyperparametersTask {
    fn check_sums(&self, setting: &CellSections) -> CheckResult {
        let path = "task.hyperparameters";
        crate::noisy_sums::require_eq_model(path, setting)?.check_noise_variance("hyperparameters")?;
        crate::noisy_sums::check_inducing_inputs(path, &self.inducing, setting)?;
        let Some(posterior) = self.posterior else {
            return fail(path, SpecProblem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{path}.posterior"))?;
        crate::noisy_sums::require_sums_mechanism(setting, SummedValueKind::Targets).map(drop)
    }
}

impl TaskRequirements for HyperparametersTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let path = "task.hyperparameters";
        for (key, values) in [("lengthscales", &self.lengthscales), ("noise_sds", &self.noise_sds)] {
            let path = format!("{path}.{key}");
            if values.is_empty() {
                return fail(&path, SpecProblem::Empty);
            }
        }
        self.method.check(&setting.privacy)?;
        match (setting.privacy.mechanism.downcast::<MomentsSetting>(), &self.method) {
            (Some(moments), HyperparametersMethod::Evidence {}) => {
                crate::noisy_sums::require_eq_model(path, setting)?;
                let without = self.inducing.is_empty() && self.posterior.is_none();
                check_waves_only(path, moments)?;
                check_spec_for_moments(path, moments, without, setting)
            }
            (Some(_), _) | (None, HyperparametersMethod::Evidence {}) => {
                let why = "the method `evidence` and mechanism.moments must be used together";
                fail(&format!("{path}.method"), SpecProblem::Shape(why.to_owned()))
            }
            _ => self.check_sums(setting),
        }
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        let chosen = [("lengthscale", &self.lengthscales), ("noise-sd", &self.noise_sds)];
        let chosen =
            chosen.into_iter().flat_map(|(name, values)| values.iter().map(move |value| format!("{name}/{value}")));
        let plain = std::iter::once(&"both").chain(self.method.budget_metrics());
        chosen.chain(plain.map(|name| (*name).to_owned())).collect()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        check_leaves_test_rows("task.hyperparameters.train", self.train.get(), rows)
    }
}
