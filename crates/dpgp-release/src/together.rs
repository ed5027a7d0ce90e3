//! Several answers from the same rows, with one budget and one charge.
//!
//! The budget (epsilon, delta) allows a Gaussian mechanism with some greatest `mu`, and the squares of `mu` add up over releases
//! ([`dpgp_accounting::composed_mu`]). An answer with the share `w` of the budget gets `mu sqrt(w)`: the epsilon at which that `mu` has
//! the same delta. Each answer is then an ordinary release, and all of them together keep the budget.

use dpgp_accounting::{NeighbourRelation, PrivacyBudget};
use dpgp_mechanisms::{HistogramSetting, PrivacySetting};
use dpgp_run::Project;
use dpgp_spec::SpecChange;
use dpgp_spec::setting::PersonRowChoiceBasis;
use dpgp_task::{Cell, CellSetting, Experiment};

use super::ReleaseError;
use super::subject::{EPSILON, select_release_cells};

/// Several releases that share one privacy budget, before any is designed or charged.
pub struct JointReleasePlan {
    answers: Vec<PlannedJointRelease>,
    total: PrivacyBudget,
}

/// One release of a joint plan: a cell of a spec and its share of the budget.
pub struct PlannedJointRelease {
    name: String,
    share: f64,
    /// The spec with the epsilon of this answer.
    experiment: Experiment,
    /// The cell of the spec.
    cell: usize,
}

impl PlannedJointRelease {
    /// Its name: that of its spec, with the labels of its cell if the spec has several answers.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its share of the budget, between 0 and 1.
    pub fn budget_share(&self) -> f64 {
        self.share
    }

    /// The spec with the epsilon of this answer.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The cell of the spec.
    pub fn cell(&self) -> &Cell {
        &self.experiment.cells[self.cell]
    }
}

impl JointReleasePlan {
    /// Splits the budget that all specs state among their cells with privacy, in equal shares or in proportion to `weights`, which names
    /// answers. `choices` are as those of [`super::select_release_cell`]; one applies to every spec that has its axis. `changes` are for all specs.
    ///
    /// # Errors
    /// [`ReleaseError::NoCell`], [`ReleaseError::NotTogether`] if there are fewer than two answers, if they have one name, different
    /// budgets or different rows, or for weights that name no answer.
    pub fn split_budget(
        project: &Project,
        specs: Vec<Experiment>,
        changes: &[SpecChange],
        choices: &[String],
        weights: &[(String, f64)],
    ) -> Result<Self, ReleaseError> {
        let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        let specs = project.change_experiments(specs, changes)?;
        let kept: Vec<SpecChange> = changes.iter().filter(|change| !change.changes_setting(EPSILON)).cloned().collect();
        let mut found: Vec<(String, &Experiment, &Cell)> = Vec::new();
        for choice in choices {
            if let Some(first) = specs.first().filter(|_| !specs.iter().any(|spec| has_axis(spec, choice))) {
                // Fails, with the axes of the first spec.
                select_release_cells(first, std::slice::from_ref(choice))?;
            }
        }
        for (spec, name) in specs.iter().zip(&names) {
            let own: Vec<String> = choices.iter().filter(|choice| has_axis(spec, choice)).cloned().collect();
            let cells = select_release_cells(spec, &own)?;
            let several = cells.len() > 1;
            found.extend(cells.into_iter().map(|cell| (name_planned_release(name, spec, cell, several), spec, cell)));
        }
        let total = require_common_budget(&found)?;
        let weights = release_weights(&found, weights)?;
        let sum: f64 = weights.iter().sum();
        let mut answers = Vec::new();
        for ((name, spec, cell), weight) in found.into_iter().zip(weights) {
            let share = weight / sum;
            let epsilon = total.epsilon_for_mu_squared_share(share);
            if epsilon <= 0.0 {
                return Err(invalid_joint_release_error(format!(
                    "{name}: its share is too small for any epsilon at this delta"
                )));
            }
            let epsilon = round_epsilon_down(epsilon);
            let change: SpecChange = format!("{EPSILON}={epsilon:?}")
                .parse()
                .map_err(|error| invalid_joint_release_error(format!("{name}: {error}")))?;
            let experiment = project.change_experiment(spec.clone(), &[&kept[..], &[change]].concat())?;
            let is_same = |other: &Cell| {
                let pairs = spec.axes.iter().zip(cell.labels().iter().zip(other.labels()));
                pairs.filter(|(axis, _)| axis.path != EPSILON).all(|(_, (one, other))| one == other)
            };
            let place = experiment
                .cells
                .iter()
                .position(|other| is_same(other) && other.setting().privacy.epsilon.get() == epsilon);
            let Some(cell) = place else {
                return Err(invalid_joint_release_error(format!(
                    "{name}: changing privacy.epsilon alone does not set the epsilon of this spec"
                )));
            };
            answers.push(PlannedJointRelease { name, share, experiment, cell });
        }
        Ok(Self { answers, total })
    }

    /// The budget of all answers together.
    pub fn total_budget(&self) -> PrivacyBudget {
        self.total
    }

    /// The answers, in the order of their specs.
    pub fn planned_releases(&self) -> &[PlannedJointRelease] {
        &self.answers
    }
}

fn invalid_joint_release_error(problem: String) -> ReleaseError {
    ReleaseError::NotTogether(problem)
}

fn has_axis(spec: &Experiment, choice: &str) -> bool {
    let name = choice.split_once('=').map_or(choice, |(name, _)| name);
    spec.axes.iter().any(|axis| axis.name == name)
}

/// The name of an answer: that of its spec without the folder, then the labels of its cell if the spec has several answers.
fn name_planned_release(name: &str, spec: &Experiment, cell: &Cell, several: bool) -> String {
    let mut name = name.rsplit('/').next().unwrap_or(name).to_owned();
    for (axis, label) in spec.axes.iter().zip(cell.labels()) {
        if several && axis.path != EPSILON {
            name.push('-');
            name.extend(label.chars().map(|c| if c.is_alphanumeric() || c == '.' || c == '_' { c } else { '-' }));
        }
    }
    name
}

/// Returns the epsilon and delta that all releases state.
fn require_common_budget(found: &[(String, &Experiment, &Cell)]) -> Result<PrivacyBudget, ReleaseError> {
    let [(first, first_spec, cell), others @ ..] = found else {
        return Err(invalid_joint_release_error("there is no answer".to_owned()));
    };
    if others.is_empty() {
        return Err(invalid_joint_release_error(format!("{first} is the only answer; omit --together")));
    }
    let stated =
        |privacy: &PrivacySetting| PrivacyBudget { epsilon: privacy.epsilon.get(), delta: privacy.delta.get() };
    let total = stated(&cell.setting().privacy);
    for (place, (name, spec, other)) in found.iter().enumerate() {
        let own = stated(&other.setting().privacy);
        if found[..place].iter().any(|(earlier, ..)| earlier == name) {
            return Err(invalid_joint_release_error(format!("two answers have the name {name}")));
        }
        if own != total {
            let PrivacyBudget { epsilon, delta } = total;
            return Err(invalid_joint_release_error(format!(
                "{first} states epsilon = {epsilon} and delta = {delta:e}, but {name} states epsilon = {} and delta = {:e}; \
                 in each spec, state the joint budget of all answers",
                own.epsilon, own.delta
            )));
        }
        if !has_same_source((first_spec, cell), (spec, other)) {
            return Err(invalid_joint_release_error(format!("{first} and {name} read different files")));
        }
        let [protected, of_other] = [cell, other].map(|cell| describe_protected_change(cell.setting()));
        if protected != of_other {
            let hint = match [protected, of_other].contains(&ADDED_OR_REMOVED) {
                true => {
                    "; to give counts the same protection as means with private inputs, use \
                     `dpgp new --count --relation replace-one`"
                }
                false => "",
            };
            return Err(invalid_joint_release_error(format!(
                "{first} protects {protected}, and {name} protects {of_other}, so they have no joint guarantee{hint}"
            )));
        }
    }
    Ok(total)
}

const ADDED_OR_REMOVED: &str = "a record that is added or removed";

/// Describes in words what a release protects, by its settings alone. The ledger compares in more detail.
fn describe_protected_change(setting: &CellSetting) -> &'static str {
    let mechanism = &setting.privacy.mechanism;
    let histogram = mechanism.downcast::<HistogramSetting>().map(|histogram| histogram.relation);
    match (mechanism.person_row_choice_basis(), histogram) {
        (PersonRowChoiceBasis::Inputs, _) => "one target that changes",
        (PersonRowChoiceBasis::Record, Some(NeighbourRelation::AddRemove)) => ADDED_OR_REMOVED,
        (PersonRowChoiceBasis::Record, _) => "a record that is replaced",
    }
}

/// Whether two cells read the same file. Each path is relative to its spec.
fn has_same_source(one: (&Experiment, &Cell), other: (&Experiment, &Cell)) -> bool {
    let [one, other] = [one, other].map(|(spec, cell)| {
        let source = &cell.setting().data.source;
        let path = source.own_file().map(|path| spec.resolve_path(path));
        (source, path.map(|path| path.canonicalize().unwrap_or(path)))
    });
    match (one.1, other.1) {
        (Some(path), Some(other_path)) => path == other_path && one.0.text_layout() == other.0.text_layout(),
        _ => one.0 == other.0,
    }
}

/// The weight of each answer, 1 unless one is named.
fn release_weights(found: &[(String, &Experiment, &Cell)], named: &[(String, f64)]) -> Result<Vec<f64>, ReleaseError> {
    let mut weights = vec![1.0; found.len()];
    for (name, weight) in named {
        let Some(place) = found.iter().position(|(answer, ..)| answer == name) else {
            let known: Vec<&str> = found.iter().map(|(answer, ..)| answer.as_str()).collect();
            return Err(invalid_joint_release_error(format!(
                "no answer is called {name:?}; the answers are {}",
                known.join(", ")
            )));
        };
        weights[place] = *weight;
    }
    Ok(weights)
}

/// Rounds epsilon down to five digits, towards more noise.
fn round_epsilon_down(epsilon: f64) -> f64 {
    let scale = 10_f64.powf(4.0 - epsilon.log10().floor());
    (epsilon * scale).floor() / scale
}
