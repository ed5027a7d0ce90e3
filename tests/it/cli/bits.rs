//! Attacks on the last bits of what is released: each reads the file that a user would publish, and broke an earlier version.

use serde_json::Value;

use crate::support::cli::Project;

const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "count" }
task.density = { bins = [{ from = 0.0, to = 1.0, bins = 20000 }], test = [{ from = 0.0, to = 1.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram = { relation = "add-remove" } }
"#;

/// A candidate is ruled out when no double added to it gives the output. Every bin holds 0 or 1 records, and the wrong
/// one of the two was proved in 19 % of them.
#[test]
fn no_count_of_a_histogram_is_ruled_out() {
    let project = Project::empty();
    project.write("h.toml", HISTOGRAM);
    let rows: String = (0..10_000).map(|i| format!("{},1\n", (f64::from(2 * i) + 0.5) / 20_000.0)).collect();
    project.write("rows.csv", &format!("x,count\n{rows}"));
    project.dpgp(&["stats", "h.toml", "rows.csv", "--release", "out.json", "--quiet"]).expect(0);
    let counts = project.json("out.json")["counts"].as_array().unwrap().clone();
    assert_eq!(counts.len(), 20_000);
    for count in counts {
        // A whole number, which whole noise reaches from every count.
        let count = count.as_i64().expect("a whole number") as f64;
        assert!([0.0, 1.0, 2.0].iter().all(|candidate| is_reachable(count, *candidate)));
    }
}

/// Whether some double n has `fl(candidate + n) = output`.
fn is_reachable(output: f64, candidate: f64) -> bool {
    let noise = output - candidate;
    [noise.next_down(), noise, noise.next_up()].iter().any(|n| candidate + n == output)
}

const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.5, kernel.eq = { variance = 1.0, lengthscale = 0.1 } }
task.surface = { inducing = [{ from = 0.0, to = 1.0, points = POINTS }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 1.0]] }, sensitivity = "exact", split = 1.0 } }
"#;

const CLASSES: &str = r#"experiment.title = "classes"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "class" }
model.kernel.eq = { variance = 1.0, lengthscale = 0.1 }
task.dirichlet = { inducing = [{ from = 0.0, to = 1.0, points = 7 }], classes = 3, train = 10, alpha = 0.01, release = "class-sums", posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { features = { supremum = [[0.0, 1.0]] }, sensitivity = "exact", split = 1.0 } }
"#;

/// Rows of which some have targets far beyond the bounds, whose sums in doubles would lose the others. `replaced` takes
/// the place of one of them.
fn rows(replaced: &str) -> String {
    let row = |i: u32| format!("{},{},{}\n", f64::from(i * 37 % 100) / 99.0, i % 41, i % 3);
    let rows: String = (0..60).map(row).collect();
    format!("x,y,class\n0.5,1e16,0\n{replaced}\n{rows}0.5,-1e16,1\n")
}

/// A and the lower triangle of B.
fn numbers(sums: &Value) -> Vec<f64> {
    let list = |name: &str| sums[name].as_array().unwrap().clone();
    let a = list("a").into_iter().map(|x| x.as_f64().unwrap());
    let rows = list("b").into_iter().enumerate();
    let b = rows.flat_map(|(j, row)| row.as_array().unwrap()[..=j].to_vec()).map(|x| x.as_f64().unwrap());
    a.chain(b).collect()
}

/// The exact sums in doubles, as their holder and an attacker who knows all rows can compute them.
fn exact(sums: &Value, units: &Value) -> Vec<f64> {
    let m = sums["a"].as_array().unwrap().len();
    let list = |name: &str, unit: &str| -> Vec<f64> {
        let unit = units[unit].as_f64().unwrap();
        let texts = sums[name].as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().parse::<i128>().unwrap() as f64 * unit).collect()
    };
    let (a, b) = (list("a", "unit_a"), list("b", "unit_b"));
    // The file has the lower triangle column by column; `numbers` takes it row by row.
    let place = |i: usize, j: usize| j * m - j * j.saturating_sub(1) / 2 + i - j;
    let b = (0..m).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| b[place(i, j)]);
    a.into_iter().chain(b).collect()
}

/// The consistency test of raw bits: how many of the released numbers rule out the data that they were made from, and the data
/// that they were not made from. Where noise was added in doubles, the truth is never ruled out.
fn ruled_out(spec: &str, releases: usize) -> [usize; 2] {
    let project = Project::empty();
    project.write("s.toml", spec);
    for (name, replaced) in [("truth", "0.4,3,1"), ("other", "0.9,39,2")] {
        project.write(&format!("{name}.csv"), &rows(replaced));
        let (file, out) = (format!("{name}.csv"), format!("{name}.json"));
        project.dpgp(&["stats", "s.toml", &file, "--out", &out, "--quiet"]).expect(0);
    }
    let classes = |sums: Value| if sums.is_array() { sums.as_array().unwrap().clone() } else { vec![sums] };
    let known = ["truth", "other"].map(|name| classes(project.json(&format!("{name}.json"))["part"]["sums"].clone()));
    let mut counts = [0; 2];
    for number in 0..releases {
        let out = format!("{number}.json");
        project.dpgp(&["stats", "s.toml", "truth.csv", "--release", &out, "--quiet"]).expect(0);
        for (class, released) in classes(project.json(&out)["sums"].clone()).iter().enumerate() {
            for (count, known) in counts.iter_mut().zip(&known) {
                let candidates = exact(&known[class], released);
                let pairs = numbers(released).into_iter().zip(candidates);
                *count += pairs.filter(|(output, candidate)| !is_reachable(*output, *candidate)).count();
            }
        }
    }
    counts
}

#[test]
fn sums_rule_out_the_truth_as_often_as_anything_else() {
    for (spec, releases) in
        [(SURFACE.replace("POINTS", "7"), 40), (SURFACE.replace("POINTS", "20"), 12), (CLASSES.to_owned(), 20)]
    {
        let [truth, other] = ruled_out(&spec, releases);
        let spread = ((truth + other) as f64).sqrt();
        assert!((truth as f64 - other as f64).abs() <= 5.0 * spread, "{truth} {other}");
    }
}

const STAMPS: &str = r#"experiment.title = "time stamps"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = LOW, high = HIGH, scale = 1e3 }
model = { noise_variance = 1.0, kernel.eq = { variance = 1.0, lengthscale = 0.1 } }
task.prediction = { grid = [{ from = 0.0, to = 1.0, points = 3 }] }
privacy = { epsilon = 1.0, delta = 1e-5, change = 2000.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

/// The private mean at 0.5, so many times, where one target stands at the low or the high bound.
fn draws(low: f64, at: &str, first: f64) -> (Vec<f64>, f64) {
    let project = Project::empty();
    let (low_text, high_text) = (format!("{low:?}"), format!("{:?}", low + 2000.0));
    project.write("t.toml", &STAMPS.replace("LOW", &low_text).replace("HIGH", &high_text));
    let rows: String = (0..20).map(|i| format!("{:?},{:?}\n", f64::from(i) / 19.0, low + 900.0)).collect();
    project.write("rows.csv", &format!("x,y\n0.5,{first:?}\n{rows}"));
    project.write("grid.csv", &format!("x\n{at}\n"));
    let mut means = Vec::new();
    let mut sd = 0.0;
    for _ in 0..30 {
        let run = project.dpgp(&["predict", "t.toml", "--at", "grid.csv", "--format", "json"]).expect(0);
        let row = run.json()["predictions"][0].clone();
        means.push(row["private_mean"].as_f64().unwrap());
        sd = row["noise_sd"].as_f64().unwrap();
    }
    (means, sd)
}

/// Doubles near 1.7e18 are 256 apart, as wide as the noise is: it must not be lost in the rounding of the sum.
#[test]
fn time_stamps_do_not_swallow_the_noise() {
    let low = 1.7e18;
    let (of_low, sd) = draws(low, "0.5", low);
    let (of_high, _) = draws(low, "0.5", low + 2000.0);
    for means in [&of_low, &of_high] {
        // Sums of such doubles are rounded to multiples of 8192: their differences from the bound are exact, and so are sums of those.
        let offsets: Vec<f64> = means.iter().map(|mean| mean - low).collect();
        let mean = offsets.iter().sum::<f64>() / 30.0;
        let spread = (offsets.iter().map(|offset| (offset - mean).powi(2)).sum::<f64>() / 29.0).sqrt();
        assert!(spread > 0.4 * sd && spread < 2.5 * sd, "{spread} {sd}");
    }
    // No value separates the two: they overlap as noise of this size makes them.
    let greatest = of_low.iter().copied().fold(f64::MIN, f64::max);
    assert!(of_high.iter().any(|mean| *mean <= greatest));
}

/// A point 32 lengthscales from all data, where the map is about 1e-219 and the squares of the noise underflow. With a centre of
/// zero nothing hides that: there is noise all the same, of the size that is stated, and it hides the target.
#[test]
fn points_far_away_have_noise_of_the_size_that_is_stated() {
    let [(of_low, sd), (of_high, _)] = [-1000.0, 1000.0].map(|first| draws(-1000.0, "4.2", first));
    assert!(sd > 0.0 && sd < 1e-200, "{sd}");
    for means in [&of_low, &of_high] {
        let mean = means.iter().map(|mean| mean / sd).sum::<f64>() / 30.0;
        let spread = (means.iter().map(|m| (m / sd - mean).powi(2)).sum::<f64>() / 29.0).sqrt();
        assert!(spread > 0.4 && spread < 2.5, "{spread} {means:?}");
    }
    let greatest = of_low.iter().copied().fold(f64::MIN, f64::max);
    assert!(of_high.iter().any(|mean| *mean <= greatest));
}
