//! Range checks of a cell: the only way from a raw setting to a checked one.

use std::collections::BTreeMap;

use super::density::DensityEstimate;
use super::setting::{
    Candidate, CloakingSetting, DataSetting, DrawSetting, GpCandidate, GpGrid, ImagesSetting,
    InducingSetting, KernelSetting, MechanismSetting, ModelSetting, NormaliseSetting, PosteriorMethod,
    PosteriorModel, PosteriorTask, PredictionTask, PrivacySetting, RangeSetting, SelectionTask, Setting,
    SourceSetting, SparseSetting, SplitSetting, SyntheticSetting, TaskSetting, ThresholdSetting,
    TripsSetting,
};
use super::{Problem, density_check, leaderboard, sums_check};
use crate::data::suggest::closest;
use crate::data::{Dataset, Format, Manifest};
use crate::privacy::{ReleaseRecipe, SensitivityRule, Solver};

/// A dotted key path and what is wrong there.
pub(super) type Fault = (String, Problem);

pub(super) type Checked = Result<(), Fault>;

/// Checks every value of a setting.
pub(super) fn setting(setting: &Setting, manifest: &Manifest) -> Checked {
    data(&setting.data, manifest)?;
    normalise(&setting.normalise)?;
    if let Some(found) = &setting.model {
        model(found, setting.data.inputs.len())?;
    }
    task(setting)?;
    privacy(&setting.privacy)?;
    mechanism(setting)
}

pub(super) fn fail(path: &str, problem: Problem) -> Checked {
    Err((path.to_owned(), problem))
}

/// Fails unless the number lies in the range; NaN lies in none.
pub(super) fn range(path: &str, inside: bool, range: &'static str, found: f64) -> Checked {
    if inside { Ok(()) } else { fail(path, Problem::OutOfRange { range, found }) }
}

pub(super) fn positive(path: &str, found: f64) -> Checked {
    range(path, found > 0.0 && found.is_finite(), "greater than 0 and finite", found)
}

/// The most draws, restarts, centres or steps: far beyond any use, and safely within memory.
const MOST: usize = 1_000_000;

pub(super) fn count(path: &str, found: usize) -> Checked {
    range(path, (1..=MOST).contains(&found), "from 1 to 1000000", found as f64)
}

fn data(data: &DataSetting, manifest: &Manifest) -> Checked {
    if data.inputs.is_empty() {
        return fail("data.inputs", Problem::Empty);
    }
    if data.inputs.contains(&data.target) {
        return fail("data.inputs", Problem::TargetIsInput { column: data.target.clone() });
    }
    if let Some(column) = data.encode.keys().find(|c| !data.inputs.contains(c) && data.target != **c) {
        let why = "codes of a column that is neither an input nor the target".to_owned();
        return fail(&format!("data.encode.{column}"), Problem::Shape(why));
    }
    match &data.source {
        SourceSetting::Csv { separator, .. } if !separator.is_ascii() || "\"\n\r".contains(*separator) => {
            fail("data.source.csv.separator", Problem::BadSeparator { found: *separator })
        }
        SourceSetting::Dataset(name) => {
            let path = "data.source.dataset";
            let tables = known(path, name, manifest)?.files.iter();
            let tables = tables.filter(|file| matches!(file.format, Format::Csv(_)));
            let problem = || Problem::NotATable { name: name.clone() };
            if tables.count() == 0 { fail(path, problem()) } else { Ok(()) }
        }
        SourceSetting::Inline(columns) => inline(columns, data),
        SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => Ok(()),
        SourceSetting::Synthetic(setting) => synthetic(setting, data),
        SourceSetting::Images(setting) => images(setting, manifest),
        SourceSetting::Trips(setting) => trips(setting, manifest),
    }?;
    draw(data)
}

/// The dataset of a name, which must be in the manifest.
fn known<'a>(path: &str, name: &str, manifest: &'a Manifest) -> Result<&'a Dataset, Fault> {
    manifest.get(name).map_err(|_| {
        let hint =
            closest(name, manifest.names()).map(|n| format!(" (did you mean {n:?}?)")).unwrap_or_default();
        let known = manifest.names().collect::<Vec<_>>().join(", ");
        (path.to_owned(), Problem::UnknownDataset { name: name.to_owned(), hint, known })
    })
}

fn synthetic(setting: &SyntheticSetting, data: &DataSetting) -> Checked {
    dimension("data.inputs", setting.inputs(), data.inputs.len())?;
    match *setting {
        SyntheticSetting::Stripes { points, flips, grid } => {
            let path = "data.source.synthetic.stripes";
            count(&format!("{path}.points"), points)?;
            range(&format!("{path}.flips"), (0.0..=1.0).contains(&flips), "from 0 to 1", flips)?;
            range(&format!("{path}.grid"), grid <= 1000, "at most 1000", grid as f64)
        }
        _ => sums_check::synthetic(setting),
    }
}

fn images(setting: &ImagesSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.images.dataset", &setting.dataset, manifest)?;
    for (key, name) in [("images", &setting.images), ("labels", &setting.labels)] {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format != Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why = format!(
                "is no file of arrays in dataset {:?}; its files are: {}",
                dataset.name,
                files.join(", ")
            );
            return fail(&format!("data.source.images.{key}"), Problem::Shape(why));
        }
    }
    count("data.source.images.side", setting.side)
}

fn trips(setting: &TripsSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.trips.dataset", &setting.dataset, manifest)?;
    let files = [("journeys", setting.journeys.as_ref()), ("stations", setting.stations.as_ref())];
    for (key, name) in files.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format == Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why =
                format!("is no table of dataset {:?}; its files are: {}", dataset.name, files.join(", "));
            return fail(&format!("data.source.trips.{key}"), Problem::Shape(why));
        }
    }
    Ok(())
}

fn draw(data: &DataSetting) -> Checked {
    match &data.draw {
        None => Ok(()),
        Some(DrawSetting::Rows(rows)) => count("data.draw.rows", *rows),
        Some(DrawSetting::Quotas(quotas)) if quotas.is_empty() => fail("data.draw.quotas", Problem::Empty),
        Some(DrawSetting::Quotas(quotas)) => quotas.iter().enumerate().try_for_each(|(i, quota)| {
            dimension(&format!("data.draw.quotas.{i}.inputs"), data.inputs.len(), quota.inputs.len())
        }),
    }
}

fn inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> Checked {
    let rows = columns.get(&data.target).map_or(0, Vec::len);
    let inputs = data.inputs.iter().map(|column| ("data.inputs", column));
    let filters = data.filter.iter().map(|filter| ("data.filter", &filter.column));
    for (place, column) in std::iter::once(("data.target", &data.target)).chain(inputs).chain(filters) {
        let path = format!("data.source.inline.{column}");
        match columns.get(column).map(Vec::len) {
            None => {
                let known = columns.keys().cloned().collect::<Vec<_>>().join(", ");
                return fail(place, Problem::UnknownInline { column: column.clone(), known });
            }
            Some(0) => return fail(&path, Problem::Empty),
            Some(found) if found != rows => {
                let target = data.target.clone();
                return fail(&path, Problem::InlineRows { target, wanted: rows, found });
            }
            Some(_) => {}
        }
    }
    for (column, values) in columns {
        let path = format!("data.source.inline.{column}");
        values.iter().try_for_each(|value| range(&path, value.is_finite(), "finite", *value))?;
    }
    Ok(())
}

fn normalise(normalise: &NormaliseSetting) -> Checked {
    match normalise {
        NormaliseSetting::None => Ok(()),
        NormaliseSetting::Private { clip, .. } => {
            clip.map_or(Ok(()), |clip| positive("normalise.private.clip", clip))
        }
        NormaliseSetting::Constants { centre, scale } => {
            range("normalise.constants.centre", centre.is_finite(), "finite", *centre)?;
            positive("normalise.constants.scale", *scale)
        }
        NormaliseSetting::Bounds { low, high, scale } => {
            positive("normalise.bounds.scale", *scale)?;
            bounds("normalise.bounds", *low, *high)
        }
        NormaliseSetting::Standardised { low, high } => bounds("normalise.standardised", *low, *high),
    }
}

fn bounds(path: &str, low: f64, high: f64) -> Checked {
    range(&format!("{path}.low"), low.is_finite(), "finite", low)?;
    let inside = high > low && high.is_finite();
    range(&format!("{path}.high"), inside, "greater than low and finite", high)
}

fn model(model: &ModelSetting, inputs: usize) -> Checked {
    model.noise_variance.map_or(Ok(()), |noise| positive("model.noise_variance", noise))?;
    kernel("model.kernel", &model.kernel, inputs)?;
    match &model.sparse {
        None => Ok(()),
        Some(SparseSetting::Fitc { inducing }) => inducing_inputs("model.sparse.fitc", inducing, inputs),
        Some(SparseSetting::Sor { inducing, jitter }) => {
            let inside = *jitter >= 0.0 && jitter.is_finite();
            range("model.sparse.sor.jitter", inside, "at least 0 and finite", *jitter)?;
            inducing_inputs("model.sparse.sor", inducing, inputs)
        }
    }
}

fn kernel(path: &str, setting: &KernelSetting, inputs: usize) -> Checked {
    let all = |name: &str, values: &[(&str, f64)]| {
        values.iter().try_for_each(|(key, value)| positive(&format!("{path}.{name}.{key}"), *value))
    };
    match setting {
        KernelSetting::Eq { variance, lengthscale } => {
            all("eq", &[("variance", *variance), ("lengthscale", *lengthscale)])
        }
        KernelSetting::EqArd { variance, lengthscales } => {
            positive(&format!("{path}.eq-ard.variance"), *variance)?;
            let path = format!("{path}.eq-ard.lengthscales");
            dimension(&path, inputs, lengthscales.len())?;
            lengthscales.iter().try_for_each(|l| positive(&path, *l))
        }
        KernelSetting::Gibbs { variance, bandwidth, points, longest } => {
            let values = [*variance, *bandwidth, *points, *longest];
            let keys = ["variance", "bandwidth", "points", "longest"].into_iter().zip(values);
            all("gibbs", &keys.collect::<Vec<_>>())
        }
        KernelSetting::Bias { variance } => all("bias", &[("variance", *variance)]),
        KernelSetting::Linear { variance } => all("linear", &[("variance", *variance)]),
        KernelSetting::Periodic { variance, lengthscale, period } => {
            all("periodic", &[("variance", *variance), ("lengthscale", *lengthscale), ("period", *period)])
        }
        KernelSetting::Sum(parts) => combined(&format!("{path}.sum"), parts, inputs),
        KernelSetting::Product(parts) => combined(&format!("{path}.product"), parts, inputs),
    }
}

fn combined(path: &str, parts: &[KernelSetting], inputs: usize) -> Checked {
    if parts.is_empty() {
        return fail(path, Problem::Empty);
    }
    parts.iter().enumerate().try_for_each(|(i, part)| kernel(&format!("{path}.{i}"), part, inputs))
}

pub(super) fn dimension(path: &str, inputs: usize, found: usize) -> Checked {
    if found == inputs { Ok(()) } else { fail(path, Problem::WrongDimension { inputs, found }) }
}

fn inducing_inputs(path: &str, inducing: &InducingSetting, inputs: usize) -> Checked {
    let path = format!("{path}.inducing");
    match inducing {
        InducingSetting::Kmeans { centres, restarts } => {
            count(&format!("{path}.kmeans.centres"), *centres)?;
            count(&format!("{path}.kmeans.restarts"), *restarts)
        }
        InducingSetting::Grid(ranges) => grid(&format!("{path}.grid"), ranges, inputs),
        InducingSetting::Points(points) if points.is_empty() => {
            fail(&format!("{path}.points"), Problem::Empty)
        }
        InducingSetting::Points(points) => {
            let mut points = points.iter().enumerate();
            points.try_for_each(|(i, point)| dimension(&format!("{path}.points.{i}"), inputs, point.len()))
        }
    }
}

fn task(setting: &Setting) -> Checked {
    let inputs = setting.data.inputs.len();
    match &*setting.task {
        TaskSetting::Regression(task) => {
            regression_model("task.regression", setting)?;
            folds("task.regression.split", task.split)?;
            let cloaking = matches!(setting.privacy.mechanism, MechanismSetting::Cloaking(_));
            if task.draws == 0 && cloaking { Ok(()) } else { count("task.regression.draws", task.draws) }
        }
        TaskSetting::Selection(task) => selection(task),
        TaskSetting::Errata(_) => {
            let unprotected = "inf: the numbers are computed without privacy";
            let epsilon = setting.privacy.epsilon;
            range("privacy.epsilon", epsilon.is_infinite(), unprotected, epsilon)
        }
        TaskSetting::Posterior(task) => posterior(task),
        TaskSetting::Calibration(task) => sums_check::calibration(task, setting),
        TaskSetting::Hyperparameters(task) => sums_check::hyperparameters(task, setting),
        TaskSetting::Dirichlet(task) => sums_check::dirichlet(task, setting),
        TaskSetting::Leaderboard(task) => leaderboard::leaderboard(task, setting),
        TaskSetting::Surface(task) => sums_check::surface(task, setting),
        TaskSetting::Prediction(task) => {
            regression_model("task.prediction", setting)?;
            prediction(task, inputs)
        }
        TaskSetting::Classification(task) => {
            let path = "task.classification";
            classifier(path, setting, task.train, &task.positive)?;
            for (key, found) in
                [("iterations", task.iterations), ("newton", task.newton), ("draws", task.draws)]
            {
                count(&format!("{path}.{key}"), found)?;
            }
            let mut points = task.at.iter().enumerate();
            points.try_for_each(|(i, point)| dimension(&format!("{path}.at.{i}"), inputs, point.len()))
        }
        TaskSetting::Convergence(task) => {
            classifier("task.convergence", setting, task.train, &task.positive)?;
            count("task.convergence.steps", task.steps)
        }
        TaskSetting::Density(task) => {
            if matches!(task.estimate, DensityEstimate::Function { .. }) {
                regression_model("task.density.estimate.function", setting)?;
            }
            density_check::density(task, inputs)
        }
        TaskSetting::Tutorial(task) => {
            regression_model("task.tutorial", setting)?;
            dimension("data.inputs", 1, inputs)?;
            range("task.tutorial.draws", task.draws <= 1000, "at most 1000", task.draws as f64)?;
            grid("task.tutorial.grid", &[task.grid], 1)
        }
    }
}

/// The model of a regression: it has noise, and is exact or by FITC.
pub(super) fn regression_model(path: &str, setting: &Setting) -> Checked {
    let Some(model) = &setting.model else {
        return fail(path, Problem::MissingSection { section: "model" });
    };
    if model.noise_variance.is_none() {
        return fail("model", Problem::MissingKey { key: "noise_variance", by: "regression" });
    }
    match model.sparse {
        Some(SparseSetting::Sor { .. }) => {
            fail("model.sparse", Problem::Shape("regression needs sparse.fitc".to_owned()))
        }
        Some(SparseSetting::Fitc { .. }) | None => Ok(()),
    }
}

/// The model of a classifier, what tells its classes, and what it releases.
fn classifier(path: &str, setting: &Setting, train: usize, positive: &ThresholdSetting) -> Checked {
    count(&format!("{path}.train"), train)?;
    let value = positive.value;
    range(&format!("{path}.positive.value"), value.is_finite(), "finite", value)?;
    let Some(model) = &setting.model else {
        return fail(path, Problem::MissingSection { section: "model" });
    };
    if matches!(model.sparse, Some(SparseSetting::Fitc { .. })) {
        return fail("model.sparse", Problem::Shape("classification needs sparse.sor".to_owned()));
    }
    match &setting.privacy.mechanism {
        MechanismSetting::Cloaking(cloaking) if cloaking.release != ReleaseRecipe::Projection => {
            let why = "classification releases a projection".to_owned();
            fail("privacy.mechanism.cloaking.release", Problem::Shape(why))
        }
        _ => Ok(()),
    }
}

fn prediction(task: &PredictionTask, inputs: usize) -> Checked {
    grid("task.prediction.grid", &task.grid, inputs)?;
    if let Some(surface) = &task.surface {
        grid("task.prediction.surface", surface, inputs)?;
    }
    range("task.prediction.draws", task.draws <= 1000, "at most 1000", task.draws as f64)?;
    for (i, point) in task.at.iter().enumerate() {
        let path = format!("task.prediction.at.{i}");
        dimension(&path, inputs, point.len())?;
        if let Some((x, _)) = point.iter().zip(&task.grid).find(|(x, range)| !range.holds(**x)) {
            return fail(&path, Problem::Shape(format!("{x} is no point of the grid")));
        }
    }
    Ok(())
}

/// The most points of a grid.
const MOST_POINTS: usize = 20_000;

pub(super) fn grid(path: &str, ranges: &[RangeSetting], inputs: usize) -> Checked {
    dimension(path, inputs, ranges.len())?;
    for (i, RangeSetting { from, to, points }) in ranges.iter().enumerate() {
        range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than from and finite", *to)?;
        let inside = (2..=MOST_POINTS).contains(points);
        range(&format!("{path}.{i}.points"), inside, "from 2 to 20000", *points as f64)?;
    }
    let total = ranges.iter().fold(1, |n: usize, range| n.saturating_mul(range.points));
    range(path, total <= MOST_POINTS, "a grid of at most 20000 points", total as f64)
}

impl RangeSetting {
    /// The number at a place, from 0.
    pub fn at(&self, place: usize) -> f64 {
        self.from + (self.to - self.from) * place as f64 / (self.points - 1) as f64
    }

    /// Whether a number is one of them, up to rounding.
    fn holds(&self, x: f64) -> bool {
        let place = (x - self.from) / (self.to - self.from) * (self.points - 1) as f64;
        (place - place.round()).abs() < 1e-6 && (0.0..=(self.points - 1) as f64 + 1e-6).contains(&place)
    }
}

fn posterior(task: &PosteriorTask) -> Checked {
    let PosteriorModel::Logistic { prior_variance } = task.model;
    positive("task.posterior.model.logistic.prior_variance", prior_variance)?;
    range("task.posterior.positive.value", task.positive.value.is_finite(), "finite", task.positive.value)?;
    count("task.posterior.train", task.train)?;
    let PosteriorMethod::Advi(advi) = &task.method else { return Ok(()) };
    let path = "task.posterior.method.advi";
    count(&format!("{path}.steps"), advi.steps)?;
    let inside = advi.rate > 0.0 && advi.rate <= 1.0;
    range(&format!("{path}.rate"), inside, "greater than 0 and at most 1", advi.rate)?;
    positive(&format!("{path}.learning_rate"), advi.learning_rate)
}

fn selection(task: &SelectionTask) -> Checked {
    folds("task.selection.split", task.split)?;
    if let Some(rows) = task.rows {
        range("task.selection.rows.to", rows.to > rows.from, "greater than from", rows.to as f64)?;
    }
    let inside = task.epsilon > 0.0;
    range("task.selection.epsilon", inside, "greater than 0 (inf for no privacy)", task.epsilon)?;
    candidates(task)?;
    task.clip.map_or(Ok(()), |clip| positive("task.selection.clip", clip))?;
    task.threshold.map_or(Ok(()), |threshold| positive("task.selection.threshold", threshold))?;
    task.draws.map_or(Ok(()), |draws| count("task.selection.draws", draws))?;
    if task.sensitivity == SensitivityRule::Corrected && task.clip != Some(4.0) {
        return fail("task.selection.sensitivity", Problem::CorrectedNeedsClip);
    }
    Ok(())
}

/// The most candidates of a selection.
const MOST_CANDIDATES: usize = 10_000;

fn candidates(task: &SelectionTask) -> Checked {
    let path = "task.selection.candidates";
    if let Some(GpGrid { lengthscales, noise_variances, variances }) = &task.gp {
        let lists =
            [("lengthscales", lengthscales), ("noise_variances", noise_variances), ("variances", variances)];
        for (key, values) in lists {
            let path = format!("task.selection.gp.{key}");
            if values.is_empty() {
                return fail(&path, Problem::Empty);
            }
            values.iter().try_for_each(|value| positive(&path, *value))?;
        }
        let size = lengthscales.len().saturating_mul(noise_variances.len()).saturating_mul(variances.len());
        range("task.selection.gp", size <= MOST_CANDIDATES, "at most 10000 combinations", size as f64)?;
    }
    let all = task.all_candidates();
    if all.is_empty() {
        return fail(path, Problem::Empty);
    }
    let mut seen = std::collections::BTreeSet::new();
    for candidate in &all {
        match candidate {
            Candidate::Polynomial(degree) => range(path, *degree <= 20, "at most 20", f64::from(*degree))?,
            Candidate::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                [lengthscale, noise_variance, variance].into_iter().try_for_each(|x| positive(path, *x))?;
            }
        }
        if !seen.insert(candidate.name()) {
            return fail(path, Problem::DuplicateValue { label: candidate.name() });
        }
    }
    Ok(())
}

pub(super) fn folds(path: &str, split: SplitSetting) -> Checked {
    if let SplitSetting::Tail(rows) = split {
        return count(&format!("{path}.tail"), rows);
    }
    range(path, split.folds() >= 2, "at least 2", split.folds() as f64)
}

impl SplitSetting {
    /// Number of folds, or the fewest rows that it can split.
    pub fn folds(self) -> usize {
        match self {
            Self::Tail(rows) => rows + 1,
            Self::Shuffled(folds) | Self::Contiguous(folds) | Self::Interleaved(folds) => folds,
        }
    }
}

fn privacy(privacy: &PrivacySetting) -> Checked {
    let PrivacySetting { epsilon, delta, change, .. } = *privacy;
    range("privacy.epsilon", epsilon > 0.0, "greater than 0 (inf for no privacy)", epsilon)?;
    range("privacy.delta", delta > 0.0 && delta < 1.0, "greater than 0 and less than 1", delta)?;
    change.map_or(Ok(()), |change| positive("privacy.change", change))
}

/// The mechanism and what it needs must be those of the task.
fn mechanism(setting: &Setting) -> Checked {
    let privacy = &setting.privacy;
    match (&privacy.mechanism, &*setting.task) {
        (MechanismSetting::Gradient(gradient), TaskSetting::Posterior(task)) => {
            if matches!(task.method, PosteriorMethod::Mode {}) {
                let unprotected = "inf: the mode is computed without privacy";
                range("privacy.epsilon", privacy.epsilon.is_infinite(), unprotected, privacy.epsilon)?;
            }
            let path = "privacy.mechanism.gradient";
            match gradient.clip {
                Some(clip) => positive(&format!("{path}.clip"), clip),
                None if privacy.epsilon.is_infinite() => Ok(()),
                None => fail(path, Problem::MissingKey { key: "clip", by: "a finite epsilon" }),
            }
        }
        (
            MechanismSetting::Sums(sums),
            TaskSetting::Calibration(_)
            | TaskSetting::Hyperparameters(_)
            | TaskSetting::Dirichlet(_)
            | TaskSetting::Leaderboard(_)
            | TaskSetting::Surface(_),
        ) => sums_check::sums(sums, setting),
        (
            _,
            TaskSetting::Calibration(_)
            | TaskSetting::Hyperparameters(_)
            | TaskSetting::Dirichlet(_)
            | TaskSetting::Surface(_),
        ) => fail("privacy.mechanism", Problem::WrongMechanism { needed: "sums" }),
        (_, TaskSetting::Posterior(_)) => {
            fail("privacy.mechanism", Problem::WrongMechanism { needed: "gradient" })
        }
        (mechanism, TaskSetting::Density(task)) => density_check::mechanism(task, mechanism, privacy.change),
        (MechanismSetting::Binning(binning), TaskSetting::Regression(_) | TaskSetting::Leaderboard(_)) => {
            if privacy.change.is_none() {
                return fail("privacy", Problem::MissingKey { key: "change", by: "binning" });
            }
            density_check::binning(binning, setting.data.inputs.len())
        }
        (MechanismSetting::Function(_), TaskSetting::Prediction(_) | TaskSetting::Leaderboard(_)) => {
            let missing = Problem::MissingKey { key: "change", by: "function" };
            if privacy.change.is_some() { Ok(()) } else { fail("privacy", missing) }
        }
        (MechanismSetting::Cloaking(cloaking), _) => {
            if privacy.change.is_none() {
                return fail("privacy", Problem::MissingKey { key: "change", by: "cloaking" });
            }
            cloak(cloaking)
        }
        (_, _) => fail("privacy.mechanism", Problem::WrongMechanism { needed: "cloaking" }),
    }
}

fn cloak(cloaking: &CloakingSetting) -> Checked {
    let tolerance = cloaking.rank_tolerance;
    let path = "privacy.mechanism.cloaking";
    let inside = (0.0..1.0).contains(&tolerance);
    range(&format!("{path}.rank_tolerance"), inside, "at least 0 and less than 1", tolerance)?;
    if let Solver::Gradient { step, steps } = cloaking.solver {
        positive(&format!("{path}.solver.gradient.step"), step)?;
        count(&format!("{path}.solver.gradient.steps"), steps)?;
    }
    Ok(())
}
