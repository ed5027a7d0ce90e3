//! Ledgers know columns by their cells, and rows by their columns: neither another name nor another choice of columns is a new budget.

use serde_json::Value;

use crate::support::cli::{Project, Run};

/// A spec of predictions from one column about another; `more` goes into its data.
fn spec(path: &str, columns: &str, [input, target]: [&str; 2], more: &str) -> String {
    let named = if columns.is_empty() { String::new() } else { format!(", columns = [{columns}]") };
    format!(
        "experiment.title = \"t\"\n[data]\nsource.csv = {{ path = \"{path}\"{named} }}\ninputs = [{input}]\ntarget = \"{target}\"\n\
         {more}\n[normalise.bounds]\nlow = 0.0\nhigh = 10.0\n[model]\nnoise_variance = 1.0\nkernel.eq = {{ variance = 9.0, lengthscale \
         = 3.0 }}\n[task.regression]\nsplit.shuffled = 5\ndraws = 10\n[privacy]\nepsilon = 0.5\ndelta = 1e-6\nchange = 10.0\n\
         calibration = \"analytic\"\nmechanism.cloaking = {{ objective = \"risk\" }}\n"
    )
}

/// A number in [0, 1) for each pair of numbers.
fn draw(seed: u64, row: usize) -> f64 {
    let mut z = (seed << 32 | row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as f64 / 2f64.powi(64)
}

/// Rows of serial numbers, houses of ten rows, and numbers with some decimals; `people` tells strangers apart.
fn rows(people: u64, rows: usize, decimals: usize) -> Vec<[String; 4]> {
    let number = |column, row| format!("{:.decimals$}", 10.0 * draw(2 * people + column, row));
    (0..rows).map(|row| [row.to_string(), (row / 10).to_string(), number(0, row), number(1, row)]).collect()
}

/// The text of a file without a header.
fn text(rows: &[[String; 4]]) -> String {
    rows.iter().map(|row| format!("{}\n", row.join(","))).collect()
}

const NAMES: &str = "\"serial\", \"house\", \"x\", \"y\"";
const BUDGET: &[&str] = &["--budget-epsilon", "2", "--budget-delta", "1e-5"];

fn release(project: &Project, spec: &str, grid: &str, more: &[&str]) -> Run {
    project.write("s.toml", spec);
    project.write("grid.csv", grid);
    project.dpgp(&[&["predict", "s.toml", "--at", "grid.csv", "--quiet"], more].concat())
}

/// How many releases each ledger counts.
fn counts(project: &Project) -> Vec<u64> {
    let shown = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    let ledgers: Vec<Value> = shown.as_array().unwrap().clone();
    ledgers.iter().map(|ledger| ledger["account"]["releases"].as_u64().unwrap()).collect()
}

/// A project with these rows, of which `y` was released for `x` with a budget.
fn project(data: &[[String; 4]], more: &str) -> Project {
    let project = Project::new();
    project.write("d.csv", &text(data));
    let first = spec("d.csv", NAMES, ["\"x\"", "y"], more);
    release(&project, &first, "x\n5\n", BUDGET).expect(0);
    project
}

/// The protected column as an input or a filter under other names, of the same rows and of a few more or fewer; and a public column
/// that is protected afterwards.
#[test]
fn a_protected_column_is_not_public_under_another_name() {
    // Numbers with many values, and with few.
    for decimals in [3, 0] {
        let data = rows(1, 300, decimals);
        let project = project(&data, "");
        project.write("more.csv", &text(&rows(1, 310, decimals)));
        project.write("fewer.csv", &text(&data[20..]));
        for file in ["d.csv", "more.csv", "fewer.csv"] {
            for (columns, [input, target], more) in [
                ("\"serial\", \"house\", \"y\", \"x\"", ["\"x\"", "y"], ""),
                ("\"serial\", \"house\", \"a\", \"b\"", ["\"b\"", "a"], ""),
                ("\"serial\", \"house\", \"z\", \"b\"", ["\"b\"", "house"], ""),
                ("\"serial\", \"y\", \"a\", \"b\"", ["\"b\"", "a"], ""),
                (
                    "\"serial\", \"house\", \"a\", \"b\"",
                    ["\"serial\"", "house"],
                    "filter = [{ column = \"b\", is = \"<\", value = 9.0 }]",
                ),
                // x was public.
                ("\"serial\", \"house\", \"y\", \"b\"", ["\"serial\"", "y"], ""),
                ("\"serial\", \"house\", \"a\", \"b\"", ["\"serial\"", "a"], ""),
            ] {
                let grid = format!("{}\n5\n", input.replace('"', ""));
                let run = release(&project, &spec(file, columns, [input, target], more), &grid, &[]).expect(2);
                let said = run.err.contains("an earlier release");
                assert!(said && run.err.contains("public"), "{decimals} {file} {columns}: {}", run.err);
            }
            assert_eq!(counts(&project), [1]);
        }
        // The same columns in the same roles under other names.
        let honest = spec("more.csv", "\"s\", \"h\", \"a\", \"b\"", ["\"a\"", "b"], "");
        release(&project, &honest, "a\n5\n", &[]).expect(0);
        assert_eq!(counts(&project), [2]);
    }
}

/// Persons are those of the same cells: under another name they are the same, under the same name they may be others.
#[test]
fn persons_are_known_by_their_cells() {
    let data = rows(1, 300, 2);
    let persons = |column: &str| format!("person = \"{column}\"\nrows_per_person = 1");
    let project = project(&data, &persons("house"));
    project.write("more.csv", &text(&rows(1, 320, 2)));
    for file in ["d.csv", "more.csv"] {
        let renamed = spec(file, "\"house\", \"other\", \"x\", \"y\"", ["\"x\"", "y"], &persons("house"));
        let run = release(&project, &renamed, "x\n5\n", &[]).expect(2);
        assert!(
            run.err.contains("column that identifies people has the same name as in an earlier release"),
            "{file}: {}",
            run.err
        );
        let honest = spec(file, "\"number\", \"home\", \"x\", \"y\"", ["\"x\"", "y"], &persons("home"));
        release(&project, &honest, "x\n5\n", &[]).expect(0);
    }
    assert_eq!(counts(&project), [3]);
}

/// The same rows with a column more, less, renamed or from the path, read by other columns.
#[test]
fn rows_with_other_columns_are_the_same_rows() {
    let data = rows(1, 300, 2);
    let project = project(&data, "");
    let with = |change: &dyn Fn(usize, &[String; 4]) -> String| -> String {
        data.iter().enumerate().map(|(place, row)| change(place, row)).collect()
    };
    let y_alone = with(&|place, row| format!("{},{}\n", draw(99, place), row[3]));
    let forms: [(&str, String, &str, [&str; 2]); 6] = [
        (
            "ones.csv",
            with(&|_, row| format!("{},1\n", row.join(","))),
            "\"a\",\"b\",\"x\",\"y\",\"c\"",
            ["\"x\",\"c\"", "y"],
        ),
        ("fewer.csv", with(&|_, row| format!("{},{}\n", row[2], row[3])), "\"x\",\"y\"", ["\"x\"", "y"]),
        (
            "new.csv",
            with(&|place, row| format!("{place},{},{}\n", row[2], draw(77, place))),
            "\"n\",\"x\",\"z\"",
            ["\"x\"", "z"],
        ),
        ("alone.csv", y_alone, "\"x\",\"y\"", ["\"x\"", "y"]),
        ("year=2017/part.csv", text(&data), NAMES, ["\"x\"", "y"]),
        ("year=2018/part.csv", text(&data[..200]), NAMES, ["\"x\"", "y"]),
    ];
    let mut releases = 1;
    for (name, text, columns, roles) in forms {
        project.put(name, &text);
        let grid = if roles[0].contains("\"c\"") { "x,c\n5,1\n" } else { "x\n5\n" };
        let folder = name.split('/').next().unwrap();
        for path in if folder == name { vec![name] } else { vec![name, folder] } {
            release(&project, &spec(path, columns, roles, ""), grid, &[]).expect(0);
            releases += 1;
            assert_eq!(counts(&project), [releases], "{path}");
        }
    }
}

/// Strangers of one population: few answers, ages, numbers with two decimals; serial numbers and houses are the same in both.
#[test]
fn strangers_have_ledgers_of_their_own() {
    let project = project(&rows(1, 300, 2), "");
    for (people, count, decimals) in [(2, 300, 2), (3, 250, 2), (4, 300, 1), (5, 300, 1), (6, 299, 0), (7, 300, 0)] {
        let mut text = String::new();
        for (row, [serial, house, x, y]) in rows(people, count, decimals).into_iter().enumerate() {
            let (answer, binary) = (house.len() % 2, u8::from(y < x));
            // Rows of few answers would be alike: each has a number of its own.
            text.push_str(&format!("{serial},{answer},{x},{y},{binary},{}\n", draw(50 + people, row)));
        }
        project.write("other.csv", &text);
        let columns = "\"serial\", \"answer\", \"x\", \"y\", \"binary\", \"own\"";
        release(&project, &spec("other.csv", columns, ["\"own\"", "y"], ""), "own\n0.5\n", &[]).expect(0);
    }
    assert_eq!(counts(&project), [1; 7]);
}

const COUNTS: &str = r#"experiment.title = "counts"
[data]
source.csv = { path = "one.csv" }
inputs = ["x"]
target = "n"
[model]
noise_variance = 0.1
kernel.eq = { variance = 1.0, lengthscale = 1.0 }
[task.density]
bins = [{ from = 0.0, to = 10.0, bins = 10 }]
test = [{ from = 0.0, to = 10.0, bins = 10 }]
draws = 1
estimate.histogram = {}
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
mechanism.histogram = { relation = "add-remove" }
"#;

/// A file of counted places.
fn places(cells: &[String]) -> String {
    format!("x,n\n{}", cells.iter().map(|cell| format!("{cell},1\n")).collect::<String>())
}

/// Places that were drawn, of so many equal steps.
fn drawn(people: u64, count: usize, steps: f64) -> Vec<String> {
    (0..count).map(|row| ((draw(people, row) * steps).floor() * 10.0 / steps).to_string()).collect()
}

/// A copy in another order, with a row more, fewer or other, a half, and an overlap; with and without a ledger, and as sums that are
/// added. Places that only chance has in common are no copy.
#[test]
fn files_with_rows_in_common_are_refused() {
    let project = Project::new();
    project.write("s.toml", COUNTS);
    let even: Vec<String> = (0..300).map(|row| format!("{}.5", row % 10)).collect();
    for one in [even, drawn(1, 300, 20.0), drawn(1, 300, 1e9), drawn(1, 40, 1e9)] {
        project.write("one.csv", &places(&one));
        let mut changed = one.clone();
        changed[7] = "3.25".to_owned();
        let others: [(&str, Vec<String>); 4] = [
            ("turned", one.iter().rev().cloned().collect()),
            ("more", one.iter().cloned().chain(["3.5".to_owned()]).collect()),
            ("fewer", one[1..].to_vec()),
            ("changed", changed),
        ];
        for (name, cells) in others {
            project.write("two.csv", &places(&cells));
            for more in [&["--release", "r.json"][..], &["--release", "r.json", "--no-ledger"], &["--out", "o.json"]] {
                let run = project.dpgp(&[&["stats", "s.toml", "one.csv", "two.csv", "--quiet"], more].concat());
                assert!(run.code == 2 && run.err.contains("hold the same rows"), "{name} {more:?}: {}", run.err);
                assert!(!project.path("r.json").exists() && !project.path("o.json").exists());
            }
            for shard in ["1/2", "2/2"] {
                let out = format!("{}.json", &shard[..1]);
                let stats = ["stats", "s.toml", "one.csv", "two.csv", "--shard", shard, "--out", &out, "--quiet"];
                project.dpgp(&stats).expect(0);
            }
            let run = project.dpgp(&["stats", "s.toml", "--add", "1.json", "2.json", "--quiet"]).expect(2);
            assert!(run.err.contains("hold the same rows"), "{name}: {}", run.err);
            ["1.json", "2.json"].iter().for_each(|sums| std::fs::remove_file(project.path(sums)).unwrap());
        }
    }
    let many = drawn(1, 3000, 1e9);
    project.write("one.csv", &places(&many[..2000]));
    project.write("two.csv", &places(&many[1600..]));
    project.dpgp(&["stats", "s.toml", "one.csv", "two.csv", "--out", "o.json", "--quiet"]).expect(2);
    for (trial, steps) in [2.0, 10.0, 20.0, 100.0, 1000.0, 1e5].into_iter().enumerate() {
        let people = 10 * trial as u64 + 2;
        project.write("one.csv", &places(&drawn(people, 300, steps)));
        project.write("two.csv", &places(&drawn(people + 1, 301, steps)));
        let out = format!("{trial}.sums");
        project.dpgp(&["stats", "s.toml", "one.csv", "two.csv", "--out", &out, "--quiet"]).expect(0);
    }
}

/// A folder of two files that `predict` reads without a ledger.
#[test]
fn predictions_are_not_of_rows_that_stand_in_two_files() {
    let project = Project::new();
    let data = rows(1, 200, 2);
    project.put("parts/a.csv", text(&data));
    let read = spec("parts", NAMES, ["\"x\"", "y"], "");
    for (name, other, code) in
        [("more", &rows(1, 201, 2)[..], 2), ("half", &data[..100], 2), ("strangers", &rows(8, 200, 2), 0)]
    {
        project.put("parts/b.csv", text(other));
        for more in [&["--no-ledger"][..], &[]] {
            let run = release(&project, &read, "x\n5\n", more);
            assert_eq!(run.code, code, "{name}: {}", run.err);
            assert!(code == 0 || run.err.contains("hold the same rows"), "{name}: {}", run.err);
        }
    }
}

/// The same lines cut into other cells are the same rows: no second budget, and no column of them is known. Nor is a number cut in two.
#[test]
fn another_separator_is_no_other_file() {
    let project = Project::new();
    let lines: String = (0..40)
        .map(|row| {
            format!("{:.2};{:.2};{row}|{:.2}|{row}\n", 10.0 * draw(1, row), 10.0 * draw(2, row), 10.0 * draw(3, row))
        })
        .collect();
    project.write("d.csv", format!("x;y;a|u|v\n{lines}").as_str());
    let cut = |separator: &str, roles| {
        spec("d.csv", "", roles, "").replace("\"d.csv\"", &format!("\"d.csv\", separator = \"{separator}\""))
    };
    release(&project, &cut(";", ["\"x\"", "y"]), "x\n5\n", BUDGET).expect(0);
    for (name, text) in
        [("d.csv", lines.clone()), ("part.csv", lines.lines().take(30).map(|line| format!("{line}\n")).collect())]
    {
        project.write(name, format!("x;y;a|u|v\n{text}").as_str());
        let other = cut("|", ["\"v\"", "u"]).replace("d.csv", name);
        let run = release(&project, &other, "v\n5\n", &[]).expect(2);
        assert!(run.err.contains("read the same lines with a different separator"), "{name}: {}", run.err);
        assert_eq!(counts(&project), [1], "{name}");
    }
    for separator in ["1", ".", "e", "-", "+", "_"] {
        let run = release(&project, &cut(separator, ["\"x\"", "y"]), "x\n5\n", &[]).expect(2);
        assert!(run.err.contains("never occurs in a number or word"), "{separator}: {}", run.err);
    }
}

/// Rows that are guessed in a spec are not compared with those of files.
#[test]
fn a_spec_cannot_ask_whether_rows_are_in_a_file() {
    let data = rows(1, 40, 2);
    let project = project(&data, "");
    let column = |place: usize| data.iter().map(|row| row[place].as_str()).collect::<Vec<_>>().join(", ");
    let inline = format!(
        "source.inline = {{ serial = [{}], house = [{}], x = [{}], y = [{}] }}",
        column(0),
        column(1),
        column(2),
        column(3)
    );
    let guessed = spec("d.csv", NAMES, ["\"x\"", "y"], "")
        .replace(&format!("source.csv = {{ path = \"d.csv\", columns = [{NAMES}] }}"), &inline);
    assert!(guessed.contains("source.inline"));
    for _ in 0..2 {
        release(&project, &guessed, "x\n5\n", &[]).expect(0);
    }
    let mut counted = counts(&project);
    counted.sort_unstable();
    assert_eq!(counted, [1, 2]);
}

/// One file of a folder is known, however small a part of it it is.
#[test]
fn a_file_of_many_is_no_other_data() {
    let project = Project::new();
    project.put("parts/a.csv", "");
    project.write("parts/a.csv", &text(&rows(1, 1500, 4)[1..]));
    project.write("parts/b.csv", &text(&rows(1, 1, 4)));
    release(&project, &spec("parts", NAMES, ["\"x\"", "y"], ""), "x\n5\n", BUDGET).expect(0);
    release(&project, &spec("parts/b.csv", NAMES, ["\"x\"", "y"], ""), "x\n5\n", &[]).expect(0);
    assert_eq!(counts(&project), [2]);
}
