//! What the authors of Smith et al. 2021 ran, in numbers that follow by hand from the toy of Section 5.1.

use std::collections::BTreeMap;

use crate::support::cli::Project;
use crate::support::rows::table_rows;

/// The mean, or a line, through two of four points predicts the other two.
const TOY: &str = r#"
[experiment]
title = "toy"
[data]
source.inline = { x = [0.0, 1.0, 2.0, 4.0], y = [0.0, 0.5, 1.0, 2.0] }
inputs = ["x"]
target = "y"
[task.selection]
candidates = [{ polynomial = 0 }, { polynomial = 1 }]
epsilon = 1.0
split.contiguous = 2
sensitivity = "published"
entries = [[2, 0], [3, 1], [0, 1]]
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
[privacy.mechanism.cloaking]
objective = "log-det"
rank_tolerance = 1e-8
solver = { gradient = { step = 0.05, steps = 0 } }
"#;

fn metrics(changes: &[(&str, &str)]) -> BTreeMap<String, f64> {
    let mut spec = TOY.to_owned();
    for (from, to) in changes {
        assert!(spec.contains(from), "{from}");
        spec = spec.replace(from, to);
    }
    let project = Project::new();
    project.write("toy.toml", &spec);
    project.dpgp(&["run", "toy.toml", "--quiet"]).expect(0);
    let rows = table_rows(&project.read("results/toy/table.csv"));
    rows.iter().map(|row| (row["metric"].clone(), row["value"].parse().unwrap())).collect()
}

fn noise(of: &BTreeMap<String, f64>) -> f64 {
    of["sse/polynomial-0"] - of["sse-without-noise/polynomial-0"]
}

/// Without a step the covariance is C C', so that both columns of halves have `c' M^-1 c` = 1/2: the variance of noise that is scaled by
/// Delta squared is half of that by Delta.
#[test]
fn noise_by_delta_squared_has_the_variance_times_delta_squared() {
    let right = metrics(&[]);
    let scale = "sensitivity = \"published\"\nnoise_scale = \"delta-squared\"";
    let squared = metrics(&[("sensitivity = \"published\"", scale)]);
    assert!((noise(&squared) / noise(&right) - 0.5).abs() < 1e-9, "{} {}", noise(&squared), noise(&right));
}

/// C_0 and C_1 of the paper, and a target that does not train the prediction; the budget of both releases.
#[test]
fn entries_are_those_of_the_printed_matrices() {
    let found = metrics(&[]);
    for (metric, value) in [
        ("map/polynomial-0/2 from 0", 0.5),
        ("map/polynomial-1/2 from 0", -1.0),
        ("map/polynomial-1/3 from 1", 4.0),
        ("map/polynomial-1/0 from 1", 0.0),
        ("total-epsilon", 2.0),
    ] {
        assert!((found[metric] - value).abs() < 1e-12, "{metric}: {}", found[metric]);
    }
}

/// The alphas of the mean are 2 in both folds (d = 2): one is dropped, the other counts four times once more. Those of the line are 25
/// and 80, of which 80 is dropped; at a threshold of 3 both count as nothing.
#[test]
fn the_authors_sensitivity_drops_the_largest_fold_and_what_is_above_the_threshold() {
    let rule = "sensitivity = \"largest-dropped\"";
    let found = metrics(&[("sensitivity = \"published\"", rule)]);
    assert!((found["sensitivity/polynomial-0"] - (36.0 + 4.0 * 2.0)).abs() < 1e-9);
    assert!((found["sensitivity/polynomial-1"] - (36.0 + 4.0 * 25.0)).abs() < 1e-9);
    assert!((found["largest-sensitivity"] - 136.0).abs() < 1e-9);
    let cut = metrics(&[("sensitivity = \"published\"", &format!("{rule}\nthreshold = 3.0"))]);
    assert!((cut["sensitivity/polynomial-1"] - 36.0).abs() < 1e-9, "{}", cut["sensitivity/polynomial-1"]);
    assert_eq!((cut["allowed"], cut["probability/polynomial-1"]), (1.0, 0.0));
    // With one configuration alone a uniform pick errs as the mechanism does.
    assert!((cut["uniform-rmse"] / cut["expected-rmse"] - 1.0).abs() < 1e-12);
}

/// The mean of the first two targets, 1/4, predicts 1 and 2; that of the others, 3/2, predicts 0 and 1/2.
#[test]
fn errors_of_single_folds_are_measured_where_they_are_asked_for() {
    let found = metrics(&[("split.contiguous = 2", "split.contiguous = 2\neach_fold = true")]);
    for (fold, error) in [(1, 3.25), (2, 3.625)] {
        let of_fold = found[&format!("sse-without-noise/polynomial-0/fold-{fold}")];
        assert!((of_fold - error).abs() < 1e-12, "{fold}: {of_fold}");
    }
    let tail = metrics(&[("split.contiguous = 2", "split.tail = 1\neach_fold = true")]);
    let folds = tail.keys().filter(|metric| metric.contains("polynomial-1/fold-"));
    assert_eq!(folds.collect::<Vec<_>>(), ["sse-without-noise/polynomial-1/fold-1"]);
    assert!(metrics(&[]).keys().all(|metric| !metric.contains("fold-")));
}

/// Two of the three rows that are tested are no more than 1.
#[test]
fn the_share_of_the_majority_is_that_of_the_test_rows() {
    let task = "[task.classification]\ntrain = 2\npositive = { is = \">\", value = 0.75 }\ndraws = 1";
    let selection = &TOY[TOY.find("[task").unwrap()..TOY.find("[privacy]").unwrap()];
    let model = "[model]\nkernel.eq = { variance = 1.0, lengthscale = 1.0 }\n\
                 sparse.sor = { jitter = 1e-8, inducing = { points = [[0.0], [4.0]] } }\n";
    let rows = "x = [0.0, 1.0, 2.0, 3.0, 4.0], y = [0.0, 1.0, 0.5, 2.0, 0.0]";
    let found = metrics(&[
        (selection, &format!("{model}{task}\n")),
        ("x = [0.0, 1.0, 2.0, 4.0], y = [0.0, 0.5, 1.0, 2.0]", rows),
        ("epsilon = 1.0", "epsilon = inf"),
    ]);
    assert!((found["majority-share"] - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
}

/// The noise at a point over the size of the prediction there, and nothing without privacy.
#[test]
fn noise_is_told_as_a_share_of_the_prediction() {
    let task = "[task.prediction]\ngrid = [{ from = 0.0, to = 4.0, points = 5 }]\nat = [[1.0]]";
    let selection = &TOY[TOY.find("[task").unwrap()..TOY.find("[privacy]").unwrap()];
    let model = "[model]\nnoise_variance = 1.0\nkernel.eq = { variance = 1.0, lengthscale = 1.0 }\n";
    let changes = [(selection, &*format!("{model}{task}\n"))];
    let found = metrics(&changes);
    let share = found["noise-sd@1"] / found["mean@1"].abs();
    assert!((found["noise-share@1"] / share - 1.0).abs() < 1e-9, "{found:?}");
    let open = metrics(&[changes[0], ("epsilon = 1.0", "epsilon = inf")]);
    assert!(open.contains_key("noise-sd@1") && !open.contains_key("noise-share@1"), "{open:?}");
}
