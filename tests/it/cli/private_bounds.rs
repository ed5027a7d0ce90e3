//! Bounds that nobody knows: released counts of a column, and a spec with what is left of the budget.

use crate::support::cli::Project;

/// 8,000 rows whose target grows from 2 to 2^8: `2^(1 + 7 u)` for the shares `u = 0, 1 / 8000, ...`, in another order.
fn project() -> Project {
    let project = Project::new();
    let mut rows = "place,minutes\n".to_owned();
    for row in 0..8_000u32 {
        let share = f64::from(row * 4_801 % 8_000) / 8_000.0;
        rows += &format!("{},{:.4}\n", row % 10, (1.0 + 7.0 * share).exp2());
    }
    project.write("rows.csv", &rows);
    project
}

fn number(spec: &str, key: &str) -> f64 {
    let line = spec.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
    line.split('#').next().unwrap().trim().parse().unwrap()
}

const BUDGET: [&str; 4] = ["--budget-epsilon", "1", "--budget-delta", "1e-5"];

/// A fiftieth of the rows is below `2^(1 + 7 / 50) = 2.2`, and a fiftieth above `2^(8 - 7 / 50) = 232`. Both releases together fit into the
/// budget of one, and nothing is left of it.
#[test]
fn bounds_are_released_for_a_share_of_the_budget() {
    let project = project();
    let new = ["new", "--data", "rows.csv", "--target", "minutes", "--private-bounds"];
    let wrote = project.dpgp(&new).expect(0);
    assert!(
        wrote.out.contains(
            "dpgp sum rows-bounds.toml rows.csv --release bounds.json --budget-epsilon 1 --budget-delta 1e-5"
        ),
        "{}",
        wrote.out
    );
    let release = ["sum", "rows-bounds.toml", "rows.csv", "--release", "bounds.json", "--quiet"];
    let sum = project.dpgp(&[&release[..], &BUDGET].concat()).expect(0);
    assert!(
        sum.err.contains("1 release has spent") || sum.out.contains("1 release has spent"),
        "{}{}",
        sum.out,
        sum.err
    );
    project.dpgp(&["verify", "bounds.json", "--spec", "rows-bounds.toml"]);

    let from = ["new", "mine", "--data", "rows.csv", "--target", "minutes", "--inputs", "place", "--private-inputs"];
    let wrote = project.dpgp(&[&from[..], &["--bounds-from", "bounds.json"]].concat()).expect(0);
    assert!(wrote.out.contains("--budget-epsilon 1 --budget-delta 1e-5"), "{}", wrote.out);
    let spec = project.read("mine.toml");
    let (low, high, epsilon) = (number(&spec, "low"), number(&spec, "high"), number(&spec, "epsilon"));
    assert!((0.5..=4.0).contains(&low) && (150.0..=600.0).contains(&high), "{low} {high}");
    assert!(spec.contains("# from bounds.json, a private release"), "{spec}");
    assert!((number(&spec, "target_bound") - (high - low) / 2.0).abs() < 1e-9, "{spec}");
    // 500 rows of a tenth of the budget at 5,000: a sixteenth of mu^2 at 8,000, so that sqrt(15 / 16) of mu is left.
    assert!((0.95..0.975).contains(&epsilon), "{epsilon}");
    assert!(spec.contains(&format!("\"privacy.epsilon\" = [{epsilon}, inf]")), "{spec}");

    let filled = spec
        .replace("    nan,   # \"place\"", "    2.0,")
        .replace("from = nan, to = nan", "from = 0.0, to = 9.0")
        .replace("[nan, nan]", "[0.0, 9.0]");
    project.write("mine.toml", &filled);
    let cell = format!("epsilon={epsilon}");
    let predict = |out| {
        let predict = ["predict", "mine.toml", "--grid", "auto", "--cell", &cell, "--out", out, "--quiet"];
        project.dpgp(&[&predict[..], &BUDGET].concat())
    };
    predict("first.csv").expect(0);
    let more = predict("second.csv");
    assert!(more.code != 0 && more.err.contains("budget"), "{} {}", more.code, more.err);
}

/// Whoever has few rows must know their bounds, and a file of other counts gives none.
#[test]
fn bounds_that_cannot_be_had_are_refused() {
    let project = project();
    project.write("few.csv", &project.read("rows.csv").lines().take(4_001).collect::<Vec<_>>().join("\n"));
    let run = project.dpgp(&["new", "--data", "few.csv", "--target", "minutes", "--private-bounds"]).expect(2);
    assert!(
        run.err.contains("private bounds need at least 5000 rows at an epsilon of 1, but the file has 4000"),
        "{}",
        run.err
    );
    assert!(!project.path("few-bounds.toml").exists());
    let run = project.dpgp(&["new", "--data", "rows.csv", "--private-bounds"]).expect(2);
    assert!(run.err.contains("--target"), "{}", run.err);

    let counts = |column: &str, bins: &str, counts: &str| {
        let text = format!(
            "{{ \"histogram\": {{ \"inputs\": [{column}], \"records\": null, \"filter\": [], \"bins\": [{bins}] }}, \
             \"counts\": {counts}, \"sd\": 20.0, \"guarantee\": {{ \"text\": \"g\", \"mu\": 0.1 }} }}"
        );
        project.write("counts.json", &text);
        let from = [
            "new",
            "mine",
            "--data",
            "rows.csv",
            "--target",
            "minutes",
            "--private-inputs",
            "--bounds-from",
            "counts.json",
        ];
        project.dpgp(&from)
    };
    let axis = "{ \"from\": 0.0, \"to\": 9.0, \"bins\": 3 }";
    let noise = counts("\"minutes\"", axis, "[12, -30, 25]").expect(2);
    assert!(
        noise.err.contains(
            "no bin stands out from the noise, whose standard deviation is 20 rows per count; the counts were released and charged"
        ),
        "{}",
        noise.err
    );
    let other = counts("\"place\"", axis, "[0, 900, 0]").expect(2);
    assert!(other.err.contains("holds bounds for \"place\", but the target is \"minutes\""), "{}", other.err);
    let plane = counts("\"minutes\", \"place\"", &format!("{axis}, {axis}"), "[9, 9, 9, 9, 9, 9, 9, 9, 9]").expect(2);
    assert!(plane.err.contains("bounds need counts of one numeric column"), "{}", plane.err);
    // Counts that do not say what they cost, or cost the whole budget, leave nothing: never the whole again.
    let rows = "{ \"histogram\": { \"inputs\": [\"minutes\"], \"records\": null, \"filter\": [], \"bins\": [BINS] }, \"counts\": [0, 900, 0], \
        \"sd\": 20.0, \"guarantee\": { \"text\": \"g\"MU } }";
    for mu in ["", ", \"mu\": 5.0"] {
        project.write("counts.json", &rows.replace("BINS", axis).replace("MU", mu));
        let from = [
            "new",
            "mine",
            "--data",
            "rows.csv",
            "--target",
            "minutes",
            "--private-inputs",
            "--bounds-from",
            "counts.json",
        ];
        let run = project.dpgp(&from).expect(2);
        assert!(run.err.contains("nothing is left of a budget of epsilon = 1"), "{mu}: {}", run.err);
    }
    project.write("counts.json", "{}");
    let from = [
        "new",
        "mine",
        "--data",
        "rows.csv",
        "--target",
        "minutes",
        "--private-inputs",
        "--bounds-from",
        "counts.json",
    ];
    assert!(project.dpgp(&from).expect(2).err.contains("is not a file of counts"));
    assert!(!project.path("mine.toml").exists());
}

/// Bins that grow hold the rows that their ends say: 1, 3 and 7 are the ends of log2(1 + x) = 1, 2, 3.
#[test]
fn growing_bins_count_rows() {
    let project = Project::new();
    project.write("rows.csv", "x\n-0.5\n0.0\n0.99\n1.01\n2.9\n3.1\n6.9\n7.0\n7.1\n");
    let spec = "experiment.title = \"t\"\ndata = { source.csv.path = \"rows.csv\", inputs = [\"x\"] }\n\
        task.density = { bins = [{ from = 0.0, to = 7.0, bins = 3, log = 1.0 }], estimate.denoised = {} }\n\
        privacy = { epsilon = 1.0, delta = 1e-5, calibration = \"analytic\", mechanism.histogram.relation = \"add-remove\" }\n";
    project.write("s.toml", spec);
    let sum = project.dpgp(&["sum", "s.toml", "rows.csv", "--out", "s.json"]).expect(0);
    let sums: serde_json::Value = serde_json::from_str(&project.read("s.json")).unwrap();
    assert_eq!(sums["part"]["sums"]["bins"], serde_json::json!([2, 2, 3]), "{}{sums}", sum.out);
    for (from, to) in [
        ("log = 1.0", "log = 0.0"),
        ("log = 1.0", "log = -1.0"),
        ("from = 0.0, to = 7.0, bins = 3", "from = 1.0, to = 1.0000000000000004, bins = 9"),
    ] {
        project.write("s.toml", &spec.replace(from, to));
        let run = project.dpgp(&["sum", "s.toml", "rows.csv", "--out", "t.json"]).expect(2);
        assert!(run.err.contains("task.density.bins"), "{to}: {}", run.err);
    }
}
