//! How often private selection finds the true hyperparameters.

use std::f64::consts::TAU;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::grid::grid;
use super::measure::Measured;
use super::noisy_sums::{NoisySums, split};
use super::witness::{RecordReleases, Sampled, SelectionDraws, record};
use super::{Measurement, Sample, Streams, TaskError};
use crate::gp::variational::{Inducing, Located, Prediction, Statistics, noise_aware};
use crate::kernel::ExponentiatedQuadratic;
use crate::privacy::{
    Calibration, Certificate, PrivateSelection, Release, SumsNoise, coinpress_mean, coinpress_shares,
    gaussian_rho, zcdp_rho_classic,
};
use crate::spec::{
    BudgetRule, HyperparametersMethod, HyperparametersTask, ModelSetting, PrivacySetting, RefusalRule,
};

/// The metrics `lengthscale/L` and `noise-sd/S` (1 where the selection has this value, else 0), `both` (1 where
/// both are those of the model section), and for private selection `root` (t), `draw-delta` (delta of one draw)
/// and `most-draws` (T).
pub(super) fn hyperparameters(
    task: &HyperparametersTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let (Some((variance, lengthscale)), Some(first)) = (model.exponentiated_quadratic(), cells.first())
    else {
        return Ok(Vec::new());
    };
    let kernels: Vec<ExponentiatedQuadratic> =
        task.lengthscales.iter().map(|l| ExponentiatedQuadratic::isotropic(variance, *l)).collect();
    let (points, rows) = (grid(&task.inducing), split(&sample.inputs, task.train));
    let prepare = |(kernel, l): (_, &f64)| -> Result<Prepared<'_>, TaskError> {
        let kernel: &ExponentiatedQuadratic = kernel;
        let inducing = Inducing::new(kernel, &points)?;
        let sums = NoisySums::new(&first.mechanism, &task.inducing, (variance, *l))?;
        let targets = &sample.targets[..task.train];
        let statistics = Statistics::new(&inducing, &rows.0, targets, sums.target_bound());
        let validation = inducing.locate(&rows.1);
        Ok(Prepared { inducing, sums, statistics, validation })
    };
    let prepared: Result<Vec<Prepared<'_>>, TaskError> =
        kernels.iter().zip(&task.lengthscales).map(prepare).collect();
    let right = (lengthscale, model.noise().sqrt());
    let bench = Bench { task, prepared: prepared?, observed: &sample.targets[task.train..], right };
    cells.iter().map(|cell| bench.cell(cell, streams)).collect()
}

/// A lengthscale's sums of the training rows, and the validation rows.
struct Prepared<'a> {
    inducing: Inducing<'a>,
    sums: NoisySums<'a>,
    statistics: Statistics,
    validation: Located,
}

impl Prepared<'_> {
    /// The sensitivity that noise is scaled by.
    fn sensitivity(&self) -> f64 {
        self.sums.sensitivities(self.sums.target_bound()).0
    }
}

/// What all cells of a block share.
struct Bench<'a> {
    task: &'a HyperparametersTask,
    prepared: Vec<Prepared<'a>>,
    observed: &'a [f64],
    /// The true lengthscale and standard deviation of the noise.
    right: (f64, f64),
}

/// Positions of a lengthscale and of a standard deviation.
type Choice = (usize, usize);

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, streams: &Streams) -> Result<Measured, TaskError> {
        let budget = (cell.epsilon, cell.delta);
        let mut stream = streams.of_block("noise");
        let (choice, extra) = match self.task.method {
            HyperparametersMethod::PrivateSelection { gamma, steps, refuse, budget: rule } => {
                let Some(selection) = PrivateSelection::new(budget, gamma) else {
                    return Ok(Measured::default());
                };
                let draws = Draws::new(self, &selection, cell.calibration, (steps, refuse, rule));
                record(cell, || Sampled::Selection(draws.sampled(selection)));
                let choice = selection.select(&mut stream, |stream| draws.draw(stream))?;
                (choice, vec![selection.root, selection.delta, f64::from(selection.most)])
            }
            HyperparametersMethod::Composition { clip } => {
                (Some(self.composed(cell, clip, &mut stream)?), Vec::new())
            }
        };
        let certificate = match self.task.method {
            HyperparametersMethod::PrivateSelection { .. } => Certificate::private_selection(budget),
            HyperparametersMethod::Composition { .. } if cell.epsilon.is_infinite() => Certificate::none(),
            HyperparametersMethod::Composition { .. } => {
                Certificate::noisy_sums(Release::SelectedIndex, cell.calibration, budget, 1.0)
            }
        };
        let measurement = |(metric, value): (String, f64)| Measurement {
            metric,
            values: vec![value],
            certificate: certificate.clone(),
            jitter: 0.0,
        };
        let values = self.indicators(choice).into_iter().chain(extra);
        Ok(self.task.metrics().into_iter().zip(values).map(measurement).collect::<Vec<_>>().into())
    }

    fn indicators(&self, choice: Option<Choice>) -> Vec<f64> {
        let is = |yes: bool| f64::from(u8::from(yes));
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
        let of_lengthscale = (0..self.task.lengthscales.len()).map(|i| is(choice.is_some_and(|c| c.0 == i)));
        let of_noise = (0..self.task.noise_sds.len()).map(|j| is(choice.is_some_and(|c| c.1 == j)));
        let right = choice.is_some_and(|(i, j)| {
            close(self.task.lengthscales[i], self.right.0) && close(self.task.noise_sds[j], self.right.1)
        });
        of_lengthscale.chain(of_noise).chain([is(right)]).collect()
    }

    /// Releases of the sums of some lengthscales, all of the same records.
    fn sampled(
        &self,
        prepared: &[Prepared<'_>],
        noise: impl Fn(&Prepared<'_>) -> SumsNoise,
    ) -> RecordReleases {
        let sums = prepared.iter().map(|p| p.sums.sampled(noise(p), p.sums.bounded_labels())).collect();
        self.prepared[0].sums.together(sums)
    }

    /// The predictions for the validation rows from a release.
    fn predict(
        &self,
        (i, j): Choice,
        noise: SumsNoise,
        stream: &mut impl Rng,
    ) -> Result<Prediction, TaskError> {
        let Prepared { inducing, statistics, validation, .. } = &self.prepared[i];
        let unit = noise.release(statistics, stream).scaled(self.task.noise_sds[j].powi(-2));
        let rule = self.task.posterior;
        let posterior = noise_aware(inducing, &unit, rule.regularisation, rule.correction)?;
        Ok(posterior.predict(validation))
    }

    /// One release per lengthscale, `sqrt(lengthscales)` times as noisy, serves all standard deviations. The
    /// mean log-likelihoods of all pairs, clipped to `clip` nats below their greatest value, are one vector
    /// with sensitivity `clip sqrt(pairs) / rows`. Training and validation rows are apart, so that either may
    /// spend all of the budget.
    fn composed(&self, cell: &PrivacySetting, clip: f64, stream: &mut impl Rng) -> Result<Choice, TaskError> {
        let sigma = cell.calibration.sigma(cell.epsilon, cell.delta);
        let releases = (self.prepared.len() as f64).sqrt();
        let pairs = (self.prepared.len() * self.task.noise_sds.len()) as f64;
        let rows = self.observed.len() as f64;
        let sd = sigma * clip * pairs.sqrt() / rows;
        let unit = |prepared: &Prepared<'_>| {
            SumsNoise::new(sigma * releases * prepared.sensitivity(), prepared.sums.setting.split)
        };
        record(cell, || Sampled::Records(self.sampled(&self.prepared, unit)));
        record(cell, || Sampled::Means { sd, means: pairs as usize, range: clip, rows: self.observed.len() });
        let mut best = (f64::NEG_INFINITY, (0, 0));
        for (i, prepared) in self.prepared.iter().enumerate() {
            let noisy = unit(prepared).release(&prepared.statistics, stream);
            for (j, noise_sd) in self.task.noise_sds.iter().enumerate() {
                let rule = self.task.posterior;
                let unit = noisy.scaled(noise_sd.powi(-2));
                let posterior = noise_aware(&prepared.inducing, &unit, rule.regularisation, rule.correction)?;
                let prediction = posterior.predict(&prepared.validation);
                let most = greatest(*noise_sd);
                let densities = prediction.log_densities(self.observed, noise_sd * noise_sd);
                let sum: f64 = densities.iter().map(|v| v.clamp(most - clip, most)).sum();
                let noise: f64 = StandardNormal.sample(stream);
                let score = sum / rows + sd * noise;
                if score > best.0 {
                    best = (score, (i, j));
                }
            }
        }
        Ok(best.1)
    }
}

/// The greatest log-likelihood of one row: `-ln(2 pi) / 2 - ln sd`.
fn greatest(noise_sd: f64) -> f64 {
    -0.5 * TAU.ln() - noise_sd.ln()
}

/// Draws of candidates: a release, and the CoinPress mean of its log-likelihoods.
struct Draws<'a> {
    bench: &'a Bench<'a>,
    noise: Vec<SumsNoise>,
    shares: Vec<f64>,
    refuse: RefusalRule,
}

impl<'a> Draws<'a> {
    fn new(
        bench: &'a Bench<'a>,
        selection: &PrivateSelection,
        calibration: Calibration,
        (steps, refuse, rule): (usize, RefusalRule, BudgetRule),
    ) -> Self {
        let budget = (selection.epsilon, selection.delta);
        let rho = match rule {
            BudgetRule::Concentrated => zcdp_rho_classic(budget.0, budget.1),
            BudgetRule::Gaussian => gaussian_rho(budget.0, budget.1),
        };
        let noise = |p: &Prepared<'_>| p.sums.noise(calibration, budget, p.sensitivity());
        let noise = bench.prepared.iter().map(noise).collect();
        Self { bench, noise, shares: coinpress_shares(steps, rho), refuse }
    }

    /// What one selection samples from.
    fn sampled(&self, selection: PrivateSelection) -> SelectionDraws {
        let one = |(prepared, noise): (&Prepared<'_>, &SumsNoise)| {
            self.bench.sampled(std::slice::from_ref(prepared), |_| *noise)
        };
        let range = |(prepared, noise_sd): (&Prepared<'_>, &f64)| {
            let radius = self.radius(prepared, *noise_sd);
            (greatest(*noise_sd) - radius, radius)
        };
        let (prepared, noise_sds) = (&self.bench.prepared, &self.bench.task.noise_sds);
        let pairs = prepared.iter().flat_map(|prepared| noise_sds.iter().map(move |sd| (prepared, sd)));
        SelectionDraws {
            selection,
            sums: prepared.iter().zip(&self.noise).map(one).collect(),
            rows: self.bench.observed.len(),
            ranges: pairs.map(range).collect(),
            shares: self.shares.clone(),
        }
    }

    /// Half the range that log-likelihoods are clipped to.
    fn radius(&self, prepared: &Prepared<'_>, noise_sd: f64) -> f64 {
        (prepared.sums.target_bound() / noise_sd).powi(2)
    }

    /// The score of a candidate drawn at random; none where it is refused.
    fn draw(&self, stream: &mut impl Rng) -> Result<Option<(f64, Choice)>, TaskError> {
        let choice = (
            stream.random_range(0..self.bench.prepared.len()),
            stream.random_range(0..self.bench.task.noise_sds.len()),
        );
        let noise_sd = self.bench.task.noise_sds[choice.1];
        let prediction = self.bench.predict(choice, self.noise[choice.0], stream)?;
        let mut densities = prediction.log_densities(self.bench.observed, noise_sd * noise_sd);
        let most = greatest(noise_sd);
        let radius = self.radius(&self.bench.prepared[choice.0], noise_sd);
        densities.iter_mut().for_each(|v| *v = v.clamp(most - 2.0 * radius, most));
        let mean = coinpress_mean(&mut densities, (most - radius, radius), &self.shares, stream);
        let score = mean * self.bench.observed.len() as f64;
        let tested = match self.refuse {
            RefusalRule::Published => score,
            RefusalRule::Corrected => mean,
        };
        Ok((tested <= most).then_some((score, choice)))
    }
}
