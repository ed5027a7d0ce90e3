//! The kinds of figure, one file for each.

mod bars;
mod calibration;
mod curves;
mod hinton;
mod intervals;
mod line_series;
mod lines;
mod map;
mod pairs;
mod probabilities;
mod tiles;
mod traces;
mod tutorial;
mod violins;

// Each kind takes its names from here.
use super::frames::*;
use super::panels::*;
use crate::bibtex::report_caption;
use crate::report::{Report, ReportRow};
use dpgp_number::text::{format_exact, format_four_digits, format_four_digits_trimmed};
use dpgp_plot::*;
use dpgp_spec::{FigureSetting, ReferenceValueOwner};

/// The drawing that a spec asks for.
fn picture_builder(setting: &FigureSetting) -> &dyn PictureBuilder {
    match setting {
        FigureSetting::Intervals(setting) => setting,
        FigureSetting::Lines(setting) => setting,
        FigureSetting::Curves(setting) => setting,
        FigureSetting::Map(setting) => setting,
        FigureSetting::Violins(setting) => setting,
        FigureSetting::Hinton(setting) => setting,
        FigureSetting::Calibration(setting) => setting,
        FigureSetting::Probabilities(setting) => setting,
        FigureSetting::Traces(setting) => setting,
        FigureSetting::Tiles(setting) => setting,
        FigureSetting::Bars(setting) => setting,
        FigureSetting::Tutorial(setting) => setting,
        FigureSetting::Pairs(setting) => setting,
    }
}

/// The figure of an experiment as SVG text; none if its spec asks for none.
///
/// # Errors
/// [`FigureError`] if a frame lacks columns or has unknown ones, or if the drawing library fails.
pub fn figure_svg(report: &Report<'_>) -> Result<Option<String>, FigureError> {
    let Some(setting) = &report.experiment.figure else { return Ok(None) };
    let picture = picture_builder(setting).build_picture(&report.restrict_to_figure())?;
    Ok(Some(render(&report.experiment.meta.title, &picture, &[report_caption(report)])?))
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{drawn, example_table, showing};
    use crate::report::Report;

    /// Each kind with the keys that it needs beside labels, and the frames that it needs with their columns.
    const KINDS: [(&str, &str, &str); 14] = [
        ("intervals", "metrics = [\"m\"]", ""),
        ("lines", "metric = \"m\"\nx = \"method\"\nlines = \"method\"\nx_label = \"x\"", ""),
        ("curves", "x_label = \"x\"", "curve x1 mean; data x1 y; inducing x1; lengthscale x1 value"),
        ("map", "x_label = \"x\"\ny_label = \"y\"\nstep = 1.0\nvanish = 1.0", "map x1 x2 mean; data x1 x2"),
        ("violins", "x_label = \"x\"\npositive = \"p\"\nnegative = \"n\"", "samples x1; counts x1 positive negative"),
        ("hinton", "x_label = \"x\"\ny_label = \"y\"", "samples x1 x2; training x1 x2 y"),
        ("traces", "x_label = \"x\"", "trace iteration"),
        ("tiles", "x = \"method\"\nmetric = \"m\"\nx_label = \"x\"\ny_label = \"y\"", ""),
        ("bars", "", "candidates probability value"),
        ("tutorial", "x_label = \"x\"", "draws x1; marginal value density; data x1 y"),
        ("calibration", "metric = \"m\"\nlines = \"method\"\nx_label = \"x\"", ""),
        ("calibration", "metric = \"m\"\nlines = \"method\"\nx = \"method\"\nx_label = \"x\"", ""),
        ("pairs", "x = \"m\"\ny = \"n\"\nx_label = \"x\"", ""),
        ("probabilities", "metrics = [\"m\"]\nx = \"method\"\nx_label = \"x\"", ""),
    ];

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        for (kind, keys, frames) in KINDS {
            let label = if kind == "hinton" { "" } else { "label = \"label\"" };
            let experiment = showing(&["a", "b"], &format!("[{kind}]\n{keys}\n{label}\n"));
            drawn(&format!("{kind}-empty"), &Report::new(&experiment, Vec::new(), Vec::new()));
            let frames = frames.split("; ").filter(|words| !words.is_empty());
            let frames = frames.map(|words| (0, example_table::<0>(words, &[]))).collect();
            drawn(&format!("{kind}-bare"), &Report::new(&experiment, Vec::new(), frames));
        }
    }

    #[test]
    fn a_misspelt_column_is_an_error() {
        let experiment = showing(&["a"], "[curves]\nx_label = \"x\"\nlabel = \"y\"\n");
        for misspelt in ["curve x1 maen", "curve x1 mean nois-sd", "data x1 z"] {
            let report = Report::new(&experiment, Vec::new(), vec![(0, example_table::<0>(misspelt, &[]))]);
            let error = super::figure_svg(&report).unwrap_err().to_string();
            assert!(error.contains(misspelt.split(' ').next_back().unwrap()), "{error}");
        }
    }
}
