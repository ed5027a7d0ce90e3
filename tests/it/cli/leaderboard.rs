//! Leaderboards: one spec, several mechanisms, the scores of their predictive distributions.

use crate::support::cli::Project;

/// Sixty noisy points of a sine, and methods that hide targets or whole records.
fn spec() -> String {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| x.sin() + 0.1 * ((7 * i) % 11) as f64 - 0.5).collect();
    format!(
        r#"[experiment]
title = "A leaderboard"
[data]
source.inline = {{ x = {x:?}, y = {y:?} }}
inputs = ["x"]
target = "y"
[normalise.bounds]
low = -2.0
high = 2.0
[model]
noise_variance = 0.1
kernel.eq = {{ variance = 1.0, lengthscale = 1.5 }}
[task.leaderboard]
split.interleaved = 4
draws = 20
[privacy]
epsilon = 1.0
delta = 1e-5
change = 4.0
calibration = "analytic"
[privacy.mechanism.cloaking]
objective = "trace"
rank_tolerance = 1e-8
[grid]
"privacy.epsilon" = [1.0, 1000.0, inf]
[axis.method]
cloaking = {{}}
chosen = {{ "task.leaderboard.choose" = {{ lengthscales = [0.3, 1.5], share = 0.25, folds = 3 }} }}
function = {{ "privacy.mechanism" = {{ function = {{ sensitivity = "exact" }} }} }}
bins = {{ "privacy.mechanism" = {{ binning = {{ bins = 10, statistic = "mean", estimate = {{ bin = {{}} }} }} }} }}
sums = {{ "task.leaderboard.inducing" = [{{ from = 0.0, to = 10.0, points = 9 }}], "privacy.mechanism" = {{ sums = {{ target_bound = 2.0, features = {{ supremum = [[0.0, 10.0]] }}, sensitivity = "exact" }} }} }}
"#
    )
}

/// Rows by method, epsilon and metric: value and exact delta.
fn table(project: &Project) -> impl Fn(&str, f64, &str) -> (f64, Option<f64>) + use<> {
    let text = project.read("results/board/table.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = move |name: &str| header.iter().position(|column| column == name).unwrap();
    let places = ["method", "epsilon", "metric", "value", "delta_exact"].map(place);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    move |method, epsilon, metric| {
        let [m, e, k, v, d] = places;
        let at = |row: &csv::StringRecord| row[e].parse::<f64>().unwrap();
        let near = |row: &csv::StringRecord| at(row) == epsilon || (at(row) / epsilon - 1.0).abs() < 1e-12;
        let row = rows.iter().find(|r| &r[m] == method && near(r) && &r[k] == metric).unwrap();
        (row[v].parse().unwrap(), row[d].parse().ok())
    }
}

#[test]
fn methods_are_scored_by_their_predictive_distributions() {
    let project = Project::new();
    project.write("board.toml", &spec());
    project.dpgp(&["run", "board.toml", "--quiet"]).expect(0);
    let of = table(&project);
    for metric in ["rmse", "log-score", "coverage-90"] {
        assert_eq!(
            of("cloaking", f64::INFINITY, metric).0,
            of("function", f64::INFINITY, metric).0,
            "{metric}: the same model"
        );
        let gap = of("cloaking", f64::INFINITY, metric).0 - of("chosen", f64::INFINITY, metric).0;
        assert!(gap.abs() < 1e-9, "{metric}: without noise the better lengthscale is chosen");
    }
    assert!(of("cloaking", 1.0, "rmse").0 < of("function", 1.0, "rmse").0);
    assert!(of("cloaking", 1000.0, "rmse").0 < 1.2 * of("cloaking", f64::INFINITY, "rmse").0);
    for method in ["cloaking", "chosen", "function", "bins", "sums"] {
        let (coverage, delta) = of(method, 1.0, "coverage-90");
        // The correction of noisy sums is of first order: it knows only a part of the noise.
        let least = if method == "sums" { 0.4 } else { 0.7 };
        assert!(coverage > least, "{method}: intervals know the noise: {coverage}");
        assert!(delta.unwrap() <= 1e-5 * (1.0 + 1e-9), "{method}");
        assert!(of(method, 1.0, "log-score").0 < of(method, 1000.0, "log-score").0, "{method}");
    }
}

#[test]
fn a_choice_needs_cloaking_and_a_share() {
    let project = Project::new();
    let refused = |from: &str, to: &str, key: &str| {
        project.write("board.toml", &spec().replace(from, to));
        let said = project.dpgp(&["run", "board.toml"]).expect(2).err;
        assert!(said.contains(key), "{said}");
    };
    refused("share = 0.25", "share = 1.0", "share");
    refused("lengthscales = [0.3, 1.5]", "lengthscales = []", "lengthscales");
    let chosen = "\"task.leaderboard.choose\" = { lengthscales = [1.0], share = 0.5, folds = 2 }, ";
    let function = "function = { \"privacy";
    refused(function, &format!("function = {{ {chosen}\"privacy"), "a choice needs cloaking");
}
