//! `dpgp account`: guarantees of several releases, and of many steps.

use crate::support::cli::Project;

const EPSILON: f64 = 3.307_600_722_612_648;
const DELTA: f64 = 0.038_032_439_297_332_146;

fn account(arguments: &[&str]) -> serde_json::Value {
    Project::empty().dpgp(&[&["account", "--format", "json"], arguments].concat()).expect(0).json()
}

/// Bisection on `delta(epsilon) = Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2)` in 40 digits.
#[test]
fn releases_compose_by_the_root_of_squares() {
    let found = account(&["--delta", "1e-6", "--mu", "0.3", "--mu", "0.4", "--mu", "0.5"]);
    assert!((found["epsilon"].as_f64().unwrap() / EPSILON - 1.0).abs() < 1e-11, "{found}");
    assert!((found["mu"].as_f64().unwrap() - 0.5f64.sqrt()).abs() < 1e-15, "{found}");
    let found = account(&["--epsilon", "1", "--mu", "0.7"]);
    assert!((found["delta"].as_f64().unwrap() / DELTA - 1.0).abs() < 1e-12, "{found}");
}

/// The epsilon of dp-accounting for these steps is 1.828; ten full steps are one with a multiplier divided by the root of ten.
#[test]
fn steps_have_bounds_on_both_sides() {
    let steps = ["--noise-multiplier", "1", "--sampling-rate", "0.01", "--steps", "1000", "--relation", "add-remove"];
    let found = account(&[&["--delta", "1e-5"][..], &steps].concat());
    let [low, high] = ["at_least", "epsilon"].map(|name| found[name].as_f64().unwrap());
    assert!(1.827 < low && low < high && high < 1.829, "{found}");
    let whole = account(&["--delta", "1e-5", "--noise-multiplier", "2", "--steps", "4", "--relation", "add-remove"]);
    let one = account(&["--delta", "1e-5", "--mu", "1"]);
    assert!(
        (whole["epsilon"].as_f64().unwrap() / one["epsilon"].as_f64().unwrap() - 1.0).abs() < 1e-9,
        "{whole} {one}"
    );
    assert!(whole["at_least"].is_null() && one["at_least"].is_null());
    let steps = ["--noise-multiplier", "2", "--sampling-rate", "1", "--steps", "4", "--relation", "add-remove"];
    assert_eq!(account(&[&["--delta", "1e-5"][..], &steps].concat())["epsilon"], whole["epsilon"]);
    assert!(account(&["--delta", "1e-5", "--mu", "1e200"])["epsilon"].is_null());
}

/// Nothing is guessed: neighbours must be named, and exactly one of epsilon and delta.
#[test]
fn incomplete_questions_are_refused() {
    let project = Project::empty();
    for (arguments, says) in [
        (&["--delta", "1e-5"][..], "--mu <MU>|--noise-multiplier <S>"),
        (&["--mu", "1"], "--delta <D>|--epsilon <E>"),
        (&["--delta", "1e-5", "--noise-multiplier", "1"], "--relation"),
        (&["--delta", "1e-5", "--noise-multiplier", "1", "--relation", "add-remove"], "--steps"),
        (&["--delta", "1e-5", "--epsilon", "1", "--mu", "1"], "cannot be used with"),
        (&["--delta", "1e-5", "--mu", "nan"], "must be greater than 0 and finite, found NaN"),
        (&["--delta", "1e-5", "--mu", "-1"], "must be greater than 0 and finite, found -1"),
        (&["--delta", "0", "--mu", "1"], "and less than 1, found 0"),
        (&["--delta", "1e-5", "--mu", "1", "--steps", "3"], "--noise-multiplier"),
    ] {
        let run = project.dpgp(&[&["account"], arguments].concat()).expect(2);
        assert!(run.err.contains(says), "{says}: {}", run.err);
    }
}
