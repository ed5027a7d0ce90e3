//! Estimates the memory of the matrices of a Gaussian process before the first one is allocated.

use super::{CellSetting, FitSize, TaskSetting};
use dpgp_mechanisms::{LinearMechanism, MechanismSetting};
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{CheckResult, ModelSetting, SparseSetting, SpecProblem};

/// Memory of the matrices of one block of an experiment, or of a release.
///
/// An estimate of the most that is held at once, in numbers of 8 bytes, for n rows, p points, t points of all folds and m inducing
/// inputs. Exact regression: `n^2 + max(n^2, 3 n p) + n (t - p)`, and `2 n^2` more for a mean function of its own. FITC:
/// `4 m n + 6 n p + n (t - p)`. Exact classification: `3 n^2 + 2 n p`; a subset of regressors: `4 m n + 2 m p`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelMemory {
    fitted: FitSize,
    bytes: f64,
    way_out: &'static str,
}

impl ModelMemory {
    /// Estimates the memory of a block of an experiment on `rows` rows; `None` if no matrix grows with them.
    pub fn estimate_experiment_block(setting: &CellSetting, rows: usize) -> Option<Self> {
        let fitted = setting.task.as_task().fit_size(rows)?;
        Self::new(setting, fitted)
    }

    /// Estimates the memory of a release of predictions at `points` points.
    pub fn estimate_release(setting: &CellSetting, rows: usize, points: usize) -> Option<Self> {
        match &*setting.task {
            TaskSetting::Regression(_) | TaskSetting::Prediction(_) => {
                Self::new(setting, FitSize::from_test_size(rows, points))
            }
            _ => None,
        }
    }

    fn new(setting: &CellSetting, fitted: FitSize) -> Option<Self> {
        let mechanism = &setting.privacy.mechanism;
        if !mechanism.mechanism().needs_training_square_matrices() {
            return None;
        }
        let classifies = matches!(&*setting.task, TaskSetting::Classification(_) | TaskSetting::Convergence(_));
        let sparse = setting.model.as_deref().and_then(|model: &ModelSetting| model.sparse.as_ref());
        let numbers = match (sparse, classifies) {
            (Some(sparse), _) => sparse_model_entry_count(sparse, fitted),
            (None, true) => exact_classification_entry_count(fitted),
            (None, false) => exact_regression_entry_count(fitted, mechanism),
        };
        let way_out = match (sparse, &*setting.task) {
            (Some(_), _) => FEWER,
            (None, TaskSetting::Selection(_)) => FEWER_CANDIDATES,
            (None, _) if classifies => SOR,
            (None, _) => FITC,
        };
        Some(Self { fitted, bytes: 8.0 * numbers, way_out })
    }

    /// Fails unless as many bytes are available.
    ///
    /// # Errors
    /// [`SpecProblem::Memory`].
    pub fn check(&self, available: u64) -> CheckResult {
        if self.bytes <= available as f64 {
            return Ok(());
        }
        let [needed, available] = [self.bytes, available as f64].map(|bytes| bytes / GIB);
        let FitSize { training: rows, points, .. } = self.fitted;
        fail("model", SpecProblem::Memory { rows, points, needed, available, way_out: self.way_out })
    }
}

const GIB: f64 = (1 << 30) as f64;

const FITC: &str = "use inducing inputs (model.sparse.fitc.inducing.kmeans = { centres = 10 }), or sums, whose \
    memory use does not grow with the number of rows (task.surface, or a spec from `dpgp new --data FILE --private-inputs`)";
const SOR: &str = "use inducing inputs (model.sparse.sor.inducing.kmeans = { centres = 10 }), or train on fewer rows";
const FEWER_CANDIDATES: &str = "the candidates are exact models: compare them on fewer rows (data.draw.rows = \
    2000), or average hyperparameters with noisy moments, which costs no budget (task.surface, or a spec from `dpgp \
    new --data FILE --private-inputs`)";
const FEWER: &str = "predict at fewer points, test fewer rows at once (split.tail = 200), use fewer inducing \
    inputs, or use sums, whose memory use does not grow with the number of rows (task.surface, or a spec from `dpgp new --data \
    FILE --private-inputs`)";

fn exact_regression_entry_count(fitted: FitSize, mechanism: &MechanismSetting) -> f64 {
    let FloatFitSize { n, p, kept } = fitted.into();
    let beside = mechanism.as_linear().map_or(0.0, LinearMechanism::training_square_matrix_count) * n * n;
    n * n + (n * n).max(3.0 * n * p) + n * kept + beside
}

fn exact_classification_entry_count(fitted: FitSize) -> f64 {
    let FloatFitSize { n, p, .. } = fitted.into();
    3.0 * n * n + 2.0 * n * p
}

fn sparse_model_entry_count(sparse: &SparseSetting, fitted: FitSize) -> f64 {
    let FloatFitSize { n, p, kept } = fitted.into();
    match sparse {
        SparseSetting::Fitc { inducing } => 4.0 * inducing.max_inducing_count() as f64 * n + 6.0 * n * p + n * kept,
        SparseSetting::Sor { inducing, .. } => inducing.max_inducing_count() as f64 * (4.0 * n + 2.0 * p),
    }
}

/// The numbers of rows and points as floating point.
struct FloatFitSize {
    n: f64,
    p: f64,
    /// Points of other fits, whose maps are kept.
    kept: f64,
}

impl From<FitSize> for FloatFitSize {
    fn from(fitted: FitSize) -> Self {
        let FitSize { training, points, all_points } = fitted;
        Self { n: training as f64, p: points as f64, kept: (all_points - points) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;
    use dpgp_data::DatasetManifest;

    const SPEC: &str = r#"experiment.title = "large"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }
task.regression = { split.shuffled = 5, draws = 1 }
privacy = { epsilon = 1.0, delta = 0.01, change = 10.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;
    const SPARSE: &str = "noise_variance = 0.2, sparse.fitc.inducing.kmeans = { centres = 10 }";

    fn memory(spec: &str, rows: usize, points: Option<usize>) -> Option<ModelMemory> {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), spec.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        match points {
            None => ModelMemory::estimate_experiment_block(setting, rows),
            Some(points) => ModelMemory::estimate_release(setting, rows, points),
        }
    }

    fn needed(spec: &str, rows: usize, points: Option<usize>) -> f64 {
        memory(spec, rows, points).unwrap().bytes
    }

    /// 100 rows in 5 folds: 80 of them are fitted at a time, and 20 predicted.
    #[test]
    fn the_largest_matrices_are_counted() {
        let folds = 8.0 * (80.0 * 80.0 + 80.0 * 80.0 + 80.0 * 80.0);
        assert_eq!(needed(SPEC, 100, None), folds);
        // The covariances and their factor; far more points outweigh the first.
        assert_eq!(needed(SPEC, 100, Some(3)), 8.0 * 20_000.0);
        assert_eq!(needed(SPEC, 100, Some(1000)), 8.0 * (10_000.0 + 300_000.0));
        let sparse = SPEC.replace("noise_variance = 0.2", SPARSE);
        assert_eq!(needed(&sparse, 100, Some(3)), 8.0 * (4_000.0 + 1_800.0));
        let tail = SPEC.replace("split.shuffled = 5", "split.tail = 10");
        assert_eq!(needed(&tail, 100, None), 8.0 * 2.0 * 90.0 * 90.0);
        let bins = SPEC.replace(
            "mechanism.cloaking.objective = \"risk\"",
            "mechanism.binning = { bins = 6, statistic = \"mean\", estimate = { bin = {} }, denoise = true }",
        );
        assert_eq!(needed(&bins, 100, None), folds);
        assert!(memory(&bins.replace(", denoise = true", ""), 100, None).is_none());
        // It is no more than what two matrices of a terabyte each would need.
        assert!(needed(SPEC, 546_712, Some(4)) > 4e12 && needed(&sparse, 546_712, Some(4)) < 3e8);
    }

    /// Candidates of a selection have no inducing inputs.
    #[test]
    fn a_selection_needs_fewer_rows() {
        let spec = SPEC
            .replace("model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }\n", "")
            .replace(
                "task.regression = { split.shuffled = 5, draws = 1 }",
                "task.selection = { split.shuffled = 5, epsilon = 1.0, sensitivity = \"corrected\", clip = 4.0, \
                 gp = { lengthscales = [2.0], noise_variances = [0.2], variances = [3.0] } }",
            )
            .replace(
                ", calibration = \"analytic\", mechanism.cloaking.objective = \"risk\"",
                ", mechanism.cloaking = { objective = \"trace\", rank_tolerance = 1e-9 }",
            );
        let message = memory(&spec, 1 << 15, None).unwrap().check(1 << 30).unwrap_err().problem.to_string();
        assert!(message.contains("data.draw.rows") && !message.contains("kmeans"), "{message}");
    }

    #[test]
    fn what_does_not_fit_says_the_way_out() {
        let memory = memory(SPEC, 1 << 15, Some(4)).unwrap();
        memory.check(1 << 34).unwrap();
        let fault = memory.check((1 << 34) - 1).unwrap_err();
        assert_eq!(fault.path, "model");
        let message = fault.problem.to_string();
        assert!(
            message.starts_with("32768 rows and 4 points need about 16.0 GiB of memory, but 16.0 GiB are"),
            "{message}"
        );
        assert!(message.contains("model.sparse.fitc.inducing.kmeans") && message.contains("--private-inputs"));
    }
}
