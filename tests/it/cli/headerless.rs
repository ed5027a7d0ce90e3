//! Files without a header: the spec names their columns.

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, day, energy_csv, energy_project};
use crate::support::parquet_file::{Column, write_parquet};

const NAMED: &str = "{ path = \"bare.csv\", columns = [\"day\", \"temperature\", \"kwh\"] }";

/// The days of `energy.csv`, a header less.
fn bare() -> String {
    let all = energy_csv(&(0..120).map(day).collect::<Vec<_>>());
    all.split_once('\n').unwrap().1.to_owned()
}

/// `energy.toml` reads `energy.csv`, `bare.toml` the same rows in `bare.csv`.
fn project() -> Project {
    let project = energy_project(RECORDS);
    project.write("bare.csv", &bare());
    project.write("bare.toml", &RECORDS.replace("{ path = \"energy.csv\" }", NAMED));
    project
}

fn sums(project: &Project, spec: &str, file: &str) -> serde_json::Value {
    let out = format!("{spec}.sums");
    project.dpgp(&["stats", spec, file, "--out", &out]).expect(0);
    project.json(&out)
}

/// Rows that are read as a whole and rows that are streamed are those of the same file with a header, to a ledger as well.
#[test]
fn a_header_makes_no_other_rows() {
    let project = project();
    let predict = |spec: &str| project.dpgp(&["predict", spec, "--at", "grid.csv", "--quiet"]).expect(0);
    predict("energy.toml");
    predict("bare.toml");
    project.dpgp(&["stats", "bare.toml", "bare.csv", "--release", "s.json"]).expect(0);
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    let accounts: Vec<_> = ledgers.as_array().unwrap().iter().map(|one| &one["account"]["releases"]).collect();
    assert_eq!(accounts, [3]);
    let (headed, bare) = (sums(&project, "energy.toml", "energy.csv"), sums(&project, "bare.toml", "bare.csv"));
    assert_eq!(headed["part"], bare["part"]);
    assert_eq!(headed["identity"], bare["identity"]);
    let run = project.dpgp(&["run", "bare.toml", "--quiet"]).expect(0);
    assert!(run.out.contains(" of 120 targets") || run.err.is_empty(), "{} {}", run.out, run.err);
    let audit = project.dpgp(&["audit", "bare.toml"]).expect(0);
    assert!(audit.out.contains("1 holds"), "{}", audit.out);
}

/// A file that has a header after all would give a row of words, or none at all.
#[test]
fn a_header_after_all_is_refused() {
    let project = project();
    project.write("bare.csv", &energy_csv(&(0..20).map(day).collect::<Vec<_>>()));
    let message = "bare.csv: line 1 holds the listed column names";
    for verb in [
        &["run", "bare.toml", "--quiet"][..],
        &["predict", "bare.toml", "--at", "grid.csv", "--quiet"],
        &["stats", "bare.toml", "bare.csv", "--release", "s.json"],
        &["new", "--data", "bare.csv", "--columns", "day,temperature,kwh", "other"],
    ] {
        let run = project.dpgp(verb).expect(2);
        assert!(run.err.contains(message) && run.out.is_empty(), "{verb:?}: {} {}", run.err, run.out);
    }
    assert!(!project.path("s.json").exists() && !project.path("other.toml").exists());
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    assert_eq!(ledgers.as_array().map(Vec::len), Some(0));
}

/// The lines of a spec from the source to the target.
fn new(project: &Project, arguments: &[&str], code: i32) -> Run {
    project.remove("study.toml");
    project.dpgp(&[&["new", "study", "--data"], arguments].concat()).expect(code)
}

/// Far more rows than a model without inducing inputs is for get some; a spec for private inputs needs none.
#[test]
fn new_specs_of_many_rows_have_inducing_inputs() {
    let project = Project::empty();
    let line = "\nsparse.fitc.inducing.kmeans = { centres = 10, restarts = 1 }";
    for (rows, sparse, split) in [(3_000, false, "\nsplit.shuffled = 5"), (3_001, true, "\nsplit.tail = 200")] {
        project.write("rows.csv", &format!("a,b\n{}", "1,2\n".repeat(rows)));
        new(&project, &["rows.csv"], 0);
        let spec = project.read("study.toml");
        assert!(spec.contains(line) == sparse && spec.contains(split), "{rows}: {spec}");
        new(&project, &["rows.csv", "--private-inputs"], 0);
        assert!(!project.read("study.toml").contains("sparse"));
    }
}

#[test]
fn new_specs_list_the_columns() {
    let project = project();
    // Cells of the first row that stand nowhere else: none may get into the spec.
    project.write("rows.csv", &format!("31415;9.265;3589;\"Ann Lee\"\n{}", "1;2;3;\"x\"\n".repeat(9)));
    for (arguments, columns, target) in [
        (&["rows.csv", "--columns", "a, b,c,who"][..], "[\"a\", \"b\", \"c\", \"who\"]", "c"),
        (&["rows.csv", "--no-header"], "[\"column1\", \"column2\", \"column3\", \"column4\"]", "column3"),
    ] {
        new(&project, arguments, 0);
        let spec = project.read("study.toml");
        let source = format!("source.csv = {{ path = \"rows.csv\", separator = \";\", columns = {columns} }}\n");
        assert!(spec.contains(&source) && spec.contains(&format!("target = \"{target}\"\n")), "{spec}");
        for private in ["31415", "9.265", "3589", "Ann"] {
            assert!(!spec.contains(private), "{spec}");
        }
        // It is read as it was: what is left to do is to fill in numbers.
        let run = project.dpgp(&["run", "study.toml"]).expect(2);
        assert!(run.err.contains("must be") && run.err.contains("fill in"), "{}", run.err);
    }
    for (arguments, message) in [
        (&["rows.csv"][..], "use --columns a,b,c or --no-header"),
        (&["rows.csv", "--columns", "a,b"], "line 1 has 4 cells, but there are 2 columns"),
        (&["rows.csv", "--columns", "a,b,a,c"], "the column \"a\" occurs twice"),
        (&["rows.csv", "--columns", "a,,b,c"], "a column name is empty"),
        (&["rows.parquet", "--no-header"], "rows.parquet is a Parquet file, which has its own column names"),
    ] {
        write_parquet(&project.path("rows.parquet"), &[("a", Column::Double(vec![Some(1.0)]))], 1);
        let run = new(&project, arguments, 2);
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
        assert!(!run.err.contains("31415") && !run.err.contains("Ann"), "{}", run.err);
        assert!(!project.path("study.toml").exists());
    }
}
