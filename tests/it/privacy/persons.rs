//! Sums of the rows of persons: no person moves them further than is claimed, whatever rows he has, and no rows of a person
//! change which rows of others are used.

use std::path::{Path, PathBuf};

use dpgp::number::Positive;
use dpgp::release::{AnyPlannedSumsRelease, NewExactSumsFile, PlannedSumsRelease, SumsReleaseMethod};
use dpgp::run::{DataLocations, Project, WorkerPool};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

const SURFACE: &str = r#"experiment.title = "surface"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y", person = "id", rows_per_person = 3, filter = [{ column = "x", is = "<", value = 9.0 }] }
normalise.bounds = { low = -1.0, high = 1.0 }
model = { noise_variance = 0.5, kernel.eq = { variance = 1.0, lengthscale = 1.0 } }
task.surface = { inducing = [{ from = 0.0, to = 4.0, points = 3 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact", split = 0.5 } }
"#;

const CLASSES: &str = r#"experiment.title = "classes"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "class", person = "id", rows_per_person = 3 }
model.kernel.eq = { variance = 1.0, lengthscale = 1.0 }
task.dirichlet = { train = 5, classes = 3, inducing = [{ from = 0.0, to = 4.0, points = 3 }], alpha = 0.01, posterior = { regularisation = "tight", correction = "first-order" }, release = "class-sums" }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.sums = { features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact", split = 0.5 } }
"#;

const MOMENTS: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y", person = "id", rows_per_person = 3 }
normalise.bounds = { low = -1.0, high = 1.0 }
model = { noise_variance = 0.2, kernel.matern = { smoothness = "5/2", variance = 1.0, lengthscales = [1.0] } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0]], rows = 40 } }
"#;

const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "class", person = "id", rows_per_person = 3 }
task.density = { bins = [{ from = 0.0, to = 4.0, bins = 4 }], test = [{ from = 0.0, to = 4.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "RELATION", most_per_row = 2 } }
"#;

/// A row: whose it is, an input, a target and a class, which also is a number of records.
#[derive(Clone)]
struct Row {
    person: &'static str,
    x: f64,
    y: f64,
    class: u8,
}

const OTHERS: [&str; 5] = ["Ann", "Bob", "7", "Dan", "Eve, the first"];

fn row(person: &'static str, stream: &mut impl Rng) -> Row {
    // Few values, so that a person has equal rows.
    let x = f64::from(stream.random_range(0..9)) / 2.0;
    Row { person, x, y: [-5.0, -0.5, 0.5, 5.0][stream.random_range(0..4)], class: stream.random_range(0..3) }
}

fn written(rows: &[Row], path: &Path) {
    let lines = rows.iter().map(|Row { person, x, y, class }| format!("{x},\"{person}\",{y},{class}\n"));
    std::fs::write(path, format!("x,id,y,class\n{}", lines.collect::<String>())).unwrap();
}

/// Rows of others, and some of one more person at places among them.
fn with_person(others: &[Row], of_person: &[Row], stream: &mut impl Rng) -> Vec<Row> {
    let mut rows = others.to_vec();
    for row in of_person {
        rows.insert(stream.random_range(0..=rows.len()), row.clone());
    }
    rows
}

/// What one person may have: nothing, many equal rows at an extreme, or rows of all kinds.
fn cases(stream: &mut impl Rng) -> Vec<Vec<Row>> {
    let equal = |x: f64, y: f64, class: u8| vec![Row { person: "Zoe", x, y, class }; 5];
    let mut cases = vec![Vec::new()];
    for x in [0.5, 2.0, 3.5, 1e9] {
        cases.extend([equal(x, -1e300, 0), equal(x, 1e300, 2)]);
    }
    cases.extend((0..12).map(|_| (0..stream.random_range(0..8)).map(|_| row("Zoe", stream)).collect()));
    cases
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse::<i128>().unwrap() as f64)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// The exact sums of a file, each in standard deviations of its noise. Whole numbers of such size are exact in doubles but for
/// the last bits.
fn in_deviations(sums: &Value, released: &Value) -> Vec<f64> {
    if let Some(bins) = sums.get("bins") {
        let sd = number(&released["sd"]);
        return numbers(bins).iter().map(|count| count / sd).collect();
    }
    if sums.get("cells").is_some() {
        return moments_in_deviations(sums, &released["moments"]);
    }
    let pairs = match (sums.as_array(), released["sums"].as_array()) {
        (Some(sums), Some(released)) => sums.iter().zip(released).collect(),
        _ => vec![(sums, &released["sums"])],
    };
    let mut all = Vec::new();
    for (sums, released) in pairs {
        let [sd_a, sd_b, unit_a, unit_b] = ["sd_a", "sd_b", "unit_a", "unit_b"].map(|name| number(&released[name]));
        let a = numbers(&sums["a"]);
        all.extend(a.iter().map(|a| a * unit_a / sd_a));
        let mut b = numbers(&sums["b"]).into_iter();
        for column in 0..a.len() {
            let beside = (column..a.len()).map(|row| if row == column { 1.0 } else { 2f64.sqrt() });
            all.extend(beside.map(|factor| b.next().unwrap() * factor * unit_b / sd_b));
        }
    }
    all
}

/// The moments of rows in the 4096 cells of a line, by their definition, for targets in units of `2^-20`.
fn moments_in_deviations(sums: &Value, released: &Value) -> Vec<f64> {
    let [cells, counts, targets] = ["cells", "counts", "targets"].map(|name| numbers(&sums[name]));
    let mut all = vec![number(&sums["rows"]) / number(&released["rows_sd"])];
    all.push(number(&sums["squares"]) * 2f64.powi(-40) / number(&released["squares_sd"]));
    for (frequencies, sds, factors) in [
        ("frequencies", "weighted_sd", targets.iter().map(|y| y * 2f64.powi(-20)).collect()),
        ("pairs", "plain_sd", counts),
    ] {
        let mut sds = numbers(&released[sds]).into_iter();
        for frequency in released[frequencies].as_array().unwrap() {
            let turns = numbers(frequency)[0] / number(&released["period"]);
            let angles = cells.iter().map(|cell| std::f64::consts::TAU * turns * (cell + 0.5) / 4096.0);
            let waves: Vec<(f64, f64)> = angles.map(|angle| (angle.cos(), angle.sin())).collect();
            let weighted = |part: fn(&(f64, f64)) -> f64| -> f64 {
                waves.iter().zip(&factors).map(|(wave, factor): (_, &f64)| part(wave) * factor).sum()
            };
            all.push(weighted(|wave| wave.0) / sds.next().unwrap());
            if turns != 0.0 {
                all.push(weighted(|wave| wave.1) / sds.next().unwrap());
            }
        }
        assert!(sds.next().is_none());
    }
    all
}

/// The sums of rows, in standard deviations, and the mu that is claimed.
struct Found {
    sums: Vec<f64>,
    mu: f64,
    text: String,
}

fn found<M: SumsReleaseMethod>(streamed: &PlannedSumsRelease<'_, M>, rows: &[Row], folder: &Path) -> Found {
    let file: PathBuf = folder.join("rows.csv");
    let out: PathBuf = folder.join("sums.json");
    written(rows, &file);
    let total = streamed.sum(&[file], None, &WorkerPool::new(1).unwrap(), None).unwrap();
    let _ = std::fs::remove_file(&out);
    let mut file = NewExactSumsFile::open(&out).unwrap();
    file.write_sums(&total).unwrap();
    file.finish().unwrap();
    let sums: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let privacy = streamed.resolve_privacy_setting(None).unwrap();
    let offer = streamed.design_release(&total, &privacy, true).unwrap();
    let released = offer.charge(None, &streamed.release_spec(&privacy), None).unwrap().draw().unwrap().json();
    let text = released["guarantee"]["text"].as_str().unwrap().to_owned();
    let mu = Positive::new(released["guarantee"]["mu"].as_f64().unwrap()).unwrap().get();
    Found { sums: in_deviations(&sums["part"]["sums"], &released), mu, text }
}

/// The largest distance of two files that differ in the rows of one person, over mu.
fn largest<M: SumsReleaseMethod>(streamed: &PlannedSumsRelease<'_, M>, spec: &Spec) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut stream = Pcg64::seed_from_u64(5);
    let others: Vec<Row> = (0..30).map(|i| row(OTHERS[i % 5], &mut stream)).collect();
    let mut all = Vec::new();
    for case in cases(&mut stream) {
        let case = &case[..case.len().min(spec.rows)];
        let found = found(streamed, &with_person(&others, case, &mut stream), folder.path());
        assert!(found.text.ends_with(spec.neighbours), "{}", found.text);
        all.push(found);
    }
    // Added or removed: against nobody; replaced: all pairs.
    let first = if spec.neighbours.contains("removed") { 1 } else { all.len() };
    let mut largest = 0.0f64;
    for one in &all[..first] {
        for other in &all {
            let squares = one.sums.iter().zip(&other.sums).map(|(x, y)| (x - y).powi(2));
            largest = largest.max(squares.sum::<f64>().sqrt() / one.mu);
        }
    }
    largest
}

/// A spec, the neighbours that its certificate names, the rows that neighbours may differ in, and the share of mu that the worst
/// of the cases reaches.
struct Spec {
    text: String,
    neighbours: &'static str,
    rows: usize,
    reached: f64,
}

fn specs() -> Vec<Spec> {
    let counts = |relation: &str, neighbours| Spec {
        text: HISTOGRAM.replace("RELATION", relation),
        neighbours,
        rows: usize::MAX,
        reached: 1.0 - 1e-9,
    };
    let removed =
        counts("add-remove", "one person (\"id\", at most 3 rows each of at most 2 records) is added or removed");
    let replaced = counts("replace-one", "one person (\"id\", at most 3 rows each of at most 2 records) is replaced");
    let row = counts("add-remove", "one row (at most 2 records each) is added or removed");
    let text = row.text.replace(", person = \"id\", rows_per_person = 3", "");
    let sums = [SURFACE, CLASSES, MOMENTS].map(|text| Spec {
        text: text.to_owned(),
        neighbours: "one person (\"id\", at most 3 rows each) is replaced",
        rows: usize::MAX,
        reached: 0.7,
    });
    sums.into_iter().chain([removed, replaced, Spec { text, rows: 1, ..row }]).collect()
}

#[test]
fn no_person_moves_sums_further_than_claimed() {
    for spec in specs() {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("persons", &spec.text).unwrap();
        let largest = match AnyPlannedSumsRelease::from_experiment(&experiment).unwrap() {
            AnyPlannedSumsRelease::Surface(streamed) => largest(&streamed, &spec),
            AnyPlannedSumsRelease::Classes(streamed) => largest(&streamed, &spec),
            AnyPlannedSumsRelease::Counts(streamed) => largest(&streamed, &spec),
            AnyPlannedSumsRelease::Moments(streamed) => largest(&streamed, &spec),
        };
        assert!(largest <= 1.0 + 1e-9, "{largest}\n{}", spec.text);
        assert!(largest >= spec.reached, "{largest}\n{}", spec.text);
    }
}
