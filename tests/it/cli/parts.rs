//! Rows in many part files: folders, patterns, and columns that paths name.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::support::cli::{Project, Run};
use crate::support::rows::{wave, write_rows};

/// Counts records by x and month, in the years from 2017 on.
const SPEC: &str = r#"
experiment.title = "parts"
data = { source.csv.path = "rows.csv", inputs = ["x", "month"], target = "n", filter = [{ column = "year", is = ">=", value = 2017 }] }
[task.density]
bins = [{ from = -1.0, to = 1.0, bins = 4 }, { from = 0.5, to = 12.5, bins = 12 }]
test = [{ from = -1.0, to = 1.0, bins = 2 }, { from = 0.5, to = 12.5, bins = 2 }]
draws = 1
estimate.histogram = {}
[privacy]
epsilon = 1.0
delta = 1e-9
mechanism.histogram.relation = "add-remove"
"#;

/// The rows of a part: a wave of its own, and so many records each.
struct Part {
    year: u32,
    month: u32,
    rows: usize,
    step: f64,
}

const PARTS: [Part; 3] = [
    Part { year: 2016, month: 12, rows: 500, step: 0.7 },
    Part { year: 2017, month: 6, rows: 9_000, step: 1.1 },
    Part { year: 2017, month: 11, rows: 12_000, step: 1.3 },
];

impl Part {
    fn columns(&self) -> Vec<Vec<f64>> {
        let n = (0..self.rows).map(|row| f64::from(row as u32 % 3)).collect();
        vec![wave(self.rows, self.step), n]
    }

    /// The same with the columns that its path names.
    fn all_columns(&self) -> Vec<Vec<f64>> {
        let mut columns = self.columns();
        columns.extend([self.year, self.month].map(|cell| vec![f64::from(cell); self.rows]));
        columns
    }
}

const ALL: [&str; 4] = ["x", "n", "year", "month"];

/// A project with the parts in folders, the middle one as Parquet, and all rows in one file.
fn project() -> Project {
    let project = Project::new();
    project.write("s.toml", SPEC);
    let mut whole = vec![Vec::new(); 4];
    for part in &PARTS {
        let ending = if part.month == 6 { "parquet" } else { "csv" };
        let name = format!("parts/year={}/month={:02}/part-0.{ending}", part.year, part.month);
        project.put(&name, "");
        write_rows(&project, &name, &["x", "n"], &part.columns());
        whole.iter_mut().zip(part.all_columns()).for_each(|(all, some)| all.extend(some));
    }
    project.put("parts/_SUCCESS", "");
    project.put("parts/year=2017/.part-0.csv.crc", "no rows");
    project.put("parts/README.txt", "no rows");
    write_rows(&project, "whole.csv", &ALL, &whole);
    project
}

/// The sums of these files.
fn sums(project: &Project, files: &[&str]) -> serde_json::Value {
    project.remove("sums.json");
    project.dpgp(&[&["stats", "s.toml", "--out", "sums.json"], files].concat()).expect(0);
    project.json("sums.json")
}

#[test]
fn folders_and_patterns_mean_files_in_the_order_of_their_paths() {
    let project = project();
    project.write("s.toml", &SPEC.replace("\"month\"]", "\"day\"]"));
    let names = ["x", "n", "year", "day"];
    for (name, part) in ["rows/b.csv", "rows/a.parquet", "rows/sub/c.csv"].iter().zip(&PARTS) {
        project.put(name, "");
        write_rows(&project, name, &names, &part.all_columns());
    }
    project.put("rows/_temporary/d.csv", "no rows");
    let named = sums(&project, &["rows/a.parquet", "rows/b.csv", "rows/sub/c.csv"]);
    for files in [&["rows"][..], &["rows/**"], &["./rows/"], &["rows/[ab].*", "rows/*/c.csv"], &["row?"]] {
        assert_eq!(sums(&project, files), named, "{files:?}");
    }
    // The order of names is kept, that of files under a name is that of their paths.
    let swapped = sums(&project, &["rows/sub", "rows/[ab].*"]);
    assert_eq!(swapped["part"]["sums"], named["part"]["sums"]);
    assert_eq!(swapped["files"][0]["name"], "c.csv");
    for (shard, out) in [("1/2", "1.json"), ("2/2", "2.json")] {
        project.dpgp(&["stats", "s.toml", "rows", "--shard", shard, "--out", out]).expect(0);
    }
    project.dpgp(&["stats", "s.toml", "--add", "1.json", "2.json", "--out", "sum.json"]).expect(0);
    assert_eq!(project.json("sum.json"), named);
    // A file is that file, whatever letters its name has.
    write_rows(&project, "rows/*.csv", &names, &PARTS[2].all_columns());
    assert_eq!(sums(&project, &["rows/*.csv"])["part"], sums(&project, &["rows/sub/c.csv"])["part"]);
}

#[test]
fn folders_name_columns() {
    let project = project();
    let whole = sums(&project, &["whole.csv"]);
    assert_eq!(whole["files"].as_array().unwrap().len(), 1);
    for files in [&["parts"][..], &["parts/year=2016", "parts/year=2017/month=*/*"], &["parts/**/*.[cp]*"]] {
        let found = sums(&project, files);
        assert_eq!(found["part"]["sums"], whole["part"]["sums"], "{files:?}");
        assert_eq!(found["files"][1]["name"], "year=2017/month=06/part-0.parquet", "{files:?}");
    }
    let one = sums(&project, &["parts/year=2017/month=06/*.parquet"]);
    assert_eq!(one["files"][0]["name"], "year=2017/month=06/part-0.parquet");
    assert_eq!(one["files"][0]["rows"], 9_000);
    // The filter takes what a path says: no row of 2016 counts.
    let none = sums(&project, &["parts/year=2016"]);
    project.write("s.toml", &SPEC.replace("is = \">=\"", "is = \"<\""));
    let other = sums(&project, &["parts/year=2016"]);
    assert_ne!(none["part"]["sums"], other["part"]["sums"]);
}

/// A path says whose rows they are as well as a column does.
#[test]
fn folders_name_persons() {
    let project = Project::new();
    let persons = SPEC
        .replace("\"month\"]", "\"x2\"]")
        .replace("target = \"n\"", "target = \"n\", person = \"who\", rows_per_person = 2")
        .replace("relation = \"add-remove\"", "most_per_row = 1\nmechanism.histogram.relation = \"add-remove\"");
    project.write("s.toml", &persons);
    let mut whole = "x,x2,n,year,who\n".to_owned();
    for (who, step) in [("Ann", 0.3), ("B%20C", 0.4)] {
        let mut text = "x,x2,n,year\n".to_owned();
        for (row, x) in wave(20, step).iter().enumerate() {
            text += &format!("{x},{},1,2017\n", row % 12 + 1);
            whole += &format!("{x},{},1,2017,{}\n", row % 12 + 1, who.replace("%20", " "));
        }
        project.put(&format!("rows/who={who}/a.csv"), text);
    }
    project.write("whole.csv", &whole);
    let (found, whole) = (sums(&project, &["rows"]), sums(&project, &["whole.csv"]));
    assert_eq!(found["part"]["sums"], whole["part"]["sums"]);
    assert_eq!(found["part"]["sums"].to_string().contains('4'), whole["part"]["sums"].to_string().contains('4'));
}

/// An attack replaces cells of part files, also those that a path names.
#[test]
fn attacks_reach_part_files() {
    let project = Project::new();
    project.write("s.toml", SPEC);
    for part in &PARTS[1..] {
        let name = format!("parts/year={}/month={}/a.csv", part.year, part.month);
        project.put(&name, "");
        write_rows(&project, &name, &["x", "n"], &Part { rows: 30, ..*part }.columns());
    }
    let run = project.dpgp(&["audit", "--end-to-end", "s.toml", "--rows", "parts"]).expect(0);
    assert!(run.out.contains("the output of `dpgp sum` is the same"), "{}", run.out);
}

/// Bytes as gzip.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Text that gzip packed is the text: its sums and the identity of its rows are the same, whole and in shards.
#[test]
fn packed_text_is_read_as_text() {
    let project = project();
    let plain = sums(&project, &["parts"]);
    for part in PARTS.iter().filter(|part| part.month != 6) {
        let name = format!("parts/year={}/month={:02}/part-0.csv", part.year, part.month);
        let text = project.read(&name);
        let (first, second) = text.split_at(text.len() / 2);
        // Two members, as tools write that pack in parallel.
        project.put(&format!("{name}.gz"), [gzip(first.as_bytes()), gzip(second.as_bytes())].concat());
        project.remove(&name);
    }
    let packed = sums(&project, &["parts"]);
    assert_eq!(packed["files"][2]["name"], "year=2017/month=11/part-0.csv.gz");
    assert_eq!(packed["files"][2]["rows"], plain["files"][2]["rows"]);
    assert_eq!(packed["part"], plain["part"]);
    assert_eq!(packed["identity"]["rows"], plain["identity"]["rows"]);
    for (shard, out) in [("1/2", "1.json"), ("2/2", "2.json")] {
        project.dpgp(&["stats", "s.toml", "parts/**/*.[gp]*", "--shard", shard, "--out", out]).expect(0);
    }
    project.dpgp(&["stats", "s.toml", "--add", "1.json", "2.json", "--out", "sum.json"]).expect(0);
    assert_eq!(project.json("sum.json")["part"], plain["part"]);
}

/// A row that goes on and on does not fill the memory, however small its file is.
#[test]
fn rows_without_an_end_are_refused() {
    let project = project();
    for text in [vec![b'0'; (64 << 20) + 8], [b"x,n,year,month\n\"".to_vec(), vec![b'\n'; (64 << 20) + 8]].concat()] {
        project.put("long.csv.gz", gzip(&text));
        let run = project.dpgp(&["stats", "s.toml", "long.csv.gz"]).expect(2);
        assert!(run.err.contains("belongs to a row of more than 64 MB"), "{}", run.err);
    }
}

/// What the ledger holds after a release.
fn releases(run: Run) -> String {
    let line = run.out.lines().find(|line| line.contains("release")).unwrap_or_default().to_owned();
    line.split(" spent").next().unwrap_or_default().to_owned()
}

/// A ledger knows rows with the columns that their paths name and without: the same rows in one file are the same, and so are those below
/// other folders; other rows are not.
#[test]
fn ledgers_see_the_columns_of_paths() {
    let project = project();
    let release = |files: &str, out: &str| {
        let run = project.dpgp(&["stats", "s.toml", files, "--release", out]).expect(0);
        releases(run)
    };
    let first = release("parts", "a.json");
    assert!(first.contains("1 release has"), "{first}");
    let second = release("whole.csv", "b.json");
    assert!(second.contains("2 releases have"), "{second}");
    for part in &PARTS {
        let name = format!("others/year={}/month={}/part-0.csv", part.year + 10, part.month);
        project.put(&name, "");
        write_rows(&project, &name, &["x", "n"], &part.columns());
    }
    let others = release("others", "c.json");
    assert!(others.contains("3 releases have"), "{others}");
    for part in &PARTS {
        let name = format!("strangers/year={}/month={}/part-0.csv", part.year, part.month);
        // In another range no number is one of theirs to 24 bits, to which cells count.
        let [x, n]: [Vec<f64>; 2] = part.columns().try_into().unwrap();
        project.put(&name, "");
        write_rows(&project, &name, &["x", "n"], &[x.into_iter().map(|x| x + 5.0).collect(), n]);
    }
    let strangers = release("strangers", "d.json");
    assert!(strangers.contains("1 release has"), "{strangers}");
}

/// The names of all files in a folder and below.
fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The shipped experiments are linked to.
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path))
        } else {
            found.push(path.display().to_string())
        }
    }
    found.sort();
    found
}

#[test]
fn mistakes_change_nothing() {
    let project = project();
    project.put("twice/month=6/a.csv", "x,n,year,month\n0.5,1,2017,6\n");
    project.put("missing/year=2017/month=__HIVE_DEFAULT_PARTITION__/a.csv", "x,n\n0.5,1\n");
    project.put("word/year=2017/month=June/a.csv", "x,n\n0.5,1\n");
    project.put("deep/year=2017/month=6/month=7/a.csv", "x,n\n0.5,1\n");
    project.put("same/year=2017/month=6/a.csv", "x,n\n0.5,1\n");
    project.put("same/year=2017/month=6/b.csv", "x,n\n0.5,1\n");
    project.put("packed/year=2017/month=6/a.csv.zst", "x,n\n0.5,1\n");
    project.put("packed/year=2017/month=7/a.csv", "x,n\n0.5,1\n");
    project.put("plain/year=2017/month=6/a.csv.gz", "x,n\n0.5,1\n");
    project.put("cut/year=2017/month=6/a.csv.gz", &gzip(b"x,n\n0.5,1\n0.6,1\n")[..20]);
    project.put("both/year=2017/month=6/a.parquet.gz", gzip(b"x,n\n0.5,1\n"));
    assert!(Command::new("mkfifo").arg(project.path("pipe.csv")).status().unwrap().success());
    project.put("misspelt/year=2017/moth=6/a.csv", "x,n\n0.5,1\n");
    project.put("none/notes.txt", "x,n\n0.5,1\n");
    // Rows are known by a key, which the first sums make.
    sums(&project, &["parts"]);
    let before = tree(project.folder.path());
    for (files, code, message) in [
        ("twice", 2, "the column \"month\" is in both the file and its path"),
        ("missing", 2, "the path names the column \"month\": the cell is empty"),
        ("word", 2, "the path names the column \"month\": the cell is not a number"),
        ("deep", 2, "the column \"month\" occurs twice"),
        ("misspelt", 2, "no column \"month\" (did you mean \"moth\"?); the columns are: x, n, year, moth"),
        ("packed", 2, "a.csv.zst: is compressed in an unsupported format"),
        ("packed/**/*.zst", 2, "a.csv.zst: is compressed in an unsupported format"),
        ("both", 2, "a.parquet.gz: is compressed in an unsupported format"),
        ("plain", 2, "a.csv.gz: cannot be decompressed with gzip"),
        ("cut", 2, "a.csv.gz: cannot be decompressed with gzip"),
        ("pipe.csv", 2, "pipe.csv: is a pipe or a device"),
        ("/dev/zero", 2, "/dev/zero: is a pipe or a device"),
        ("s3://bucket/year=2017/*.csv", 2, "cannot read s3://bucket/year=2017/*.csv: this build"),
        ("ftp://host/rows.csv", 2, "cannot read ftp://host/rows.csv: this build"),
        ("none", 3, "no data files found at none:"),
        ("parts/*.orc", 3, "no data files found at parts/*.orc:"),
        ("nowhere", 3, "nowhere"),
        ("parts/[", 2, "parts/[ is not a valid file pattern"),
        ("parts/year=2017/month=11/part-0.csv", 2, "there is no column \"month\""),
        ("parts/year=2017/../../whole.csv", 0, ""),
    ] {
        let run = project.dpgp(&["stats", "s.toml", files]).expect(code);
        assert!(run.err.contains(message), "{files}: {}", run.err);
        if code != 0 {
            let arguments = ["stats", "s.toml", files, "--out", "o.json", "--release", "r.json", "--no-ledger"];
            project.dpgp(&arguments).expect(code);
        }
        assert_eq!(tree(project.folder.path()), before, "{files}");
    }
    let run = project.dpgp(&["stats", "s.toml", "same", "--release", "r.json"]).expect(2);
    assert!(run.err.contains("month=6/a.csv") && !project.path("r.json").exists(), "{}", run.err);
}

/// A spec of `dpgp run` and `dpgp predict` reads part files as it reads one file.
#[test]
fn specs_read_part_files() {
    let spec = |source: &str| {
        format!(
            r#"experiment.title = "parts"
data = {{ source.{source}, inputs = ["x", "month"], target = "n", filter = [{{ column = "year", is = ">=", value = 2017 }}] }}
normalise.bounds = {{ low = 0.0, high = 2.0 }}
model = {{ noise_variance = 1.0, kernel.eq = {{ variance = 1.0, lengthscale = 1.0 }} }}
task.regression = {{ split.contiguous = 2, draws = 2 }}
[privacy]
epsilon = 1.0
delta = 1e-5
change = 2.0
calibration = "analytic"
mechanism.cloaking = {{ objective = "trace", rank_tolerance = 0.0 }}
[grid]
"privacy.epsilon" = [1.0, inf]
"#
        )
    };
    let project = Project::new();
    let mut whole = vec![Vec::new(); 4];
    for part in &PARTS {
        let part = Part { rows: part.rows / 500, ..*part };
        for ending in ["csv", "parquet"] {
            let name = format!("{ending}/year={}/month={:02}/a.{ending}", part.year, part.month);
            project.put(&name, "");
            write_rows(&project, &name, &["x", "n"], &part.columns());
        }
        let name = format!("csv/year={}/month={:02}/a.csv", part.year, part.month);
        project.put(&format!("gz/{}.gz", &name[4..]), gzip(project.read(&name).as_bytes()));
        whole.iter_mut().zip(part.all_columns()).for_each(|(all, some)| all.extend(some));
    }
    write_rows(&project, "whole.csv", &ALL, &whole);
    write_rows(&project, "grid.csv", &["x", "month"], &[vec![0.0, 0.5], vec![6.0, 11.0]]);
    let mut rows = Vec::new();
    for (name, source) in [
        ("whole", "csv.path = \"whole.csv\""),
        ("folder", "csv.path = \"csv\""),
        ("pattern", "csv.path = \"csv/year=*/*/a.csv\""),
        ("packed", "csv.path = \"gz\""),
        ("parquet", "parquet.path = \"parquet\""),
    ] {
        project.write(&format!("{name}.toml"), &spec(source));
        let run = project.dpgp(&["run", &format!("{name}.toml"), "--quiet", "--format", "json"]).expect(0);
        // Noise is drawn for each spec; without it the errors are those of the rows.
        let json = run.json();
        let last = json["rows"].as_array().unwrap().iter().rfind(|row| row["metric"] == "rmse").unwrap();
        rows.push(last["value"].as_f64().unwrap());
        let out = format!("{name}.out.csv");
        let run = ["predict", &format!("{name}.toml"), "--at", "grid.csv", "--out", &out, "--quiet"];
        let run = project.dpgp(&run).expect(0);
        // All of them are the same rows, and one ledger counts them.
        let expected = if rows.len() == 1 { "1 release has" } else { "releases have" };
        assert!(run.out.contains(expected), "{name}: {}", run.out);
    }
    assert!(rows[0] > 0.5 && rows.iter().all(|other| *other == rows[0]), "{rows:?}");
    // Another month in a path is other data, although no byte of a file differs.
    let stored = project.dpgp(&["explain", "folder.toml"]).expect(0).out;
    std::fs::rename(project.path("csv/year=2017/month=06"), project.path("csv/year=2017/month=07")).unwrap();
    assert_ne!(project.dpgp(&["explain", "folder.toml"]).expect(0).out, stored);
    project.write("none.toml", &spec("csv.path = \"none/*.csv\""));
    let run = project.dpgp(&["run", "none.toml", "--quiet"]).expect(3);
    assert!(run.err.contains("no data files found at none/*.csv"), "{}", run.err);
}

/// Messages end up in logs: they name the place of a cell, not what stands there.
#[test]
fn messages_tell_no_cells() {
    let project = project();
    let header = "x,n,year,month\n";
    for (text, message) in [
        (format!("{header}0.5,secret,2017,6\n"), "line 2, column \"n\": the cell is not a number"),
        (format!("{header}0.5,1,2017\nsecret,1\n"), "line 2 has 3 cells"),
        ("secret,1.08642,2017,6\n0.5,1,2017,6\n".to_owned(), "the header holds numbers, not names"),
    ] {
        project.put("private.csv", text);
        let run = project.dpgp(&["stats", "s.toml", "private.csv"]).expect(2);
        assert!(run.err.contains(message), "{}", run.err);
        assert!(!run.err.contains("secret") && !run.err.contains("1.08642"), "{}", run.err);
    }
}

/// A build without the feature `cloud` says so, and leaves no trace: not even a key.
#[test]
fn addresses_need_another_build() {
    let project = Project::new();
    project.write("s.toml", SPEC);
    project.write("own.csv", "x,month,n,year\n0.1,2,1,2017\n0.5,3,2,2017\n");
    let study = "experiment.title = \"few\"\ndata = { source.csv.path = \"own.csv\", inputs = [\"x\"], target = \"n\" }\n\
                 normalise.bounds = { low = 0.0, high = 2.0 }\nmodel = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }\n\
                 task.regression = { split.contiguous = 2, draws = 2 }\n\
                 privacy = { epsilon = 1.0, delta = 1e-5, change = 2.0, mechanism.cloaking.objective = \"risk\" }\n";
    project.write("local.toml", study);
    project.write("cloud.toml", &study.replace("own.csv", "gs://bucket/rows"));
    let before = tree(project.folder.path());
    for arguments in [
        &["stats", "s.toml", "own.csv", "s3://bucket/year=2017/*.csv", "--out", "o.json"][..],
        &["stats", "s.toml", "https://host/rows.csv", "--release", "r.json"],
        &["predict", "local.toml", "--at", "az://bucket/grid.csv", "--out", "p.csv"],
        &["predict", "cloud.toml", "--at", "own.csv", "--out", "p.csv"],
        &["run", "cloud.toml", "--quiet"],
        &["new", "--data", "s3://bucket/rows.csv"],
    ] {
        let run = project.dpgp(arguments).expect(2);
        assert!(run.err.contains(": this build cannot open addresses"), "{}", run.err);
        // A file outside of the folder of the spec is named before it is read.
        assert!(run.err.lines().count() <= 2, "{}", run.err);
        assert_eq!(tree(project.folder.path()), before, "{arguments:?}");
    }
}
