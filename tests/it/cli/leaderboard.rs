//! Leaderboards: one spec, several mechanisms, the scores of their predictive distributions.

use std::collections::BTreeMap;

use crate::support::cli::Project;
use crate::support::rows::table_rows;

/// Sixty noisy points of a sine, and methods that hide targets or whole records.
fn spec() -> String {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x.sin() + 0.1 * ((7 * i) % 11) as f64 - 0.5).collect();
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
constant = {{ "task.leaderboard.baseline" = "constant" }}
mean = {{ "task.leaderboard.baseline" = "mean" }}
cloaking = {{}}
chosen = {{ "task.leaderboard.choose" = {{ lengthscales = [0.3, 1.5], share = 0.25, folds = 3 }} }}
function = {{ "privacy.mechanism" = {{ function = {{ sensitivity = "exact" }} }} }}
bins = {{ "privacy.mechanism" = {{ binning = {{ bins = 10, statistic = "mean", estimate = {{ bin = {{}} }} }} }} }}
bins-denoised = {{ "privacy.mechanism" = {{ binning = {{ bins = 10, statistic = "mean", estimate = {{ bin = {{}} }}, denoise = true }} }} }}
moments = {{ "privacy.mechanism" = {{ moments = {{ target_bound = 2.0, domain = [[0.0, 10.0]] }} }} }}
sums = {{ "task.leaderboard.inducing" = [{{ from = 0.0, to = 10.0, points = 9 }}], "privacy.mechanism" = {{ sums = {{ target_bound = 2.0, features = {{ supremum = [[0.0, 10.0]] }}, sensitivity = "exact" }} }} }}
sites = {{ "task.leaderboard.posterior" = "sites", "task.leaderboard.inducing" = [{{ from = 0.0, to = 10.0, points = 9 }}], "privacy.mechanism" = {{ sums = {{ target_bound = 2.0, features = {{ supremum = [[0.0, 10.0]] }}, sensitivity = "exact" }} }} }}
ellipsoid = {{ "task.leaderboard.posterior" = "sites", "task.leaderboard.inducing" = [{{ from = 0.0, to = 10.0, points = 9 }}], "privacy.mechanism" = {{ sums = {{ target_bound = 2.0, features = {{ supremum = [[0.0, 10.0]] }}, sensitivity = "exact", noise = "ellipsoid" }} }} }}
held = {{ "task.leaderboard.calibrate" = {{ share = 0.2 }}, "privacy.mechanism" = {{ moments = {{ target_bound = 2.0, domain = [[0.0, 10.0]] }} }} }}
"#
    )
}

/// The rows of the table.
struct Board(Vec<BTreeMap<String, String>>);

impl Board {
    fn row(&self, method: &str, epsilon: f64, metric: &str) -> &BTreeMap<String, String> {
        let found = self.0.iter().filter(|row| row["method"] == method && row["metric"] == metric);
        let mut found = found.filter(|row| is_near(row["epsilon"].parse().unwrap(), epsilon));
        found.next().unwrap()
    }

    fn value(&self, method: &str, epsilon: f64, metric: &str) -> f64 {
        self.row(method, epsilon, metric)["value"].parse().unwrap()
    }
}

/// Equal up to rounding, infinities too.
fn is_near(a: f64, b: f64) -> bool {
    a == b || (a / b - 1.0).abs() < 1e-12
}

#[test]
fn methods_are_scored_by_their_predictive_distributions() {
    let project = Project::new();
    project.write("board.toml", &spec());
    project.dpgp(&["run", "board.toml", "--quiet"]).expect(0);
    let board = Board(table_rows(&project.read("results/board/table.csv")));
    for metric in ["rmse", "r2", "log-score", "crps", "coverage-90"] {
        assert_eq!(
            board.value("cloaking", f64::INFINITY, metric),
            board.value("function", f64::INFINITY, metric),
            "{metric}: the same model"
        );
        let gap = board.value("cloaking", f64::INFINITY, metric) - board.value("chosen", f64::INFINITY, metric);
        assert!(gap.abs() < 1e-9, "{metric}: without noise the better lengthscale is chosen");
    }
    assert!(board.value("cloaking", 1.0, "rmse") < board.value("function", 1.0, "rmse"));
    assert!(board.value("cloaking", 1000.0, "rmse") < 1.2 * board.value("cloaking", f64::INFINITY, "rmse"));
    for epsilon in [1.0, 1000.0, f64::INFINITY] {
        let [raw, denoised] = ["bins", "bins-denoised"].map(|method| board.value(method, epsilon, "rmse"));
        // Without noise a bin still blurs what is inside it.
        assert!(denoised < raw, "epsilon = {epsilon}: {denoised} {raw}");
    }
    let claims = ["bins", "bins-denoised"].map(|method| &board.row(method, 1.0, "rmse")["delta_exact"]);
    assert_eq!(claims[0], claims[1], "the same release");
    assert!(board.value("moments", 1000.0, "rmse") < 1.2 * board.value("cloaking", f64::INFINITY, "rmse"));
    for metric in ["rmse", "r2", "log-score", "crps"] {
        let [held, moments] = ["held", "moments"].map(|method| board.value(method, f64::INFINITY, metric));
        assert_eq!(held, moments, "{metric}: counts move intervals alone");
    }
    let scores = ["sites", "sums"].map(|method| board.value(method, 1.0, "log-score"));
    assert!(scores[0] > scores[1], "the same release, by counts that are not negative: {scores:?}");
    let private = ["cloaking", "chosen", "function", "bins", "bins-denoised", "sums", "moments"];
    for method in private.into_iter().chain(["sites", "ellipsoid", "held"]) {
        let row = board.row(method, 1.0, "coverage-90");
        let (coverage, delta): (f64, f64) = (row["value"].parse().unwrap(), row["delta_exact"].parse().unwrap());
        // The correction of noisy sums is of first order: it knows only a part of the noise.
        let least = if method == "sums" { 0.4 } else { 0.7 };
        assert!(coverage > least, "{method}: intervals know the noise: {coverage}");
        assert!(delta <= 1e-5 * (1.0 + 1e-9), "{method}");
        assert!(board.value(method, 1.0, "log-score") < board.value(method, 1000.0, "log-score"), "{method}");
    }
}

/// A constant knows no epsilon and hides nothing; a mean of forty-five targets within [-2, 2] has noise of `sigma 4 / 45`.
#[test]
fn baselines_are_a_constant_and_a_private_mean() {
    let project = Project::new();
    let all = spec().replace("draws = 20", "draws = 4000\nscore = \"clipped\"");
    let others = all.find("cloaking = {}").unwrap();
    project.write("board.toml", &all[..others]);
    project.dpgp(&["run", "board.toml", "--quiet"]).expect(0);
    let board = Board(table_rows(&project.read("results/board/table.csv")));
    let (constant, mean) = (board.row("constant", f64::INFINITY, "rmse"), board.row("mean", 1.0, "rmse"));
    assert_eq!((constant["guarantee"].as_str(), mean["delta_exact"].is_empty()), ("none", false));
    assert!(board.value("constant", f64::INFINITY, "r2").abs() < 1e-12);
    assert!(
        (board.value("mean", f64::INFINITY, "rmse") / constant["value"].parse::<f64>().unwrap() - 1.0).abs() < 1e-12
    );
    // The multiplier of the analytic Gaussian mechanism at (1, 1e-5) is 3.730 632 (Balle and Wang 2018). R2 is a mean of ratios to the
    // squares of the constant, whose folds differ.
    let noise = (3.730_632f64 * 4.0 / 45.0).powi(2);
    let squares = constant["value"].parse::<f64>().unwrap().powi(2);
    let expected = -noise / squares;
    let found = board.value("mean", 1.0, "r2");
    assert!((found / expected - 1.0).abs() < 0.15, "{found} {expected}");
    // The score of a distribution is at most the mean absolute error of its median.
    assert!(board.value("mean", 1.0, "crps") < board.value("mean", 1.0, "rmse"));
}

/// A table in which the order of the methods was put by hand: standard errors of 3 / sqrt(9) = 1 each.
#[test]
fn the_best_is_told_with_what_is_level_with_it() {
    let project = Project::new();
    let layout = "[table]\nmetric = \"rmse\"\nrows = [\"method\"]\ncolumns = [\"epsilon\"]\nbest = \"least\"\n";
    project.write("board.toml", &(spec() + layout));
    let target = "one target changes by <= 4.0";
    let mut table = "experiment,cell,privacy.epsilon,method,metric,value,spread,spread_kind,repeats,guarantee,epsilon,delta,delta_exact\n"
        .to_owned();
    for (method, value, guarantee, delta) in [
        ("constant", 50.0, "none", "inf,,"),
        ("cloaking", 42.0, target, "1,1e-5,1e-5"),
        ("bins", 40.0, target, "1,1e-5,1e-5"),
        // It claims more than it keeps.
        ("function", 1.0, target, "1,1e-5,2e-5"),
        ("moments", 45.0, "one record is replaced", "1,1e-5,1e-5"),
    ] {
        table.push_str(&format!("board,c,1,{method},rmse,{value},3,sd-folds,9,{guarantee},{delta}\n"));
        table.push_str(&format!("board,c,1,{method},crps,0,3,sd-folds,9,{guarantee},{delta}\n"));
    }
    std::fs::create_dir_all(project.path("results/board")).unwrap();
    project.write("results/board/table.csv", &table);
    let best = project.dpgp(&["best", "board.toml", "--epsilon", "1"]).expect(0).out;
    let lines: Vec<Vec<&str>> = best.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "board, epsilon = 1: lowest rmse is best");
    assert_eq!(lines[2], ["1", "bins", "40.00", "±", "1.000", "targets", "-20.0", "%"]);
    assert_eq!(lines[3], ["=2", "cloaking", "42.00", "±", "1.000", "targets", "-16.0", "%"]);
    assert_eq!(lines[4], ["-", "constant", "50.00", "±", "1.000", "nothing"]);
    assert_eq!(lines[5][..4], ["±:", "one", "standard", "error"]);
    assert_eq!(lines.len(), 6, "{best}");
    let all = project.dpgp(&["best", "board.toml", "--all", "--format", "json"]).expect(0).json();
    let methods = all[0]["methods"].as_array().unwrap();
    let order: Vec<&str> = methods.iter().map(|method| method["method"].as_str().unwrap()).collect();
    assert_eq!(order, ["bins", "cloaking", "moments", "function", "constant"]);
    assert_eq!(methods[3]["place"], serde_json::Value::Null);
    let records = project.dpgp(&["best", "board.toml", "--hides", "records"]).expect(0).out;
    assert!(records.contains("moments") && !records.contains("bins"), "{records}");
    let latex = project.dpgp(&["table", "board.toml", "--as", "latex"]).expect(0).out;
    assert!(latex.contains("bins & 40.0 $\\pm$ 3.0 \\\\"), "{latex}");
    assert!(latex.contains("$\\pm$: one standard deviation over 9 folds"), "{latex}");
    let turned = project.dpgp(&["table", "board.toml", "--rows", "epsilon", "--columns", "method", "--as", "csv"]);
    assert!(turned.expect(0).out.starts_with(",epsilon,constant,cloaking,bins,function,moments\n,1,50.0 ± 3.0,"));
    // Over 9 folds, a standard deviation of 3 is a standard error of 1.
    let errors = project.dpgp(&["table", "board.toml", "--rows", "epsilon", "--standard-errors"]).expect(0).out;
    assert!(errors.contains("50.0 ± 1.0") && !errors.contains("± 3.0"), "{errors}");
    assert!(errors.contains("±: one standard error of the mean over 9 folds (folds share rows"), "{errors}");
    // A spread over replicates counts if there are five or more: 10 / sqrt(25) in place of 3 / sqrt(9).
    for (repeats, shown) in [(4, "42.00 ± 1.000"), (25, "42.00 ± 2.000")] {
        let row = format!("board,k,1,cloaking,rmse-replicates,42,10,sd-replicates,{repeats},{target},1,1e-5,1e-5\n");
        let own = table.replace("board,c,1,cloaking", "board,k,1,cloaking") + &row;
        project.write("results/board/table.csv", &own);
        let best = project.dpgp(&["best", "board.toml", "--epsilon", "1"]).expect(0).out;
        assert!(best.contains(shown), "{repeats}: {best}");
    }
    project.write("results/board/table.csv", &table);
    for (wrong, known) in [(["--metric", "rsme"], "crps, rmse"), (["--rows", "way"], "epsilon, method")] {
        let run = project.dpgp(&[&["table", "board.toml"], &wrong[..]].concat()).expect(2);
        assert!(run.err.contains(known), "{}", run.err);
    }
    let run = project.dpgp(&["best", "board.toml", "--epsilon", ".7"]).expect(2);
    assert!(run.err.contains("no selected table has epsilon = 0.7; use one of 1\n"), "{}", run.err);
    for wrong in [["--epsilon", "7"], ["--epsilon", "nan"], ["--hides", "rows"]] {
        project.dpgp(&[&["best", "board.toml"], &wrong[..]].concat()).expect(2);
    }
}

/// Fails unless the spec with a change is refused with a message that names a key.
#[test]
fn tables_of_another_version_of_a_spec_are_told() {
    let project = Project::with_study(STUDY);
    project.write("rows.csv", "x,y\n0,1\n1,0\n2,1\n3,0\n");
    let verbs: [&[&str]; 2] = [&["best", "study.toml"], &["table", "study.toml"]];
    project.dpgp(&["run", "study.toml", "--quiet"]).expect(0);
    for verb in verbs {
        assert_eq!(project.dpgp(verb).expect(0).err, "", "{verb:?}");
    }
    project.write("study.toml", &STUDY.replace("draws = 2", "draws = 3"));
    for verb in verbs {
        let told = project.dpgp(verb).expect(0).err;
        assert!(told.contains("table.csv is from another version of the spec study"), "{verb:?}: {told}");
    }
}

/// A board that takes no time.
const STUDY: &str = r#"
experiment.title = "Two methods"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 1.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.leaderboard = { split.interleaved = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 1.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
axis.method = { constant = { "task.leaderboard.baseline" = "constant" }, cloaking = {} }
table = { metric = "rmse", rows = ["method"], columns = [], best = "least" }
"#;

fn assert_refused(project: &Project, from: &str, to: &str, key: &str) {
    project.write("board.toml", &spec().replace(from, to));
    let said = project.dpgp(&["run", "board.toml"]).expect(2).err;
    assert!(said.contains(key), "{said}");
}

#[test]
fn a_choice_needs_cloaking_and_a_share() {
    let project = Project::new();
    assert_refused(&project, "share = 0.25", "share = 1.0", "share");
    assert_refused(&project, "lengthscales = [0.3, 1.5]", "lengthscales = []", "lengthscales");
    let chosen = "\"task.leaderboard.choose\" = { lengthscales = [1.0], share = 0.5, folds = 2 }, ";
    let function = "function = { \"privacy";
    assert_refused(&project, function, &format!("function = {{ {chosen}\"privacy"), "needs mechanism.cloaking");
    let mean = "mean = { \"task";
    assert_refused(&project, mean, &format!("mean = {{ {chosen}\"task"), "cannot be combined with `baseline`");
}

#[test]
fn what_sums_and_moments_alone_know_is_refused_elsewhere() {
    let project = Project::new();
    let function = "function = { \"privacy";
    for (key, value, said) in [
        ("posterior", "\"sites\"", "needs mechanism.sums; no other mechanism has a posterior rule"),
        ("calibrate", "{ share = 0.1 }", "needs mechanism.moments; no other intervals are calibrated"),
    ] {
        let asked = format!("function = {{ \"task.leaderboard.{key}\" = {value}, \"privacy");
        assert_refused(&project, function, &asked, said);
        let baseline = format!("mean = {{ \"task.leaderboard.{key}\" = {value}, \"task");
        assert_refused(&project, "mean = { \"task", &baseline, said);
    }
    assert_refused(&project, "share = 0.2 }", "share = 1.0 }", "share");
    // Of the bounds -2 to 2 hardly anything would be left.
    assert_refused(&project, "high = 2.0", "high = 2.0\nscale = 0.05", "normalise.bounds.scale");
    let plain = "sums = { \"task.leaderboard.inducing\" = [{ from = 0.0, to = 10.0, points = 9 }], \"privacy.mechanism\" = { sums = { ";
    assert!(spec().contains(plain));
    assert_refused(&project, plain, &format!("{plain}noise = \"ellipsoid\", "), "posterior = \"sites\"");
}

/// The same rows with moments alone.
fn moments() -> String {
    let spec = spec().replace("draws = 20", "draws = 2");
    let (head, _) = spec.split_once("[privacy.mechanism.cloaking]").unwrap();
    format!("{head}mechanism.moments = {{ target_bound = 2.0, domain = [[0.0, 10.0]], period = 1.5 }}\n")
}

#[test]
fn moments_hide_whole_records() {
    hides_whole_records(&moments());
}

/// The counts have their part of the budget, and no more.
#[test]
fn calibrated_moments_hide_whole_records() {
    let task = "[task.leaderboard]\n";
    hides_whole_records(&moments().replace(task, &format!("{task}calibrate.share = 0.2\n")));
}

fn hides_whole_records(spec: &str) {
    let project = Project::new();
    project.write("moments.toml", spec);
    let audit = project.dpgp(&["audit", "moments.toml", "--quiet", "--format", "json"]).expect(0).json();
    let cell = &audit[0]["cells"][0];
    assert_eq!(cell["verdict"], "holds", "{cell:#}");
    let most = cell["checks"][0]["found"]["delta-at-most"].as_f64().unwrap();
    assert!(most <= 1e-5 * (1.0 + 1e-9) && most > 0.9e-5, "the noise is what the claim needs: {most}");
    let stated = project.dpgp(&["run", "moments.toml", "--quiet", "--rows"]).expect(0).out;
    let claim = "noisy moments, analytic calibration, one record is replaced";
    assert!(stated.contains(claim), "{stated}");
}

#[test]
fn mistakes_about_moments_are_refused() {
    let project = Project::new();
    let two = "domain = [[0.0, 10.0], [0.0, 1.0]]";
    for (from, to, said) in [
        ("target_bound = 2.0, ", "", "target_bound"),
        ("target_bound = 2.0", "target_bound = 0.0", "greater than 0"),
        ("domain = [[0.0, 10.0]]", "domain = [[10.0, 0.0]]", "increasing"),
        ("domain = [[0.0, 10.0]]", two, "needs one value for each input (1), found 2"),
        ("period = 1.5", "period = 0.9", "from 1 to 10"),
        ("high = 2.0", "high = 2.0\nscale = 0.05", "normalise.bounds.scale"),
        ("kernel.eq = { variance = 1.0, lengthscale = 1.5 }", "kernel.linear = { variance = 1.0 }", "stationary"),
        ("[task.leaderboard]\nsplit.interleaved = 4", "[task.regression]\nsplit.contiguous = 4", "mechanism.cloaking"),
    ] {
        let spec = moments();
        assert!(spec.contains(from), "{from}");
        project.write("moments.toml", &spec.replace(from, to));
        let message = project.dpgp(&["run", "moments.toml"]).expect(2).err;
        assert!(message.contains(said), "{said}: {message}");
    }
}

/// A method of the user is ranked by the mean of its rows, whose labels may be written in another way, and nothing is said of its guarantee.
#[test]
fn methods_of_the_user_are_ranked_with_ours() {
    let project = Project::empty();
    let best = ["show", "beyond/leaderboard/kung", "--best", "--epsilon", "1", "--with", "mine.csv"];
    let rows =
        "method,epsilon,metric,value\nforest,1,rmse,0.5\nforest,1.0,rmse,1.5\nforest,3,rmse,2\npoor,1,rmse,1e6\n";
    project.write("mine.csv", rows);
    let text = project.dpgp(&best).expect(0).out;
    let line = |name: &str| text.lines().find(|line| line.contains(name)).map(str::to_owned).unwrap_or_default();
    assert!(line("forest").starts_with(" 1 ") && line("forest").contains("1.000 ± 0.5000"), "{text}");
    assert!(line("forest").contains("not checked") && line("poor").contains("not checked"), "{text}");
    assert!(line("constant").contains("nothing") && text.matches("forest").count() == 1, "{text}");
    let ranked = project.dpgp(&[&best[..], &["--all", "--format", "json"]].concat()).expect(0).json();
    let methods = ranked[0]["methods"].as_array().unwrap().clone();
    let added: Vec<&str> =
        methods.iter().filter(|m| m["added"] == true).map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(added, ["forest", "poor"]);
    assert_eq!((&methods[0]["place"], &methods[0]["standard_error"]), (&1.into(), &0.5.into()));
    assert!(methods.iter().all(|m| m["checked"] != m["added"]), "{methods:#?}");
    // Rows of one fold share its test points: their mean is one number, and the error is that over folds.
    let folds = "method,epsilon,metric,fold,value\nforest,1,rmse,0,0.4\nforest,1,rmse,1,1.6\nforest,1,rmse,0,0.6\nforest,1,rmse,1,1.4\n";
    project.write("mine.csv", folds);
    let text = project.dpgp(&best).expect(0).out;
    assert!(text.lines().any(|line| line.contains("forest") && line.contains("1.000 ± 0.5000")), "{text}");
    // Replicates are averaged after their folds. Two of them have the mean of their errors over folds, 1 and 2; five with the means 1 to 5
    // have sqrt(2.5 / 5). A row with a spread has its own error.
    let row = |replicate: usize, fold: usize, value: f64| format!("forest,1,rmse,{replicate},{fold},{value}\n");
    let two: String = [(0, 1.0, 3.0), (1, 1.0, 5.0)].map(|(r, a, b)| row(r, 0, a) + &row(r, 1, b)).concat();
    let five: String = (0..5).map(|r| row(r, 0, r as f64) + &row(r, 1, r as f64 + 2.0)).collect();
    let spread = "method,epsilon,metric,value,spread,spread_kind,repeats\nforest,1,rmse,2,6,sd-folds,9\n";
    for (rows, shown) in [
        (format!("method,epsilon,metric,replicate,fold,value\n{two}"), "2.500 ± 1.500"),
        (format!("method,epsilon,metric,replicate,fold,value\n{five}"), "3.000 ± 0.7071"),
        (spread.to_owned(), "2.000 ± 2.000"),
    ] {
        project.write("mine.csv", &rows);
        let text = project.dpgp(&best).expect(0).out;
        assert!(text.lines().any(|line| line.contains("forest") && line.contains(shown)), "{shown}: {text}");
    }
    // What is not ranked is an error, never left out in silence.
    for (rows, names, says) in [
        ("method,epsilon,metric,value\nforest,1,rsme,0.5\n", &best[..], "has no rmse for a method that is not in"),
        ("method,epsilon,metric,value\ntargets-risk,1,rmse,0.5\n", &best, "has no rmse for a method that is not in"),
        (
            "method,epsilon,metric,value\nforest,3,rmse,0.5\n",
            &best,
            "no row belongs to a shown ranking, at epsilon = 1",
        ),
        (
            "method,epsilon,metric,value\nforest,1,rmse,0.5\nforest,7,rmse,0.5\n",
            &best,
            "ranks no methods at epsilon = 7; its values of epsilon are",
        ),
        ("method,metric,value\nforest,rmse,0.5\n", &best, "has no column epsilon"),
        (rows, &["show", "--best", "--with", "mine.csv"], "--with needs the name of one experiment"),
    ] {
        project.write("mine.csv", rows);
        let run = project.dpgp(names).expect(2);
        assert!(run.err.contains(says), "{says}: {}", run.err);
    }
}

/// The errors of a constant on the folds that are written are those that the leaderboard computes.
#[test]
fn folds_are_those_of_the_leaderboard() {
    let numbers = |times: f64| {
        (0..23).map(|i| format!("{:.3}", 5.0 + 4.0 * (times * f64::from(i)).sin())).collect::<Vec<_>>().join(", ")
    };
    let spec = format!(
        "experiment = {{ title = \"folds\", replicates = 2 }}\n\
         data = {{ source.inline = {{ x = [{}], y = [{}] }}, inputs = [\"x\"], target = \"y\", draw.rows = 20 }}\n\
         normalise.bounds = {{ low = 0.0, high = 10.0, scale = 1.0 }}\n\
         model = {{ noise_variance = 1.0, kernel.eq = {{ variance = 1.0, lengthscale = 1.0 }} }}\n\
         task.leaderboard = {{ split.shuffled = 4, draws = 1, baseline = \"constant\" }}\n\
         privacy = {{ epsilon = 1.0, delta = 1e-5, change = 10.0, calibration = \"analytic\", mechanism.cloaking = {{ objective = \"trace\", rank_tolerance = 1e-6 }} }}\n",
        numbers(0.7),
        numbers(1.9)
    );
    let project = Project::empty();
    project.write("s.toml", &spec);
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    let table = project.read("results/s/table.csv");
    let ours = table.lines().find(|line| line.contains(",rmse,")).unwrap();
    let ours: f64 = ours.split(',').skip_while(|field| *field != "rmse").nth(1).unwrap().parse().unwrap();

    project.dpgp(&["data", "folds", "s.toml", "--out", "folds.csv"]).expect(0);
    let text = project.read("folds.csv");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    assert_eq!((text.lines().next(), rows.len()), (Some("replicate,fold,x,y"), 40));
    let mut errors = Vec::new();
    for block in 0..8 {
        let (replicate, fold) = (f64::from(block / 4), f64::from(block % 4));
        let of_replicate = rows.iter().filter(|row| row[0] == replicate);
        let (test, training): (Vec<&Vec<f64>>, Vec<_>) = of_replicate.partition(|row| row[1] == fold);
        let mean = training.iter().map(|row| row[3]).sum::<f64>() / training.len() as f64;
        errors.push((test.iter().map(|row| (row[3] - mean).powi(2)).sum::<f64>() / test.len() as f64).sqrt());
    }
    assert!((errors.iter().sum::<f64>() / 8.0 / ours - 1.0).abs() < 1e-12, "{errors:?} against {ours}");

    // It overwrites nothing, and needs folds.
    project.dpgp(&["data", "folds", "s.toml", "--out", "folds.csv"]).expect(2);
    let other = project.dpgp(&["data", "folds", "smith2021/toy", "--out", "other.csv"]).expect(2);
    assert!(other.err.contains("has no folds"), "{}", other.err);
}
