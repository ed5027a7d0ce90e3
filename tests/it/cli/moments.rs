//! `dpgp sum` and `dpgp predict` with Fourier moments: whole records are private.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::report::Report;
use crate::support::rows::write_rows;
use crate::support::sums::assert_same_sums;

const ROWS: usize = 40_000;

const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq-ard = { variance = 0.3, lengthscales = [1.5, 30.0] } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 4 }], at = [50.0] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0], [0.0, 100.0]] } }
"#;

/// The same of the first input alone.
fn line() -> String {
    SPEC.replace("inputs = [\"x\", \"z\"]", "inputs = [\"x\"]")
        .replace(", at = [50.0]", "")
        .replace(", [0.0, 100.0]]", "]")
        .replace("lengthscales = [1.5, 30.0]", "lengthscales = [1.5]")
}

/// The function that targets follow.
fn truth(x: f64, z: f64) -> f64 {
    5.0 + 3.0 * (1.2 * x).sin() + 0.01 * (z - 50.0)
}

/// Inputs beyond the box and targets beyond the bounds among them.
fn columns(rows: usize) -> Vec<Vec<f64>> {
    let x: Vec<f64> = (0..rows).map(|i| 4.1 * ((i * 7919) % 10_007) as f64 / 10_007.0 - 0.05).collect();
    let z: Vec<f64> = (0..rows).map(|i| ((i * 104_729) % 10_009) as f64 / 100.09).collect();
    let noise = (0..rows).map(|i| ((i * 31_337) % 1009) as f64 / 252.0 - 2.0);
    let y = x.iter().zip(&z).zip(noise).map(|((x, z), noise)| truth(*x, *z) + noise).collect();
    vec![x, z, y]
}

fn project(rows: usize) -> Project {
    let project = Project::empty();
    project.write("s.toml", SPEC);
    for name in ["rows.csv", "rows.parquet"] {
        write_rows(&project, name, &["x", "z", "y"], &columns(rows));
    }
    project.write("grid.csv", "x,z\n0.5,50\n1.5,50\n2.5,50\n3.5,50\n");
    project
}

fn numbers(value: &Value, name: &str) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|point| point[name].as_f64().unwrap()).collect()
}

#[test]
fn shards_threads_and_forms_change_no_bit() {
    let project = project(ROWS);
    let run = assert_same_sums(&project, "rows");
    assert!(run.out.contains("65536 cells") && !run.out.contains(" rows"), "{}", run.out);
    let sums = &project.json("one.json")["part"]["sums"];
    assert_eq!(sums["rows"], ROWS);
    let counts: u64 = sums["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counts, ROWS as u64);
    let clipped = columns(ROWS)[2].iter().filter(|y| !(0.0..=10.0).contains(*y)).count();
    assert_eq!(sums["clipped"], clipped);
}

/// What `predict --from` says of the release at the points of the grid.
fn from(project: &Project, more: &[&str]) -> Value {
    let all = [&["predict", "--from", "r.json", "--at", "grid.csv", "--format", "json"], more].concat();
    project.dpgp(&all).expect(0).json()
}

/// One release holds for any points and any kernel: what `predict --from` gives at the map is the surface of the file.
#[test]
fn a_release_is_predicted_from() {
    let project = project(ROWS);
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json", "--out", "sums.json"]).expect(0);
    let released = project.json("r.json");
    assert!(released["guarantee"]["text"].as_str().unwrap().contains("one record is replaced"));
    assert!(!project.read("r.json").contains("clipped"), "a count of private targets");
    assert_eq!(released["moments"]["rows"], ROWS);
    let predicted = from(&project, &[]);
    assert_eq!(predicted["guarantee"], released["guarantee"]["text"]);
    let (means, surface) = (numbers(&predicted["predictions"], "private_mean"), numbers(&released["surface"], "mean"));
    assert_eq!((means.len(), surface.len()), (4, 4));
    for ((mean, at_map), x) in means.iter().zip(&surface).zip([0.5, 1.5, 2.5, 3.5]) {
        assert!((mean - at_map).abs() < 1e-6, "{mean} {at_map}");
        assert!((mean - truth(x, 50.0)).abs() < 0.6, "{mean} {}", truth(x, 50.0));
    }
    for kernel in [
        "matern = { smoothness = \"3/2\", variance = 0.3, lengthscales = [1.5, 30.0] }",
        "rational-quadratic = { variance = 0.3, alpha = 1.0, lengthscales = [1.5, 30.0] }",
    ] {
        let other = numbers(&from(&project, &["--kernel", kernel])["predictions"], "private_mean");
        let apart = other.iter().zip(&means).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(apart > 1e-6 && apart < 1.0, "{kernel}: {apart}");
    }
    let out = ["predict", "--from", "r.json", "--at", "grid.csv", "--out", "p.csv"];
    let said = project.dpgp(&out).expect(0).out;
    assert!(said.contains("nothing more was released") && said.contains("4 points"), "{said}");
    assert_eq!(project.read("p.csv").lines().count(), 5);
    assert!(project.dpgp(&out).expect(2).err.contains("p.csv"), "never over a file that is there");
}

/// The line with cells of these epsilons.
fn line_with(epsilons: &str) -> String {
    format!("{}[grid]\n\"privacy.epsilon\" = {epsilons}\n", line())
}

/// A cell without privacy is there to compare with: the release is that of the other one. Of two with privacy one must be named.
#[test]
fn the_only_private_cell_is_released() {
    const RELEASE: [&str; 6] = ["stats", "s.toml", "rows.csv", "--release", "r.json", "--no-ledger"];
    let project = project(300);
    project.write("s.toml", &line_with("[1.0, inf]"));
    project.dpgp(&RELEASE).expect(0);
    assert!(project.json("r.json")["guarantee"]["text"].as_str().unwrap().starts_with("(1.0, 1e-6)-DP"));
    project.remove("r.json");
    project.write("s.toml", &line_with("[0.5, 2.0, inf]"));
    let said = project.dpgp(&RELEASE).expect(2).err;
    assert!(said.contains("[0.5, 2.0]") && said.contains("--epsilon"), "{said}");
    project.write("s.toml", &line_with("[inf]"));
    project.dpgp(&RELEASE).expect(2);
    assert!(!project.path("r.json").exists());
}

/// The whole way of a user: a prediction of their own rows, charged to a ledger.
#[test]
fn rows_are_predicted_from() {
    let project = project(3000);
    let run = project.dpgp(&["predict", "s.toml", "--at", "grid.csv", "--format", "json"]).expect(0).json();
    let about = run["certificate"]["columns"]["noise_sd"].as_str().unwrap();
    assert!(about.contains("noisy sums"), "{about}");
    let rows = run["predictions"].as_array().unwrap();
    for (row, x) in rows.iter().zip([0.5, 1.5, 2.5, 3.5]) {
        let [mean, gp, noise] = ["private_mean", "gp_sd", "noise_sd"].map(|name| row[name].as_f64().unwrap());
        assert!(gp > 0.0 && noise > 0.0 && gp.hypot(noise) < 2.5, "{row}");
        assert!((mean - truth(x, 50.0)).abs() < 5.0 * gp.hypot(noise), "{row}");
    }
    let ledger = project.dpgp(&["ledger", "show", "s.toml"]).expect(0).out;
    assert!(ledger.contains("1e-6") || ledger.contains("0.000001"), "{ledger}");
}

#[test]
fn a_task_measures_the_surface() {
    let project = project(3000);
    project.write("s.toml", &format!("{}[grid]\n\"privacy.epsilon\" = [0.5, 8.0, inf]\n", line()));
    let report = Report(project.dpgp(&["run", "s.toml", "--format", "json"]).expect(0).json());
    assert!(report.at("0.5", "rmse") >= report.at("8", "rmse") && report.at("8", "rmse") >= report.at("inf", "rmse"));
    assert!(report.at("0.5", "difference") > report.at("8", "difference") && report.at("inf", "difference") == 0.0);
    assert!(report.at("0.5", "noise-sd") > report.at("8", "noise-sd"));
    assert_eq!((report.at("inf", "noise-sd"), report.at("inf", "rows")), (0.0, 3000.0));
    assert!(report.at("inf", "rmse") < 1.3);
    report.assert_beside_a_constant(columns(3000)[2].iter().copied(), [0.0, 10.0]);
}

/// The holder of the rows is told how many lie outside of the box, also that none lies in it; nobody else is.
#[test]
fn rows_outside_the_box_are_counted_for_their_holder() {
    let project = project(300);
    let out = columns(300)[0].iter().filter(|x| !(0.0..=4.0).contains(*x)).count();
    assert!(out > 2);
    let places = "outside the public box privacy.mechanism.moments.domain and were moved to the nearest point in it";
    let nowhere = SPEC.replace("[[0.0, 4.0]", "[[100.0, 104.0]");
    for (spec, says) in
        [(SPEC, format!("; {out} of 300 rows lie {places}")), (&nowhere, format!("; all rows lie {places}"))]
    {
        project.write("s.toml", spec);
        let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
        let words: Vec<&str> = run.out.split_whitespace().collect();
        assert!(words.join(" ").contains(&says), "{}", run.out);
        let manifest = project.json("results/s/manifest.json");
        let counted = manifest["clipped_targets_not_private"][0]["outside"].as_u64();
        assert_eq!(counted, Some(if spec == SPEC { out as u64 } else { 300 }));
        project.write("there.csv", if spec == SPEC { "x,z\n2,50\n" } else { "x,z\n102,50\n" });
        let predict = ["predict", "s.toml", "--at", "there.csv", "--no-ledger"];
        assert!(!project.dpgp(&predict).expect(0).err.contains(&says));
        let held = project.dpgp(&[&predict[..], &["--for-holder"]].concat()).expect(0).err;
        assert!(held.contains(&says), "{held}");
    }
}

/// What the waves of a release do not reach, no interval knows: certificate, file and picture say so.
#[test]
fn intervals_say_what_they_do_not_know() {
    const SAYS: &str = "The release cannot show whether the function varies faster than these sums can resolve";
    let project = project(300);
    project
        .dpgp(&["predict", "s.toml", "--grid", "auto", "--out", "p.csv", "--map", "p.html", "--no-ledger"])
        .expect(0);
    assert!(project.json("p.csv.certificate.json")["intervals"].as_str().unwrap().contains(SAYS));
    assert!(project.read("p.html").contains(SAYS));
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json", "--no-ledger"]).expect(0);
    assert!(project.json("r.json")["intervals"].as_str().unwrap().contains(SAYS));
    project.dpgp(&["predict", "--from", "r.json", "--grid", "auto", "--out", "f.csv", "--map", "f.html"]).expect(0);
    assert!(project.read("f.html").contains(SAYS));
}

/// Points and box are public: whoever predicts beyond the box is told, by a release and by predictions from one.
#[test]
fn points_outside_the_box_are_warned_of() {
    let project = project(300);
    project.write("far.csv", "x,z\n0.5,50\n4.5,50\n3.5,-1\n");
    let says = "2 of 3 points lie outside the public box privacy.mechanism.moments.domain";
    let predict = ["predict", "s.toml", "--no-ledger", "--at"];
    let far = project.dpgp(&[&predict[..], &["far.csv", "--out", "far-p.csv"]].concat()).expect(0);
    assert!(far.out.contains(&format!("warning: {says}")), "{}", far.out);
    assert!(project.json("far-p.csv.certificate.json")["warnings"][0].as_str().unwrap().starts_with(says));
    assert!(!project.dpgp(&[&predict[..], &["grid.csv"]].concat()).expect(0).err.contains("public box"));
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json", "--no-ledger"]).expect(0);
    let from = |points: &str| project.dpgp(&["predict", "--from", "r.json", "--at", points]).expect(0).err;
    assert!(from("far.csv").contains(says) && !from("grid.csv").contains("public box"));
    // Where no point lies in the box, something was mistaken; nothing is charged.
    project.write("swapped.csv", "x,z\n50,0.5\n50,1.5\n");
    for verb in [&["predict", "s.toml"][..], &["predict", "--from", "r.json"]] {
        let run = project.dpgp(&[verb, &["--at", "swapped.csv"]].concat()).expect(2);
        assert!(run.err.contains("no prediction point lies in the public box") && run.out.is_empty(), "{}", run.err);
    }
    assert!(project.dpgp(&["ledger", "show"]).expect(0).out.contains("no ledger"));
}

fn preview(project: &Project) -> Value {
    let run = project.dpgp(&["predict", "s.toml", "--at", "grid.csv", "--preview", "--format", "json"]);
    run.expect(0).json()["preview"].clone()
}

/// What is expected follows from the number of rows alone, lies between the prior and the model, and falls with epsilon.
#[test]
fn a_preview_is_of_the_whole_box() {
    let project = project(500);
    project.write("s.toml", &line());
    let said = preview(&project);
    let errors = numbers(&said["expected"], "error");
    let [prior, model] = ["prior", "without_privacy"].map(|name| said[name].as_f64().unwrap());
    assert!(errors.windows(2).all(|pair| pair[0] > pair[1]), "{errors:?}");
    assert!(errors[0] < prior && *errors.last().unwrap() > model, "{prior} {errors:?} {model}");
    // A mean of 500 targets between 0 and 10 moves by 20 / 500 units at most, and its noise falls with epsilon.
    let constants = numbers(&said["expected"], "constant");
    assert!(constants.windows(2).all(|pair| pair[0] > pair[1]), "{constants:?}");
    let run = project.dpgp(&["predict", "s.toml", "--at", "grid.csv", "--preview"]).expect(0);
    let warned = run.out.contains("no better than a private mean of all targets at epsilon = 0.1");
    assert_eq!(warned, errors[0] >= constants[0], "{}", run.out);
    let mut other = columns(500);
    other.iter_mut().flatten().for_each(|number| *number *= -0.5);
    write_rows(&project, "rows.csv", &["x", "z", "y"], &other);
    assert_eq!(preview(&project), said, "no record is among it");
    assert!(run.out.contains("other weights of the moments would lower these errors"), "{}", run.out);
    for row in said["expected"].as_array().unwrap() {
        let [least, error] = ["least", "error"].map(|key| row[key].as_f64().unwrap());
        assert!(least > 0.5 * error && least <= error, "{row}");
    }
}

#[test]
fn an_attack_finds_nothing() {
    let project = project(80);
    let line = line();
    let filter = "target = \"y\", filter = [{ column = \"z\", is = \"<\", value = 60 }]";
    let filtered = line.replace("target = \"y\"", filter).replace("target_bound", "rows = 50, target_bound");
    for text in [line, filtered] {
        project.write("s.toml", &text);
        let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
        assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
        assert!(run.out.contains("of 2000 releases, "), "{}", run.out);
    }
}

#[test]
fn wrong_questions_are_refused() {
    let project = project(100);
    let stats = |text: String, code: i32| {
        project.write("bad.toml", &text);
        project.dpgp(&["stats", "bad.toml", "rows.csv", "--out", "bad.json"]).expect(code).err
    };
    let filtered =
        SPEC.replace("target = \"y\"", "target = \"y\", filter = [{ column = \"z\", is = \"<\", value = 60 }]");
    assert!(stats(filtered, 2).contains("rows"));
    let linear = SPEC.replace("eq-ard = { variance = 0.3, lengthscales = [1.5, 30.0] }", "linear = { variance = 1.0 }");
    assert!(stats(linear, 2).contains("stationary"));
    let inducing =
        SPEC.replace("task.surface = {", "task.surface = { inducing = [{ from = 0.0, to = 4.0, points = 3 }],");
    assert!(stats(inducing, 2).contains("inducing"));
    assert!(!project.path("bad.json").exists());
    project.write("not.json", "{\"sums\": 1}");
    let from = |file: &str, more: &[&str], code: i32| {
        project.dpgp(&[&["predict", "--from", file, "--at", "grid.csv"], more].concat()).expect(code).err
    };
    assert!(from("not.json", &[], 2).contains("is not a release of moments"));
    from("none.json", &[], 5);
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json", "--no-ledger"]).expect(0);
    assert!(from("r.json", &["--kernel", "linear = { variance = 1.0 }"], 2).contains("stationary"));
    from("r.json", &["--kernel", "nothing"], 2);
    let broken = project.read("r.json").replacen("\"squares_sd\": ", "\"squares_sd\": -", 1);
    project.write("broken.json", &broken);
    assert!(from("broken.json", &[], 2).contains("without noise"));
}

/// A centre of 2 and a bound of 5 reach 7, not the 10 that the bounds promise: said before anything is charged.
#[test]
fn a_clip_inside_the_bounds_is_told_first() {
    let project = project(500);
    let warning = "warning: targets are clipped to 0.0 to 7.0, although their bounds are 0.0 to 10.0";
    let preview = ["predict", "s.toml", "--at", "grid.csv", "--preview", "--quiet"];
    assert_eq!(project.dpgp(&preview).expect(0).err, "");
    project.write("s.toml", &SPEC.replace("high = 10.0,", "high = 10.0, centre = 2.0,"));
    let release = ["sum", "s.toml", "rows.csv", "--release", "r.json", "--no-ledger", "--quiet"];
    for verb in [&preview[..], &release] {
        let told = project.dpgp(verb).expect(0).err;
        assert!(told.starts_with(warning), "{told}");
    }
    project.write(
        "s.toml",
        &SPEC.replace("high = 10.0,", "high = 10.0, centre = 2.0,").replace("t_bound = 1.0", "t_bound = 1.6"),
    );
    assert_eq!(project.dpgp(&preview).expect(0).err, "");
}
