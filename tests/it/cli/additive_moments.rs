//! Fourier moments of more than four inputs, by an additive kernel.

use crate::support::cli::Project;
use crate::support::report::Report;
use crate::support::rows::write_rows;
use crate::support::sums::assert_same_sums;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "y"];

const SPEC: &str = r#"experiment.title = "six inputs"
data = { source.csv.path = "rows.csv", inputs = ["a", "b", "c", "d", "e", "f"], target = "y" }
normalise.bounds = { low = -2.0, high = 2.0, scale = 2.0 }
task.surface = { map = [{ from = 0.1, to = 0.9, points = 5 }], at = [0.5, 0.5, 0.5, 0.5, 0.5] }

[model]
noise_variance = 0.02
kernel.additive = { lengthscales = [0.5], variances = [0.1, 0.1, 0.02, 0.02, 0.02, 0.02], pairs = [{ inputs = [1, 2], variance = 0.1 }] }

[privacy]
epsilon = 1.0
delta = 1e-6
mechanism.moments = { target_bound = 1.0, domain = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]] }
"#;

/// A function of the first input, and one of the next two together.
fn truth(x: &[f64]) -> f64 {
    (3.0 * x[0]).sin() - 0.5 + 1.5 * (x[1] - 0.5) * (x[2] - 0.5)
}

/// The inputs of a row, which repeat after 1009 rows.
fn point(row: usize) -> Vec<f64> {
    (0..6).map(|input| ((row * (7919 + 101 * input * input) + input) % 1009) as f64 / 1009.0).collect()
}

fn project(rows: usize) -> Project {
    let project = Project::empty();
    project.write("s.toml", SPEC);
    let mut columns = vec![Vec::new(); 7];
    for row in 0..rows {
        let x = point(row);
        let noise = ((row * 31_337) % 1013) as f64 / 2000.0 - 0.25;
        let y = truth(&x) + noise;
        columns.iter_mut().zip(x.into_iter().chain([y])).for_each(|(column, value)| column.push(value));
    }
    for name in ["rows.csv", "rows.parquet"] {
        write_rows(&project, name, &NAMES, &columns);
    }
    project
}

#[test]
fn shards_threads_and_forms_change_no_bit() {
    let project = project(40_000);
    assert_same_sums(&project, "rows");
    let sums = &project.json("one.json")["part"]["sums"];
    assert_eq!((&sums["rows"], &sums["inputs"], &sums["side"]), (&40_000.into(), &6.into(), &1024.into()));
    // Rows of one cell are counted once: the inputs repeat after 1009 rows.
    assert_eq!(sums["cells"].as_array().unwrap().len(), 1009);
    assert!(sums["counts"].as_array().unwrap().iter().all(|count| count.as_u64().unwrap() >= 39));
}

/// The way of a user: a release of rows, the surface in it, and predictions from it at other points.
#[test]
fn a_release_is_predicted_from() {
    let project = project(20_000);
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json"]).expect(0);
    let released = project.json("r.json");
    assert!(released["guarantee"]["text"].as_str().unwrap().contains("one record is replaced"));
    for point in released["surface"].as_array().unwrap() {
        let [mean, sd] = ["mean", "sd"].map(|name| point[name].as_f64().unwrap());
        let x: Vec<f64> = point["at"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert!(sd > 0.0 && sd < 0.3 && (mean - truth(&x)).abs() < 4.0 * sd.max(0.05), "{point}");
    }
    project.write("grid.csv", "a,b,c,d,e,f\n0.3,0.9,0.9,0.2,0.5,0.5\n0.3,0.9,0.1,0.2,0.5,0.5\n");
    let from = |more: &[&str]| project.dpgp(&[&["predict", "--from", "r.json", "--at", "grid.csv"], more].concat());
    let predicted = from(&["--format", "json"]).expect(0).json();
    let means = [0, 1].map(|row| predicted["predictions"][row]["private_mean"].as_f64().unwrap());
    // The pair tells the corners of its plane apart.
    assert!((means[0] - means[1] - 0.48).abs() < 0.2, "{predicted}");
    let whole = "eq = { variance = 0.3, lengthscale = 0.5 }";
    assert!(from(&["--kernel", whole]).expect(2).err.contains("too many inputs"));
    let others = "additive = { lengthscales = [0.7], variances = [0.1, 0.1, 0.1, 0.0, 0.0, 0.0] }";
    from(&["--kernel", others]).expect(0);
    assert!(
        from(&["--kernel", &others.replace("0.0, 0.0, 0.0", "0.0, 0.0")])
            .expect(2)
            .err
            .contains("wrong number of inputs")
    );
    // Without the digest, an edit goes unnoticed, and a warning says so.
    let mut old = released;
    old.as_object_mut().unwrap().remove("content_sha256");
    project.write("old.json", &old.to_string());
    let run = project.dpgp(&["predict", "--from", "old.json", "--at", "grid.csv"]).expect(0);
    let warning = "warning: old.json has no content_sha256, so an edit of it can go unnoticed";
    assert!(run.err.contains(warning), "{}", run.err);
    assert!(!from(&[]).expect(0).err.contains("content_sha256"));
}

#[test]
fn the_error_of_the_surface_is_measured() {
    let project = project(900);
    project.write("s.toml", &format!("{SPEC}[grid]\n\"privacy.epsilon\" = [0.5, 8.0, inf]\n"));
    let report = Report(project.dpgp(&["run", "s.toml", "--format", "json"]).expect(0).json());
    assert!(report.at("0.5", "rmse") > report.at("8", "rmse") && report.at("8", "rmse") >= report.at("inf", "rmse"));
    assert!(report.at("0.5", "noise-sd") > report.at("8", "noise-sd") && report.at("inf", "difference") == 0.0);
    assert!(report.at("inf", "rmse") < 0.2, "the noise alone is 0.145: {}", report.at("inf", "rmse"));
}

#[test]
fn other_kernels_and_more_inputs_are_refused() {
    let project = project(20);
    let refused = |text: String| {
        project.write("bad.toml", &text);
        project.dpgp(&["run", "bad.toml"]).expect(2).err
    };
    let additive = SPEC.lines().find(|line| line.starts_with("kernel")).unwrap();
    let eq = "kernel.eq = { variance = 0.3, lengthscale = 0.5 }";
    assert!(refused(SPEC.replace(additive, eq)).contains("more than four inputs need the `additive` kernel"));
    let pairs = vec!["{ inputs = [1, 2], variance = 0.1 }"; 17].join(", ");
    assert!(refused(SPEC.replace("{ inputs = [1, 2], variance = 0.1 }", &pairs)).contains("at most 16 pairs"));
    let twice = refused(SPEC.replace("inputs = [1, 2]", "inputs = [2, 2]"));
    assert!(twice.contains("pairs.0.inputs") && twice.contains("two different input numbers"), "{twice}");
    let short = refused(SPEC.replace("[0.1, 0.1, 0.02,", "[0.1, 0.02,"));
    assert!(short.contains("variances"), "{short}");
    let many: Vec<String> = (0..13).map(|input| format!("\"x{input}\"")).collect();
    let many = SPEC
        .replace("\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"", &many.join(", "))
        .replace("at = [", &format!("at = [{}", "0.5, ".repeat(7)))
        .replace("variances = [", &format!("variances = [{}", "0.1, ".repeat(7)));
    assert!(refused(many).contains("12 inputs"));
}

#[test]
fn an_attack_finds_nothing() {
    let project = project(60);
    let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
}
