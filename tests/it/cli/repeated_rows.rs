//! Rows that would count twice: in copies that differ in the path of their file, or in a column that the spec does not read.

use crate::support::cli::Project;
use crate::support::energy::{RECORDS, energy_project};

const REFUSED: &str = "hold the same rows, or share more rows than chance would explain";

/// Counts the days by temperature.
const COUNTS: &str = r#"experiment.title = "days by temperature"
data = { source.csv = { path = "parts" }, inputs = ["temperature"] }
task.density = { bins = [{ from = -10.0, to = 35.0, bins = 5 }], test = [{ from = -10.0, to = 35.0, bins = 5 }], draws = 1, estimate.histogram = {} }
[privacy]
epsilon = 1.0
delta = 1e-6
mechanism.histogram.relation = "add-remove"
"#;

/// A project whose spec reads the files in `parts`.
fn project(spec: &str, files: &[(&str, String)]) -> Project {
    let project = energy_project(&spec.replace("\"energy.csv\"", "\"parts\""));
    for (name, text) in files {
        let path = project.path(&format!("parts/{name}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    project
}

/// Days that all differ in their temperatures and uses of energy, and a last column.
fn days(numbers: impl Iterator<Item = u32>, last: impl Fn(u32) -> String) -> String {
    let line = |number: u32| {
        let spread = |share: f64| 40.0 * (f64::from(number) * share).fract();
        let (temperature, kwh) = (spread(0.618_034) - 8.0, spread(0.754_878));
        format!("{temperature},{kwh},{}\n", last(number))
    };
    format!("temperature,kwh,last\n{}", numbers.map(line).collect::<String>())
}

/// Whether a release from the files is refused because rows would count twice, by both verbs, with and without a ledger.
fn is_refused(spec: &str, files: &[(&str, String)]) -> bool {
    let project = project(spec, files);
    let verbs: &[&[&str]] = if spec == COUNTS {
        &[
            &["predict", "energy.toml", "--grid", "auto", "--out", "p.csv"],
            &["sum", "energy.toml", "parts", "--release", "s.json"],
        ]
    } else {
        &[&["sum", "energy.toml", "parts", "--release", "s.json"]]
    };
    let mut refusals = Vec::new();
    for verb in verbs {
        for ledger in [&["--no-ledger"][..], &[]] {
            let run = project.dpgp(&[*verb, &["--quiet"], ledger].concat());
            assert!(run.code == 0 || run.err.contains(REFUSED), "{verb:?}: {}", run.err);
            refusals.push(run.code != 0);
            let released = ["p.csv", "s.json", "p.csv.certificate.json"].map(|name| project.path(name));
            assert!(run.code == 0 || released.iter().all(|path| !path.exists()), "{verb:?}");
            released.iter().filter(|path| path.exists()).for_each(|path| std::fs::remove_file(path).unwrap());
        }
    }
    assert!(refusals.iter().all(|refused| *refused == refusals[0]), "{refusals:?}");
    refusals[0]
}

#[test]
fn copies_that_differ_in_their_path_count_once() {
    let all = || days(0..120, |day| day.to_string());
    let later = days((0..120).rev().chain([500]), |day| day.to_string());
    let other = days(200..320, |day| day.to_string());
    for spec in [COUNTS, RECORDS] {
        assert!(is_refused(spec, &[("year=2017/a.csv", all()), ("year=2018/a.csv", all())]));
        assert!(is_refused(spec, &[("year=2017/a.csv", all()), ("year=2018/a.csv", later.clone())]));
        assert!(!is_refused(spec, &[("year=2017/a.csv", all()), ("year=2018/a.csv", other.clone())]));
    }
}

#[test]
fn copies_that_differ_in_a_constant_column_count_once() {
    let export = |number: u32| days(0..120, |_| number.to_string());
    let without_export = days(0..120, |_| String::new()).replace(",last", "").replace(",\n", "\n");
    for spec in [COUNTS, RECORDS] {
        assert!(is_refused(spec, &[("a.csv", export(1)), ("b.csv", export(2))]));
        assert!(is_refused(spec, &[("a.csv", without_export.clone()), ("b.csv", export(2))]));
        assert!(is_refused(spec, &[("a.csv", export(2)), ("b.csv", without_export.clone())]));
        // Few rows in common are no copy, and rows that agree in what is read alone are others.
        assert!(!is_refused(spec, &[("a.csv", export(1)), ("b.csv", days(90..210, |_| "2".to_owned()))]));
        let other = days(0..120, |day| (1000 + 3 * day).to_string());
        assert!(!is_refused(spec, &[("a.csv", days(0..120, |day| day.to_string())), ("b.csv", other)]));
    }
}

/// A person counts with so many rows at most, however often they are repeated.
#[test]
fn rows_of_persons_may_be_repeated() {
    let all = days(0..120, |day| day.to_string());
    let files = [("year=2017/a.csv", all.clone()), ("year=2018/a.csv", all)];
    assert!(is_refused(COUNTS, &files));
    let project = project(&COUNTS.replace("inputs =", "person = \"last\", rows_per_person = 1, inputs ="), &files);
    project.dpgp(&["predict", "energy.toml", "--grid", "auto", "--out", "p.csv", "--quiet"]).expect(0);
}
