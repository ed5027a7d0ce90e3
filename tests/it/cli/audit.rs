//! Specs whose claim says less than it seems to: none of them `holds`.

use crate::support::cli::Project;

const SPEC: &str = r#"experiment.title = "energy by temperature"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "kwh", filter = [] }
normalise.bounds = { low = 0.0, high = 40.0 }
model = { noise_variance = 9.0, kernel.eq = { variance = 100.0, lengthscale = 8.0 } }
task.regression = { split.shuffled = 4, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 40.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

/// Days with an energy use that falls with the temperature, and the same in other units.
fn energy() -> String {
    let row = |day: u32| {
        let (temperature, kwh) = (f64::from(day * 37 % 100) / 2.5, 5.0 + f64::from(day * 53 % 67) / 2.5);
        format!("{temperature},{kwh},{}\n", 3.6 * kwh)
    };
    format!("temperature,kwh,megajoules\n{}", (0..60).map(row).collect::<String>())
}

/// The verdict and the reasons of an audit.
fn audited(spec: &str) -> (String, String) {
    let project = Project::empty();
    project.write("energy.csv", &energy());
    project.write("energy.toml", spec);
    let run = project.dpgp(&["audit", "energy.toml", "--quiet", "--format", "json"]).expect(0);
    let cell = run.json()[0]["cells"][0].clone();
    (cell["verdict"].as_str().unwrap().to_owned(), cell["reasons"].to_string())
}

#[test]
fn a_sound_spec_holds() {
    assert_eq!(audited(SPEC), ("holds".to_owned(), "[]".to_owned()));
}

#[test]
fn specs_that_protect_less_than_they_say_do_not_hold() {
    let kwh: Vec<f64> = (0..60).map(|day| 5.0 + f64::from(day * 53 % 67) / 2.5).collect();
    let extremes = kwh.iter().fold([f64::MAX, f64::MIN], |[low, high], y| [low.min(*y), high.max(*y)]);
    let extremes = format!("{{ low = {:?}, high = {:?} }}", extremes[0], extremes[1]);
    let copied = "[\"temperature\", \"megajoules\"]";
    let filter = "[{ column = \"megajoules\", is = \"<\", value = 90.0 }]";
    let unbounded = [
        ("normalise.bounds = { low = 0.0, high = 40.0 }", "normalise.constants = { centre = 20.0, scale = 10.0 }"),
        ("change = 40.0", "change = 1e-6"),
    ];
    let filter = format!("filter = {filter}");
    for (replaced, reason) in [
        (&unbounded[..], "are not clipped"),
        (&[("change = 40.0", "change = 1e-6, relation = \"metric\"")], "may differ by up to 40.0 within their bounds"),
        (&[("{ low = 0.0, high = 40.0 }", extremes.as_str())], "the smallest and largest targets"),
        (&[("[\"temperature\"]", copied)], "is a copy of the target"),
        (&[("filter = []", filter.as_str())], "rows are filtered by \\\"megajoules\\\""),
    ] {
        let mut spec = SPEC.to_owned();
        for (from, to) in replaced {
            assert!(spec.contains(from));
            spec = spec.replace(from, to);
        }
        let (verdict, reasons) = audited(&spec);
        assert_eq!(verdict, "caveat", "{replaced:?}: {reasons}");
        assert!(reasons.contains(reason), "{reason:?} is not in {reasons}");
    }
}
