//! Words of `data.encode`, as `dpgp sum` reads them: like `predict` and `run`, by their places in the list.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::parquet_file::{Column, write_parquet};

const SPEC: &str = r#"experiment.title = "two groups"
data = { source.csv = { path = "words.csv" }, inputs = ["g", "x"], target = "y", encode = { g = ["b", "a c", "NA"] } }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.1, kernel.eq-ard = { variance = 1.0, lengthscales = [0.5, 2.0] } }
task.surface = { inducing = [{ from = 0.0, to = 2.0, points = 3 }, { from = 0.0, to = 9.0, points = 4 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 2.0], [0.0, 9.0]] }, sensitivity = "exact", split = 0.5 } }
"#;

/// The words of rows, and the places of those words in the list.
const WORDS: [(&str, f64); 3] = [("b", 0.0), ("a c", 1.0), ("NA", 2.0)];

/// A file with a word in each row, one with its place, and specs for both.
fn project() -> Project {
    let project = Project::empty();
    let row = |i: usize| (WORDS[i * i % 3], i % 10, (i * 7 % 11) as f64 / 1.1);
    let lines = |cell: fn((&str, f64)) -> String| {
        let rows = (0..90).map(row).map(|(word, x, y)| format!("{},{x},{y}\n", cell(word)));
        format!("g,x,y\n{}", rows.collect::<String>())
    };
    project.write("words.csv", &lines(|(word, _)| word.to_owned()));
    project.write("places.csv", &lines(|(_, place)| place.to_string()));
    project.write("words.toml", SPEC);
    let (before, _) = SPEC.split_once(", encode").unwrap();
    let plain = SPEC.replace(", encode = { g = [\"b\", \"a c\", \"NA\"] }", "");
    assert!(plain.starts_with(before) && !plain.contains("encode"));
    project.write("places.toml", &plain);
    project
}

/// The sums of a file by a spec.
fn sums(project: &Project, spec: &str, file: &str) -> Value {
    let _ = std::fs::remove_file(project.path("sums.json"));
    project.dpgp(&["stats", spec, file, "--out", "sums.json", "--quiet"]).expect(0);
    project.json("sums.json")["part"]["sums"].clone()
}

#[test]
fn words_are_summed_by_their_places() {
    let project = project();
    let expected = sums(&project, "places.toml", "places.csv");
    assert_eq!(sums(&project, "words.toml", "words.csv"), expected);
    // As Parquet, and as a column that the path names.
    let rows: Vec<Vec<String>> =
        project.read("words.csv").lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let numbers = |at: usize| Column::Double(rows.iter().map(|row| row[at].parse().ok()).collect());
    let words = Column::Text(rows.iter().map(|row| Some(row[0].clone())).collect());
    write_parquet(&project.path("words.parquet"), &[("g", words), ("x", numbers(1)), ("y", numbers(2))], 40);
    assert_eq!(sums(&project, "words.toml", "words.parquet"), expected);
    for (word, _) in WORDS {
        let of_word = rows.iter().filter(|row| row[0] == word).map(|row| format!("{},{}\n", row[1], row[2]));
        project.put(&format!("parts/g={word}/rows.csv"), format!("x,y\n{}", of_word.collect::<String>()));
    }
    assert_eq!(sums(&project, "words.toml", "parts"), expected);
}

/// The rows of a ledger are the same, whichever verb reads them: a second release is charged to the ledger of the first.
#[test]
fn both_verbs_know_the_rows_by_their_words() {
    let project = project();
    let budget = ["--budget-epsilon", "1.5", "--budget-delta", "1e-6"];
    let stats = ["stats", "words.toml", "words.csv", "--quiet", "--release"];
    project.dpgp(&[&stats[..], &["r.json"], &budget].concat()).expect(0);
    let predict = ["predict", "words.toml", "--grid", "g=a c,x=0..9:4", "--quiet"];
    let run = project.dpgp(&predict).expect(0);
    assert!(run.err.contains("2 releases have spent"), "{}", run.err);
}

/// A word that the list lacks counts as the first, since an error would tell of it; where rows that lack a cell are left out, it is
/// missing.
#[test]
fn other_words_count_as_the_first_or_are_missing() {
    let project = project();
    let expected = sums(&project, "words.toml", "words.csv");
    let text = project.read("words.csv");
    let with = |rows: &str| {
        project.write("words.csv", &format!("{text}{rows}"));
        sums(&project, "words.toml", "words.csv")
    };
    let (other, first) = (with("d,3,4.0\n"), with("b,3,4.0\n"));
    for of in ["a", "b", "squares"] {
        assert_eq!(other[of], first[of], "{of}");
    }
    project.write("words.csv", &format!("{text}d,3,4.0\n,4,5.0\n"));
    let run = project.dpgp(&["stats", "words.toml", "words.csv", "--out", "s.json", "--quiet"]).expect(2);
    assert!(run.err.contains("the cell is empty") && !project.path("s.json").exists(), "{}", run.err);
    project.write("words.toml", &SPEC.replace("target = \"y\"", "target = \"y\", missing = \"drop\""));
    let found = sums(&project, "words.toml", "words.csv");
    for of in ["a", "b", "squares"] {
        assert_eq!(found[of], expected[of], "{of}");
    }
}
