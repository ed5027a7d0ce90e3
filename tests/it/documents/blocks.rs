//! The shell blocks of the pages run, one after the other, as somebody would type them.

use std::path::Path;
use std::process::Command;

use crate::support::cli::Project;
use crate::support::shipped::{root, shipped};

/// What keeps a line from being run here.
const NOT_HERE: &[&str] = &[
    // Builds, and what needs the network or a place of its own.
    "cargo ",
    "target/release/dpgp",
    "pip install",
    "examples/peers",
    "peers/bin",
    "scripts/",
    "R CMD INSTALL",
    "AWS_",
    "s3://",
    "--mirror DIR",
    "dpgp diff HEAD",
    // Folders of part files stand in the tests of sums, names to be chosen in those of experiments; all of `check` runs beside these tests.
    "trips/year=",
    "author2020",
    "dpgp check --quick",
    "dpgp check --all",
];

/// What stands for what takes long, must be downloaded, or is asked on a terminal.
const INSTEAD: &[(&str, &str)] = &[
    ("smith2021/table1", "smith2021/toy"),
    ("dpgp run smith2021 --offline", "dpgp run smith2021/toy --offline"),
    ("data fetch howell1", "data fetch census2011-ages"),
    ("audit honkela2021/fig1", "audit honkela2021/fig1 --quick"),
    // Its data need a download; `cli/leaderboard.rs` tests the command.
    ("dpgp data folds beyond/leaderboard/kung", "# dpgp data folds beyond/leaderboard/kung"),
    ("--rows 1e7", "--rows 1e4"),
    ("--rows 2e5", "--rows 5e3"),
    ("seq 100000", "seq 200"),
    ("&& bash job.sh --time=1:00:00", "#"),
    ("--data energy.csv --ask ", "--data energy.csv --ask < answers "),
    ("--count --inputs start_longitude,start_latitude --ask", "--count --inputs start_longitude,start_latitude --ask < ends"),
    ("replace-one --inputs start_longitude,start_latitude --ask", "replace-one --inputs start_longitude,start_latitude --ask < ends"),
    ("new means --data trips.parquet", "new means --data trips.parquet < means"),
    // Nothing is written over.
    (
        "dpgp sum beyond/citibike-scale --add part*.json",
        "rm sums.json; for i in 1 3 4 5 6 7 8; do dpgp sum beyond/citibike-scale trips.parquet --shard $i/8 --out part$i.json; done
         dpgp sum beyond/citibike-scale --add part*.json",
    ),
];

/// What everybody has who reads a page: rows of their own, answers, a mechanism.
const BEFORE: &str = r#"
awk -v OFS=, 'BEGIN { print "temperature,kwh"; for (i = 0; i < 120; i++) print -5 + i % 31, 18 + i % 7 }' > energy.csv
printf 'temperature\n0\n10\n20\n' > grid.csv
printf 'none\n0 40\n3\n10\n8\n1\n\n' > answers
awk 'BEGIN { srand(1); print "x"; for (i = 0; i < 200; i++) print int(7 * rand()) }' > one.csv
awk 'BEGIN { srand(2); print "x"; for (i = 0; i < 200; i++) print int(7 * rand()) }' > other.csv
cat > histogram.toml <<'SPEC'
experiment.title = "a histogram"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "trips" }
task.density = { bins = [{ from = 0.0, to = 6.0, bins = 3 }], test = [{ from = 0.0, to = 6.0, bins = 3 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.histogram.relation = "add-remove" }
SPEC
awk -v OFS=, 'BEGIN { print "x,trips"; for (i = 0; i < 99; i++) print i % 6, 1 }' > rows.csv
printf 'method,alpha,rmse\nridge,0.1,0.71\nlasso,0.1,0.80\n' > table.csv
printf 'method,alpha,metric,replicate,value\nridge,0.1,rmse,1,0.70\nridge,0.1,rmse,2,0.72\n' > runs.csv
my-mechanism() { echo 1; }
"#;

/// The points, answers and districts of the page about rows.
const BEFORE_ROWS: &str = r#"
awk 'BEGIN { print "ward"; for (i = 0; i < 300; i++) print substr("NorthSouth", 1 + 5 * (i % 2), 5) }' > visits.csv
printf 'start_latitude,start_longitude,hour_of_day\n40.75,-73.98,8\n' > grid.csv
printf 'none\n-74.02 -73.93\n40.66 40.81\n1\n\n' > ends
printf 'none\n0 60\n-74.02 -73.93\n40.66 40.81\n1\n\n' > means
cat > districts.geojson <<'GEOJSON'
{ "type": "FeatureCollection", "features": [
  { "type": "Feature", "properties": { "name": "south" },
    "geometry": { "type": "Polygon", "coordinates": [[[-74.02, 40.66], [-73.93, 40.66], [-73.93, 40.72]]] } },
  { "type": "Feature", "properties": { "name": "north" },
    "geometry": { "type": "Polygon", "coordinates": [[[-74.02, 40.72], [-73.93, 40.72], [-73.93, 40.80]]] } }] }
GEOJSON
"#;

/// What a page takes for granted.
fn before(page: &str) -> &'static str {
    match page {
        "docs/audit.md" | "docs/ledger.md" => "dpgp new --data energy.csv --ask < answers",
        "docs/best-prediction.md" => "dpgp new my --data energy.csv --ask < answers",
        "docs/many-machines.md" => "dpgp new my --data energy.csv --ask < answers; dpgp run smith2021/toy --quiet",
        "docs/rows.md" => BEFORE_ROWS,
        "docs/own-data.md" => {
            "awk -v OFS=, 'BEGIN { print \"longitude,duration\"; for (i = 0; i < 6000; i++) print -74 + (i % 101) / 1000, 1 + (i % 997) / 10.7 }' > trips.csv
             mkdir .ssh
             ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519
             echo \"me@example.org $(cat .ssh/id_ed25519.pub)\" > allowed_signers"
        }
        "README.md" => {
            "dpgp run smith2021/toy --quiet
             printf 'split,variant,objective,metric,value\\nhalves,published,log-det,sse/polynomial-0,50\\n' > theirs.csv"
        }
        _ => "",
    }
}

/// The lines of the shell blocks of a page, with what stands for some of them.
fn lines(text: &str) -> String {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let kept = blocks.flat_map(str::lines).filter(|line| !NOT_HERE.iter().any(|not| line.contains(not)));
    kept.map(|line| {
        let found = INSTEAD.iter().find(|(shown, _)| line.contains(shown));
        found.map_or(line.to_owned(), |(shown, instead)| line.replace(shown, instead)) + "\n"
    })
    .collect()
}

/// Runs a script in a folder of its own: what it printed, or what failed.
fn run(script: &str) -> Result<String, String> {
    let project = Project::empty();
    let program = Path::new(env!("CARGO_BIN_EXE_dpgp"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = format!("set -euo pipefail\ntrap 'echo \"$BASH_COMMAND\" >&2' ERR\n{script}");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(project.folder.path()).env("PATH", path);
    command.env("HOME", project.folder.path()).env("DPGP_STATE", project.path("state"));
    command.env("DPGP_DATA", project.path("cache")).env("DPGP_STORE", project.path("store"));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

fn assert_runs(page: &str) -> usize {
    let lines = lines(&shipped(page));
    if page == "docs/own-data.md" && Command::new("ssh-keygen").arg("-?").output().is_err() {
        eprintln!("skipped: ssh-keygen is not here, which {page} signs with");
        return 0;
    }
    let script = format!("{BEFORE}\n{}\n{lines}", before(page));
    let printed = run(&script).unwrap_or_else(|said| panic!("{page}: {said}\n{lines}"));
    if page.starts_with("docs/tutorial-patients") {
        for line in shown(&shipped(page)) {
            assert!(printed.lines().any(|printed| printed == line), "{page} shows {line:?}\n{printed}");
        }
    }
    lines.lines().count()
}

/// The lines that a page shows as printed.
fn shown(text: &str) -> Vec<&str> {
    let blocks = text.split("```text\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.flat_map(str::lines).collect()
}

#[test]
fn the_blocks_of_the_readme_run() {
    assert!(assert_runs("README.md") > 10);
}

#[test]
fn the_blocks_of_the_tutorials_run() {
    for page in ["patients", "trips", "methods"] {
        assert!(assert_runs(&format!("docs/tutorial-{page}.md")) > 5);
    }
}

#[test]
fn the_blocks_of_the_other_pages_run() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = pages.map(|name| format!("docs/{}", name.to_str().unwrap()));
    let mut ran = 0;
    for page in names.filter(|name| name.ends_with(".md") && !name.contains("tutorial")) {
        ran += assert_runs(&page);
    }
    assert!(ran > 25, "{ran} lines");
}

#[test]
fn a_line_that_fails_is_told() {
    assert!(run("dpgp list > /dev/null\ndpgp run no-such-thing").unwrap_err().contains("dpgp run no-such-thing"));
    assert_eq!(run("dpgp list > /dev/null"), Ok(String::new()));
}
