//! The best private predictions: what they are expected to err by before a release, and what a release writes.

use crate::support::cli::Project;
use crate::support::energy::{TARGETS, day, energy_csv, energy_project};
use crate::support::rows::table_rows;

const NOISE_ALONE: &str = "objective = \"trace\", rank_tolerance = 1e-8";

/// A project whose spec designs map and noise together.
fn project() -> Project {
    let spec = TARGETS.replace(NOISE_ALONE, "objective = \"risk\"");
    assert_ne!(spec, TARGETS);
    energy_project(&spec)
}

const PREVIEW: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--preview", "--quiet"];

const PREVIEW_ALONE: &[&str] = &["predict", "energy.toml", "--at", "alone.csv", "--preview", "--quiet"];

fn errors(project: &Project, more: &[&str]) -> Vec<f64> {
    let run = project.dpgp(&[PREVIEW, more, &["--format", "json"]].concat()).expect(0);
    let preview: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let rows = preview["preview"]["expected"].as_array().unwrap();
    let errors = rows.iter().map(|row| row["error"].as_f64().unwrap());
    let ends = ["prior", "without_privacy"].map(|end| preview["preview"][end].as_f64().unwrap());
    [ends[0]].into_iter().chain(errors).chain([ends[1]]).collect()
}

/// The errors fall from that of the prior mean to that of the model, and those of noise alone are larger.
#[test]
fn a_preview_lies_between_the_prior_and_the_model() {
    let (risk, trace) = (project(), energy_project(TARGETS));
    let found = errors(&risk, &[]);
    assert_eq!(found.len(), 9);
    assert!(found.windows(2).all(|pair| pair[1] < pair[0]), "{found:?}");
    let denoised = errors(&trace, &[]);
    assert!(found.iter().zip(&denoised).skip(1).take(7).all(|(risk, other)| risk <= other), "{denoised:?}");
    let plain = TARGETS.replace(NOISE_ALONE, &format!("{NOISE_ALONE}, denoise = false"));
    let plain = errors(&energy_project(&plain), &[]);
    assert!(plain[1] > plain[0] && denoised[1] < denoised[0], "{plain:?} {denoised:?}");
}

/// The table splits each error into what the noise adds and what even an infinite epsilon leaves: their squares add up to its square.
#[test]
fn a_preview_says_what_an_epsilon_is_worth() {
    let project = energy_project(TARGETS);
    let table = project.dpgp(&[PREVIEW, &["--epsilons", "0.5,5"]].concat()).expect(0).out;
    let heading = table.lines().next().unwrap();
    assert!(heading.contains("from the noise") && heading.contains("left at infinite epsilon"), "{table}");
    let numbers = |name: &str| -> Vec<f64> {
        let row = table.lines().find(|line| line.trim_start().starts_with(&format!("{name} "))).unwrap();
        row.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let (weak, strong) = (numbers("0.5"), numbers("5"));
    for row in [&weak, &strong] {
        let [_, noise, left, error, ..] = row[..] else { panic!("{row:?}") };
        assert!((noise.hypot(left) / error - 1.0).abs() < 2e-3, "{row:?}");
    }
    assert!(weak[1] > strong[1] && weak[2] == strong[2], "{table}");
    assert_eq!(numbers("without privacy"), [strong[2], strong[2]]);
}

/// No target enters a preview, and nothing was charged.
#[test]
fn a_preview_depends_on_no_target() {
    let project = project();
    let before = project.dpgp(PREVIEW).expect(0).out;
    let mut rows: Vec<[f64; 3]> = (0..120).map(day).collect();
    rows.iter_mut().for_each(|row| row[2] = 39.0 - row[2]);
    project.write("energy.csv", &energy_csv(&rows));
    assert_eq!(project.dpgp(PREVIEW).expect(0).out, before);
    assert!(before.contains("nothing was charged"));
    // Not even the key that tells rows apart is made.
    assert!(!project.path("state").exists());
}

/// Points without weight are predicted, but nothing is spent on them: the rest are worth what they are alone.
#[test]
fn weights_say_how_much_points_count() {
    let project = project();
    project.write("alone.csv", "temperature\n5\n10\n");
    project.write("grid.csv", "visits,temperature\n0,-5\n2,5\n2,10\n0,20\n");
    let weighted = errors(&project, &["--weights", "visits"]);
    let even = errors(&project, &[]);
    let run = project.dpgp(&[PREVIEW_ALONE, &["--format", "json"]].concat()).expect(0);
    let preview: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for (i, row) in preview["preview"]["expected"].as_array().unwrap().iter().enumerate() {
        let expected = row["error"].as_f64().unwrap();
        assert!((weighted[i + 1] / expected - 1.0).abs() < 1e-5, "{} {expected}", weighted[i + 1]);
        assert!((even[i + 1] / expected - 1.0).abs() > 1e-3);
    }
}

#[test]
fn weights_that_weigh_nothing_are_refused() {
    let project = project();
    for weights in [["0", "0"], ["-1", "2"], ["1e308", "1e308"]] {
        project.write("grid.csv", &format!("temperature,visits\n5,{}\n10,{}\n", weights[0], weights[1]));
        let said = project.dpgp(&[PREVIEW, &["--weights", "visits"]].concat()).expect(2).err;
        assert!(said.contains("point weights must be at least 0"), "{said}");
    }
    let said = project.dpgp(&[PREVIEW, &["--weights", "area"]].concat()).expect(2).err;
    assert!(said.contains("area"), "{said}");
    let said = energy_project(TARGETS).dpgp(&[PREVIEW, &["--weights", "temperature"]].concat()).expect(2).err;
    assert!(said.contains("objective = \"risk\""), "{said}");
}

#[test]
fn the_least_epsilon_for_an_error_reaches_it() {
    let project = project();
    let between = errors(&project, &["--epsilons", "0.5,0.6"]);
    let wanted = 0.5 * (between[1] + between[2]);
    let run = project.dpgp(&[PREVIEW, &["--error", &wanted.to_string()]].concat()).expect(0);
    let last = run.out.lines().last().unwrap();
    let epsilon: f64 = last.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((0.5..0.61).contains(&epsilon), "{last}");
    let run = project.dpgp(&[PREVIEW, &["--error", "0.0001"]].concat()).expect(0);
    assert!(run.out.contains("no epsilon up to"), "{}", run.out);
    for wrong in ["0", "-1", "inf", "x"] {
        project.dpgp(&[PREVIEW, &["--epsilons", wrong]].concat()).expect(2);
    }
}

/// The names of all files in the folder of a project.
fn files(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path(".")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The heights (pixels from the top) of the dots of a colour, from left to right.
fn dots(svg: &str, colour: &str) -> Vec<f64> {
    let circles = svg.lines().filter(|line| line.starts_with("<circle") && line.contains(colour));
    let heights = circles.map(|line| line.split("cy=\"").nth(1).unwrap().split('"').next().unwrap());
    heights.map(|height| height.parse().unwrap()).collect()
}

/// The figure shows the numbers of the table, and is all that is written.
#[test]
fn a_preview_can_be_drawn() {
    let project = project();
    let before = files(&project);
    let found = errors(&project, &["--figure", "worth.svg"]);
    let mut after = files(&project);
    after.retain(|name| !before.contains(name));
    assert_eq!(after, ["worth.svg"]);
    let svg = project.read("worth.svg");
    // The dots fall as the errors do, to the pixel.
    let drawn = dots(&svg, "#005FAA");
    let errors = &found[1..8];
    assert_eq!(drawn.len(), errors.len());
    for (dot, error) in drawn.iter().zip(errors) {
        let part = (dot - drawn[0]) / (drawn[6] - drawn[0]);
        assert!((part - (errors[0] - error) / (errors[0] - errors[6])).abs() < 0.01, "{drawn:?} {errors:?}");
    }
    // What is there stays.
    project.write("worth.svg", "mine");
    let run = project.dpgp(&[PREVIEW, &["--figure", "worth.svg"]].concat()).expect(2);
    assert!(run.err.contains("worth.svg already exists") && run.out.is_empty(), "{}", run.err);
    assert_eq!(project.read("worth.svg"), "mine");
    project.dpgp(&[PREVIEW, &["--figure", "absent/worth.svg"]].concat()).expect(5);
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--figure", "f.svg"]).expect(2);
    assert!(!project.path("f.svg").exists() && !project.path("absent").exists());
}

#[test]
fn a_drawn_preview_shows_what_is_wanted() {
    let project = project();
    let more = ["--figure", "worth.svg", "--error", "4", "--epsilons", "0.5,2"];
    let run = project.dpgp(&[PREVIEW, &more].concat()).expect(0);
    let last = run.out.lines().last().unwrap();
    assert!(last.starts_with("an error of 4.000 needs epsilon = "), "{last}");
    let epsilon: f64 = last.rsplit(' ').next().unwrap().parse().unwrap();
    let svg = project.read("worth.svg");
    assert!(
        svg.contains(&format!("an error of 4 needs epsilon = {epsilon}\n"))
            && run.out.contains("figure written to worth.svg")
    );
    assert_eq!(dots(&svg, "#005FAA").len(), 2);
}

/// What `predict` writes errs by what the preview says: its interval is that of model and noise together.
#[test]
fn a_release_has_the_error_that_was_foreknown() {
    let project = project();
    let expected = errors(&project, &["--epsilons", "1"])[1];
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--no-ledger", "--quiet"]).expect(0);
    let text = project.read("p.csv");
    let squares: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
            cells[2].powi(2) + cells[3].powi(2)
        })
        .collect();
    let found = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

/// Where noise is large, a process that knows its size errs less than one that fits it; what is guaranteed is the same.
#[test]
fn known_noise_helps_a_density() {
    let x: Vec<f64> = (0..24).map(|i| f64::from(i) + 0.5).collect();
    let n: Vec<f64> = x.iter().map(|x| (12.0 + 10.0 * (x / 4.0).sin()).round()).collect();
    let project = Project::with_study(&format!(
        r#"experiment = {{ title = "a density", replicates = 1 }}
[data]
source.inline = {{ x = {x:?}, n = {n:?} }}
inputs = ["x"]
target = "n"
[task.density]
bins = [{{ from = 0.0, to = 24.0, bins = 24 }}]
test = [{{ from = 0.0, to = 24.0, bins = 24 }}]
draws = 20
estimate.process = {{ observed = "average", widths = [1.0, 4.0], standardise = true }}
[privacy]
epsilon = 0.1
delta = 1e-5
mechanism.histogram.relation = "add-remove"
[axis.noise]
fitted = {{}}
known = {{ "privacy.mechanism.histogram.denoise" = true }}
"#
    ));
    project.dpgp(&["run", "study.toml", "--quiet"]).expect(0);
    let rows = table_rows(&project.read("results/study/table.csv"));
    let values: Vec<f64> = rows.iter().map(|row| row["value"].parse().unwrap()).collect();
    assert_eq!([&rows[0]["noise"], &rows[1]["noise"]], ["fitted", "known"]);
    assert!(values[1] < 0.7 * values[0], "{values:?}");
    assert_eq!(rows[0]["delta_exact"], rows[1]["delta_exact"]);
}

/// An objective of predictions is refused where something else is released.
#[test]
fn selection_has_no_least_risk() {
    let project = project();
    let spec = project.read("energy.toml").replace(
        "task.regression = { split.shuffled = 5, draws = 10 }",
        "task.selection = { candidates = [{ polynomial = 0 }], split.contiguous = 2, sensitivity = \"published\", epsilon = 1.0 }",
    );
    project.write("energy.toml", &spec);
    let run = project.dpgp(&["plan", "energy.toml"]).expect(2);
    assert!(run.err.contains("privacy.mechanism.cloaking.objective"), "{}", run.err);
    assert!(run.err.contains("the objective \"risk\" works only for predictions"), "{}", run.err);
}
