//! A request for predictions from two rows, for tests.

use super::{GridChoice, PredictionRequest, PublicPoints};
use dpgp_data::SilentProgress;
use dpgp_run::{DataLocations, Project};

/// Targets from 2 to 12, of which 4 and 5 lie within; a change of 3 is protected.
pub const TWO_ROWS: &str = r#"experiment.title = "two rows"
data = { source.inline = { x = [0.0, 1.0], y = [4.0, 5.0] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 2.0, high = 12.0, scale = 10.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.prediction.grid = [{ from = 0.0, to = 1.0, points = 3 }]
privacy = { epsilon = 1.0, delta = 1e-6, change = 3.0, relation = "metric", mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 } }
"#;

/// Calls a test with a request by such a spec.
pub fn with_request<T>(spec: &str, test: impl FnOnce(&PredictionRequest<'_>) -> T) -> T {
    let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
    let experiment = project.parse("two", spec).unwrap();
    let (cell, points) = (&experiment.cells[0], PublicPoints::Grid(&GridChoice::Auto));
    test(&PredictionRequest::read(&project, &experiment, cell, points, &SilentProgress, None).unwrap())
}
