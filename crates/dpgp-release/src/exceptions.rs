//! Refusals and warnings about a guarantee: exceptions, a large delta or epsilon, and a noise design that is not
//! optimal.
//!
//! Also refuses settings whose arithmetic could overflow, before a row is read, and decides whether the number of rows
//! is public.

use serde::Serialize;
use serde_json::Value;

use super::ReleaseError;
use dpgp_accounting::{Certificate, GuaranteeCaveat};
use dpgp_mechanisms::PrivacySetting;
use dpgp_number::text::format_exact;
use dpgp_spec::setting::PersonRowChoiceBasis;
use dpgp_task::CellSetting;

/// Above this epsilon hardly anything is hidden: odds of one in 22,000 may become even.
const WEAK: f64 = 10.0;

/// Refuses a release whose guarantee has exceptions, or whose delta allows some rows to be published unchanged: one in
/// `1 / delta`. Both verbs of release call this before the charge.
///
/// Obligation: a refusal depends on public data alone. If the number of rows is private, no delta is refused. A large
/// one gets a warning with the release ([`large_delta_warning`]).
///
/// # Errors
/// [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`]; none if exceptions are `allowed`.
pub(super) fn refuse_exceptions_or_large_delta(
    certificate: &Certificate,
    public_rows: Option<u64>,
    allowed: bool,
) -> Result<(), ReleaseError> {
    if allowed {
        return Ok(());
    }
    if !certificate.caveats.is_empty() {
        let list = certificate.caveats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(ReleaseError::Caveats(list));
    }
    certificate.delta().zip(public_rows).map_or(Ok(()), |(delta, rows)| refuse_large_delta(delta, rows))
}

/// Refuses a spec that filters by its private target while inputs are public. This comes before a row is read, because
/// later refusals would reveal the number of rows that pass.
///
/// # Errors
/// [`ReleaseError::Caveats`]; none if exceptions are `allowed`.
pub fn refuse_private_filter(setting: &CellSetting, allowed: bool) -> Result<(), ReleaseError> {
    let inputs_are_public = setting.privacy.mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs;
    if allowed || !inputs_are_public || !setting.data.selects_by_target() {
        return Ok(());
    }
    Err(ReleaseError::Caveats(GuaranteeCaveat::PrivateFilter.to_string()))
}

/// Refuses a delta that allows some rows to be published unchanged.
///
/// # Errors
/// [`ReleaseError::LargeDelta`].
pub(super) fn refuse_large_delta(delta: f64, rows: u64) -> Result<(), ReleaseError> {
    if is_large_delta(delta, rows) {
        return Err(ReleaseError::LargeDelta(delta));
    }
    Ok(())
}

/// Whether a mechanism that publishes one random row unchanged has at most this delta.
fn is_large_delta(delta: f64, rows: u64) -> bool {
    rows > 0 && delta * rows as f64 >= 1.0
}

/// If the number of rows is private, deltas from here on get a warning: one row in 10,000 could be published.
const LARGE_DELTA: f64 = 1e-4;

/// Warns about a large delta if the number of rows is private and so cannot be compared with it.
pub(super) fn large_delta_warning(certificate: &Certificate) -> Option<String> {
    let delta = certificate.delta().filter(|delta| *delta >= LARGE_DELTA)?;
    Some(format!(
        "delta = {} should be far below one over the number of people: a mechanism that publishes one row in \
         {} unchanged has such a delta",
        format_exact(delta),
        (1.0 / delta).ceil()
    ))
}

/// Warns about a guarantee that hides little.
pub(super) fn large_epsilon_warning(certificate: &Certificate) -> Option<String> {
    let epsilon = certificate.epsilon();
    if epsilon <= WEAK || epsilon.is_infinite() {
        return None;
    }
    let shown = format_exact(epsilon);
    Some(format!(
        "epsilon = {shown} is above {}: the protected data can make any conclusion e^{shown} times as \
         likely, so this release hides hardly anything",
        format_exact(WEAK)
    ))
}

/// Above this certified gap, a noise design gets a warning.
const WIDE_GAP: f64 = 1e-4;

/// Warns about a noise design that is not optimal. Rounding keeps the solver from resolving directions whose singular
/// value is near the machine precision.
pub(super) fn noise_design_warning(certificate: &Certificate) -> Option<String> {
    let gap = certificate.gap.filter(|gap| *gap > WIDE_GAP)?;
    Some(format!(
        "the noise design is only certified to lie within {gap:.1e} of the best one (relative; nats for \
         log-det). The guarantee holds, but the noise may be larger than needed. A larger rank_tolerance, \
         such as 1e-8, omits directions that rounding hides"
    ))
}

/// The largest size of a public number of a release. Its inverse is the smallest. Fifth powers of such numbers, over
/// 2^48 rows, are doubles: `10^250 2^48 < 10^265`.
const MOST: f64 = 1e50;

/// Refuses a number of the model, the bounds, the task or the mechanism that is so large or so small that sums over
/// rows, noise or their results could overflow in doubles.
///
/// Obligation: this depends on settings alone. Draws that are not finite nevertheless are found after the charge.
///
/// # Errors
/// [`ReleaseError::Magnitude`] with the key of the number.
pub(super) fn check_magnitudes(setting: &CellSetting, privacy: &PrivacySetting) -> Result<(), ReleaseError> {
    check_section_magnitudes("model", &setting.model.as_deref())?;
    check_section_magnitudes("normalise", &*setting.normalise)?;
    check_section_magnitudes("task", &*setting.task)?;
    check_section_magnitudes("privacy.epsilon", &privacy.epsilon)?;
    check_section_magnitudes("privacy.change", &privacy.change)?;
    check_section_magnitudes("privacy.mechanism", &privacy.mechanism)
}

fn check_section_magnitudes(key: &str, section: &impl Serialize) -> Result<(), ReleaseError> {
    // A value that is not JSON holds no numbers. Infinite numbers become null in JSON. They are public choices (no
    // effect of an input).
    check_value_magnitudes(key, &serde_json::to_value(section).unwrap_or(Value::Null))
}

fn check_value_magnitudes(key: &str, value: &Value) -> Result<(), ReleaseError> {
    match value {
        Value::Number(number) => match number.as_f64().map(f64::abs) {
            Some(size) if size != 0.0 && !(1.0 / MOST..=MOST).contains(&size) => {
                Err(ReleaseError::Magnitude { key: key.to_owned(), value: number.as_f64().unwrap_or(size) })
            }
            _ => Ok(()),
        },
        Value::Array(values) => values.iter().try_for_each(|value| check_value_magnitudes(key, value)),
        Value::Object(values) => {
            values.iter().try_for_each(|(name, value)| check_value_magnitudes(&format!("{key}.{name}"), value))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Returns the public number of rows to compare delta with, given the number of `rows` used. Returns nothing if it is
/// private.
///
/// Obligation: the number is equal for neighbours. *Proof.* If only the target is private, neighbours have the same
/// inputs, so the same rows pass the filters, except for a filter by the target. If records are replaced and every row
/// counts, both have the same number. The number that a spec states for moments is a setting. In all other cases the
/// result is nothing: added or removed records, filters, missing cells and persons change the number.
pub(super) fn public_row_count(setting: &CellSetting, rows: u64) -> Option<u64> {
    let mechanism = setting.privacy.mechanism.mechanism();
    match mechanism.person_row_choice_basis() {
        PersonRowChoiceBasis::Inputs => (!setting.data.selects_by_target()).then_some(rows),
        PersonRowChoiceBasis::Record if mechanism.hides_number_of_rows() => None,
        PersonRowChoiceBasis::Record => {
            mechanism.stated_row_count().or_else(|| setting.data.keeps_all_rows().then_some(rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_of(gap: Option<f64>) -> Option<String> {
        noise_design_warning(&Certificate::none().with_optimality_gap(gap))
    }

    #[test]
    fn a_design_that_stopped_short_is_told() {
        assert_eq!([None, Some(1e-11), Some(1e-4)].map(told_of), [None, None, None]);
        let warning = told_of(Some(2.84e-3)).unwrap();
        assert!(warning.contains("within 2.8e-3") && warning.contains("rank_tolerance"), "{warning}");
    }
}

#[cfg(test)]
mod magnitudes_tests {
    use super::*;
    use dpgp_run::{DataLocations, Project};

    const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 2 }] }
privacy = { epsilon = 1.0, delta = 1e-60, mechanism.moments = { target_bound = 1.25, domain = [[0.0, 4.0]] } }
"#;

    fn refused(spec: &str) -> Option<String> {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("moments", spec).unwrap();
        let setting = experiment.cells[0].setting();
        match check_magnitudes(setting, &setting.privacy) {
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

#[cfg(test)]
mod public_rows_tests {
    use super::*;
    use dpgp_run::{DataLocations, Project};

    const SPEC: &str = r#"experiment.title = "rows"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
TASK
privacy = { epsilon = 1.0, delta = 1e-6, MECHANISM }
"#;
    const MAP: &str = "task.surface.map = [{ from = 0.0, to = 4.0, points = 2 }]";
    const MOMENTS: &str = "mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0]] }";
    const DENSITY: &str = "task.density = { bins = [{ from = 0.0, to = 2.0, bins = 2 }], test = [{ from = 0.0, to = 2.0, bins = 2 }], draws = 1, estimate.histogram = {} }";

    fn public(spec: &str) -> Option<u64> {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("rows", spec).unwrap();
        public_row_count(experiment.cells[0].setting(), 7)
    }

    fn spec(task: &str, mechanism: &str) -> String {
        SPEC.replace("TASK", task).replace("MECHANISM", mechanism)
    }

    #[test]
    fn a_private_number_of_rows_is_none() {
        let moments = spec(MAP, MOMENTS);
        assert_eq!(public(&moments), Some(7));
        let given = moments.replace("target_bound", "rows = 100, target_bound");
        for changed in [
            "target = \"y\", filter = [{ column = \"x\", is = \">\", value = 1.0 }]",
            "target = \"y\", missing = \"drop\"",
            "target = \"y\", person = \"p\", rows_per_person = 2",
        ] {
            let filtered = given.replace("target = \"y\"", changed);
            assert_eq!(public(&filtered), Some(100), "the number that the spec gives");
        }
        for (relation, rows) in [("replace-one", Some(7)), ("add-remove", None)] {
            let histogram = spec(DENSITY, &format!("mechanism.histogram = {{ relation = \"{relation}\" }}"));
            assert_eq!(public(&histogram), rows, "{relation}");
            let filtered = histogram
                .replace("target = \"y\"", "target = \"y\", filter = [{ column = \"x\", is = \">\", value = 1.0 }]");
            assert_eq!(public(&filtered), None, "{relation}");
        }
        // Inputs and filters are public.
        let cloaking = spec(
            "task.prediction.grid = [{ from = 0.0, to = 4.0, points = 2 }]",
            "change = 10.0, mechanism.cloaking.objective = \"risk\"",
        );
        let filtered = cloaking
            .replace("target = \"y\"", "target = \"y\", filter = [{ column = \"x\", is = \">\", value = 1.0 }]");
        assert_eq!(public(&filtered), Some(7));
    }
}
