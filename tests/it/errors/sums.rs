//! Mistakes in specs of noisy sums end with exit code 2 and a message that names the key and what is allowed.

use crate::support::cli::Project;

const CALIBRATION: &str = r#"[experiment]
title = "sound"

[data]
source.synthetic.sinc = { points = 40, noise = 0.1, grid = 9 }
inputs = ["x"]
target = "y"

[model]
noise_variance = 0.01
kernel.eq = { variance = 1.0, lengthscale = 1.0 }

[task.calibration]
train = 40
inducing = [{ from = -3.0, to = 3.0, points = 4 }]
masses = [0.5, 0.9]
window = [-3.0, 3.0]
posterior.noise-aware = { regularisation = { printed = { rho = 0.01 } }, correction = "printed" }

[privacy]
epsilon = 1.0
delta = 1e-4
calibration = "analytic"
mechanism.sums = { target_bound = 1.3, features = { supremum = [[-4.0, 4.0]] }, sensitivity = "exact" }

[grid]
"privacy.delta" = [1e-4, 1e-5]

[figure.calibration]
metric = "coverage"
lines = "delta"
x_label = "mass"
label = "coverage"
"#;

const HYPERPARAMETERS: &str = r#"[experiment]
title = "sound"

[data]
source.synthetic.gaussian-process = { points = 40, noise = 0.1, lengthscale = 1.0, test = 0 }
inputs = ["x"]
target = "y"

[model]
noise_variance = 0.01
kernel.eq = { variance = 1.0, lengthscale = 1.0 }

[task.hyperparameters]
train = 20
inducing = [{ from = -3.0, to = 3.0, points = 4 }]
lengthscales = [1.0, 3.0]
noise_sds = [0.1]
posterior = { regularisation = "tight", correction = "first-order" }
method.private-selection = { gamma = 0.1, steps = 3, refuse = "corrected", budget = "gaussian" }

[privacy]
epsilon = 3.0
delta = 1e-4
calibration = "analytic"
mechanism.sums = { target_bound = 1.3, features = "printed-line", sensitivity = "published" }

[grid]
"privacy.epsilon" = [1.0, 3.0]

[figure.probabilities]
metrics = ["lengthscale", "noise-sd"]
x = "epsilon"
x_label = "epsilon"
label = "probability"
"#;

const DIRICHLET: &str = r#"[experiment]
title = "sound"

[data]
source.synthetic.moons = { points = 60, noise = 0.1 }
inputs = ["x1", "x2"]
target = "class"

[model]
kernel.eq = { variance = 10.0, lengthscale = 0.4 }

[task.dirichlet]
train = 40
classes = 2
inducing = [{ from = -1.2, to = 1.2, points = 3 }, { from = -1.2, to = 1.2, points = 3 }]
alpha = 0.01
posterior = { regularisation = "tight", correction = "first-order" }
release = { weighted-sums = "published" }
published = true

[privacy]
epsilon = 1.0
delta = 1e-5
calibration = "analytic"
mechanism.sums = { features = "separated", sensitivity = "exact", split = 0.01 }
"#;

/// What is replaced in a sound spec, by what, the key path at fault and a part of the message.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

fn provoke(sound: &str, mistakes: &[Mistake]) {
    for (from, to, path, message) in mistakes {
        assert_eq!(sound.matches(from).count(), 1, "{from:?} must stand once in the spec");
        let project = Project::with_study(&sound.replace(from, to));
        let run = project.dpgp_without_mirror(&["run", "study.toml"]).expect(2);
        project.assert_nothing_left();
        let said = run.err.replace(['\n', ' '], "");
        let wanted = [path, message].map(|part| part.replace(' ', ""));
        assert!(wanted.iter().all(|part| said.contains(part)), "{to}: {}", run.err);
    }
}

fn assert_sound(spec: &str) -> String {
    let project = Project::with_study(spec);
    project.dpgp(&["run", "study.toml", "--rows"]).expect(0).out
}

#[test]
fn mistakes_of_a_calibration() {
    assert!(assert_sound(CALIBRATION).contains("noisy sums, analytic calibration, one record is replaced"));
    provoke(
        CALIBRATION,
        &[
            ("target_bound = 1.3, ", "", "privacy.mechanism.sums", "needs a value for `target_bound`"),
            ("target_bound = 1.3", "target_bound = 0.0", "sums.target_bound", "greater than 0"),
            ("sensitivity = \"exact\"", "sensitivity = \"exact\", split = -1.0", "sums.split", "greater than 0"),
            ("[[-4.0, 4.0]]", "[[4.0, -4.0]]", "features.supremum", "increasing and finite"),
            ("[[-4.0, 4.0]]", "[[-4.0, 4.0], [0.0, 1.0]]", "features.supremum", "one value for each input"),
            ("points = 4 }]", "points = 1001 }]", "task.calibration.inducing", "at most 1000 points"),
            ("rho = 0.01", "rho = 1.0", "regularisation.printed.rho", "between 0 and 1"),
            ("masses = [0.5, 0.9]", "masses = [0.5, 1.0]", "task.calibration.masses", "between 0 and 1"),
            ("window = [-3.0, 3.0]", "window = [3.0, -3.0]", "task.calibration.window", "increasing and finite"),
            ("train = 40", "train = 58", "task.calibration.train", "leave no test rows"),
            ("noise_variance = 0.01\n", "", "model", "needs a value for `noise_variance`"),
            ("grid = 9", "grid = 1", "sinc.grid", "from 2 to 100000"),
            ("noise = 0.1", "noise = -0.1", "sinc.noise", "at least 0"),
            ("metric = \"coverage\"", "metric = \"cover\"", "figure.calibration.metric", "coverage/0.5"),
            ("lines = \"delta\"", "lines = \"method\"", "figure.calibration.lines", "there is no axis"),
            (
                "kernel.eq = { variance = 1.0, lengthscale = 1.0 }",
                "kernel.bias = { variance = 1.0 }",
                "model.kernel",
                "needs the `eq` kernel",
            ),
            (
                "posterior.noise-aware = { regularisation = { printed = { rho = 0.01 } }, correction = \"printed\" }",
                "posterior.moment.grid = [{ from = 0.0, to = 1.0, points = 1001 }]",
                "posterior.moment.grid",
                "at most 1000 points",
            ),
            (
                "mechanism.sums = { target_bound = 1.3, features = { supremum = [[-4.0, 4.0]] }, sensitivity = \"exact\" }",
                "change = 1.0\nmechanism.cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
                "privacy.mechanism",
                "needs mechanism.sums",
            ),
        ],
    );
}

const NOISE_AWARE: &str =
    "posterior.noise-aware = { regularisation = { printed = { rho = 0.01 } }, correction = \"printed\" }";

/// Noise of other shapes is for simulations with one posterior, and needs what its proofs need.
#[test]
fn mistakes_of_sums_of_other_shapes() {
    let refused = "only simulations support this: use task.calibration or task.leaderboard with posterior = \"sites\"";
    let exact = "sensitivity = \"exact\"";
    let of_points = (exact, "sensitivity = \"exact\", products = \"midpoints\"", "sums.products", refused);
    let of_noise = (exact, "sensitivity = \"exact\", noise = \"ellipsoid\"", "sums.noise", refused);
    provoke(CALIBRATION, &[of_points, of_noise]);
    let [printed, separated] = ["sensitivity = \"published\"", "sensitivity = \"exact\""];
    for spec in [HYPERPARAMETERS, DIRICHLET] {
        let found = if spec.contains(printed) { printed } else { separated };
        for (key, value) in [("products", "midpoints"), ("noise", "ellipsoid")] {
            let asked = format!("{found}, {key} = \"{value}\"").leak();
            provoke(spec, &[(found, asked, key, refused)]);
        }
    }
    let sites = CALIBRATION.replace(NOISE_AWARE, "posterior = \"sites\"");
    assert!(assert_sound(&sites).contains("noisy sums, analytic calibration, one record is replaced"));
    for extra in [", products = \"midpoints\"", ", noise = \"ellipsoid\""] {
        assert_sound(&sites.replace(exact, &format!("{exact}{extra}")));
    }
    let supremum = "features = { supremum = [[-4.0, 4.0]] }";
    let published = "sensitivity = \"published\", noise = \"ellipsoid\"";
    provoke(
        &sites,
        &[
            (supremum, "features = \"line\"", "sums.features", "needs a public box of the inputs"),
            ("[[-4.0, 4.0]]", "[[-2.0, 4.0]]", "features.supremum", "at most the first inducing input"),
            (exact, published, "sums.sensitivity", "need sensitivity = \"exact\""),
            ("points = 4 }]", "points = 1001 }]", "task.calibration.inducing", "at most 1000 points"),
            ("[[-4.0, 4.0]]", "[[-70.0, 4.0]]", "kernel.eq.lengthscale", "the distance between sites in the box"),
        ],
    );
    let shaped = sites.replace(exact, &format!("{exact}, noise = \"ellipsoid\""));
    let many = ("points = 4 }]", "points = 168 }]", "sums.noise", "at most 500 sums");
    provoke(&shaped, &[many]);
}

#[test]
fn mistakes_of_a_selection_of_hyperparameters() {
    assert!(assert_sound(HYPERPARAMETERS).contains("private selection, one record is replaced"));
    provoke(
        HYPERPARAMETERS,
        &[
            ("lengthscales = [1.0, 3.0]", "lengthscales = []", "hyperparameters.lengthscales", "at least one value"),
            ("noise_sds = [0.1]", "noise_sds = [0.0]", "hyperparameters.noise_sds", "greater than 0"),
            ("gamma = 0.1", "gamma = 2.0", "private-selection.gamma", "at most 1"),
            ("steps = 3", "steps = 0", "private-selection.steps", "from 1"),
            ("[1.0, 3.0]\n\n[figure", "[3.0, inf]\n\n[figure", "privacy.epsilon", "enough for private selection"),
            (
                "method.private-selection = { gamma = 0.1, steps = 3, refuse = \"corrected\", budget = \"gaussian\" }",
                "method.composition.clip = 0.0",
                "method.composition.clip",
                "greater than 0",
            ),
            ("lengthscale = 1.0, test", "lengthscale = 0.0, test", "gaussian-process.lengthscale", "greater than 0"),
            ("test = 0", "test = 100001", "gaussian-process.test", "at most 100000"),
            ("\"noise-sd\"]", "\"noise\"]", "figure.probabilities.metrics", "does not measure"),
            ("x = \"epsilon\"", "x = \"eps\"", "figure.probabilities.x", "there is no axis"),
        ],
    );
}

#[test]
fn mistakes_of_a_dirichlet_classification() {
    assert!(assert_sound(DIRICHLET).contains("the published sensitivity is not a bound"));
    provoke(
        DIRICHLET,
        &[
            ("published = true\n", "", "task.dirichlet.release", "breaks privacy"),
            ("classes = 2", "classes = 1", "task.dirichlet.classes", "from 2 to 1000"),
            ("alpha = 0.01", "alpha = 0.0", "task.dirichlet.alpha", "greater than 0"),
            ("train = 40", "train = 60", "task.dirichlet.train", "leave no test rows"),
            ("inputs = [\"x1\", \"x2\"]", "inputs = [\"x1\"]", "data.inputs", "2"),
            ("points = 60", "points = 0", "moons.points", "from 1"),
            (
                "synthetic.moons = { points = 60, noise = 0.1 }",
                "synthetic.spirals = { points = 60, arms = 0, noise = 0.1 }",
                "spirals.arms",
                "from 1 to 1000",
            ),
            ("[model]\nkernel.eq = { variance = 10.0, lengthscale = 0.4 }\n", "", "task.dirichlet", "[model]"),
        ],
    );
}

#[test]
fn a_target_that_names_no_class_is_refused() {
    let project = Project::new();
    let spirals = "synthetic.spirals = { points = 60, arms = 3, noise = 0.1 }";
    project.write("study.toml", &DIRICHLET.replace("synthetic.moons = { points = 60, noise = 0.1 }", spirals));
    let run = project.dpgp(&["run", "study.toml"]).expect(4);
    assert!(run.err.contains("the target 2 is not one of the classes 0 to 1"), "{}", run.err);
}

/// The table of the cells that can be computed is written, tells of the one that cannot, and goes when that is mended.
#[test]
fn one_cell_that_fails_leaves_the_others_their_table() {
    let project = Project::new();
    let spirals = "synthetic.spirals = { points = 60, arms = 2, noise = 0.1 }";
    let spec = DIRICHLET.replace("synthetic.moons = { points = 60, noise = 0.1 }", spirals);
    let grid = "[grid]\n\"data.source.synthetic.spirals.arms\"";
    project.write("study.toml", &format!("{spec}\n{grid} = [2, 3]\n"));
    let run = project.dpgp(&["run", "study.toml"]).expect(4);
    let reason = "arms = 3: the target 2 is not one of the classes 0 to 1";
    assert!(
        run.err.contains("1 of 2 blocks failed; 1 are stored") && run.out.contains("written to"),
        "{} {}",
        run.err,
        run.out
    );
    let (table, rows) = (project.read("results/study/table.md"), project.read("results/study/table.csv"));
    assert!(table.contains("## Cells that failed") && table.contains(reason), "{table}");
    assert!(rows.lines().count() > 1 && !rows.contains(",3,"), "{rows}");
    assert!(project.read("results/study/manifest.json").contains(reason));
    // What failed is tried again, and not called stored.
    let again = project.dpgp(&["run", "study.toml"]).expect(4);
    assert!(again.out.contains("0 blocks computed; 1 of 2 results were already stored"), "{}", again.out);
    // Nothing is committed that lacks a cell.
    // A check does not stop at an experiment that fails: that is one of its findings.
    let check = project.dpgp(&["check", "study.toml"]).expect(1);
    assert!(check.out.contains("1 of 2 blocks failed; 1 are stored"), "{}", check.out);
    project.write("study.toml", &format!("{spec}\n{grid} = [2]\n"));
    project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(!project.read("results/study/table.md").contains("failed"));
    assert!(!project.read("results/study/manifest.json").contains("failed"));
}
