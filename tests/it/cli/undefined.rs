//! Metrics that have no value, and jitter that changes one.

use crate::support::cli::Project;

const SPEC: &str = r#"experiment.title = "a constant"
data = { source.csv = { path = "rows.csv" }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 1.0, kernel.eq = { variance = 25.0, lengthscale = 2.0 } }
task.regression = { split.contiguous = 5, draws = 0 }
privacy = { epsilon = inf, delta = 1e-5, change = 10.0, mechanism.cloaking.objective = "risk" }
[[claim]]
text = "better than a constant"
metric = "r2"
is = "above"
value = 0.0
"#;

/// A project with a spec and targets at 0, 1, 2 and so on.
fn project(spec: &str, targets: &[f64]) -> Project {
    let project = Project::empty();
    let rows = targets.iter().enumerate().map(|(x, y)| format!("{x},{y:?}\n"));
    project.write("rows.csv", &format!("x,y\n{}", rows.collect::<String>()));
    project.write("s.toml", spec);
    project
}

/// The line of a metric in table.csv of the only experiment.
fn line(project: &Project, metric: &str) -> String {
    let table = project.read("results/s/table.csv");
    table.lines().find(|line| line.contains(&format!(",{metric},"))).unwrap().to_owned()
}

/// Targets that are all one number, exactly so or but for the rounding of their mean; and a fold whose only target is the mean of the
/// others. The error is there in each case, and the claim is undecided.
#[test]
fn r2_of_targets_that_do_not_vary_is_empty() {
    let middle: Vec<f64> = (0..21).map(|i| 3.0 + 0.1 * f64::from(i)).collect();
    let alone = SPEC.replace("split.contiguous = 5", "split.shuffled = 21");
    for (spec, targets) in [(SPEC, vec![7.0; 20]), (SPEC, vec![0.1; 35]), (&alone, middle)] {
        let project = project(spec, &targets);
        let run = project.dpgp(&["run", "s.toml", "--quiet", "--rows"]).expect(0);
        assert!(run.out.contains("r2 is undefined"), "{}", run.out);
        assert!(run.out.contains("undecided, ours: better than a constant"), "{}", run.out);
        assert!(line(&project, "r2").contains(",r2,,,"), "{}", line(&project, "r2"));
        let rmse = line(&project, "expected-rmse");
        assert!(rmse.split(',').any(|cell| cell.parse::<f64>().is_ok_and(|rmse| rmse > 0.0)), "{rmse}");
        let table = project.read("results/s/table.md");
        assert!(table.contains("| r2 | - |") && table.contains("\n-: r2 is undefined"), "{table}");
        // What is stored is read again.
        let again = project.dpgp(&["run", "s.toml", "--quiet", "--format", "json"]).expect(0).json();
        let of = |metric: &str| {
            again["rows"].as_array().unwrap().iter().find(|row| row["metric"] == metric).cloned().unwrap()
        };
        assert!(of("r2")["value"].is_null() && of("r2")["undefined"].is_string(), "{again:#}");
        assert!(of("expected-rmse")["value"].is_number() && of("expected-rmse")["undefined"].is_null());
        assert_eq!((&again["computed_blocks"], project.read("results/s/table.md")), (&0.into(), table));
    }
}

/// Targets that vary a little have their r2.
#[test]
fn r2_of_targets_that_vary_is_a_number() {
    let targets: Vec<f64> = (0..20).map(|i| 7.0 + 1e-6 * f64::from(i % 3)).collect();
    let project = project(SPEC, &targets);
    let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    assert!(!run.out.contains("undefined") && !line(&project, "r2").contains(",r2,,"), "{}", run.out);
}

/// Inputs so near that their covariance is singular to rounding: with hardly any noise the run fails; with some more the table says how
/// much jitter matters, and with enough nothing.
#[test]
fn jitter_that_matters_is_said_or_refused() {
    let targets: Vec<f64> = (0..400).map(|i| f64::from(i % 7)).collect();
    let spec =
        SPEC.replace("lengthscale = 2.0", "lengthscale = 600.0").replace("split.contiguous = 5", "split.tail = 5");
    let with =
        |noise: &str| project(&spec.replace("noise_variance = 1.0", &format!("noise_variance = {noise}")), &targets);
    let refused = with("1e-16").dpgp(&["run", "s.toml", "--quiet"]).expect(4);
    assert!(refused.err.contains("more than the noise variance 1e-16"), "{}", refused.err);
    let mut seen = 0;
    for noise in ["2.6e-13", "2.8e-13", "3e-13"] {
        let project = with(noise);
        let run = project.dpgp(&["run", "s.toml", "--quiet", "--rows"]);
        if run.code == 0 && run.out.contains("Jitter of up to") {
            assert!(project.read("results/s/table.md").contains("Jitter of up to"));
            seen += 1;
        }
    }
    assert!(seen > 0, "no noise between much and little jitter");
    let quiet = with("1e-3");
    quiet.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    assert!(!quiet.read("results/s/table.md").contains("itter"));
}
