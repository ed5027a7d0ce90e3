//! Checks that the numbers of a release are finite.

use serde_json::Value;

use super::PrivatePredictions;
use super::sums_model::ReleasedSums;

/// Fields of a file that hold settings, not computed numbers.
const SETTINGS: [&str; 3] = ["model", "histogram", "rows"];

/// Values whose numbers are written.
pub trait ReleasedNumbers {
    /// Whether all of them are finite.
    fn are_finite(&self) -> bool;
}

impl ReleasedNumbers for PrivatePredictions<'_> {
    fn are_finite(&self) -> bool {
        let Self { points, predictions, .. } = self;
        let columns = [&predictions.mean, &predictions.gp_sd, &predictions.noise_sd];
        let mut ends = (0..points.nrows()).map(|row| predictions.central_interval(row));
        points.iter().all(|x| x.is_finite())
            && columns.into_iter().flatten().all(|x| x.is_finite())
            && ends.all(|(low, high)| low.is_finite() && high.is_finite())
    }
}

impl ReleasedNumbers for ReleasedSums {
    /// JSON has null for a number that is not finite.
    fn are_finite(&self) -> bool {
        let Value::Object(parts) = &self.value else { return false };
        parts.iter().all(|(name, part)| SETTINGS.contains(&name.as_str()) || has_no_null(part))
    }
}

fn has_no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(parts) => parts.iter().all(has_no_null),
        Value::Object(parts) => parts.values().all(has_no_null),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use serde_json::json;

    use super::*;
    use dpgp_run::{DataLocations, Project};
    use dpgp_task::Predictions;

    const SPEC: &str = r#"experiment.title = "a row"
data = { source.inline = { x = [0.0], y = [4.0] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 2.0, high = 12.0, scale = 10.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.prediction.grid = [{ from = 0.0, to = 1.0, points = 2 }]
privacy = { epsilon = 1.0, delta = 1e-6, change = 10.0, mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 } }
"#;

    fn finite(value: Value) -> bool {
        ReleasedSums { value }.are_finite()
    }

    fn sums(x: f64) -> Value {
        json!({ "rows": null, "model": { "noise_variance": null }, "sums": [{ "a": [1.0, x] }] })
    }

    #[test]
    fn every_number_counts() {
        assert!(finite(sums(2.0)));
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!finite(sums(x)) && !finite(json!({ "sd": x })));
        }
    }

    /// Whether the numbers of one point are finite: its place, then prediction, model and noise.
    fn finite_at(place: f64, [mean, gp_sd, noise_sd]: [f64; 3]) -> bool {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("one", SPEC).unwrap();
        let predictions = Predictions {
            mean: vec![mean],
            gp_sd: vec![gp_sd],
            noise_sd: vec![noise_sd],
            least: None,
            combinations: None,
        };
        let points = DMatrix::from_element(1, 1, place);
        let setting = experiment.cells[0].setting();
        PrivatePredictions { setting, spec: "", changes: &[], points: &points, predictions }.are_finite()
    }

    #[test]
    fn every_number_of_a_point_counts() {
        assert!(finite_at(1.0, [1.0, 2.0, 3.0]));
        for x in [f64::INFINITY, f64::NAN] {
            assert!(!finite_at(x, [1.0, 2.0, 3.0]));
            for numbers in [[x, 2.0, 3.0], [1.0, x, 3.0], [1.0, 2.0, x]] {
                assert!(!finite_at(1.0, numbers), "{numbers:?}");
            }
        }
        // Each is finite, but one end of the interval is not.
        for mean in [f64::MAX, -f64::MAX] {
            assert!(!finite_at(1.0, [mean, 1e307, 1e307]), "{mean}");
        }
    }
}
