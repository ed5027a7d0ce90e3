//! Private choice of hyperparameters, by private selection, by composition or by the evidence of noisy
//! moments: settings, candidates, and how often the choice is correct.

use std::f64::consts::TAU;
use std::sync::Arc;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::noise_variance;
use crate::noisy_sums::{TargetSums, noisy_sums, split};
use crate::sample::product_grid;
use crate::{Certified, Job, Measured, Sampled, SelectionDraws, Task, TaskError, TaskSpec};
use dpgp_accounting::{Certificate, Release, gaussian_rho, zcdp_rho_classic};
use dpgp_gp::kernel::{BoxKernel, EqSetting, ExponentiatedQuadratic, KernelSetting};
use dpgp_gp::sites::{Graded, HyperGrid, SiteKernel};
use dpgp_gp::variational::{Inducing, Located, NoisyStatistics, Prediction, Statistics, noise_aware};
use dpgp_mechanisms::{
    MomentsModel, MomentsSetting, PrivacySetting, PrivateSelection, Sections, SimulatedMoments,
    SummedTargets, SumsNoise, Within, check_moments, coinpress_mean, coinpress_shares, waves_alone,
};
use dpgp_number::{Budget, Count, Positive, Share};
use dpgp_spec::setting::rules::{fail, range, to_test};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};
use dpgp_stream::LatticeSums;

/// The metrics `lengthscale/L` and `noise-sd/S` (1 where the selection has this value, else 0), `both` (1 where
/// both are those of the model section), and for private selection `root` (t), `draw-delta` (delta of one draw)
/// and `most-draws` (T).
impl Task for HyperparametersTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if let HyperparametersMethod::Evidence {} = self.method {
            let block = EvidenceBlock::new(self, job)?;
            return job.cells.iter().map(|cell| block.cell(cell)).collect();
        }
        let (variance, lengthscale) = job.exponentiated_quadratic()?;
        let kernels: Vec<ExponentiatedQuadratic> =
            self.lengthscales.iter().map(|l| ExponentiatedQuadratic::isotropic(variance, l.get())).collect();
        let (points, (training, validation)) =
            (product_grid(&self.inducing), split(&job.sample.inputs, self.train.get()));
        let (targets, observed) = job.sample.targets.split_at(self.train.get());
        let mut prepared = Vec::with_capacity(kernels.len());
        for (kernel, lengthscale) in kernels.iter().zip(&self.lengthscales) {
            let inducing = Inducing::new(kernel, &points)?;
            let sums = TargetSums::new(job.sums()?, &self.inducing, variance, lengthscale.get())?;
            let statistics = Statistics::new(&inducing, &training, targets, sums.bound);
            let validation = inducing.locate(&validation);
            prepared.push(PreparedSums { inducing, sums, statistics, validation });
        }
        let truth = TruePair { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        let rule = self.posterior.ok_or(TaskError::Missing { needed: "task.hyperparameters.posterior" })?;
        let block = HyperparametersBlock { task: self, job, prepared, observed, truth, rule };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// A lengthscale's sums of the training rows, and the validation rows.
pub(super) struct PreparedSums<'a> {
    pub inducing: Inducing<'a>,
    pub sums: TargetSums<'a>,
    pub statistics: Statistics,
    pub validation: Located,
}

/// State shared by all cells of a block.
pub(super) struct HyperparametersBlock<'a> {
    pub task: &'a HyperparametersTask,
    job: &'a Job<'a>,
    pub prepared: Vec<PreparedSums<'a>>,
    /// The validation targets.
    pub observed: &'a [f64],
    truth: TruePair,
    rule: NoiseAwareSetting,
}

/// The true lengthscale and standard deviation of the noise: those of the model section.
#[derive(Debug, Clone, Copy)]
pub(super) struct TruePair {
    pub lengthscale: f64,
    pub noise_sd: f64,
}

/// Positions of a lengthscale and of a standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidatePair {
    pub lengthscale: usize,
    pub noise_sd: usize,
}

impl HyperparametersBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        match self.task.method {
            HyperparametersMethod::PrivateSelection { gamma, steps, refuse, budget } => {
                let selection = PrivateSelection::new(
                    Budget { epsilon: cell.epsilon, delta: cell.delta },
                    gamma.get(),
                )
                .ok_or(TaskError::Missing { needed: "an epsilon large enough for private selection" })?;
                let rules = DrawRules { steps: steps.get(), refuse, budget };
                self.selected(cell, selection, rules)
            }
            HyperparametersMethod::Composition { clip } => self.composed(cell, clip.get()),
            HyperparametersMethod::Evidence {} => Err(TaskError::Missing {
                needed: "a method other than \
             `evidence`",
            }),
        }
    }

    fn selected(
        &self,
        cell: &PrivacySetting,
        selection: PrivateSelection,
        rules: DrawRules,
    ) -> Result<Measured, TaskError> {
        let draws = Draws::new(self, cell, &selection, rules);
        let mut stream = self.job.streams.of_block("noise");
        let chosen = selection.select(&mut stream, |stream| draws.draw(stream))?;
        let mut values = self.truth.indicators(self.task, chosen);
        values.extend([selection.root, selection.draw.delta.get(), f64::from(selection.most)]);
        let certificate = Certificate::private_selection(cell.guarantee());
        let certified =
            self.job.certify(certificate, || vec![Sampled::Selection(draws.sampled(selection))])?;
        Ok(certified.measured(0.0, self.task.metrics(1).into_iter().zip(values)))
    }

    fn composed(&self, cell: &PrivacySetting, clip: f64) -> Result<Measured, TaskError> {
        let composition = Composition::new(self, cell, clip);
        let chosen = composition.best(&mut self.job.streams.of_block("noise"))?;
        let certified = match cell.epsilon.get().is_finite() {
            false => Certified::nothing(),
            true => {
                let certificate = noisy_sums(Release::SelectedIndex, cell, 1.0);
                self.job.certify(certificate, || composition.sampled())?
            }
        };
        Ok(certified.measured(
            0.0,
            self.task.metrics(1).into_iter().zip(self.truth.indicators(self.task, Some(chosen))),
        ))
    }

    /// The predictions for the validation rows from the noisy sums of a lengthscale.
    pub fn predict(&self, pair: CandidatePair, noisy: &NoisyStatistics) -> Result<Prediction, TaskError> {
        let PreparedSums { inducing, validation, .. } = &self.prepared[pair.lengthscale];
        let unit = noisy.scaled(self.task.noise_sds[pair.noise_sd].get().powi(-2));
        let NoiseAwareSetting { regularisation, correction } = self.rule;
        Ok(noise_aware(inducing, &unit, regularisation, correction)?.predict(validation))
    }
}

impl TruePair {
    /// Which lengthscale and which standard deviation was chosen, and whether both are right.
    pub fn indicators(self, task: &HyperparametersTask, chosen: Option<CandidatePair>) -> Vec<f64> {
        let HyperparametersTask { lengthscales, noise_sds, .. } = task;
        let mut indicators: Vec<bool> =
            (0..lengthscales.len()).map(|i| chosen.is_some_and(|pair| pair.lengthscale == i)).collect();
        indicators.extend((0..noise_sds.len()).map(|j| chosen.is_some_and(|pair| pair.noise_sd == j)));
        indicators.push(chosen.is_some_and(|pair| {
            close(lengthscales[pair.lengthscale].get(), self.lengthscale)
                && close(noise_sds[pair.noise_sd].get(), self.noise_sd)
        }));
        indicators.into_iter().map(|yes| f64::from(u8::from(yes))).collect()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b
}

/// The greatest log-likelihood of one row: `-ln(2 pi) / 2 - ln sd`.
pub(super) fn greatest(noise_sd: f64) -> f64 {
    -0.5 * TAU.ln() - noise_sd.ln()
}

/// One release per lengthscale, `sqrt(lengthscales)` times as noisy, serves all standard deviations. The mean
/// log-likelihoods of all pairs, clipped to `clip` nats below their greatest value, are one vector with sensitivity
/// `clip sqrt(pairs) / rows`. Training and validation rows are apart, so that either may spend all of the budget.
pub(super) struct Composition<'a> {
    block: &'a HyperparametersBlock<'a>,
    clip: f64,
    /// The noise multiplier.
    sigma: f64,
    pairs: usize,
}

impl<'a> Composition<'a> {
    pub fn new(block: &'a HyperparametersBlock<'a>, cell: &PrivacySetting, clip: f64) -> Self {
        let sigma = cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        Self { block, clip, sigma, pairs: block.prepared.len() * block.task.noise_sds.len() }
    }

    /// The noise on the sums of a lengthscale.
    fn noise(&self, prepared: &PreparedSums<'_>) -> SumsNoise {
        let releases = (self.block.prepared.len() as f64).sqrt();
        let sums = &prepared.sums;
        SumsNoise::new(self.sigma * releases * sums.sensitivity.assumed, sums.sums.setting.split.get())
    }

    /// The standard deviation of the noise on a mean.
    fn sd(&self) -> f64 {
        self.sigma * self.clip * (self.pairs as f64).sqrt() / self.block.observed.len() as f64
    }

    pub fn sampled(&self) -> Vec<Sampled> {
        let HyperparametersBlock { prepared, observed, .. } = self.block;
        let sums = prepared.iter().map(|p| p.sums.released(self.noise(p))).collect();
        let means =
            Sampled::Means { sd: self.sd(), means: self.pairs, range: self.clip, rows: observed.len() };
        vec![Sampled::Records(prepared[0].sums.sums.together(sums)), means]
    }

    /// The pair with the greatest noisy mean.
    pub fn best(&self, stream: &mut impl Rng) -> Result<CandidatePair, TaskError> {
        let (mut best, mut pair) = (f64::NEG_INFINITY, CandidatePair { lengthscale: 0, noise_sd: 0 });
        for (lengthscale, prepared) in self.block.prepared.iter().enumerate() {
            let noisy = self.noise(prepared).release(&prepared.statistics, stream);
            for (noise_sd, sd) in self.block.task.noise_sds.iter().enumerate() {
                let candidate = CandidatePair { lengthscale, noise_sd };
                let prediction = self.block.predict(candidate, &noisy)?;
                let most = greatest(sd.get());
                let densities = prediction.observed(sd.get() * sd.get()).log_densities(self.block.observed);
                let sum: f64 = densities.iter().map(|v| v.clamp(most - self.clip, most)).sum();
                let noise: f64 = StandardNormal.sample(stream);
                let score = sum / self.block.observed.len() as f64 + self.sd() * noise;
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
pub(super) struct DrawRules {
    /// Steps of CoinPress.
    pub steps: usize,
    pub refuse: RefusalRule,
    pub budget: BudgetRule,
}

/// Draws of candidates: a release, and the CoinPress mean of its log-likelihoods.
pub(super) struct Draws<'a> {
    block: &'a HyperparametersBlock<'a>,
    /// The noise on the sums of each lengthscale.
    noise: Vec<SumsNoise>,
    shares: Vec<f64>,
    refuse: RefusalRule,
}

impl<'a> Draws<'a> {
    pub fn new(
        block: &'a HyperparametersBlock<'a>,
        cell: &PrivacySetting,
        selection: &PrivateSelection,
        rules: DrawRules,
    ) -> Self {
        let Budget { epsilon, delta } = selection.draw;
        let rho = match rules.budget {
            BudgetRule::Concentrated => zcdp_rho_classic(epsilon.get(), delta.get()),
            BudgetRule::Gaussian => gaussian_rho(epsilon.get(), delta.get()),
        };
        let each = PrivacySetting { epsilon, delta, ..cell.clone() };
        let noise = block.prepared.iter().map(|prepared| prepared.sums.noise(&each)).collect();
        Self { block, noise, shares: coinpress_shares(rules.steps, rho), refuse: rules.refuse }
    }

    /// Draws that one selection chooses from.
    pub fn sampled(&self, selection: PrivateSelection) -> SelectionDraws {
        let HyperparametersBlock { prepared, task, observed, .. } = self.block;
        let mut sums = Vec::with_capacity(prepared.len());
        let mut ranges = Vec::with_capacity(prepared.len() * task.noise_sds.len());
        for (prepared, noise) in prepared.iter().zip(&self.noise) {
            sums.push(prepared.sums.sums.together(vec![prepared.sums.released(*noise)]));
            for noise_sd in &task.noise_sds {
                let radius = radius(prepared, noise_sd.get());
                ranges.push((greatest(noise_sd.get()) - radius, radius));
            }
        }
        SelectionDraws { selection, sums, rows: observed.len(), ranges, shares: self.shares.clone() }
    }

    /// The score of a candidate drawn at random; none if it is refused.
    pub fn draw(&self, stream: &mut impl Rng) -> Result<Option<(f64, CandidatePair)>, TaskError> {
        let HyperparametersBlock { prepared, task, observed, .. } = self.block;
        let lengthscale = stream.random_range(0..prepared.len());
        let pair = CandidatePair { lengthscale, noise_sd: stream.random_range(0..task.noise_sds.len()) };
        let (prepared, noise_sd) = (&prepared[pair.lengthscale], task.noise_sds[pair.noise_sd]);
        let noisy = self.noise[pair.lengthscale].release(&prepared.statistics, stream);
        let prediction = self.block.predict(pair, &noisy)?;
        let mut densities = prediction.observed(noise_sd.get() * noise_sd.get()).log_densities(observed);
        let (most, radius) = (greatest(noise_sd.get()), radius(prepared, noise_sd.get()));
        densities.iter_mut().for_each(|v| *v = v.clamp(most - 2.0 * radius, most));
        let within = Within { centre: most - radius, radius };
        let mean = coinpress_mean(&mut densities, within, &self.shares, stream);
        let score = mean * observed.len() as f64;
        // The printed rule compares the sum of many log-likelihoods with the greatest of one.
        let tested = match self.refuse {
            RefusalRule::Published => score,
            RefusalRule::Corrected => mean,
        };
        Ok((tested <= most).then_some((score, pair)))
    }
}

/// Half the range that log-likelihoods are clipped to.
fn radius(prepared: &PreparedSums<'_>, noise_sd: f64) -> f64 {
    (prepared.sums.bound / noise_sd).powi(2)
}

/// State shared by all cells of a block. One release of all rows serves all candidates: none is left out to validate.
pub(super) struct EvidenceBlock<'a> {
    task: &'a HyperparametersTask,
    job: &'a Job<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    truth: TruePair,
}

impl<'a> EvidenceBlock<'a> {
    pub fn new(task: &'a HyperparametersTask, job: &'a Job<'a>) -> Result<Self, TaskError> {
        let model = MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        let (_, lengthscale) = job.exponentiated_quadratic()?;
        let truth = TruePair { lengthscale, noise_sd: noise_variance(job.model()?)?.sqrt() };
        Ok(Self { task, job, sums: model.sums(job.sample.columns())?, model, truth })
    }

    pub fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulated(&self.sums, cell, &mut stream)?;
        let weights = self.model.weights(&released, &self.candidates()?)?;
        let (mut best, mut chosen) = (f64::NEG_INFINITY, None);
        for (place, weight) in weights.iter().enumerate().filter(|(_, weight)| !weight.is_nan()) {
            if *weight > best {
                let each = self.task.noise_sds.len();
                (best, chosen) =
                    (*weight, Some(CandidatePair { lengthscale: place / each, noise_sd: place % each }));
            }
        }
        let certified = self.job.certify(guarantee.certificate, || vec![Sampled::Moments(sampled)])?;
        let values = self.truth.indicators(self.task, chosen);
        Ok(certified.measured(0.0, self.task.metrics(1).into_iter().zip(values)))
    }

    /// All pairs as likely as each other, with the variance of the model.
    fn candidates(&self) -> Result<HyperGrid, TaskError> {
        let (variance, _) = self.job.exponentiated_quadratic()?;
        let model = self.job.model()?;
        let moments: &MomentsSetting = self.model.mechanism();
        let KernelSetting::Eq(eq) = &model.kernel else {
            return Err(TaskError::Missing { needed: "the kernel eq" });
        };
        let mut kernels = Vec::with_capacity(self.task.lengthscales.len());
        for &lengthscale in &self.task.lengthscales {
            let kernel = KernelSetting::Eq(EqSetting { lengthscale, ..eq.clone() });
            let kernel = BoxKernel::new(&kernel, moments.sides());
            let kernel = kernel.ok_or(TaskError::Missing { needed: "a stationary kernel" })?;
            kernels.push(SiteKernel { correlations: Arc::from(kernel.correlations(1.0)), log_prior: 0.0 });
        }
        let noises = self.task.noise_sds.iter();
        let noises = noises.map(|sd| Graded { value: sd.get() * sd.get(), log_prior: 0.0 });
        let variances = vec![Graded { value: variance, log_prior: 0.0 }];
        // The kernel is all there is to the process: it has no mean of its own.
        Ok(HyperGrid { kernels, variances, noises: noises.collect(), steps: 1, bias: 0.0, first: variance })
    }
}

/// How often private selection finds the true hyperparameters: those of the model section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperparametersTask {
    /// The number of rows at the beginning of the data that are training rows; the others are validation rows.
    pub train: Count,
    /// The public inducing inputs of noisy sums, a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// The lengthscales to choose from.
    pub lengthscales: Vec<Positive>,
    /// The standard deviations of the noise to choose from.
    pub noise_sds: Vec<Positive>,
    /// How posteriors follow from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<NoiseAwareSetting>,
    /// How the hyperparameters are chosen.
    pub method: HyperparametersMethod,
}

/// How hyperparameters are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HyperparametersMethod {
    /// The best of candidates drawn at random until a random stop, each with a fresh release and a CoinPress
    /// mean.
    PrivateSelection {
        /// The probability of stopping after each draw.
        gamma: Share,
        /// Steps of CoinPress.
        steps: Count,
        /// Which scores are refused.
        refuse: RefusalRule,
        /// What each CoinPress mean may spend.
        budget: BudgetRule,
    },
    /// One release per lengthscale and one of all mean log-likelihoods, composed.
    Composition {
        /// How far below its greatest possible value a log-likelihood is clipped, in nats.
        clip: Positive,
    },
    /// Those with the greatest evidence given noisy moments of all rows. The evidence is computed after the release and costs no budget.
    Evidence {},
}

/// Which scores of a candidate are refused as impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalRule {
    /// Those whose sum exceeds the bound on one term, as printed.
    Published,
    /// Those whose mean exceeds the bound on one term.
    Corrected,
}

/// How (epsilon, delta) is converted to a budget for a sequence of Gaussian mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetRule {
    /// By zero-concentrated differential privacy.
    Concentrated,
    /// Exactly.
    Gaussian,
}

impl HyperparametersMethod {
    fn check(&self, privacy: &PrivacySetting) -> Checked {
        match *self {
            Self::PrivateSelection { gamma, .. } => {
                let epsilon = privacy.epsilon;
                let total = Budget { epsilon, delta: privacy.delta };
                let enough = !epsilon.is_unprotected() && PrivateSelection::new(total, gamma.get()).is_some();
                range(
                    "privacy.epsilon",
                    enough,
                    "finite and large enough for private selection",
                    epsilon.get(),
                )
            }
            Self::Composition { .. } | Self::Evidence {} => Ok(()),
        }
    }

    /// The metrics on what a choice spends.
    fn metrics(&self) -> &'static [&'static str] {
        match self {
            Self::PrivateSelection { .. } => &["root", "draw-delta", "most-draws"],
            Self::Composition { .. } | Self::Evidence {} => &[],
        }
    }
}

impl HyperparametersTask {
    fn check_sums(&self, setting: &Sections) -> Checked {
        let path = "task.hyperparameters";
        crate::noisy_sums::model(path, setting)?.has_noise("hyperparameters")?;
        crate::noisy_sums::inducing(path, &self.inducing, setting)?;
        let Some(posterior) = self.posterior else {
            return fail(path, Problem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{path}.posterior"))?;
        crate::noisy_sums::mechanism(setting, SummedTargets::Targets).map(drop)
    }
}

impl TaskSpec for HyperparametersTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.hyperparameters";
        for (key, values) in [("lengthscales", &self.lengthscales), ("noise_sds", &self.noise_sds)] {
            let path = format!("{path}.{key}");
            if values.is_empty() {
                return fail(&path, Problem::Empty);
            }
        }
        self.method.check(&setting.privacy)?;
        match (setting.privacy.mechanism.downcast::<MomentsSetting>(), &self.method) {
            (Some(moments), HyperparametersMethod::Evidence {}) => {
                crate::noisy_sums::model(path, setting)?;
                let without = self.inducing.is_empty() && self.posterior.is_none();
                waves_alone(path, moments)?;
                check_moments(path, moments, without, setting)
            }
            (Some(_), _) | (None, HyperparametersMethod::Evidence {}) => {
                let why = "the method `evidence` and mechanism.moments must be used together";
                fail(&format!("{path}.method"), Problem::Shape(why.to_owned()))
            }
            _ => self.check_sums(setting),
        }
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let chosen = [("lengthscale", &self.lengthscales), ("noise-sd", &self.noise_sds)];
        let chosen = chosen
            .into_iter()
            .flat_map(|(name, values)| values.iter().map(move |value| format!("{name}/{value}")));
        let plain = std::iter::once(&"both").chain(self.method.metrics());
        chosen.chain(plain.map(|name| (*name).to_owned())).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.hyperparameters.train", self.train.get(), rows)
    }
}
