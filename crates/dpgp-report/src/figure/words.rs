//! The words of a figure for labels, axes and metrics.

use crate::report::Report;
use dpgp_number::text::format_brief;

impl Report<'_> {
    /// An axis or a metric in the words of the figure.
    pub fn display_name<'b>(&'b self, name: &'b str) -> &'b str {
        self.experiment.figure_names.get(name).map_or(name, String::as_str)
    }

    /// A label of an axis in the words of the figure. A number stands alone, and an infinite epsilon is no privacy.
    pub fn display_label(&self, axis: usize, label: &str) -> String {
        if let Some(words) = self.experiment.figure_names.get(label) {
            return words.clone();
        }
        match label.parse::<f64>() {
            Ok(f64::INFINITY) => self.infinity_name(axis).to_owned(),
            Ok(number) => format_brief(number),
            Err(_) => label.to_owned(),
        }
    }

    /// The same, but a number is named by its axis.
    pub fn display_label_with_axis(&self, axis: usize, label: &str) -> String {
        let value = self.display_label(axis, label);
        let name = self.display_name(&self.experiment.axes[axis].name);
        if value.parse::<f64>().is_ok() { format!("{name} = {value}") } else { value }
    }

    /// What infinity is called on an axis.
    pub fn infinity_name(&self, axis: usize) -> &'static str {
        if self.experiment.axes[axis].name == "epsilon" { "no privacy" } else { "inf" }
    }

    /// Whether all labels of an axis are numbers.
    pub fn is_numeric(&self, axis: usize) -> bool {
        self.experiment.axes[axis].labels.iter().all(|label| label.parse::<f64>().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::experiment;
    use super::*;

    #[test]
    fn numbers_stand_alone_or_are_named_by_their_axis() {
        let spec = "[grid]\n\"privacy.epsilon\" = [0.5, inf]\n[figure_names]\nmethod = \"way\"\nb = \"the other\"\n";
        let experiment = experiment(&["a", "b"], spec);
        let report = Report::new(&experiment, Vec::new(), Vec::new());
        let [epsilon, method] = ["epsilon", "method"].map(|name| report.axis(name).unwrap());
        assert_eq!(["0.5", "inf"].map(|label| report.display_label(epsilon, label)), ["0.5", "no privacy"]);
        assert_eq!(
            ["0.5", "inf"].map(|label| report.display_label_with_axis(epsilon, label)),
            ["epsilon = 0.5", "no privacy"]
        );
        assert_eq!(["a", "b"].map(|label| report.display_label_with_axis(method, label)), ["a", "the other"]);
        assert_eq!(report.display_name("method"), "way");
        assert!(report.is_numeric(epsilon) && !report.is_numeric(method));
    }
}
