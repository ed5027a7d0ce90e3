//! From a file of the user's own to private predictions, and every mistake on the way.

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, day, energy_csv, energy_project};
use crate::support::parquet_file::{Column, write_parquet};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
const WITH_LEDGER: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--ledger", "ledger.toml"];
const BUDGET: &[&str] = &["--budget-epsilon", "2", "--budget-delta", "1e-5"];

/// The days; the first two lie outside the bounds.
fn energy() -> String {
    let mut rows: Vec<[f64; 3]> = (0..120).map(day).collect();
    (rows[0][2], rows[1][2]) = (41.5, -0.5);
    energy_csv(&rows)
}

fn project() -> Project {
    let project = energy_project(TARGETS);
    project.write("energy.csv", &energy());
    project
}

/// Every file below the project and its bytes.
fn files(project: &Project) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(project.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

/// Runs a command that must fail with this code and this message, and change nothing on disk.
fn refused(project: &Project, arguments: &[&str], code: i32, message: &str) -> Run {
    let before = files(project);
    let run = project.dpgp(arguments).expect(code);
    assert!(run.err.contains(message), "{message:?} is not in\n{}", run.err);
    assert!(run.out.is_empty(), "{}", run.out);
    assert!(files(project) == before, "files changed");
    project.assert_nothing_left();
    run
}

#[test]
fn predictions_are_private_and_say_what_that_means() {
    let project = project();
    let run = project.dpgp(&[PREDICT, &["--for-holder"]].concat()).expect(0);
    assert!(run.out.contains("2 of 120 targets lie outside the public bounds [0, 40]"), "{}", run.out);
    let text = project.read("p.csv");
    assert_eq!(text.lines().next(), Some("temperature,private_mean,gp_sd,noise_sd,low,high"));
    let certificate = project.json("p.csv.certificate.json");
    assert_eq!(certificate["neighbours"], "one target changes by <= 40.0");
    assert!(certificate["delta_exact"].as_f64().unwrap() <= 1e-5);
    assert!(!certificate["not_covered"].to_string().contains("floating-point"));
    assert!(certificate["noise"]["made"].as_str().unwrap().contains("the operating system"));
    let verify = ["verify", "p.csv.certificate.json", "p.csv"];
    let verified = project.dpgp(&verify).expect(0);
    assert_eq!(verified.out.matches("ok    ").count(), 5, "{}", verified.out);
    assert_eq!(certificate["clipped_to"], serde_json::json!([0.0, 40.0]));
    assert_eq!(certificate.to_string().matches("clipped").count(), 1, "the count of clipped targets is not private");
    // Half the width of the interval is 1.96 standard deviations; the mean is its middle.
    for row in text.lines().skip(1) {
        let numbers: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [_, mean, gp, noise, low, high] = numbers[..] else { panic!("{row}") };
        assert!((0.5 * (low + high) - mean).abs() < 1e-9 && gp > 0.0 && noise > 0.0);
        assert!((0.5 * (high - low) - 1.959964 * (gp * gp + noise * noise).sqrt()).abs() < 1e-5 * noise);
    }
}

/// Days of 500 and of -300 degrees are many lengthscales from all that there are; those of the grid are not.
#[test]
fn points_far_from_every_row_are_warned_of() {
    let project = project();
    let says = "points, gp_sd is nearly the prior standard deviation";
    let near = project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", "near.csv"]).expect(0);
    assert!(!near.out.contains(says), "{}", near.out);
    project.write("grid.csv", "temperature\n15\n500\n-300\n");
    let run = project.dpgp(PREDICT).expect(0);
    assert!(run.out.contains(&format!("warning: at 2 of 3 {says}")), "{}", run.out);
    let warnings = project.json("p.csv.certificate.json")["warnings"].to_string();
    assert!(warnings.contains(&format!("at 2 of 3 {says}")), "{warnings}");
    // Of a sum the function of the day is known, and that of a temperature of 500 is not.
    let sum = TARGETS.replace("[\"temperature\"]", "[\"day\", \"temperature\"]").replace(
        "eq = { variance = 100.0, lengthscale = 8.0 }",
        "additive = { variances = [60.0, 60.0], lengthscales = [90.0, 8.0] }",
    );
    project.write("energy.toml", &sum);
    project.write("grid.csv", "day,temperature\n60,15\n60,500\n60,-5\n");
    let run = project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", "sum.csv"]).expect(0);
    assert!(run.out.contains(&format!("warning: at 1 of 3 {says}")), "{}", run.out);
}

/// Two calls differ by noise of the size that they state, although the seed is the same.
/// The private mean at the third point, and the standard deviation of its noise.
fn released(project: &Project) -> (f64, f64) {
    let run = project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--format", "json"]).expect(0);
    let row = run.json()["predictions"][2].clone();
    (row["private_mean"].as_f64().unwrap(), row["noise_sd"].as_f64().unwrap())
}

#[test]
fn the_noise_is_not_of_the_seed() {
    let project = project();
    let draws: Vec<(f64, f64)> = (0..12).map(|_| released(&project)).collect();
    let sd = draws[0].1;
    let mean = draws.iter().map(|(m, _)| m).sum::<f64>() / 12.0;
    let spread = (draws.iter().map(|(m, _)| (m - mean).powi(2)).sum::<f64>() / 11.0).sqrt();
    // A ratio of 12 draws lies within these bounds but once in 10^5.
    assert!(spread > 0.25 * sd && spread < 2.3 * sd, "{spread} {sd}");
    assert!(draws.iter().all(|draw| draw.1 == sd));
}

#[test]
fn a_ledger_composes_releases_and_refuses_what_the_budget_does_not_hold() {
    let project = project();
    let first = project.dpgp(&[WITH_LEDGER, BUDGET, &["--out", "p1.csv"]].concat()).expect(0);
    assert!(
        first.out.contains("ledger ledger.toml: 1 release has spent epsilon = 1.0000 at delta = 1e-5, 28.6 % of the budget epsilon = 2.0,"),
        "{}",
        first.out
    );
    // Basic composition would allow two releases at epsilon = 1 and delta = 1e-5 / 2; these have delta 1e-5.
    let second = project.dpgp(&[WITH_LEDGER, &["--out", "p2.csv"]].concat()).expect(0);
    assert!(
        second.out.contains("2 releases have spent epsilon = 1.4652 at delta = 1e-5, 57.1 % of the budget"),
        "{}",
        second.out
    );
    let both = project.json("p2.csv.certificate.json")["all_releases"].clone();
    let mu = |name: &str| project.json(name)["mu"].as_f64().unwrap();
    let (one, two) = (mu("p1.csv.certificate.json"), mu("p2.csv.certificate.json"));
    assert!((both["mu"].as_f64().unwrap() - one.hypot(two)).abs() < 1e-12);
    let mut left = 10;
    while project.dpgp(WITH_LEDGER).code == 0 {
        left -= 1;
        assert!(left > 0, "the budget is never spent");
    }
    let run = refused(&project, &[WITH_LEDGER, &["--out", "p3.csv"]].concat(), 1, "is too small for this release");
    assert!(run.err.contains("One more release at delta = 1e-5 can have epsilon = 0."), "{}", run.err);
    // A smaller release still fits.
    project.write("small.toml", &TARGETS.replace("epsilon = 1.0", "epsilon = 0.01"));
    let small = [&["predict", "small.toml"], &WITH_LEDGER[2..]].concat();
    project.dpgp(&small).expect(0);
}

/// Processes that charge at once wait for each other: every release is in the ledger.
#[test]
fn concurrent_releases_are_all_counted() {
    let project = project();
    project.write("energy.toml", &TARGETS.replace("epsilon = 1.0", "epsilon = 0.1"));
    let arguments = [WITH_LEDGER, BUDGET].concat();
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = project.command(&arguments);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(project.read("ledger.toml").matches("[[release]]").count(), 4);
}

#[test]
fn ledgers_that_do_not_fit_are_refused_and_left_alone() {
    let project = project();
    let bad = ["--budget-epsilon", "inf", "--budget-delta", "1e-5"];
    refused(&project, &[WITH_LEDGER, &bad].concat(), 2, "epsilon must be greater than 0 and finite, found inf");
    refused(&project, &[WITH_LEDGER, &["--budget-epsilon", "1"]].concat(), 2, "--budget-delta");
    project.dpgp(&[WITH_LEDGER, BUDGET].concat()).expect(0);
    let sound = project.read("ledger.toml");
    let other = ["--budget-epsilon", "3", "--budget-delta", "1e-5"];
    refused(&project, &[WITH_LEDGER, &other].concat(), 2, "has the budget epsilon = 2.0, delta = 1e-5");
    let other: String = (0..40).map(|day| format!("{day},{}.5,{}.25\n", day % 20, day % 30)).collect();
    project.write("energy.csv", &format!("day,temperature,kwh\n{other}"));
    refused(&project, WITH_LEDGER, 2, "is about other data");
    project.write("energy.csv", &energy());
    let swapped = TARGETS.replace("[\"temperature\"], target = \"kwh\"", "[\"kwh\"], target = \"temperature\"");
    project.write("swapped.toml", &swapped);
    project.write("kwh.csv", "kwh\n10\n");
    let arguments = ["predict", "swapped.toml", "--at", "kwh.csv", "--ledger", "ledger.toml", "--quiet"];
    refused(&project, &arguments, 2, "protects the column \"kwh\", and this one treats it as public");
    project.write("energy.toml", &TARGETS.replace("change = 40.0", "change = 20.0\nrelation = \"metric\""));
    refused(&project, WITH_LEDGER, 2, "An earlier one protects against: one target changes by <= 40.0");
    project.write("energy.toml", TARGETS);
    for (mistake, message) in [
        (String::new(), "missing field `version`"),
        (sound.replace("version = 2", "version = 9"), "unsupported version 9"),
        (sound.replace("mu = ", "mu = -"), "mu has an impossible value"),
        (sound.replace("epsilon = 2.0", "epsilon = nan"), "epsilon must be greater than 0"),
        (sound.replace("[[release]]", "[[realease]]"), "unknown field `realease`"),
        (sound[..sound.len() - 40].to_owned(), "cannot be trusted"),
        (sound.replace("mu = ", "mu = 0.5 # "), "contradict each other"),
        (sound.replace("epsilon = 2.0", "epsilon = 20.0"), "its seal does not match"),
        (sound.replace("rows = 120", "rows = 121"), "its seal does not match"),
    ] {
        assert_ne!(mistake, sound);
        project.write("ledger.toml", &mistake);
        refused(&project, &[WITH_LEDGER, &["--out", "q.csv"]].concat(), 5, message);
    }
    project.put("ledger.toml", [0xff, 0xfe]);
    refused(&project, WITH_LEDGER, 5, "it is not UTF-8 text");
    std::fs::remove_file(project.path("ledger.toml")).unwrap();
    std::fs::create_dir(project.path("ledger.toml")).unwrap();
    refused(&project, WITH_LEDGER, 5, "the ledger ");
    std::fs::remove_dir(project.path("ledger.toml")).unwrap();
    refused(&project, WITH_LEDGER, 5, "no longer exists");
    let nowhere = [&WITH_LEDGER[..6], &["nowhere/ledger.toml"], BUDGET].concat();
    refused(&project, &nowhere, 5, "nowhere/ledger.toml cannot be used");
}

/// A prediction that nobody could see is still charged: what is lost on the way out costs budget, never privacy.
#[test]
fn the_ledger_is_written_before_the_prediction() {
    let project = project();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = project.command(&[WITH_LEDGER, BUDGET].concat()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(project.read("ledger.toml").matches("[[release]]").count(), 1);
}

/// Words of an encoded input are words again in the predictions.
#[test]
fn encoded_inputs_keep_their_words() {
    let project = project();
    let rows: String = (0..40).map(|i| format!("{},{}\n", ["calm", "windy"][i % 2], 10 + i % 7)).collect();
    project.write("energy.csv", &format!("weather,kwh\n{rows}"));
    let encoded = "inputs = [\"weather\"], encode.weather = [\"calm\", \"windy\"]";
    project.write("energy.toml", &TARGETS.replace("inputs = [\"temperature\"]", encoded));
    project.write("grid.csv", "place;weather\nharbour;windy\n");
    project.dpgp(PREDICT).expect(0);
    assert!(project.read("p.csv").lines().nth(1).unwrap().starts_with("windy,"));
    project.write("grid.csv", "weather\nstormy\n");
    let arguments = [&PREDICT[..4], &["--out", "q.csv", "--quiet"]].concat();
    refused(&project, &arguments, 2, "the cell is not one of the codes calm, windy");
}

/// A link to a ledger is followed: the ledger itself grows.
#[test]
fn a_link_to_a_ledger_stays_one() {
    let project = project();
    project.dpgp(&[WITH_LEDGER, BUDGET].concat()).expect(0);
    std::os::unix::fs::symlink("ledger.toml", project.path("link.toml")).unwrap();
    project.dpgp(&[&WITH_LEDGER[..6], &["link.toml"]].concat()).expect(0);
    assert!(project.path("link.toml").is_symlink());
    assert_eq!(project.read("ledger.toml").matches("[[release]]").count(), 2);
}

/// Mistakes: what is replaced in the spec, by what, the exit code and the message.
const MISTAKES: &[(&str, &str, i32, &str)] = &[
    ("\"kwh\" }", "\"kwhs\" }", 2, "energy.csv: there is no column \"kwhs\" (did you mean \"kwh\"?)"),
    ("[\"temperature\"]", "[\"temp\"]", 2, "there is no column \"temp\""),
    ("high = 40.0", "high = inf", 2, "normalise.bounds.high: must be finite, found inf"),
    ("low = 0.0", "low = nan", 2, "normalise.bounds.low: must be finite, found NaN"),
    ("low = 0.0, ", "", 2, "missing field `low`"),
    ("epsilon = 1.0", "epsilon = inf", 2, "its epsilon is infinite"),
    (
        "normalise.bounds = { low = 0.0, high = 40.0 }",
        "normalise.private = { centre = \"mean\" }",
        2,
        "its targets have no public bounds; set normalise.bounds",
    ),
    ("{ path = \"energy.csv\" }", "{ path = \"nothing.csv\" }", 3, "nothing.csv"),
];

#[test]
fn mistakes_change_nothing() {
    for (from, to, code, message) in MISTAKES {
        let project = project();
        assert!(TARGETS.contains(from), "{from}");
        project.write("energy.toml", &TARGETS.replace(from, to));
        refused(&project, PREDICT, *code, message);
    }
}

#[test]
fn broken_data_name_file_line_and_column() {
    for (cell, message) in [
        ("warm", "energy.csv: line 4, column \"temperature\": the cell is not a number"),
        ("", "energy.csv: line 4, column \"temperature\": the cell is empty"),
        ("inf", "energy.csv: line 4, column \"temperature\": the cell is not a finite number"),
    ] {
        let project = project();
        let mut lines: Vec<String> = energy().lines().map(str::to_owned).collect();
        lines[3] = format!("2,{cell},20.0");
        project.write("energy.csv", &lines.join("\n"));
        refused(&project, PREDICT, 2, message);
        refused(&project, &["run", "energy.toml", "--quiet"], 2, message);
    }
}

#[test]
fn broken_grids_are_refused() {
    let project = project();
    for (grid, code, message) in [
        ("temp\n1\n", 2, "grid.csv: there is no column \"temperature\" (did you mean \"temp\"?)"),
        ("temperature\n", 2, "grid.csv has no rows below its header"),
        ("temperature\n1\nmild\n", 2, "grid.csv: line 3, column \"temperature\": the cell is not a number"),
        ("", 2, "grid.csv: the file is empty"),
    ] {
        project.write("grid.csv", grid);
        refused(&project, PREDICT, code, message);
    }
    std::fs::remove_file(project.path("grid.csv")).unwrap();
    refused(&project, PREDICT, 3, "grid.csv");
}

#[test]
fn caveats_need_a_word_and_no_budget_takes_them() {
    let project = project();
    let classic = TARGETS.replace("\"analytic\"", "\"classic\"").replace("epsilon = 1.0", "epsilon = 2.0");
    project.write("energy.toml", &classic);
    refused(&project, PREDICT, 2, "epsilon > 1 is outside the proof of the classic calibration");
    refused(&project, &[WITH_LEDGER, BUDGET, &["--allow-caveats"]].concat(), 2, "--allow-caveats");
    project.dpgp(&[PREDICT, &["--allow-caveats"]].concat()).expect(0);
    let certificate = project.json("p.csv.certificate.json");
    assert!(certificate["caveats"].to_string().contains("outside the proof"));
}

/// A prediction that is there is never lost to another.
#[test]
fn outputs_are_not_replaced() {
    let project = project();
    project.write("p.csv", "precious");
    refused(&project, &[PREDICT, &["--ledger", "l.toml"], BUDGET].concat(), 2, "p.csv already exists");
    let nowhere = [&PREDICT[..5], &["nowhere/p.csv", "--ledger", "l.toml"], BUDGET].concat();
    refused(&project, &nowhere, 5, "nowhere/p.csv");
}

#[test]
fn a_cell_is_chosen_by_its_labels() {
    let project = project();
    project.write("energy.toml", &format!("{TARGETS}[grid]\n\"privacy.epsilon\" = [0.5, 1.0]\n"));
    refused(&project, PREDICT, 2, "choose one with --cell AXIS=VALUE; the axes are\n  epsilon = 0.5, 1");
    refused(&project, &[PREDICT, &["--cell", "epsilon=7"]].concat(), 2, "no cell has epsilon=7");
    project.dpgp(&[PREDICT, &["--cell", "epsilon=0.5"]].concat()).expect(0);
    assert_eq!(project.json("p.csv.certificate.json")["epsilon"], 0.5);
    // A cell without privacy is no choice.
    let project = self::project();
    refused(&project, &[PREDICT, &["--cell", "epsilon=7"]].concat(), 2, "no axes; omit --cell");
    project.write("energy.toml", &format!("{TARGETS}[grid]\n\"privacy.epsilon\" = [1.0, inf]\n"));
    project.dpgp(PREDICT).expect(0);
    assert_eq!(project.json("p.csv.certificate.json")["epsilon"], 1.0);
}

#[test]
fn a_new_spec_names_the_columns_and_waits_for_its_bounds() {
    let project = Project::empty();
    let rows: String = energy().lines().skip(1).map(|row| format!("{row},mild \"x\"\n")).collect();
    let rows = rows.replace("mild \"x\"", "\"mild \"\"x\"\"\"");
    project.write("energy.csv", &format!("day,temperature,kwh,word\n{rows}"));
    let run = project.dpgp(&["new", "--data", "energy.csv"]).expect(0);
    assert!(run.out.contains("fill in every `nan` in it, then:\n"), "{}", run.out);
    assert!(run.out.contains("the guarantee protects one row, not all rows of a person"), "{}", run.out);
    assert!(run.out.contains("only the target \"kwh\" is private: the inputs ("), "{}", run.out);
    let next = ["--grid=day=FROM..TO:20,temperature=FROM..TO:20 --preview ", "  dpgp run energy.toml "];
    assert!(next.iter().all(|next| run.out.contains(next)), "{}", run.out);
    let mut spec = project.read("energy.toml");
    assert!(spec.contains("inputs = [\"day\", \"temperature\"]\ntarget = \"kwh\"\n"), "{spec}");
    assert!(spec.contains("# Text columns: \"word\"."), "{spec}");
    // The first error names all the others that are to be filled in, and no comment that has the word.
    let all =
        refused(&project, &["run", "energy.toml", "--quiet"], 2, "also fill in: normalise.bounds.high (line ").err;
    let named = all.rsplit("also fill in: ").next().unwrap();
    let places: Vec<&str> = named.split(", ").map(|place| place.split(" (").next().unwrap()).collect();
    let lengthscales = "model.kernel.eq-ard.lengthscales";
    let ends = [&format!("{lengthscales}.0"), &format!("{lengthscales}.1"), "privacy.change"];
    let expected = ["normalise.bounds.high", "model.noise_variance", "model.kernel.eq-ard.variance"];
    assert_eq!(places, [&expected[..], &ends[..]].concat());
    // Each value that is missing is named, with the comment on what it is.
    for (key, value) in [
        ("normalise.bounds.low", "low = 0.0"),
        ("normalise.bounds.high", "high = 40.0"),
        ("model.noise_variance", "noise_variance = 9.0"),
        ("model.kernel.eq-ard.variance", "variance = 100.0"),
        ("model.kernel.eq-ard.lengthscales", "nan,"),
        ("privacy.change", "change = 40.0"),
    ] {
        project.write("energy.toml", &spec);
        let run = refused(&project, &["run", "energy.toml", "--quiet"], 2, &format!(" {key}: must be "));
        assert!(run.err.contains("fill in"), "{}", run.err);
        let name = value.split(' ').next().unwrap();
        let (before, after) =
            spec.split_once(&format!("\n{name} = nan")).unwrap_or_else(|| spec.split_once("nan").unwrap());
        spec = match name {
            "nan," => spec.replace("    nan,", "    10.0,"),
            _ => format!("{before}\n{value}{after}"),
        };
    }
    project.write("energy.toml", &spec);
    let run = project.dpgp(&["run", "energy.toml", "--quiet"]).expect(0);
    let count = "2 of 120 targets lie outside the public bounds [0, 40] and were clipped";
    assert!(run.out.contains(count), "{}", run.out);
    let table = project.read("results/energy/table.md");
    assert!(table.contains(count));
    // No paper has printed a number of one's own data.
    assert!(!table.contains("published") && !table.contains("verdict"), "{table}");
    let manifest = project.json("results/energy/manifest.json");
    assert_eq!(manifest["clipped_targets_not_private"][0]["clipped"], 2);
    refused_new(&project);
}

fn refused_new(project: &Project) {
    let before = project.read("energy.toml");
    assert!(project.dpgp(&["new", "--data", "energy.csv"]).expect(2).err.contains("already exists"));
    assert_eq!(project.read("energy.toml"), before);
    project.write("words.csv", "a,b\nx,1\n");
    assert!(project.dpgp(&["new", "--data", "words.csv"]).expect(2).err.contains("it has b"));
    assert!(project.dpgp(&["new", "--data", "nothing.csv"]).expect(3).err.contains("nothing.csv"));
    // The first row of a file without a header is private: none of it is written, or told.
    project.write("rows.csv", "M,0.455,15731\nF,0.35,7\n");
    let run = project.dpgp(&["new", "--data", "rows.csv"]).expect(2);
    assert!(run.err.contains("use --columns a,b,c or --no-header") && !run.err.contains("15731"), "{}", run.err);
    assert!(!project.path("rows.toml").exists());
    assert!(!project.path("words.toml").exists() && !project.path("nothing.toml").exists());
}

/// The same rows as Parquet, in several row groups and of every type that holds numbers.
#[test]
fn parquet_gives_the_same_as_csv() {
    let project = project();
    let cells: Vec<Vec<String>> =
        energy().lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect();
    let numbers = |at: usize| cells.iter().map(|row| Some(row[at].parse::<f64>().unwrap())).collect::<Vec<_>>();
    let days = cells.iter().map(|row| Some(row[0].parse::<i64>().unwrap())).collect();
    let columns = [
        ("day", Column::Int64(days)),
        ("temperature", Column::Double(numbers(1))),
        ("kwh", Column::Double(numbers(2))),
        ("word", Column::Text(cells.iter().map(|row| Some(row[0].clone())).collect())),
    ];
    write_parquet(&project.path("energy.parquet"), &columns, 50);
    // Nothing drawn: the random streams are those of the spec, and the two differ in their source.
    let rows = TARGETS.replace("split.shuffled = 5, draws = 10", "split.contiguous = 5, draws = 0");
    let columns = rows.replace("source.csv = { path = \"energy.csv\" }", "source.parquet.path = \"energy.parquet\"");
    assert!(rows != TARGETS && columns != rows);
    project.write("rows.toml", &rows);
    project.write("columns.toml", &columns);
    let found = |name: &str| {
        let run = project.dpgp(&["run", name, "--quiet", "--format", "json"]).expect(0);
        let row = &run.json()["rows"][0];
        ["metric", "value", "delta_exact", "gap"].map(|key| row[key].clone())
    };
    assert_eq!(found("columns.toml"), found("rows.toml"));
    assert_eq!(found("columns.toml")[0], "expected-rmse");
    project.dpgp(&["new", "--data", "energy.parquet", "other"]).expect(0);
    let other = project.read("other.toml");
    assert!(other.contains("source.parquet.path = \"energy.parquet\"\ninputs = [\"day\", \"temperature\"]"), "{other}");
    assert!(other.contains("# Text columns: \"word\"."), "{other}");
    project.dpgp(&["predict", "columns.toml", "--at", "energy.parquet", "--out", "all.csv"]).expect(0);
    assert_eq!(project.read("all.csv").lines().count(), 121);
}

#[test]
fn broken_parquet_names_file_row_and_column() {
    let project = project();
    let spec = TARGETS.replace("source.csv = { path = \"energy.csv\" }", "source.parquet.path = \"e.parquet\"");
    project.write("energy.toml", &spec);
    let file = |kwh: Column| {
        let temperature = Column::Float((0..5_u8).map(|t| Some(f32::from(t))).collect());
        write_parquet(&project.path("e.parquet"), &[("temperature", temperature), ("kwh", kwh)], 2);
    };
    file(Column::Double(vec![Some(1.0), Some(2.0), None, Some(4.0), Some(5.0)]));
    refused(&project, PREDICT, 2, "e.parquet: row 3, column \"kwh\": the cell is empty; expected a number");
    file(Column::Double(vec![Some(1.0), Some(2.0), Some(f64::NAN), Some(4.0), Some(5.0)]));
    refused(&project, PREDICT, 2, "e.parquet: row 3, column \"kwh\": the cell is NA, NaN or null");
    file(Column::Text(["1", "two", "3", "4", "5"].map(|t| Some(t.to_owned())).to_vec()));
    refused(&project, PREDICT, 2, "e.parquet: row 2, column \"kwh\": the cell is not a number");
    file(Column::Boolean(vec![Some(true); 5]));
    refused(&project, PREDICT, 2, "e.parquet: the column \"kwh\" is of type BOOLEAN");
    file(Column::Int32(vec![Some(3); 5]));
    project.write("energy.toml", &spec.replace("\"kwh\" }", "\"kWh\" }"));
    refused(&project, PREDICT, 2, "there is no column \"kWh\" (did you mean \"kwh\"?)");
    project.write("energy.toml", &spec);
    project.write("e.parquet", "temperature,kwh\n1,2\n");
    refused(&project, PREDICT, 2, "e.parquet: is text; rename it to end in .csv");
}

/// The numbers of a file of predictions, a list for each row.
fn predicted(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

#[test]
fn records_are_predicted_from_noisy_sums() {
    let project = project();
    project.write("energy.toml", RECORDS);
    let run = project.dpgp(&["run", "energy.toml", "--quiet"]).expect(0);
    assert!(run.out.contains("2 of 120 targets lie outside the public bounds [0, 40]"), "{}", run.out);
    project.dpgp(&[PREDICT, &["--ledger", "l.toml"], BUDGET].concat()).expect(0);
    let certificate = project.json("p.csv.certificate.json");
    assert_eq!(certificate["neighbours"], "one record is replaced");
    assert!(certificate["delta_exact"].as_f64().unwrap() <= 1e-6 * (1.0 + 1e-9));
    assert!(certificate["not_covered"].to_string().contains("number of rows"));
    assert!(!certificate["not_covered"].to_string().contains("the inputs ("), "they are private");
    assert!(certificate["columns"]["gp_sd"].as_str().unwrap().contains("noisy sums"));
    assert!(project.read("l.toml").contains("public = []") && project.read("l.toml").contains("replace"));
    // With hardly any noise the predictions are those of the sums, which another verb releases as a surface.
    project.write("energy.toml", &RECORDS.replace("epsilon = 1.0", "epsilon = 1e7"));
    let exact = ["predict", "energy.toml", "--at", "grid.csv", "--out", "exact.csv", "--quiet", "--no-ledger"];
    project.dpgp(&[&exact[..], &["--allow-caveats"]].concat()).expect(0);
    project.dpgp(&["stats", "energy.toml", "energy.csv", "--release", "s.json", "--no-ledger"]).expect(0);
    let (surface, exact) = (project.json("s.json"), predicted(&project.read("exact.csv")));
    let noisy = predicted(&project.read("p.csv"));
    for (i, row) in exact.iter().enumerate() {
        let place = &surface["surface"][i];
        assert_eq!(place["at"][0].as_f64(), Some(row[0]));
        // Two draws, each with the noise that it states.
        assert!((place["mean"].as_f64().unwrap() - row[1]).abs() < 12.0 * row[3], "{place} {row:?}");
        let truth = 30.0 - 0.7 * row[0] + 2.0;
        assert!((row[1] - truth).abs() < 2.0, "{row:?} {truth}");
        assert!(row[3] < 0.02 && noisy[i][3] > 0.5, "{row:?} {:?}", noisy[i]);
        assert!((noisy[i][1] - row[1]).abs() < 6.0 * noisy[i][2].hypot(noisy[i][3]));
    }
    let audit = project.dpgp(&["audit", "energy.toml"]).expect(0);
    assert!(audit.out.contains("1 holds"), "{}", audit.out);
}

#[test]
fn the_other_new_spec_protects_records() {
    let project = project();
    project.dpgp(&["new", "--data", "energy.csv", "--private-inputs", "records"]).expect(0);
    let spec = project.read("records.toml");
    let at = |line: &str| spec.lines().position(|l| l.contains(line)).unwrap_or_else(|| panic!("{line}: {spec}"));
    assert!(at("{ from = nan, to = nan, points = 25 },   # \"day\"") < at("points = 25 },   # \"temperature\""));
    let run = project.dpgp(&["run", "records.toml"]).expect(2);
    assert!(run.err.contains("nan") || run.err.contains("NaN"), "{}", run.err);
    let filled = spec
        .replace("from = nan, to = nan", "from = 0.0, to = 120.0")
        .replace("[nan, nan]", "[0.0, 120.0]")
        .replace("low = nan", "low = 0.0")
        .replace("high = nan", "high = 40.0")
        .replace("target_bound = nan", "target_bound = 20.0")
        .replace("noise_variance = nan", "noise_variance = 80.0")
        .replace("\nvariance = nan", "\nvariance = 100.0")
        .replace("nan,", "30.0,");
    project.write("records.toml", &filled);
    project.dpgp(&["run", "records.toml", "--quiet"]).expect(0);
}

/// Nothing can be said of no rows, and that is what is said.
#[test]
fn a_file_without_rows_is_refused() {
    for spec in [TARGETS, RECORDS] {
        let project = energy_project(spec);
        project.write("energy.csv", "day,temperature,kwh\n\n");
        let mut verbs = vec![&["run", "energy.toml", "--quiet"][..], PREDICT];
        if spec == RECORDS {
            verbs.push(&["stats", "energy.toml", "energy.csv", "--release", "r.json"]);
            verbs.push(&["stats", "energy.toml", "energy.csv", "--out", "s.json"]);
        }
        for verb in verbs {
            let run = project.dpgp(verb).expect(2);
            let said = ["energy.csv: holds no rows", "the data have no rows"];
            assert!(said.iter().any(|said| run.err.contains(said)), "{verb:?}: {}", run.err);
        }
        let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
        assert_eq!(ledgers.as_array().map(Vec::len), Some(0));
        assert!(!project.path("r.json").exists() && !project.path("s.json").exists());
    }
    // A part without rows beside others is no fault.
    let project = energy_project(RECORDS);
    project.put("parts/a.csv", "day,temperature,kwh\n");
    project.put("parts/b.csv", energy());
    project.dpgp(&["stats", "energy.toml", "parts", "--out", "s.json"]).expect(0);
}
