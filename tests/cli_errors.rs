//! Every mistake in a spec ends with exit code 2, a message that names the place, and nothing on disk.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::cli::Project;

/// A spec without mistakes.
const SOUND: &str = r#"[experiment]
title = "sound"

[data]
source.csv = { path = "heights.csv", separator = ";" }
inputs = ["age"]
target = "height"
filter = [{ column = "male", is = "==", value = 0 }]

[normalise.bounds]
low = 50.0
high = 200.0

[model]
noise_variance = 25.0
kernel.eq = { variance = 100.0, lengthscale = 10.0 }

[task.regression]
split.shuffled = 3
draws = 5

[privacy]
epsilon = 1.0
delta = 0.01
change = 150.0
calibration = "analytic"
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 }

[grid]
"privacy.epsilon" = [1.0, inf]

[[published]]
where = { epsilon = 1.0 }
metric = "rmse"
value = 30.0
source = "nowhere"
"#;

const HEIGHTS: &str = "height;age;male\r\n151.7;63;0\r\n139.7;61;0\r\n136.5;65;0\r\n156.8;41;1\r\n145.4;51;0\r\n163.8;35;1\r\n149.2;32;0\r\n110.0;8;0\r\n";

fn project(spec: &str) -> Project {
    let project = Project::new();
    project.write("study.toml", spec);
    project.write("heights.csv", HEIGHTS);
    project
}

/// The mistakes: what it is, what is replaced, by what, and the exit code.
const MISTAKES: [(&str, &str, &str); 26] = [
    ("misspelt key", "noise_variance", "noise_varience"),
    ("misspelt section", "[task.regression]", "[task.regresion]"),
    ("wrong type", "draws = 5", "draws = \"five\""),
    ("not TOML", "title = \"sound\"", "title = sound"),
    ("missing section", "[experiment]\ntitle = \"sound\"\n", ""),
    (
        "unknown dataset",
        "source.csv = { path = \"heights.csv\", separator = \";\" }",
        "source.dataset = \"howel1\"",
    ),
    ("epsilon zero", "epsilon = 1.0\ndelta", "epsilon = 0.0\ndelta"),
    ("negative epsilon in the grid", "[1.0, inf]", "[1.0, -2.0]"),
    ("delta one", "delta = 0.01", "delta = 1.0"),
    ("negative change", "change = 150.0", "change = -1.0"),
    ("more folds than rows", "split.shuffled = 3", "split.shuffled = 30"),
    ("one fold", "split.shuffled = 3", "split.shuffled = 1"),
    ("empty grid", "[1.0, inf]", "[]"),
    ("grid is no list", "[1.0, inf]", "1.0"),
    ("grid path that names nothing", "\"privacy.epsilon\"", "\"privacy.epsilom\""),
    ("grid value of the wrong type", "[1.0, inf]", "[1.0, \"none\"]"),
    ("the same value twice", "[1.0, inf]", "[1, 1.0]"),
    ("published value that selects no cell", "where = { epsilon = 1.0 }", "where = { epsilon = 3.0 }"),
    ("published value that selects many cells", "where = { epsilon = 1.0 }", "where = {}"),
    ("published value of an unknown axis", "where = { epsilon = 1.0 }", "where = { eps = 1.0 }"),
    ("published value of an unknown metric", "metric = \"rmse\"", "metric = \"mae\""),
    ("unknown column", "target = \"height\"", "target = \"hight\""),
    ("no inputs", "inputs = [\"age\"]", "inputs = []"),
    ("bounds the wrong way round", "high = 200.0", "high = 20.0"),
    ("negative lengthscale", "lengthscale = 10.0", "lengthscale = -10.0"),
    ("unknown kernel", "kernel.eq", "kernel.rbf"),
];

#[test]
fn the_sound_spec_runs() {
    let project = project(SOUND);
    let run = project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.out.contains("rmse"), "{}", run.out);
    assert!(project.read("results/study/table.csv").lines().count() == 3);
}

#[test]
fn every_mistake_is_explained() {
    let mut transcript = String::new();
    for (name, from, to) in MISTAKES {
        assert_eq!(SOUND.matches(from).count(), 1, "{name}: {from:?} must stand once in the spec");
        let project = project(&SOUND.replace(from, to));
        let run = project.dpgp(&["run", "study.toml"]);
        assert_eq!(run.code, 2, "{name}: {}{}", run.out, run.err);
        assert!(!project.path("results").exists(), "{name} left results");
        assert!(run.err.contains("study.toml:") || run.err.contains("heights.csv"), "{name}: {}", run.err);
        transcript.push_str(&format!("# {name}\n{}\n", run.err));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn bad_cells_name_their_line_and_column() {
    for (from, to, expected) in [("139.7", "tall", "tall"), ("139.7", "", "height"), ("139.7", "inf", "inf")]
    {
        let project = project(SOUND);
        project.write("heights.csv", &HEIGHTS.replace(from, to));
        let run = project.dpgp(&["run", "study.toml"]).expect(2);
        assert!(run.err.contains("line 3") && run.err.contains(expected), "{}", run.err);
        assert!(!project.path("results").exists());
    }
}

#[test]
fn names_that_mean_nothing() {
    let project = Project::new();
    let run = project.dpgp(&["run", "smith2021/tabel1"]).expect(2);
    assert!(run.err.contains("did you mean smith2021/table1?"), "{}", run.err);
    assert!(project.dpgp(&["run", "absent.toml"]).expect(5).err.contains("absent.toml"));
    project.dpgp(&["run"]).expect(2);
    project.dpgp(&["run", "smith2021/toy", "--jobs", "0"]).expect(2);
}

#[test]
fn missing_data_offline_and_a_corrupt_cache() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["run", "smith2021/table1", "--offline"]).expect(3);
    assert!(run.err.contains("Howell1.csv"), "{}", run.err);
    std::fs::create_dir_all(project.path("cache/howell1")).unwrap();
    project.write("cache/howell1/Howell1.csv", "x".repeat(12_205).as_str());
    let run = project.dpgp_without_mirror(&["run", "smith2021/table1", "--offline"]).expect(3);
    let expected = "768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd";
    assert!(run.err.contains(expected), "{}", run.err);
    assert_eq!(project.read("cache/howell1/Howell1.csv").len(), 12_205);
    assert!(!project.path("results").exists());
}

/// A spec that cannot be factorised: the polynomial has more monomials than points.
#[test]
fn a_numerical_failure_names_the_matrix() {
    let project = Project::new();
    let toy = std::fs::read_to_string(project.path("experiments/smith2021/toy.toml")).unwrap();
    let toy = toy.split("[[published]]").next().unwrap().replace("polynomial = 0", "polynomial = 3");
    project.write(
        "toy.toml",
        &toy.replace(
            "[figure.intervals]\nmetrics = [\"sse/polynomial-0\", ",
            "[figure.intervals]\nmetrics = [",
        ),
    );
    let run = project.dpgp(&["run", "toy.toml"]).expect(4);
    assert!(run.err.contains("X'X (4 x 4)"), "{}", run.err);
    assert!(!project.path("results").exists());
}
