//! The main job through the real binary.

use std::collections::BTreeMap;

use crate::support::cli::Project;
use crate::support::kung::mirror;
use crate::support::rows::table_rows;
use crate::support::study::STUDY;

fn value(rows: &[BTreeMap<String, String>], wanted: &[(&str, &str)]) -> f64 {
    let found: Vec<_> = rows.iter().filter(|row| wanted.iter().all(|(k, v)| row[*k] == *v)).collect();
    assert_eq!(found.len(), 1, "{wanted:?}");
    found[0]["value"].parse().unwrap()
}

/// `2 ln(2/delta)` at delta = 0.01, the square of c(delta).
fn c_squared() -> f64 {
    2.0 * 200f64.ln()
}

#[test]
fn the_toy_needs_no_download_and_writes_its_results() {
    let project = Project::new();
    let run = project.dpgp(&["run", "smith2021/toy", "--offline", "--rows"]).expect(0);
    assert!(run.out.contains("agrees") && run.out.contains("holds, "), "{}", run.out);
    for file in ["table.csv", "table.md", "claims.csv", "figure.svg", "manifest.json"] {
        assert!(!project.read(&format!("results/smith2021/toy/{file}")).is_empty());
    }
    let table = project.read("results/smith2021/toy/table.csv");
    let header = "experiment,cell,split,variant,objective,metric,value,spread,spread_kind,repeats,published,\
                  published_spread,verdict,guarantee,epsilon,delta,delta_exact,gap,interval_low,interval_high,p_value,\
                  spread_verdict,authors,authors_verdict,reference,reference_spread,reference_verdict,ratio_to_print,z";
    assert_eq!(table.lines().next().unwrap(), header);
}

#[test]
fn several_experiments_are_one_value_and_each_ends_with_a_sentence() {
    let project = Project::with_study(STUDY);
    let both = ["run", "study.toml", "smith2021/toy", "--offline"];
    let values = project.dpgp(&[&both[..], &["--format", "json"]].concat()).expect(0).json();
    let names: Vec<&str> = values.as_array().unwrap().iter().map(|v| v["experiment"].as_str().unwrap()).collect();
    assert_eq!(names, ["study", "smith2021/toy"]);
    let run = project.dpgp(&both).expect(0);
    assert!(run.out.contains(" printed numbers") && run.out.contains(" of the paper: "), "{}", run.out);
    let listed = project.dpgp(&["list", "SMITH2021", "toy"]).expect(0).out;
    assert!(listed.contains("smith2021/toy") && !listed.contains("smith2021/table1"), "{listed}");
    assert!(project.dpgp(&["list", "nonesuch"]).expect(0).out.contains("no experiment"));
}

/// Changed settings have results of their own, and keep of the paper's numbers those of cells that are as they were.
#[test]
fn settings_are_changed_for_one_run() {
    let project = Project::with_study(&format!(
        "{STUDY}\n[published.table]\ncolumns = [\"lengthscale\", \"epsilon\", \"metric\", \"value\", \"precision\", \"source\"]\nrows = [[5.0, 1.0, \"rmse\", 2.0, 0.1, \"here\"], [10.0, inf, \"rmse\", 2.0, 0.1, \"here\"]]\n"
    ));
    project.dpgp(&["run", "study.toml"]).expect(0);
    let before = project.read("results/study/table.csv");
    let change = ["run", "study.toml", "--set", "privacy.epsilon=1.0, 2", "--format", "json"];
    let run = project.dpgp(&change).expect(0).json();
    assert_eq!((run["stored_before"].as_u64(), run["rows"].as_array().unwrap().len()), (Some(4), 16));
    let folder = run["results"].as_str().unwrap().to_owned();
    assert!(folder.starts_with("results/study/changed/"), "{folder}");
    let table = table_rows(&project.read(&format!("{folder}/table.csv")));
    let printed: Vec<&str> =
        table.iter().filter(|row| !row["published"].is_empty()).map(|row| row["epsilon"].as_str()).collect();
    assert_eq!(printed, ["1"]);
    // Another model is nobody's printed number.
    let run = project
        .dpgp(&["run", "study.toml", "--set", "model.noise_variance=2", "--set", "lengthscale=5.0", "--rows"])
        .expect(0);
    assert!(run.out.contains("changed: model.noise_variance = 2\n"), "{}", run.out);
    assert!(run.out.contains("2 numbers and claims are left out because of changed settings"), "{}", run.out);
    assert_eq!(project.read("results/study/table.csv"), before);
    for (wrong, why) in [
        ("model.noise=2", "unknown field `noise`"),
        ("noise_variance=2", "no axis or setting \"noise_variance\" (did you mean \"model.noise_variance\"?)"),
        ("epsilom=2", "(did you mean \"epsilon\"?); the axes are lengthscale, epsilon"),
        ("privacy.epsilon=-1", "with privacy.epsilon = -1: must be greater than 0"),
        ("epsilon=0,5", "found 0; use a decimal point, as in 0.5"),
        ("data.source.inline.x.y=1", "is a value, not a section"),
        ("privacy.epsilon=", "is not a valid change"),
        ("experiment.seed=2", "settings begin with data, model, normalise, privacy, task"),
    ] {
        let run = project.dpgp(&["run", "study.toml", "--set", wrong]).expect(2);
        assert!(run.err.contains(why), "{wrong}: {}", run.err);
    }
}

/// The exact values of section 5.1, from closed forms: with d = 2 the noise variance is `d^2 c^2 tr M`, and for the
/// log-det optimum on a square C of full rank M = C C', on the rank-one C of the mean M = c c'.
#[test]
fn the_toy_reproduces_its_closed_forms() {
    let project = Project::new();
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let table = table_rows(&project.read("results/smith2021/toy/table.csv"));
    let published = |split: &str, metric: &str| {
        value(&table, &[("split", split), ("variant", "published"), ("objective", "log-det"), ("metric", metric)])
    };
    let noise = 4.0 * c_squared();
    // Traces of C C' over both folds: the line through (0, 1) predicts at 2 and 4 with (-1, 2) and (-3, 4), the line
    // through (2, 4) at 0 and 1 with (2, -1) and (1.5, -0.5); interleaved: through (0, 2) at 1 and 4, through (1, 4) at 0 and 2.
    let halves = (1.0 + 4.0 + 9.0 + 16.0) + (4.0 + 1.0 + 2.25 + 0.25);
    let interleaved = (0.25 + 0.25 + 1.0 + 4.0) + (16.0 / 9.0 + 1.0 / 9.0 + 4.0 / 9.0 + 1.0 / 9.0);
    let cases = [
        ("halves", "sse/polynomial-0", 6.875 + noise, 49.26153893),
        ("halves", "sse/polynomial-1", noise * halves, 1589.49520996),
        ("interleaved", "sse/polynomial-0", 3.875 + noise, 46.26153893),
        ("interleaved", "sse/polynomial-1", noise * interleaved, 336.73750374),
    ];
    for (split, metric, closed, sheet) in cases {
        let found = published(split, metric);
        assert!((found / closed - 1.0).abs() < 1e-9, "{split} {metric}: {found} {closed}");
        assert!((found / sheet - 1.0).abs() < 1e-9, "{split} {metric}: {found} {sheet}");
    }
    for (split, sensitivity) in [("halves", 116.0), ("interleaved", 53.0)] {
        assert!((published(split, "sensitivity/polynomial-1") / sensitivity - 1.0f64).abs() < 1e-9);
        let gap = published(split, "sse/polynomial-1") - published(split, "sse/polynomial-0");
        let probability = 1.0 / (1.0 + (-gap / (2.0 * sensitivity)).exp());
        let found = published(split, "probability/polynomial-0");
        assert!((found / probability - 1.0).abs() < 1e-9, "{split}: {found} {probability}");
    }
}

/// What the protocol sheet lists beyond closed forms, to the digits it prints.
#[test]
fn the_toy_reproduces_the_sheet() {
    let project = Project::new();
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let table = table_rows(&project.read("results/smith2021/toy/table.csv"));
    let sheet = [
        ("halves", "published", "log-det", "probability/polynomial-0", 0.998693, 5e-7),
        ("interleaved", "published", "log-det", "probability/polynomial-0", 0.939365, 5e-7),
        ("halves", "clipped", "log-det", "sse/polynomial-0", 47.366, 5e-4),
        ("halves", "clipped", "log-det", "sse/polynomial-1", 186.406, 5e-4),
        ("interleaved", "clipped", "log-det", "sse/polynomial-0", 44.733, 5e-4),
        ("interleaved", "clipped", "log-det", "sse/polynomial-1", 119.467, 5e-4),
        ("halves", "clipped", "log-det", "probability/polynomial-0", 0.645498, 5e-7),
        ("interleaved", "clipped", "log-det", "probability/polynomial-0", 0.669304, 5e-7),
        ("halves", "published", "trace", "sse/polynomial-1", 1131.071, 5e-4),
        ("interleaved", "published", "trace", "sse/polynomial-1", 309.226, 5e-4),
        ("halves", "corrected", "log-det", "sensitivity/polynomial-0", 58.0, 1e-9),
        ("halves", "corrected", "log-det", "sensitivity/polynomial-1", 140.0, 1e-9),
        ("interleaved", "corrected", "log-det", "sensitivity/polynomial-0", 58.0, 1e-9),
        ("interleaved", "corrected", "log-det", "sensitivity/polynomial-1", 91.0, 1e-9),
    ];
    for (split, variant, objective, metric, expected, tolerance) in sheet {
        let wanted = [("split", split), ("variant", variant), ("objective", objective), ("metric", metric)];
        let found = value(&table, &wanted);
        assert!((found - expected).abs() <= tolerance, "{wanted:?}: {found} {expected}");
    }
}

/// A spec without reduced settings runs whole, and says so if it was asked for by name.
#[test]
fn a_spec_without_reduced_settings_says_that_it_runs_whole() {
    let project = Project::new();
    let toy = project.dpgp(&["run", "smith2021/toy", "--quick", "--quiet"]).expect(0);
    assert_eq!(toy.err, "note: smith2021/toy has no [quick] table, so all of it runs\n");
    assert_eq!(project.dpgp(&["run", "smith2021/toy", "--quiet"]).expect(0).err, "");
}

#[test]
fn table_one_on_the_real_data() {
    if mirror().is_none() {
        return;
    }
    let project = Project::new();
    project.dpgp(&["run", "smith2021/table1", "--quick", "--quiet"]).expect(0);
    let table = table_rows(&project.read("results/smith2021/table1/quick/table.csv"));
    // Three shuffles against the mean over 30 and three of their between-shuffle SDs, from the protocol sheet.
    let sheet = [
        ("age", "standard", 13.36, 0.12),
        ("age", "sparse", 9.91, 0.06),
        ("age+weight", "standard", 17.32, 0.17),
        ("age+weight", "sparse", 10.17, 0.03),
    ];
    for (inputs, method, reached, sd) in sheet {
        let found = value(&table, &[("inputs", inputs), ("method", method), ("epsilon", "1"), ("metric", "rmse")]);
        assert!((found - reached).abs() <= 3.5 * sd, "{inputs} {method}: {found}, reached {reached}");
    }
    for row in table.iter().filter(|row| row["epsilon"] == "1") {
        assert!(row["delta_exact"].parse::<f64>().unwrap() <= 0.01);
        // On one shuffle the solver ends at a gap of 5.5e-4 for the sparse model of two inputs; the table says so.
        let most = if row["method"] == "sparse" { 1e-3 } else { 1e-8 };
        assert!(row["gap"].parse::<f64>().unwrap() <= most, "{row:?}");
        assert!(row["guarantee"].contains("private statistics"));
    }
}

/// A study of 40 points with a grid.
fn study(grid: &str) -> String {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.5).collect();
    let y: Vec<f64> = x.iter().map(|x| (x * 0.7).sin()).collect();
    format!(
        "[experiment]\ntitle = 'determinism'\nreplicates = 3\n[data]\nsource.inline = {{ x = {x:?}, y = {y:?} }}\n\
         inputs = ['x']\ntarget = 'y'\n[model]\nnoise_variance = 0.1\nkernel.eq = {{ variance = 1.0, lengthscale = 2.0 }}\n\
         [task.regression]\nsplit.shuffled = 5\ndraws = 10\n[privacy]\nepsilon = 1.0\ndelta = 0.01\nchange = 2.0\n\
         mechanism.cloaking = {{ objective = 'trace', rank_tolerance = 1e-8 }}\n{grid}"
    )
}

/// The table of the study with a grid, computed on so many threads.
fn table(project: &Project, grid: &str, jobs: &str) -> String {
    project.write("d.toml", &study(grid));
    project.dpgp(&["run", "d.toml", "--jobs", jobs]).expect(0);
    project.read("results/d/table.csv")
}

/// The rows of a table in an order that does not depend on the grid's.
fn sorted_rows(table: &str) -> Vec<Vec<(String, String)>> {
    let mut rows: Vec<Vec<_>> = table_rows(table).into_iter().map(|row| row.into_iter().collect()).collect();
    rows.sort();
    rows
}

/// The cells of a single block share its threads, and have the same bytes on one thread and on eight. Twelve releases of moments of
/// 400 rows, each with a design of its own.
#[test]
fn a_single_block_is_the_same_on_any_number_of_threads() {
    let x: Vec<f64> = (0..400).map(|i| f64::from((37 * i) % 400) / 400.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (x * 7.0).sin()).collect();
    let spec = format!(
        "[experiment]\ntitle = 'one block'\n[data]\nsource.inline = {{ x = {x:?}, y = {y:?} }}\ninputs = ['x']\ntarget = 'y'\n\
         [normalise.bounds]\nlow = -1.0\nhigh = 1.0\nscale = 1.0\n[model]\nnoise_variance = 0.1\n\
         kernel.eq = {{ variance = 1.0, lengthscale = 0.3 }}\n\
         [task.surface]\nmap = [{{ from = 0.1, to = 0.9, points = 5 }}]\n\
         [privacy]\nepsilon = 1.0\ndelta = 1e-5\ncalibration = 'analytic'\n\
         mechanism.moments = {{ target_bound = 1.0, domain = [[0.0, 1.0]] }}\n\
         [grid]\n'privacy.epsilon' = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, inf]\n"
    );
    let computed = |jobs| {
        let project = Project::new();
        project.write("one.toml", &spec);
        let said = project.dpgp(&["run", "one.toml", "--jobs", jobs]).expect(0);
        assert!(said.out.contains("1 block computed"), "{}", said.out);
        project.read("results/one/table.csv")
    };
    assert_eq!(computed("1"), computed("8"));
}

/// The same bytes on one and two threads, and the same rows with the grid written in another order.
#[test]
fn determinism() {
    let (a, b, c) = (
        "\"privacy.epsilon\" = [0.5, 1.0, inf]\n",
        "\"model.kernel.eq.lengthscale\" = [1.0, 2.0]\n",
        "\"privacy.calibration\" = ['classic', 'analytic']\n",
    );
    // Each run has a project of its own, because stored results are not computed again.
    let one = table(&Project::new(), &format!("[grid]\n{a}{b}{c}"), "1");
    assert_eq!(one, table(&Project::new(), &format!("[grid]\n{a}{b}{c}"), "2"));
    let reordered = table(&Project::new(), &format!("[grid]\n{c}{b}{a}"), "2");
    let first = sorted_rows(&one);
    assert_eq!(first, sorted_rows(&reordered));
    // A grid that holds one more value leaves the numbers of the others alone.
    let longer = table(&Project::new(), &format!("[grid]\n{}{b}{c}", a.replace("inf", "inf, 2.0")), "2");
    let longer = sorted_rows(&longer);
    assert!(first.iter().all(|row| longer.contains(row)));
}

/// Results of another seed must not replace those that others compare with.
#[test]
fn another_seed_has_a_folder_of_its_own() {
    let project = Project::empty();
    let [own, other] = [&[][..], &["--seed", "2"]].map(|seed| {
        let run = project.dpgp(&[&["run", "smith2021/toy", "--format", "json", "--quiet"], seed].concat()).expect(0);
        run.json()["results"].as_str().unwrap().to_owned()
    });
    assert!(own.ends_with("smith2021/toy") && other.ends_with("smith2021/toy/changed/seed-2"), "{own} {other}");
}

/// Generated test points stand in the data twice, so that folds of all rows would train on what they test.
#[test]
fn generated_test_points_are_not_cut_into_folds() {
    let project = Project::empty();
    let spec = r#"experiment.title = "a draw"
data = { source.synthetic.gaussian-process = { points = 50, noise = 1.0, lengthscale = 1.0, test = 20 }, inputs = ["x"], target = "y" }
normalise.bounds = { low = -3.0, high = 3.0, scale = 1.0 }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.regression = { split.shuffled = 5, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 6.0, calibration = "analytic", mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-6 } }
"#;
    project.write("draw.toml", spec);
    let refused = project.dpgp(&["run", "draw.toml"]).expect(2).err;
    assert!(refused.contains("has test points, but this task splits all rows into folds"), "{refused}");
    project.write("draw.toml", &spec.replace("test = 20", "test = 0"));
    project.dpgp(&["run", "draw.toml", "--quiet"]).expect(0);
}
