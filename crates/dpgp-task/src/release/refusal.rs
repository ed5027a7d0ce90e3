//! What is no release of predictions.

use super::NO_BOUNDS;
use crate::{Setting, TaskSetting};
use dpgp_spec::setting::{DrawSetting, NormaliseSetting, SourceSetting};

/// Why a setting describes no release of predictions, if it does not.
pub fn refusal(setting: &Setting) -> Option<&'static str> {
    match &*setting.task {
        TaskSetting::Surface(_) => {}
        TaskSetting::Regression(_) | TaskSetting::Prediction(_) => {
            if setting.privacy.mechanism.linear().is_none() {
                return Some(
                    "its mechanism is only measured: predictions are released by mechanism.cloaking or mechanism.function",
                );
            }
            if !matches!(*setting.normalise, NormaliseSetting::Bounds { .. }) {
                return Some(NO_BOUNDS);
            }
        }
        TaskSetting::Density(_) | TaskSetting::Dirichlet(_) => {
            return Some("what its task counts is released by `dpgp stats SPEC FILE --release OUT`");
        }
        _ => {
            return Some(
                "its task only measures: predictions are released of task.regression, task.prediction or task.surface, such as \
                `dpgp new --data FILE` writes, and classes of task.dirichlet, by `dpgp stats`",
            );
        }
    }
    if setting.privacy.epsilon.get().is_infinite() {
        return Some("its epsilon is infinite, so nothing would be private");
    }
    if matches!(setting.data.source, SourceSetting::Synthetic(_) | SourceSetting::Images(_)) {
        return Some("its data are generated or images");
    }
    matches!(setting.data.draw, Some(DrawSetting::Rows(_) | DrawSetting::Quotas(_)))
        .then_some("data.draw leaves rows out by chance; a release is fitted to all rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;
    use dpgp_data::Manifest;

    /// A refusal names what would be released instead.
    #[test]
    fn a_refusal_names_a_way() {
        let manifest = Manifest::shipped().unwrap();
        let cloaking =
            SPEC.replace("MECHANISM", "cloaking = { objective = \"trace\", rank_tolerance = 1e-9 }");
        let density = cloaking
            .replace("model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }\n", "")
            .replace(
                "task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }",
                "task.density = { bins = [{ from = 0.0, to = 8.0, bins = 4 }], test = [{ from = 0.0, to = 8.0, bins = 4 }], \
                 estimate.histogram = {}, draws = 1 }",
            )
            .replace("change = 10.0, calibration = \"analytic\", ", "")
            .replace("cloaking = { objective = \"trace\", rank_tolerance = 1e-9 }", "histogram = { relation = \"add-remove\" }");
        let bins = SPEC
            .replace(
                "task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }",
                "task.regression = { split.tail = 2, draws = 1 }",
            )
            .replace("MECHANISM", "binning = { bins = 2, statistic = \"mean\", estimate = { bin = {} } }");
        for (spec, way) in [(density, "dpgp stats SPEC FILE --release"), (bins, "mechanism.cloaking")] {
            let spec = Experiment::parse("s", "s.toml".as_ref(), spec, &manifest).unwrap();
            let said = refusal(spec.cells[0].setting()).unwrap();
            assert!(said.contains(way), "{said}");
        }
        let spec = Experiment::parse("s", "s.toml".as_ref(), cloaking, &manifest).unwrap();
        assert_eq!(refusal(spec.cells[0].setting()), None);
    }

    const SPEC: &str = r#"experiment.title = "release"
data = { source.inline = { x = [0, 1, 2, 3, 4, 5, 6, 7], y = [1, 9, 2, 5, 4, 6, 12, -3] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }
task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }
privacy = { epsilon = 1.0, delta = 0.01, change = 10.0, calibration = "analytic", mechanism.MECHANISM }
"#;
}
