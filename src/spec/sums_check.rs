//! Range checks of tasks on noisy sums.

use super::Problem;
use super::check::{Checked, Fault, count, dimension, fail, grid, positive, range};
use super::setting::{
    KernelSetting, ModelSetting, NormaliseSetting, RangeSetting, Setting, SyntheticSetting,
};
use super::sums::{
    CalibrationTask, DirichletRelease, DirichletTask, FeaturesSetting, HyperparametersMethod,
    HyperparametersTask, NoiseAwareSetting, PosteriorRule, SumsSetting, SurfaceTask,
};
use crate::gp::variational::Regularisation;
use crate::number::Budget;
use crate::privacy::{HeteroscedasticRule, PrivateSelection};

impl ModelSetting {
    /// Variance and lengthscale of an exponentiated quadratic kernel; none of another one.
    pub fn exponentiated_quadratic(&self) -> Option<(f64, f64)> {
        match self.kernel {
            KernelSetting::Eq { variance, lengthscale } => Some((variance, lengthscale)),
            _ => None,
        }
    }

    /// Variance and lengthscales of an exponentiated quadratic kernel over so many inputs; none of another one.
    pub fn lengthscales(&self, inputs: usize) -> Option<(f64, Vec<f64>)> {
        match &self.kernel {
            KernelSetting::Eq { variance, lengthscale } => Some((*variance, vec![*lengthscale; inputs])),
            KernelSetting::EqArd { variance, lengthscales } => Some((*variance, lengthscales.clone())),
            _ => None,
        }
    }
}

impl CalibrationTask {
    /// The metrics.
    pub fn metrics(&self) -> Vec<String> {
        let plain = ["rmse", "width", "log-likelihood"].map(str::to_owned).into_iter();
        let of = |name: &'static str| self.masses.iter().map(move |mass| format!("{name}/{mass}"));
        plain.chain(of("coverage")).chain(of("coverage-f")).collect()
    }
}

impl HyperparametersTask {
    /// The metrics.
    pub fn metrics(&self) -> Vec<String> {
        let of = |name: &'static str, values: &[f64]| -> Vec<String> {
            values.iter().map(|value| format!("{name}/{value}")).collect()
        };
        let budget = match self.method {
            HyperparametersMethod::PrivateSelection { .. } => vec!["root", "draw-delta", "most-draws"],
            HyperparametersMethod::Composition { .. } => Vec::new(),
        };
        let chosen = of("lengthscale", &self.lengthscales).into_iter().chain(of("noise-sd", &self.noise_sds));
        chosen
            .chain(std::iter::once("both".to_owned()))
            .chain(budget.into_iter().map(str::to_owned))
            .collect()
    }
}

pub(super) fn calibration(task: &CalibrationTask, setting: &Setting) -> Checked {
    let path = "task.calibration";
    noise(model(path, setting)?, "calibration")?;
    count(&format!("{path}.train"), task.train)?;
    inducing(path, &task.inducing, setting)?;
    match &task.posterior {
        PosteriorRule::NoiseAware(rule) => noise_aware(&format!("{path}.posterior.noise-aware"), rule)?,
        PosteriorRule::Moment { grid: points } => {
            let path = format!("{path}.posterior.moment.grid");
            grid(&path, points, setting.data.inputs.len())?;
            let total: usize = points.iter().map(|range| range.points).product();
            range(&path, total <= MOST_VERTICES, "at most 1000 points", total as f64)?;
        }
    }
    let mass =
        |mass: &f64| range(&format!("{path}.masses"), *mass > 0.0 && *mass < 1.0, "between 0 and 1", *mass);
    task.masses.iter().try_for_each(mass)?;
    let Some([low, high]) = task.window else { return Ok(()) };
    range(
        &format!("{path}.window"),
        low < high && low.is_finite() && high.is_finite(),
        "rising and finite",
        high,
    )
}

/// The most points of the grid of a moment cone.
const MOST_VERTICES: usize = 1000;
/// The most inducing inputs.
const MOST_INDUCING: usize = 1000;

pub(super) fn hyperparameters(task: &HyperparametersTask, setting: &Setting) -> Checked {
    let path = "task.hyperparameters";
    noise(model(path, setting)?, "hyperparameters")?;
    count(&format!("{path}.train"), task.train)?;
    inducing(path, &task.inducing, setting)?;
    for (key, values) in [("lengthscales", &task.lengthscales), ("noise_sds", &task.noise_sds)] {
        let path = format!("{path}.{key}");
        if values.is_empty() {
            return fail(&path, Problem::Empty);
        }
        values.iter().try_for_each(|value| positive(&path, *value))?;
    }
    noise_aware(&format!("{path}.posterior"), &task.posterior)?;
    match task.method {
        HyperparametersMethod::PrivateSelection { gamma, steps, .. } => {
            let path = format!("{path}.method.private-selection");
            let inside = gamma > 0.0 && gamma <= 1.0;
            range(&format!("{path}.gamma"), inside, "greater than 0 and at most 1", gamma)?;
            count(&format!("{path}.steps"), steps)?;
            let epsilon = setting.privacy.epsilon;
            let total = Budget::new(epsilon, setting.privacy.delta);
            let enough =
                epsilon.is_finite() && total.is_ok_and(|total| PrivateSelection::new(total, gamma).is_some());
            range("privacy.epsilon", enough, "finite and enough for private selection", epsilon)
        }
        HyperparametersMethod::Composition { clip } => {
            positive(&format!("{path}.method.composition.clip"), clip)
        }
    }
}

pub(super) fn dirichlet(task: &DirichletTask, setting: &Setting) -> Checked {
    let path = "task.dirichlet";
    model(path, setting)?;
    count(&format!("{path}.train"), task.train)?;
    let classes = (2..=1000).contains(&task.classes);
    range(&format!("{path}.classes"), classes, "from 2 to 1000", task.classes as f64)?;
    inducing(path, &task.inducing, setting)?;
    positive(&format!("{path}.alpha"), task.alpha)?;
    let printed = task.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
    if printed && !task.published {
        let why =
            "the printed factor breaks privacy; say `published = true` in this section to see it at work";
        return fail(&format!("{path}.release"), Problem::Shape(why.to_owned()));
    }
    noise_aware(&format!("{path}.posterior"), &task.posterior)
}

pub(super) fn surface(task: &SurfaceTask, setting: &Setting) -> Checked {
    let (path, inputs) = ("task.surface", setting.data.inputs.len());
    let Some(model) = &setting.model else {
        return fail(path, Problem::MissingSection { section: "model" });
    };
    if model.lengthscales(inputs).is_none() {
        return fail(
            "model.kernel",
            Problem::Shape("this task needs the kernel `eq` or `eq-ard`".to_owned()),
        );
    }
    noise(model, "surface")?;
    inducing(path, &task.inducing, setting)?;
    noise_aware(&format!("{path}.posterior"), &task.posterior)?;
    if matches!(&*setting.normalise, NormaliseSetting::Private { .. } | NormaliseSetting::Standardised { .. })
    {
        let why =
            "statistics of the private targets; this task needs `bounds` or `constants`, which are public";
        return fail("normalise", Problem::Shape(why.to_owned()));
    }
    if task.map.is_empty() {
        return dimension(&format!("{path}.at"), 0, task.at.len());
    }
    dimension(&format!("{path}.at"), inputs.saturating_sub(task.map.len()), task.at.len())?;
    task.at.iter().try_for_each(|at| range(&format!("{path}.at"), at.is_finite(), "finite", *at))?;
    grid(&format!("{path}.map"), &task.map, inputs - task.at.len())
}

pub(super) fn sums(sums: &SumsSetting, setting: &Setting) -> Checked {
    let path = "privacy.mechanism.sums";
    positive(&format!("{path}.split"), sums.split)?;
    match sums.target_bound {
        Some(bound) => positive(&format!("{path}.target_bound"), bound)?,
        None if matches!(&*setting.task, super::TaskSetting::Dirichlet(_)) => {}
        None => return fail(path, Problem::MissingKey { key: "target_bound", by: "a numerical target" }),
    }
    let FeaturesSetting::Supremum(domain) = &sums.features else { return Ok(()) };
    let path = format!("{path}.features.supremum");
    dimension(&path, setting.data.inputs.len(), domain.len())?;
    domain.iter().try_for_each(|[low, high]| {
        range(&path, low < high && low.is_finite() && high.is_finite(), "rising and finite", *high)
    })?;
    let inducing = match &*setting.task {
        super::TaskSetting::Surface(task) => &task.inducing,
        super::TaskSetting::Dirichlet(task) => &task.inducing,
        _ => return Ok(()),
    };
    // Then the bound holds for inputs anywhere: a step towards the inducing inputs raises every covariance.
    inducing.iter().zip(domain).try_for_each(|(inducing, [low, high])| {
        range(&path, *low <= inducing.from, "at most the first inducing input", *low)?;
        range(&path, *high >= inducing.to, "at least the last inducing input", *high)
    })
}

pub(super) fn synthetic(setting: &SyntheticSetting) -> Checked {
    let path = "data.source.synthetic";
    let noise = |kind: &str, found: f64| {
        range(
            &format!("{path}.{kind}.noise"),
            found >= 0.0 && found.is_finite(),
            "at least 0 and finite",
            found,
        )
    };
    match *setting {
        SyntheticSetting::Sinc { points, noise: sd, grid } => {
            count(&format!("{path}.sinc.points"), points)?;
            noise("sinc", sd)?;
            let inside = grid != 1 && grid <= 100_000;
            range(&format!("{path}.sinc.grid"), inside, "0, or from 2 to 100000", grid as f64)
        }
        SyntheticSetting::GaussianProcess { points, noise: sd, lengthscale, test } => {
            count(&format!("{path}.gaussian-process.points"), points)?;
            noise("gaussian-process", sd)?;
            positive(&format!("{path}.gaussian-process.lengthscale"), lengthscale)?;
            range(&format!("{path}.gaussian-process.test"), test <= 100_000, "at most 100000", test as f64)
        }
        SyntheticSetting::Moons { points, noise: sd } => {
            count(&format!("{path}.moons.points"), points)?;
            noise("moons", sd)
        }
        SyntheticSetting::Spirals { points, arms, noise: sd } => {
            count(&format!("{path}.spirals.points"), points)?;
            range(
                &format!("{path}.spirals.arms"),
                (1..=1000).contains(&arms),
                "from 1 to 1000",
                arms as f64,
            )?;
            noise("spirals", sd)
        }
        SyntheticSetting::Stripes { .. } => Ok(()),
    }
}

/// The variance of the noise.
fn noise(model: &ModelSetting, by: &'static str) -> Checked {
    let missing = Problem::MissingKey { key: "noise_variance", by };
    if model.noise_variance.is_some() { Ok(()) } else { fail("model", missing) }
}

/// The model, whose kernel is one that the bounds on features hold for.
fn model<'a>(path: &str, setting: &'a Setting) -> Result<&'a ModelSetting, Fault> {
    let Some(model) = &setting.model else {
        return Err((path.to_owned(), Problem::MissingSection { section: "model" }));
    };
    if model.exponentiated_quadratic().is_none() {
        let why = "this task needs the kernel `eq`".to_owned();
        return Err(("model.kernel".to_owned(), Problem::Shape(why)));
    }
    Ok(model)
}

/// What a task of another kind needs for noisy sums: the kernel, the noise and inducing inputs.
pub(super) fn sums_model(path: &str, ranges: &[RangeSetting], setting: &Setting) -> Checked {
    noise(model(path, setting)?, "noisy sums")?;
    inducing(path, ranges, setting)
}

fn inducing(path: &str, ranges: &[RangeSetting], setting: &Setting) -> Checked {
    let path = format!("{path}.inducing");
    grid(&path, ranges, setting.data.inputs.len())?;
    let total: usize = ranges.iter().map(|range| range.points).product();
    range(&path, total <= MOST_INDUCING, "at most 1000 points", total as f64)
}

fn noise_aware(path: &str, rule: &NoiseAwareSetting) -> Checked {
    let (name, rho) = match rule.regularisation {
        Regularisation::Printed { rho } => ("printed", rho),
        Regularisation::Inside { rho } => ("inside", rho),
        Regularisation::Tight => return Ok(()),
    };
    range(&format!("{path}.regularisation.{name}.rho"), rho > 0.0 && rho < 1.0, "between 0 and 1", rho)
}
