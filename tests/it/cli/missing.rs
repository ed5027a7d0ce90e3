//! Rows that lack a cell: left out where a spec says so and a guarantee allows it, and an error elsewhere.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::energy::{RECORDS, TARGETS, day};
use crate::support::parquet_file::{Column, write_parquet};
use crate::support::rows::{wave, write_rows};
use crate::support::sums::assert_same_sums;

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
const STATS: &[&str] = &["stats", "energy.toml", "energy.csv", "--quiet", "--release", "r.json"];

/// Cells that say nothing, in every way that is known.
const NOTHING: [&str; 7] = ["", "  ", "NA", "na", "NaN", "null", "NULL"];

/// A histogram of the rows of persons.
const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv = { path = "rows.csv" }, inputs = ["x"], target = "n", missing = "drop", person = "who", rows_per_person = 2 }
task.density = { bins = [{ from = -1.0, to = 1.0, bins = 8 }], test = [{ from = -1.0, to = 1.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

/// Two classes.
const CLASSES: &str = r#"experiment.title = "classes"
data = { source.csv = { path = "rows.csv" }, inputs = ["x"], target = "n", missing = "drop" }
model.kernel.eq = { variance = 1.0, lengthscale = 1.0 }
task.dirichlet = { train = 1, classes = 2, alpha = 0.01, posterior = { regularisation = "tight", correction = "first-order" }, release = "class-sums", inducing = [{ from = -1.0, to = 1.0, points = 3 }] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { features = "line", sensitivity = "exact" } }
"#;

/// A spec that leaves rows out.
fn dropping(spec: &str) -> String {
    spec.replace("target = \"kwh\"", "target = \"kwh\", missing = \"drop\"")
}

/// Moments of records, whose number is private.
fn moments() -> String {
    let (before, _) = RECORDS.split_once("task.surface").unwrap();
    let after = "task.surface.map = [{ from = -5.0, to = 25.0, points = 4 }]
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[-10.0, 35.0]], rows = 100 } }
";
    dropping(&format!("{before}{after}"))
}

/// A line of the file of each day, and after each third one some that lack an input, or a target too.
fn lines(gaps: usize, targets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for i in 0..120 {
        let [day, temperature, kwh] = day(i);
        lines.push(format!("{day},{temperature},{kwh}\n"));
        for gap in (0..gaps).filter(|_| i % 3 == 0) {
            let nothing = NOTHING[(i as usize + gap) % NOTHING.len()];
            let without_target = targets && (i as usize + gap).is_multiple_of(2);
            lines.push(match without_target {
                true => format!("{day},{temperature},{nothing}\n"),
                false => format!("{day},{nothing},{}\n", f64::from(i) + gap as f64),
            });
        }
    }
    lines
}

fn file(lines: &[String]) -> String {
    format!("day,temperature,kwh\n{}", lines.concat())
}

fn project(spec: &str, gaps: usize, targets: bool) -> Project {
    let project = Project::empty();
    project.write("energy.toml", spec);
    project.write("energy.csv", &file(&lines(gaps, targets)));
    project.write("grid.csv", "temperature\n-5\n5\n15\n25\n");
    project
}

/// Fails unless a command is refused with this message, and charges and writes nothing.
fn refused(project: &Project, arguments: &[&str], message: &str) {
    let run = project.dpgp(arguments).expect(2);
    assert!(run.err.contains(message), "{message:?} is not in\n{}", run.err);
    assert!(!run.err.contains("secret"), "{}", run.err);
    for name in ["p.csv", "p.csv.certificate.json", "r.json", "state/ledgers"] {
        assert!(!project.path(name).exists(), "{name} was left by {arguments:?}");
    }
    project.assert_nothing_left();
}

/// Columns of a table of predictions that have no noise where inputs are public.
fn public_columns(project: &Project) -> Vec<String> {
    let columns = |line: &str| line.split(',').skip(2).take(2).collect::<Vec<&str>>().join(",");
    project.read("p.csv").lines().map(columns).collect()
}

/// What `dpgp run` measures, with the noise of its seed.
fn measured(project: &Project) -> Value {
    let rows = project.dpgp(&["run", "energy.toml", "--quiet", "--format", "json"]).expect(0).json();
    let of_row = |row: &Value| ["metric", "value", "delta_exact"].map(|key| row[key].clone());
    rows["rows"].as_array().unwrap().iter().map(of_row).collect::<Vec<_>>().into()
}

/// Public inputs: the file with its gaps is the one from which somebody took them.
#[test]
fn predictions_are_those_of_the_rows_with_inputs() {
    let (holes, whole) = (project(&dropping(TARGETS), 2, false), project(&dropping(TARGETS), 0, false));
    let plain = project(TARGETS, 0, false);
    for project in [&holes, &whole, &plain] {
        project.dpgp(PREDICT).expect(0);
    }
    assert_eq!(public_columns(&holes), public_columns(&plain));
    assert_eq!(measured(&holes), measured(&whole));
    let certificate = holes.json("p.csv.certificate.json")["not_covered"].to_string();
    assert!(certificate.contains("the set of rows dropped because they lack an input, and"), "{certificate}");
}

/// Private records: the same, by sums and by moments, in one pass over a file and in memory.
#[test]
fn sums_are_those_of_the_rows_that_lack_nothing() {
    for spec in [dropping(RECORDS), moments()] {
        let (holes, whole) = (project(&spec, 2, true), project(&spec, 0, false));
        let part = |project: &Project| {
            project.dpgp(&["stats", "energy.toml", "energy.csv", "--out", "sums.json"]).expect(0);
            project.json("sums.json")["part"]["sums"].clone()
        };
        assert_eq!(part(&holes), part(&whole));
        assert_eq!(measured(&holes), measured(&whole));
        // Tabs, and a file of another kind.
        holes.write("energy.csv", &file(&lines(2, true)).replace(',', "\t"));
        holes.write("energy.toml", &spec.replace("\"energy.csv\" }", "\"energy.csv\", separator = \"\\t\" }"));
        holes.remove("sums.json");
        assert_eq!(part(&holes), part_of(&whole));
        // A null in each fourth row.
        let csv = "source.csv = { path = \"energy.csv\" }";
        let spec = spec.replace(csv, "source.parquet.path = \"energy.parquet\"");
        for (project, group) in [(&holes, 4), (&whole, 3)] {
            let days = (0..40 * group).map(|i| (i % group != 3).then(|| day(i / group * 3 + i % group)));
            let [temperature, kwh] =
                [1, 2].map(|place| Column::Double(days.clone().map(|day| day.map(|day| day[place])).collect()));
            write_parquet(&project.path("energy.parquet"), &[("temperature", temperature), ("kwh", kwh)], 50);
            project.write("energy.toml", &spec);
        }
        assert_eq!(measured(&holes), measured(&whole));
        holes.dpgp(&["stats", "energy.toml", "energy.parquet", "--out", "binary.json"]).expect(0);
        assert_eq!(holes.json("binary.json")["part"]["sums"], part_of(&whole));
    }
}

fn part_of(project: &Project) -> Value {
    project.json("sums.json")["part"]["sums"].clone()
}

/// Rows keep their numbers in shards, and a person's rows are chosen among those that lack nothing.
#[test]
fn shards_of_files_with_gaps_add_up() {
    for spec in [HISTOGRAM, CLASSES] {
        let rows = 40_000;
        let mut x = wave(rows, 0.7);
        x.iter_mut().skip(4).step_by(15).for_each(|x| *x = f64::NAN);
        let n: Vec<f64> = (0..rows).map(|i| if i % 7 == 0 { f64::NAN } else { (i % 2) as f64 }).collect();
        let who: Vec<f64> = (0..rows).map(|i| if i % 11 == 0 { f64::NAN } else { (i * 31 % 9001) as f64 }).collect();
        let persons = spec == HISTOGRAM;
        let mut whole: Vec<usize> = (0..rows).filter(|i| !x[*i].is_nan() && !n[*i].is_nan()).collect();
        whole.retain(|i| !persons || !who[*i].is_nan());
        let project = Project::empty();
        project.write("s.toml", spec);
        for name in ["rows.csv", "rows.parquet"] {
            write_rows(&project, name, &["x", "n", "who"], &[x.clone(), n.clone(), who.clone()]);
        }
        let columns = [&x, &n, &who].map(|column| whole.iter().map(|i| column[*i]).collect());
        write_rows(&project, "whole.csv", &["x", "n", "who"], &columns);
        assert_same_sums(&project, "rows");
        project.dpgp(&["stats", "s.toml", "whole.csv", "--out", "whole.json"]).expect(0);
        assert_eq!(project.json("one.json")["part"]["sums"], project.json("whole.json")["part"]["sums"]);
        // The rows are those of the file, whatever it is: with their gaps.
        let mut text = project.json("text.json")["identity"].clone();
        assert!(text.as_object_mut().unwrap().remove("lines").is_some(), "only a text has lines");
        assert_eq!(project.json("one.json")["identity"], text);
        assert_ne!(project.json("one.json")["identity"], project.json("whole.json")["identity"]);
    }
}

/// The path of a part may say that a column is missing, and every row of that part is left out.
#[test]
fn parts_without_a_value_are_left_out() {
    let project = project(&dropping(RECORDS), 0, false);
    let spec = dropping(RECORDS)
        .replace("[\"temperature\"]", "[\"temperature\"], filter = [{ column = \"month\", is = \"<\", value = 9 }]");
    project.write("energy.toml", &spec);
    project.put("parts/month=6/a.csv", file(&lines(1, true)));
    project.put("whole/month=6/a.csv", file(&lines(0, false)));
    project.put("parts/month=__HIVE_DEFAULT_PARTITION__/a.csv", "day,temperature,kwh\n1,2,3\n");
    for (folder, out) in [("parts", "parts.json"), ("whole", "whole.json")] {
        project.dpgp(&["stats", "energy.toml", folder, "--out", out]).expect(0);
    }
    assert_eq!(project.json("parts.json")["part"]["sums"], project.json("whole.json")["part"]["sums"]);
}

/// Gaps change no row for a ledger: prediction and sums are about the same ones, in text and Parquet.
#[test]
fn ledgers_know_rows_with_gaps() {
    let project = project(&dropping(RECORDS), 0, false);
    let mut gaps: Vec<[Option<f64>; 2]> = (0..60).map(day).map(|[_, t, kwh]| [Some(t), Some(kwh)]).collect();
    (gaps[3][0], gaps[17][1], gaps[40]) = (None, Some(f64::NAN), [None, None]);
    let cell = |cell: &Option<f64>| cell.map_or_else(String::new, |cell| format!("{cell}"));
    let text: Vec<String> = gaps.iter().map(|[t, kwh]| format!("{},{}\n", cell(t), cell(kwh))).collect();
    project.write("energy.csv", &format!("temperature,kwh\n{}", text.concat()));
    let columns = [0, 1].map(|place| Column::Double(gaps.iter().map(|row| row[place]).collect()));
    let columns: Vec<(&str, Column)> = ["temperature", "kwh"].into_iter().zip(columns).collect();
    write_parquet(&project.path("energy.parquet"), &columns, 25);
    project.dpgp(PREDICT).expect(0);
    project.dpgp(STATS).expect(0);
    project.dpgp(&["stats", "energy.toml", "energy.parquet", "--release", "q.json"]).expect(0);
    let spec =
        dropping(RECORDS).replace("source.csv = { path = \"energy.csv\" }", "source.parquet.path = \"energy.parquet\"");
    project.write("energy.toml", &spec);
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", "q.csv"]).expect(0);
    // One ledger, and one digest of the rows in all of its releases.
    let ledgers = std::fs::read_dir(project.path("state/ledgers")).unwrap().map(|entry| entry.unwrap().path());
    let ledgers: Vec<_> = ledgers.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert_eq!(ledgers.len(), 1, "{ledgers:?}");
    let ledger: toml::Table = toml::from_str(&std::fs::read_to_string(&ledgers[0]).unwrap()).unwrap();
    let digests: Vec<&str> =
        ledger["release"].as_array().unwrap().iter().map(|release| release["data"].as_str().unwrap()).collect();
    assert_eq!(digests, [digests[0]; 4]);
}

/// Two files with the same rows but for the number of those that lack a cell: all that is said and written is the same but for
/// noise, digests and names that are drawn.
#[test]
fn nothing_tells_how_many_are_left_out() {
    for (spec, targets) in [(dropping(TARGETS), false), (dropping(RECORDS), true), (moments(), true)] {
        let said = [1, 4].map(|gaps| {
            let project = project(&spec, gaps, targets);
            let mut said = project.dpgp(PREDICT).expect(0).out;
            said += &project.dpgp(&[PREDICT[0..4].to_vec(), vec!["--preview"]].concat()).out;
            let mut files = vec![project.json("p.csv.certificate.json")];
            if targets {
                said += &project.dpgp(STATS).expect(0).out;
                files.push(project.json("r.json"));
            }
            said += &files.iter().map(|file| redacted(file.clone()).to_string()).collect::<String>();
            said += &measured(&project).to_string();
            said
        });
        let said =
            said.map(|said| said.lines().filter(|line| !line.starts_with("ledger ")).collect::<Vec<_>>().join("\n"));
        assert_eq!(said[0], said[1]);
    }
}

/// A file without what is drawn or keyed.
fn redacted(mut file: Value) -> Value {
    const DRAWN: [&str; 9] = [
        "sums",
        "moments",
        "weights",
        "surface",
        "release_id",
        "predictions_sha256",
        "content_sha256",
        "digest",
        "time",
    ];
    for name in DRAWN {
        file.as_object_mut().unwrap().remove(name);
    }
    file
}

/// How many rows are kept is private, so that no delta is refused by it: a large one is a warning.
#[test]
fn a_large_delta_is_a_warning() {
    let spec = dropping(RECORDS).replace("delta = 1e-6", "delta = 0.007");
    let project = project(&spec, 1, true);
    for verb in [PREDICT, STATS] {
        let run = project.dpgp(&[verb, &["--no-ledger"]].concat()).expect(0);
        let told = format!("{}{}", run.out, run.err);
        assert!(told.contains("warning: delta = 0.007 should be far below one over the number of people"), "{told}");
    }
}

/// A missing target would be told by the public inputs.
#[test]
fn public_inputs_need_their_targets() {
    for nothing in NOTHING {
        let project = project(&dropping(TARGETS), 1, false);
        let mut lines = lines(1, false);
        lines[8] = format!("5,7.5,{nothing}\n");
        // Without an input the row is left out, whatever stands for its target.
        lines[11] = format!("5,NA,{nothing}\n");
        project.write("energy.csv", &file(&lines));
        let message = "energy.csv: line 10, column \"kwh\": the target is missing. data.missing drops only rows with a missing input";
        for arguments in
            [PREDICT, &["run", "energy.toml", "--quiet"], &["predict", "energy.toml", "--at", "grid.csv", "--preview"]]
        {
            refused(&project, arguments, message);
        }
        // A public column may leave it out.
        project.write(
            "energy.toml",
            &dropping(TARGETS).replace("data = {", "data = { filter = [{ column = \"day\", is = \"!=\", value = 5 }],"),
        );
        project.dpgp(PREDICT).expect(0);
    }
}

/// Unless the spec says so a gap is an error, which says what to write; a cell that is there and no number stays one.
#[test]
fn gaps_are_refused_unless_a_spec_says_more() {
    let way_out = "; to drop such rows, set data.missing = \"drop\"";
    for nothing in NOTHING {
        let project = project(TARGETS, 0, false);
        let problem = if nothing.trim().is_empty() { "the cell is empty" } else { "the cell is NA, NaN or null" };
        let told = format!("line 4, column \"temperature\": {problem}; expected a number{way_out}");
        let mut lines = lines(0, false);
        lines[2] = format!("2,{nothing},20.0\n");
        project.write("energy.csv", &file(&lines));
        refused(&project, PREDICT, &told);
        refused(&project, &["run", "energy.toml", "--quiet"], &told);
        project.write("energy.toml", RECORDS);
        refused(&project, PREDICT, &told);
        refused(&project, STATS, &told);
        // It would not help.
        lines[2] = format!("2,4.5,{nothing}\n");
        project.write("energy.csv", &file(&lines));
        project.write("energy.toml", TARGETS);
        let run = project.dpgp(PREDICT).expect(2);
        assert!(run.err.contains(problem) && !run.err.contains("drop"), "{}", run.err);
    }
    for (row, problem) in [
        ("2,secret,1\n", "column \"temperature\": the cell is not a number"),
        ("2,NA,secret\n", "column \"kwh\": the cell is not a number"),
        ("2,inf,\n", "column \"temperature\": the cell is not a finite number"),
        ("2,N/A,1\n", "column \"temperature\": the cell is not a number"),
    ] {
        let project = project(&dropping(RECORDS), 1, true);
        let mut lines = lines(1, true);
        lines[6] = row.to_owned();
        project.write("energy.csv", &file(&lines));
        for arguments in [PREDICT, STATS, &["run", "energy.toml", "--quiet"]] {
            refused(&project, arguments, &format!("energy.csv: line 8, {problem}"));
        }
    }
}

/// Specs in which a private number of rows would tell, or nothing can be missing.
#[test]
fn specs_that_may_not_leave_rows_out() {
    let records = dropping(RECORDS);
    let inline = "source.inline = { temperature = [1, 2], kwh = [1, 2] }";
    for (spec, message) in [
        (records.replace("source.csv = { path = \"energy.csv\" }", inline), "other sources have no missing cells"),
        (
            records.replace("missing = \"drop\"", "missing = \"drop\", draw.rows = 10"),
            "cannot be combined with data.draw",
        ),
        (records.replace("\"drop\"", "\"ignore\""), "unknown variant `ignore`"),
        (
            moments().replace(", rows = 100", ""),
            "data.missing = \"drop\", which makes the number of rows private, needs a value for `rows`",
        ),
    ] {
        let project = project(&spec, 1, true);
        refused(&project, &["check", "energy.toml"], message);
        refused(&project, PREDICT, message);
    }
}

/// Where records are private, none that lacks a cell instead moves a release further than is claimed.
#[test]
fn audits_hold() {
    let persons = HISTOGRAM.replace("rows.csv", "energy.csv").replace("[\"x\"]", "[\"temperature\"]");
    let persons = persons.replace("-1.0, to = 1.0", "-10.0, to = 40.0");
    for spec in [dropping(RECORDS), moments(), persons] {
        let project = project(&spec, 1, true);
        let lines = lines(1, true).into_iter().enumerate();
        let lines =
            lines.map(|(i, line)| line.replace('\n', &format!(",{},{}\n", i % 3, NOTHING.get(i % 40).unwrap_or(&"w"))));
        project.write("energy.csv", &format!("day,temperature,kwh,n,who\n{}", lines.collect::<String>()));
        let run = project.dpgp(&["audit", "--end-to-end", "energy.toml"]).expect(0);
        assert!(run.out.starts_with("energy: holds\n"), "{}", run.out);
    }
}

/// `dpgp new` says the same of a file with gaps and of one without.
#[test]
fn new_specs_name_the_key_whatever_the_file() {
    let spec = |gaps: usize, private: bool| {
        let project = project(TARGETS, gaps, true);
        let private: &[&str] = if private { &["--private-inputs"] } else { &[] };
        project.dpgp(&[&["new", "--data", "energy.csv", "mine"], private].concat()).expect(0);
        project.read("mine.toml")
    };
    for private in [false, true] {
        assert_eq!(spec(0, private), spec(3, private));
        assert!(
            spec(3, private).contains("# missing = \"drop\"")
                && spec(3, private).contains("inputs = [\"day\", \"temperature\"]")
        );
    }
}
