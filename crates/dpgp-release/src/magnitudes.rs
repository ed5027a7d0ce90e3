//! Settings whose arithmetic could overflow, which are refused before a row is read.

use serde::Serialize;
use serde_json::Value;

use super::ReleaseError;
use dpgp_mechanisms::PrivacySetting;
use dpgp_task::Setting;

/// The largest size of a public number of a release; its inverse is the smallest. Fifth powers of such numbers, over 2^48 rows, are
/// doubles: `10^250 2^48 < 10^265`.
const MOST: f64 = 1e50;

/// Fails if a number of the model, the bounds, the task or the mechanism is so large or so small that sums over rows, noise or what
/// follows from them could overflow in doubles.
///
/// Obligation: it looks at settings alone. Numbers that are drawn and not finite all the same are found after the charge.
///
/// # Errors
/// [`ReleaseError::Magnitude`] with the key of the number.
pub(super) fn ensure_moderate(setting: &Setting, privacy: &PrivacySetting) -> Result<(), ReleaseError> {
    named("model", &setting.model.as_deref())?;
    named("normalise", &*setting.normalise)?;
    named("task", &*setting.task)?;
    named("privacy.epsilon", &privacy.epsilon)?;
    named("privacy.change", &privacy.change)?;
    named("privacy.mechanism", &privacy.mechanism)
}

fn named(key: &str, section: &impl Serialize) -> Result<(), ReleaseError> {
    // What is no JSON holds no numbers; infinite ones are null there, and are public choices (no effect of an input).
    checked(key, &serde_json::to_value(section).unwrap_or(Value::Null))
}

fn checked(key: &str, value: &Value) -> Result<(), ReleaseError> {
    match value {
        Value::Number(number) => match number.as_f64().map(f64::abs) {
            Some(size) if size != 0.0 && !(1.0 / MOST..=MOST).contains(&size) => {
                Err(ReleaseError::Magnitude { key: key.to_owned(), value: number.as_f64().unwrap_or(size) })
            }
            _ => Ok(()),
        },
        Value::Array(values) => values.iter().try_for_each(|value| checked(key, value)),
        Value::Object(values) => {
            values.iter().try_for_each(|(name, value)| checked(&format!("{key}.{name}"), value))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_run::{DataPlaces, Project};

    const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 2 }] }
privacy = { epsilon = 1.0, delta = 1e-60, mechanism.moments = { target_bound = 1.25, domain = [[0.0, 4.0]] } }
"#;

    fn refused(spec: &str) -> Option<String> {
        let project = Project::at(std::env::temp_dir(), &DataPlaces::default()).unwrap();
        let experiment = project.parse("moments", spec).unwrap();
        let setting = experiment.cells[0].setting();
        match ensure_moderate(setting, &setting.privacy) {
            Err(ReleaseError::Magnitude { key, .. }) => Some(key),
            Err(other) => panic!("{other}"),
            Ok(()) => None,
        }
    }

    /// Numbers at both ends are let through, and no delta is refused, however small.
    #[test]
    fn numbers_beyond_the_arithmetic_are_named() {
        assert_eq!(refused(SPEC), None);
        for (number, other, key) in [
            ("low = 0.0, high = 10.0, scale = 5.0", "low = -1e50, high = 1.0, scale = 1e50", None),
            (
                "low = 0.0, high = 10.0, scale = 5.0",
                "low = -1.1e50, high = 1.0, scale = 1e50",
                Some("normalise.bounds.low"),
            ),
            (
                "low = 0.0, high = 10.0, scale = 5.0",
                "low = 0.0, high = 1e-51, scale = 1e-50",
                Some("normalise.bounds.high"),
            ),
            (
                "low = 0.0, high = 10.0, scale = 5.0",
                "low = 0.0, high = 1e50, scale = 1.1e50",
                Some("normalise.bounds.scale"),
            ),
            ("noise_variance = 0.05", "noise_variance = 1e-50", None),
            ("noise_variance = 0.05", "noise_variance = 1e155", Some("model.noise_variance")),
            ("variance = 0.3", "variance = 5e-324", Some("model.kernel.eq.variance")),
            ("target_bound = 1.25", "target_bound = 2e60", Some("privacy.mechanism.moments.target_bound")),
            ("[0.0, 4.0]", "[0.0, 1e99]", Some("privacy.mechanism.moments.domain")),
            ("to = 3.5", "to = 1e60", Some("task.surface.map.to")),
        ] {
            assert!(SPEC.contains(number), "{number}");
            assert_eq!(refused(&SPEC.replace(number, other)).as_deref(), key, "{other}");
        }
    }
}
