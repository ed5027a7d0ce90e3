//! Audits of what was run, through the real binary: what breaks its claim is found, and what is corrected passes.

use serde_json::Value;

use crate::support::cli::{Project, Run};

/// The cells of the one experiment of a run.
fn cells(run: &Run) -> Vec<Value> {
    let report = run.json();
    report[0]["cells"].as_array().unwrap().clone()
}

fn cell<'a>(cells: &'a [Value], label: &str) -> &'a Value {
    cells.iter().find(|cell| cell["labels"].to_string().contains(label)).unwrap()
}

/// The number of the decisive check.
fn found(cell: &Value, kind: &str) -> f64 {
    cell["checks"][0]["found"][kind].as_f64().unwrap_or_else(|| panic!("{cell:#}"))
}

/// Moons with labels whose noise variances are below 1: alpha 5 has 0.182 and 0.154.
const HETEROSCEDASTIC: &str = r#"experiment.title = "weights by noise"
data = { source.synthetic.moons = { points = 60, noise = 0.1 }, inputs = ["x1", "x2"], target = "class" }
model.kernel.eq = { variance = 1.0, lengthscale = 0.4 }

[task.dirichlet]
train = 40
classes = 2
inducing = [{ from = -1.2, to = 1.2, points = 3 }, { from = -1.2, to = 1.2, points = 3 }]
alpha = 5.0
posterior = { regularisation = "tight", correction = "first-order" }
release.weighted-sums = "corrected"

[privacy]
epsilon = 1.0
delta = 1e-5
calibration = "analytic"
mechanism.sums = { features = { supremum = [[-1.2, 1.2], [-1.2, 1.2]] }, sensitivity = "exact" }

[axis.rule]
corrected = {}
printed = { "task.dirichlet.release" = { weighted-sums = "published" }, "task.dirichlet.published" = true }
"#;

/// (a) Appendix D of Honkela 2021: the sensitivity is not multiplied by the noise variance but divided by it.
#[test]
fn the_heteroscedastic_rule_is_broken() {
    let project = Project::empty();
    project.write("weights.toml", HETEROSCEDASTIC);
    let run = project.dpgp(&["audit", "weights.toml", "--quiet", "--format", "json"]).expect(1);
    let cells = cells(&run);
    assert_eq!(cell(&cells, "corrected")["verdict"], "holds");
    let printed = cell(&cells, "printed");
    assert_eq!(printed["verdict"], "broken");
    assert!(found(printed, "delta-at-least") > 0.5, "{printed:#}");
    let text = project.dpgp(&["audit", "weights.toml", "--quiet"]).expect(1);
    assert!(text.out.contains("BROKEN") && text.out.contains("delta >= "), "{}", text.out);
}

/// Ten points of which one carries a line to ten others; nothing bounds targets but their change of 2.
const LEVERAGE: &str = r#"experiment.title = "a point of much leverage"
data = { source.inline = { x = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.9, 0.92, 0.94, 0.96, 0.98, 1.02, 1.04, 1.06, 1.08, 1.1], y = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }, inputs = ["x"], target = "y" }

[task.selection]
candidates = [{ polynomial = 0 }, { polynomial = 1 }]
split.contiguous = 2
epsilon = 1.0
sensitivity = "published"

[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }

[axis.rule]
corrected = { "task.selection.clip" = 4.0, "task.selection.sensitivity" = "corrected" }
printed = {}
"#;

/// (b) Equation 13 of Smith et al. 2021 omits the cross term of a square; the epsilon of two data sets is enumerated.
#[test]
fn equation_13_is_broken() {
    let project = Project::empty();
    project.write("leverage.toml", LEVERAGE);
    let run = project.dpgp(&["audit", "leverage.toml", "--quiet", "--format", "json"]).expect(1);
    let cells = cells(&run);
    let corrected = cell(&cells, "corrected");
    assert_eq!(corrected["verdict"], "holds");
    assert!((found(corrected, "epsilon-at-most") - 1.0).abs() < 1e-9);
    let printed = cell(&cells, "printed");
    assert_eq!(printed["verdict"], "broken");
    assert!(found(printed, "epsilon-at-least") > 1.2, "{printed:#}");
}

/// (c) Figure 2 of Smith et al. 2016: the classic constant at epsilon 20 has a delta of 0.367, by independent computation.
const FUNCTION: &str = r#"experiment.title = "a private function at epsilon 20"
data = { source.inline = { x = [0.0, 10.0, 20.0, 30.0], y = [0.1, 0.3, 0.2, 0.4] }, inputs = ["x"], target = "y" }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 20.0 } }
task.prediction.grid = [{ from = 0.0, to = 40.0, points = 9 }]

[privacy]
epsilon = 20.0
delta = 0.01
change = 1.0
calibration = "analytic"
mechanism.function.sensitivity = "exact"

[axis.calibration]
exact = {}
classic = { "privacy.calibration" = "classic" }
"#;

#[test]
fn function_noise_at_epsilon_20_is_broken() {
    let project = Project::empty();
    project.write("function.toml", FUNCTION);
    let run = project.dpgp(&["audit", "function.toml", "--quiet", "--format", "json"]).expect(1);
    let cells = cells(&run);
    assert_eq!(cell(&cells, "exact")["verdict"], "holds");
    let classic = cell(&cells, "classic");
    assert_eq!(classic["verdict"], "broken");
    assert!((found(classic, "delta") - 0.367).abs() < 5e-4, "{classic:#}");
}

/// The spec with a break that it announces.
fn announced(label: &str) -> String {
    format!("{FUNCTION}\n[[broken]]\ncells = {{ calibration = \"{label}\" }}\nnote = \"outside its proof\"\n")
}

/// A break that the spec announces does not fail; an announcement that is not borne out does.
#[test]
fn announced_breaks_do_not_fail() {
    let project = Project::empty();
    project.write("function.toml", &announced("classic"));
    let run = project.dpgp(&["audit", "function.toml", "--quiet"]).expect(0);
    assert!(run.out.contains("broken, as the spec says"), "{}", run.out);
    project.write("function.toml", &announced("exact"));
    let run = project.dpgp(&["audit", "function.toml", "--quiet"]).expect(1);
    assert!(run.out.contains("BUT THE SPEC SAYS BROKEN") && run.err.contains("2 of 2"), "{}{}", run.out, run.err);
    project.write("function.toml", &announced("nothing"));
    assert!(project.dpgp(&["audit", "function.toml"]).expect(2).err.contains("calibration"));
}

/// Private selection on few rows.
const SELECTION: &str = r#"experiment.title = "private selection"
data = { source.synthetic.sinc = { points = 40, noise = 0.1, grid = 0 }, inputs = ["x"], target = "y" }
model = { noise_variance = 0.01, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }

[task.hyperparameters]
train = 20
inducing = [{ from = -3.0, to = 3.0, points = 5 }]
lengthscales = [1.0, 3.0]
noise_sds = [0.1, 0.3]
posterior = { regularisation = "tight", correction = "first-order" }
method.private-selection = { gamma = 0.2, steps = 4, refuse = "corrected", budget = "gaussian" }

[privacy]
epsilon = 30.0
delta = 1e-4
calibration = "analytic"
mechanism.sums = { target_bound = 1.3, features = { supremum = [[-4.0, 4.0]] }, sensitivity = "exact" }
"#;

/// Attacks on samples are the same at the same seed, prove something, and no more than was claimed.
#[test]
fn attacks_are_repeatable_by_seed() {
    let project = Project::empty();
    project.write("select.toml", SELECTION);
    let [one, again, other] = ["1", "1", "2"].map(|seed| {
        let audit = ["audit", "select.toml", "--quiet", "--format", "json", "--seed", seed];
        project.dpgp(&audit).expect(0).out
    });
    assert_eq!(one, again);
    assert_ne!(one, other);
    let report: Value = serde_json::from_str(&one).unwrap();
    let cell = &report[0]["cells"][0];
    assert_eq!(cell["verdict"], "holds", "{cell:#}");
    let proved: Vec<f64> = cell["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|check| check["found"]["epsilon-at-least"].as_f64())
        .collect();
    assert_eq!(proved.len(), 2);
    assert!(proved.iter().any(|epsilon| *epsilon > 0.1) && proved.iter().all(|epsilon| *epsilon < 30.0), "{proved:?}");
}

#[test]
fn what_claims_nothing_is_not_audited() {
    let project = Project::new();
    let run = project.dpgp(&["audit", "smith2021/fig1", "beyond/errata", "--quiet"]).expect(0);
    assert_eq!(run.out.matches("no cell claims privacy").count(), 2, "{}", run.out);
    for confidence in ["0", "1", "high"] {
        project.dpgp(&["audit", "smith2021/fig1", "--confidence", confidence]).expect(2);
    }
}

/// The shipped toy: what omits the clip is broken as its spec says, what is corrected holds.
#[test]
fn the_shipped_toy_passes() {
    let project = Project::new();
    let run = project.dpgp(&["audit", "smith2021/toy", "--quiet", "--format", "json"]).expect(0);
    for cell in cells(&run) {
        let label = cell["labels"][1].as_str().unwrap();
        let expected = match label {
            "published" => "broken",
            "clipped" => "not-audited",
            _ => "holds",
        };
        assert_eq!(cell["verdict"], expected, "{cell:#}");
    }
}
