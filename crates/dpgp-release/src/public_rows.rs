//! The number of rows, where everybody may know it.

use dpgp_spec::setting::ChosenBy;
use dpgp_task::Setting;

/// The number of rows that a delta may be compared with, of `rows` that are used; none where it is private.
///
/// Obligation: it is the same for neighbours. *Proof.* Where the target alone is private, neighbours have the same inputs, and so
/// the same rows pass the filters, but for a filter by the target. Where records are replaced and every row counts, both have as many. The number that a spec gives for
/// moments is a setting. All else is none: records that are added or removed, filters, missing cells and persons change the number.
pub(super) fn public_rows(setting: &Setting, rows: u64) -> Option<u64> {
    let mechanism = setting.privacy.mechanism.mechanism();
    match mechanism.chosen_by() {
        ChosenBy::Inputs => (!setting.data.chosen_by_target()).then_some(rows),
        ChosenBy::Record if mechanism.hides_number_of_rows() => None,
        ChosenBy::Record => mechanism.stated_rows().or_else(|| setting.data.keeps_all_rows().then_some(rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_run::{DataPlaces, Project};

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
        let project = Project::at(std::env::temp_dir(), &DataPlaces::default()).unwrap();
        let experiment = project.parse("rows", spec).unwrap();
        public_rows(experiment.cells[0].setting(), 7)
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
            let filtered = histogram.replace(
                "target = \"y\"",
                "target = \"y\", filter = [{ column = \"x\", is = \">\", value = 1.0 }]",
            );
            assert_eq!(public(&filtered), None, "{relation}");
        }
        // Inputs and filters are public.
        let cloaking = spec(
            "task.prediction.grid = [{ from = 0.0, to = 4.0, points = 2 }]",
            "change = 10.0, mechanism.cloaking.objective = \"risk\"",
        );
        let filtered = cloaking.replace(
            "target = \"y\"",
            "target = \"y\", filter = [{ column = \"x\", is = \">\", value = 1.0 }]",
        );
        assert_eq!(public(&filtered), Some(7));
    }
}
