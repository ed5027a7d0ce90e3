//! Counts of rows, where each is one record: a spec of one's own, its release in one step, and the counts of areas.

use std::io::Write;
use std::process::Stdio;

use crate::support::cli::{Project, Run};

/// Rows in a box of 4 x 3 cells, the words of a kind, and a person for every three rows.
fn project() -> Project {
    let project = Project::new();
    let mut rows = "lon,lat,kind,who\n".to_owned();
    for row in 0..6_000 {
        let (lon, lat) = (row % 4, row % 3);
        rows += &format!("{}.5,{}.5,{},p{}\n", lon, lat, ["bus", "bike"][row % 2], row / 3);
    }
    project.write("rows.csv", &rows);
    project.write("counts.toml", SPEC);
    project
}

const SPEC: &str = r#"
experiment.title = "counts"
[data]
source.csv.path = "rows.csv"
inputs = ["lon", "lat"]
[task.density]
bins = [{ from = 0.0, to = 4.0, bins = 4 }, { from = 0.0, to = 3.0, bins = 3 }]
estimate.denoised = {}
draws = 5
[privacy]
epsilon = 1.0
delta = 1e-6
[privacy.mechanism.histogram]
relation = "add-remove"
"#;

/// Each of twelve cells has 500 rows: 6,000 rows over the pairs (row mod 4, row mod 3).
const EXACT: f64 = 500.0;

fn column(csv: &str, name: &str) -> Vec<String> {
    let place = csv.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    csv.lines().skip(1).map(|line| line.split(',').nth(place).unwrap().to_owned()).collect()
}

fn numbers(csv: &str, name: &str) -> Vec<f64> {
    column(csv, name).iter().map(|cell| cell.parse().unwrap()).collect()
}

/// Of three kinds two are listed, so a third of the rows is in no count. Six standard deviations of the noise, which has 4.2 at epsilon 1.
#[test]
fn categories_are_counted_and_others_are_not() {
    let project = Project::new();
    let mut rows = "kind,hour\n".to_owned();
    (0..3_000).for_each(|row| rows += &format!("{},{}\n", ["bus", "bike", "tram"][row % 3], row % 2));
    project.write("rows.csv", &rows);
    let new = ["new", "kinds", "--data", "rows.csv", "--count"];
    let run = project.dpgp(&[&new[..], &["--categories", "kind=bike,bus,ferry"]].concat()).expect(0);
    assert!(run.out.starts_with("rows counted by \"kind\"\n"), "{}", run.out);
    assert!(run.out.contains("wrote kinds.toml; try:\n"), "{}", run.out);
    let spec = project.read("kinds.toml");
    assert!(
        spec.contains("encode = { \"kind\" = [\"bike\", \"bus\", \"ferry\"] }\nmissing = \"drop\"")
            && !spec.contains("= nan"),
        "{spec}"
    );
    project.dpgp(&["predict", "kinds.toml", "--grid", "auto", "--out", "kinds.csv", "--no-ledger"]).expect(0);
    let csv = project.read("kinds.csv");
    assert_eq!(column(&csv, "kind"), ["bike", "bus", "ferry"]);
    for (count, exact) in numbers(&csv, "private_mean").into_iter().zip([1_000.0, 1_000.0, 0.0]) {
        assert!((count - exact).abs() < 26.0, "{csv}");
    }
    for (more, why) in [
        (
            &["--categories", "kind=bus", "--inputs", "hour"][..],
            "--categories lists categories of \"kind\", which is not among --inputs",
        ),
        (&["--categories", "kind=bus,bus"], "the category \"bus\" is listed twice"),
        (&["--categories", "kind=bus", "--categories", "kind=tram"], "the column \"kind\" is named twice"),
        (&["--categories", "kind=bus,"], "a category is empty"),
        (&["--categories", "kind"], "NAME=A,B,C"),
        (&["--categories", "colour=red"], "there is no column \"colour\""),
        (&["--inputs", "kind"], "with --count, pass --categories NAME=A,B,C"),
        (&["--categories", "kind=bus", "--inputs", "kind,hour", "--bins", "3,2"], "the number of numeric inputs is 1"),
    ] {
        let run = project.dpgp(&[&["new", "other", "--data", "rows.csv", "--count"], more].concat()).expect(2);
        assert!(run.err.contains(why), "{more:?}: {}", run.err);
        assert!(!project.path("other.toml").exists());
    }
    let both = [
        "new",
        "both",
        "--data",
        "rows.csv",
        "--count",
        "--inputs",
        "kind,hour",
        "--bins",
        "2",
        "--categories",
        "kind=bus,bike",
    ];
    project.dpgp(&both).expect(0);
    let spec = project.read("both.toml");
    assert!(spec.contains(
        "{ from = -0.5, to = 1.5, bins = 2 },   # \"kind\"\n    { from = nan, to = nan, bins = 2 },   # \"hour\""
    ));
}

/// Answers a range for each input and epsilon, and takes the delta that is proposed.
#[test]
fn a_spec_of_counts_is_released_in_one_step() {
    let project = project();
    let new = ["new", "mine", "--data", "rows.csv", "--count", "--inputs", "lon,lat", "--ask"];
    let mut command = project.command(&new);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"none\n0 4\n0 3\n1\n\n").unwrap();
    let run = Run::new(child.wait_with_output().unwrap()).expect(0);
    assert!(run.out.starts_with("rows counted by \"lon\", \"lat\"\n"), "{}", run.out);
    assert!(
        run.out.contains("\"who\": in line 2 the cell is text")
            && run.out.contains("dpgp predict mine.toml --grid auto"),
        "{}",
        run.out
    );
    project.write("mine.toml", &project.read("mine.toml").replace("bins = 48", "bins = 3"));

    let predict = ["predict", "mine.toml", "--grid", "auto"];
    let more = ["--out", "c.csv", "--map", "c.svg", "--budget-epsilon", "1", "--budget-delta", "1e-5"];
    let run = project.dpgp(&[&predict[..], &more].concat()).expect(0);
    assert!(
        run.out.contains("one record is added or removed") && run.out.contains("1 release has spent"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("the number of rows"), "it is private: {}", run.out);
    let certificate = project.json("c.csv.certificate.json");
    assert!(certificate["columns"]["private_mean"].as_str().unwrap().contains("count"));
    assert!(project.read("c.svg").contains("Private count of rows by lon and lat"));
    let run = project.dpgp(&["verify", "c.csv.certificate.json", "c.csv"]).expect(0);
    assert!(!run.out.contains("FAILS"), "{}", run.out);
    // The budget is spent.
    let run = project.dpgp(&[&predict[..], &["--out", "d.csv"]].concat()).expect(1);
    assert!(run.err.contains("budget") && !project.path("d.csv").exists(), "{}", run.err);

    let run = project.dpgp(&["run", "mine.toml", "--quiet", "--rows"]).expect(0);
    assert!(run.out.contains("noisy-rmse") && run.out.contains("coverage-90"), "{}", run.out);
}

/// The exact counts are those of a column of ones.
#[test]
fn a_row_without_a_target_counts_once() {
    let project = project();
    let ones = project.read("rows.csv").replace("\n", ",1\n").replacen(",1", ",one", 1);
    project.write("ones.csv", &ones);
    project.write("ones.toml", &SPEC.replace("rows.csv", "ones.csv").replace("\"lat\"]", "\"lat\"]\ntarget = \"one\""));
    let mut counted = Vec::new();
    for (spec, rows) in [("counts.toml", "rows.csv"), ("ones.toml", "ones.csv")] {
        project.dpgp(&["sum", spec, rows, "--out", &format!("{spec}.json")]).expect(0);
        counted.push(project.json(&format!("{spec}.json"))["part"]["sums"]["bins"].clone());
    }
    assert_eq!(counted[0], counted[1]);
    assert_eq!(counted[0], serde_json::json!(vec![500; 12]));
}

/// Noise of standard deviation 4 or so, and the exact count of each bin.
#[test]
fn estimates_are_near_the_exact_counts() {
    let project = project();
    project.dpgp(&["predict", "counts.toml", "--grid", "auto", "--out", "c.csv", "--no-ledger"]).expect(0);
    let csv = project.read("c.csv");
    let centres: Vec<(f64, f64)> = numbers(&csv, "lon").into_iter().zip(numbers(&csv, "lat")).collect();
    assert_eq!(centres[..4], [(0.5, 0.5), (0.5, 1.5), (0.5, 2.5), (1.5, 0.5)]);
    for mean in numbers(&csv, "private_mean") {
        assert!((mean - EXACT).abs() < 30.0, "{csv}");
    }
}

/// Words have a bar each, and persons a guarantee about all their rows.
#[test]
fn words_and_persons_are_counted() {
    let project = project();
    let spec = SPEC
        .replace("inputs = [\"lon\", \"lat\"]", "inputs = [\"kind\"]\nencode = { kind = [\"bus\", \"bike\", \"tram\"] }\nperson = \"who\"\nrows_per_person = 2")
        .replace("bins = [{ from = 0.0, to = 4.0, bins = 4 }, { from = 0.0, to = 3.0, bins = 3 }]", "bins = [{ from = -0.5, to = 2.5, bins = 3 }]");
    project.write("words.toml", &spec);
    let run = project.dpgp(&["predict", "words.toml", "--grid", "auto", "--out", "c.csv", "--no-ledger"]).expect(0);
    assert!(run.out.contains("one person (\"who\", at most 2 rows each) is added or removed"), "{}", run.out);
    let csv = project.read("c.csv");
    assert_eq!(column(&csv, "kind"), ["bus", "bike", "tram"]);
    // Two of the three rows of each of 2,000 persons.
    let counts = numbers(&csv, "private_mean");
    assert!((counts.iter().sum::<f64>() - 4000.0).abs() < 200.0 && counts[2] < 60.0, "{csv}");
    // A bin of two words has no name.
    project.write("words.toml", &spec.replace("to = 2.5, bins = 3", "to = 3.5, bins = 2"));
    let run = project.dpgp(&["predict", "words.toml", "--grid", "auto", "--no-ledger"]).expect(2);
    assert!(run.err.contains("must hold one category"), "{}", run.err);
}

/// The noise of each count, and the epsilon for a wanted one, without a charge.
#[test]
fn a_preview_shows_the_noise() {
    let project = project();
    let preview = ["predict", "counts.toml", "--grid", "auto", "--preview"];
    let run = project.dpgp(&[&preview[..], &["--epsilons", "0.5,1", "--error", "4.3"]].concat()).expect(0);
    assert!(run.out.contains("noise of each count") && run.out.contains("nothing was charged"), "{}", run.out);
    // The analytic Gaussian mechanism has 4.2247 at epsilon 1 and delta 1e-6 (Balle and Wang, 2018).
    assert!(run.out.contains(" 1        4.225\n") && run.out.contains("needs epsilon = 0.98"), "{}", run.out);
    let run = project.dpgp(&[&preview[..], &["--format", "json", "--epsilons", "1"]].concat()).expect(0);
    let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!((json["count_noise"][0]["sd"].as_f64().unwrap() - 4.2247).abs() < 1e-3, "{json}");
    assert!(!project.path("ledger.toml").exists());
}

/// Four areas: two cells, half of a cell, all cells, and one that is half outside.
#[test]
fn areas_are_counted_from_a_release() {
    let project = project();
    let square = |x: [f64; 2], y: [f64; 2]| serde_json::json!({ "type": "Polygon", "coordinates": [[[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]], [x[0], y[0]]]] });
    let feature = |name: &str, geometry: serde_json::Value| serde_json::json!({ "type": "Feature", "properties": { "district": name }, "geometry": geometry });
    let areas = serde_json::json!({ "type": "FeatureCollection", "features": [
        feature("two cells", square([0.0, 2.0], [0.0, 1.0])),
        feature("half a cell", square([1.0, 1.5], [1.0, 2.0])),
        feature("all", square([0.0, 4.0], [0.0, 3.0])),
        feature("half outside", square([-1.0, 1.0], [0.0, 1.0])),
    ] });
    project.write("areas.geojson", &areas.to_string());
    project.dpgp(&["sum", "counts.toml", "rows.csv", "--release", "r.json", "--no-ledger"]).expect(0);
    let from = ["predict", "--from", "r.json", "--areas", "areas.geojson"];
    let run =
        project.dpgp(&[&from[..], &["--area-id", "district", "--out", "a.csv", "--map", "a.svg"]].concat()).expect(0);
    assert!(
        run.err.contains("1 of 4 areas lie partly beyond the bins") && run.err.contains("50 % of \"half outside\""),
        "{}",
        run.err
    );
    let csv = project.read("a.csv");
    assert_eq!(column(&csv, "district"), ["two cells", "half a cell", "all", "half outside"]);
    for (mean, exact) in numbers(&csv, "private_mean").into_iter().zip([2.0 * EXACT, 0.5 * EXACT, 12.0 * EXACT, EXACT])
    {
        assert!((mean - exact).abs() < 60.0, "{csv}");
    }
    // The rows of a cell may all be in one half of it.
    let sds = numbers(&csv, "gp_sd");
    assert!(sds[1] > 10.0 && sds[0] < sds[1], "{csv}");
    assert!(project.read("a.svg").contains("Private count of rows by district"));

    let refused = |arguments: &[&str], why: &str| {
        let run = project.dpgp(arguments).expect(2);
        assert!(run.err.contains(why), "{}", run.err);
    };
    refused(
        &[&from[..], &["--area-id", "name"]].concat(),
        "features[0] has no property \"name\" that holds text or a number; its properties are: \"district\"",
    );
    refused(&["predict", "counts.toml", "--areas", "areas.geojson"], "then use --from counts.json");
    project.write("areas.geojson", "{}");
    refused(&from, "areas.geojson is not GeoJSON");
}

#[test]
fn what_counts_cannot_answer_is_refused_before_the_charge() {
    let project = project();
    project.write("at.csv", "lon,lat\n1,1\n");
    let refused = |spec: &str, arguments: &[&str], why: &str| {
        project.write("s.toml", spec);
        let run = project.dpgp(&[&["predict", "s.toml", "--ledger", "l.toml"][..], arguments].concat()).expect(2);
        assert!(run.err.contains(why) && !project.path("l.toml").exists(), "{}", run.err);
    };
    refused(SPEC, &["--grid", "lon=0..1:2,lat=1"], "counts are released only for the bins of their spec");
    refused(SPEC, &["--at", "at.csv"], "use --grid auto");
    refused(
        &SPEC.replace("relation", "most_per_row = 2\nrelation"),
        &["--grid", "auto"],
        "most_per_row needs a value for `target`",
    );
    refused(
        &SPEC.replace("draws = 5", "test = [{ from = 0.0, to = 4.0, bins = 4 }, { from = 0.0, to = 3.0, bins = 3 }]"),
        &["--grid", "auto"],
        "estimate.denoised is compared with the exact counts",
    );
    // Other tasks predict a target.
    let prediction = r#"experiment.title = "no target"
data = { source.csv.path = "rows.csv", inputs = ["lon"] }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }
task.prediction.grid = [{ from = 0.0, to = 4.0, points = 5 }]
privacy = { epsilon = 1.0, delta = 1e-6, change = 10.0, mechanism.function.sensitivity = "exact" }
"#;
    refused(prediction, &["--grid", "auto"], "this task needs a value for `target`");
}

/// A unit of a count that lets its row pass a filter would bring the whole row.
#[test]
fn a_counted_column_filters_no_rows() {
    let project = Project::empty();
    project.write("f.csv", "x,m\n0.5,999\n1.5,3\n");
    let spec = |more: &str| {
        format!(
            "experiment.title = \"t\"\n\
             data = {{ source.csv.path = \"f.csv\", inputs = [\"x\"], target = \"m\", filter = [{{ column = \"m\", is = \">=\", value = 1000.0 }}] }}\n\
             task.density = {{ bins = [{{ from = 0.0, to = 2.0, bins = 2 }}], estimate.denoised = {{}}, draws = 2 }}\n\
             privacy = {{ epsilon = 1.0, delta = 1e-5, mechanism.histogram = {{ relation = \"add-remove\"{more} }} }}\n"
        )
    };
    project.write("f.toml", &spec(""));
    for arguments in [
        &["sum", "f.toml", "f.csv", "--release", "r.json", "--no-ledger"][..],
        &["predict", "f.toml", "--grid", "auto", "--no-ledger"],
        &["run", "f.toml"],
    ] {
        let run = project.dpgp(arguments).expect(2);
        assert!(run.err.contains("a filter on the counted column"), "{}", run.err);
    }
    project.write("f.toml", &spec(", most_per_row = 1000"));
    project.dpgp(&["sum", "f.toml", "f.csv", "--release", "r.json", "--no-ledger"]).expect(0);
    // An edited release is no release.
    let released = project.json("r.json");
    for (place, value) in [("/guarantee/epsilon", 0.01), ("/sd", 0.01)] {
        let mut edited = released.clone();
        *edited.pointer_mut(place).unwrap() = value.into();
        project.write("r.json", &edited.to_string());
        let run = project.dpgp(&["predict", "--from", "r.json", "--grid", "auto"]).expect(2);
        assert!(run.err.contains("Nothing is claimed") && run.out.is_empty(), "{place}: {}", run.err);
    }
}
