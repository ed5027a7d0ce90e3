//! A file of the user's own: days with a temperature and a use of energy that falls with it.

use super::cli::Project;

/// Targets alone are private.
pub const TARGETS: &str = r#"experiment.title = "energy by temperature"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0 }
model = { noise_variance = 9.0, kernel.eq = { variance = 100.0, lengthscale = 8.0 } }
task.regression = { split.shuffled = 5, draws = 10 }
[privacy]
epsilon = 1.0
delta = 1e-5
change = 40.0
calibration = "analytic"
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 }
"#;

/// Records are private, so that `predict` and `stats` protect the same thing.
pub const RECORDS: &str = r#"experiment.title = "energy by temperature, both private"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 8.0 } }
task.surface = { inducing = [{ from = -10.0, to = 35.0, points = 7 }], posterior = { regularisation = "tight", correction = "first-order" }, map = [{ from = -5.0, to = 25.0, points = 4 }] }
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
mechanism.sums = { target_bound = 1.0, features = { supremum = [[-10.0, 35.0]] }, sensitivity = "exact", split = 1.0 }
"#;

/// The number of a day, its temperature and its use of energy, which lies within the bounds.
pub fn day(day: u32) -> [f64; 3] {
    let temperature = -8.0 + f64::from(day * 37 % 101) / 2.5;
    [f64::from(day), temperature, 30.0 - 0.7 * temperature + f64::from(day * 53 % 17) / 4.0]
}

/// Rows as the text of a file.
pub fn energy_csv(rows: &[[f64; 3]]) -> String {
    let lines = rows.iter().map(|[day, temperature, kwh]| format!("{day},{temperature},{kwh}\n"));
    format!("day,temperature,kwh\n{}", lines.collect::<String>())
}

/// A project with `energy.toml`, 120 days in `energy.csv`, and `grid.csv`.
pub fn energy_project(spec: &str) -> Project {
    let project = Project::empty();
    project.write("energy.toml", spec);
    project.write("energy.csv", &energy_csv(&(0..120).map(day).collect::<Vec<_>>()));
    project.write("grid.csv", "temperature\n-5\n5\n15\n25\n");
    project
}
