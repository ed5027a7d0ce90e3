//! All tasks. A new task is a folder of this crate and a line here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::averaged::check_model_averaging;
use super::{
    CalibrationTask, ClassificationTask, CommandTask, ConvergenceTask, DensityTask, DirichletTask, ErrataTask,
    GivenNumbersTask, HyperparametersTask, LeaderboardTask, MeasurableTask, PosteriorTask, PredictionTask,
    RegressionTask, SelectionTask, SurfaceTask, TutorialTask,
};
use dpgp_mechanisms::MechanismSetting;
use dpgp_spec::TaskSection;
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{CheckResult, SpecProblem};

/// The setting of a cell.
pub type CellSetting = dpgp_spec::setting::SpecCellSetting<TaskSetting>;

/// A checked point of the grid.
pub type Cell = dpgp_spec::Cell<TaskSetting>;

/// A spec with all its values checked.
pub type Experiment = dpgp_spec::Experiment<TaskSetting>;

macro_rules! tasks {
    ($($(#[$doc:meta])* $name:ident($setting:ty),)*) => {
        /// What is measured.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum TaskSetting {
            $($(#[$doc])* $name($setting),)*
        }

        impl TaskSetting {
            /// The task itself.
            pub(super) fn as_task(&self) -> &dyn MeasurableTask {
                match self {
                    $(Self::$name(task) => task,)*
                }
            }
        }
    };
}

tasks! {
    /// Root mean squared error of predictions of held-out targets.
    Regression(RegressionTask),
    /// Selection of a configuration by the exponential mechanism.
    Selection(SelectionTask),
    /// Test accuracy of a classifier whose posterior is approximated.
    Posterior(PosteriorTask),
    /// Predictions of a regression on a grid.
    Prediction(PredictionTask),
    /// The density of records over their inputs.
    Density(DensityTask),
    /// Binary classification by the Laplace approximation.
    Classification(ClassificationTask),
    /// The iterations with which the Laplace approximation finds the mode.
    Convergence(ConvergenceTask),
    /// A Gaussian process at two points, before or after it is conditioned on the observations.
    Tutorial(TutorialTask),
    /// How well predictions from noisy sums are calibrated.
    Calibration(CalibrationTask),
    /// How often private selection finds the true hyperparameters.
    Hyperparameters(HyperparametersTask),
    /// Test accuracy of classification by regression on Dirichlet labels.
    Dirichlet(DirichletTask),
    /// Scores of the predictive distributions of a private regression.
    Leaderboard(LeaderboardTask),
    /// A surface computed from sums over all rows, and how privacy changes it.
    Surface(SurfaceTask),
    /// A statement of a paper, or a remark, tested with computed numbers.
    Errata(ErrataTask),
    /// The metrics that an external program returns.
    Command(CommandTask),
    /// Numbers that others computed.
    Given(GivenNumbersTask),
}

/// Why a key about people is refused.
const NO_PERSONS: &str = "this combination of task and mechanism protects rows, not people; to protect people, use \
    task.regression with mechanism.cloaking or gaussian, task.prediction with cloaking, gaussian or function, \
    task.surface with moments or sums, task.dirichlet with sums, or task.density with histogram";

/// Sections that specs of programs and of given numbers may omit: an empty stand-in for rows, and no privacy.
const FILLED_IN: &str = "\
    data = { inputs = [], source.inline.none = [0.0] }\n\
    privacy = { epsilon = inf, delta = 0.5, change = 1.0, mechanism.function.sensitivity = \"exact\" }";

impl TaskSetting {
    /// Whether the task needs rows that dpgp reads. Programs read their data themselves, and given numbers use no data.
    pub fn reads_rows(&self) -> bool {
        !matches!(self, Self::Command(_) | Self::Given(_))
    }
}

impl TaskSection for TaskSetting {
    type Mechanism = MechanismSetting;

    fn check(setting: &CellSetting) -> CheckResult {
        let task = setting.task.as_task();
        if setting.data.person.is_some() && !task.protects_persons(&setting.privacy.mechanism) {
            return fail("data.person", SpecProblem::Shape(NO_PERSONS.to_owned()));
        }
        if setting.data.inputs.is_empty() && task.needs_inputs() {
            return fail("data.inputs", SpecProblem::Empty);
        }
        if setting.data.counts_each_row() && !task.can_count_rows() {
            return fail("data", SpecProblem::MissingKey { key: "target", by: "this task" });
        }
        check_model_averaging(task.averages_hyperparameters(), setting)?;
        task.check(setting)
    }

    fn fill_in_omitted_sections(spec: &mut Table) {
        let is = |name: &str| spec.get("task").is_some_and(|task| task.get(name).is_some());
        if !is("command") && !is("given") {
            return;
        }
        let filled: Table = FILLED_IN.parse().unwrap_or_default();
        for (name, section) in filled {
            match (spec.get_mut(&name), section) {
                (Some(Value::Table(own)), Value::Table(section)) if name == "data" => {
                    for (key, value) in section {
                        own.entry(key).or_insert(value);
                    }
                }
                (Some(_), _) => {}
                (None, section) => {
                    spec.insert(name, section);
                }
            }
        }
    }

    fn metric_names(&self, replicates: u32) -> Vec<String> {
        self.as_task().metric_names(replicates)
    }

    fn uncompared_metrics(&self) -> &[String] {
        self.as_task().uncompared_metrics()
    }

    fn erratum_name(&self) -> Option<&str> {
        self.as_task().erratum_name()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        self.as_task().check_row_count(rows)
    }
}
