//! Figures: one file per kind, all drawn as SVG by plotters.

use thiserror::Error;

use super::report::Report;
use super::{
    bars, calibration, curves, hinton, intervals, lines, map, probabilities, tiles, traces, tutorial, violins,
};
use crate::spec::FigureSetting;

/// The drawing library refused.
#[derive(Debug, Error)]
#[error("the figure could not be drawn: {reason}")]
pub struct FigureError {
    /// What it said.
    pub reason: String,
}

impl FigureError {
    pub(super) fn new(error: &dyn std::error::Error) -> Self {
        Self { reason: error.to_string() }
    }
}

/// The figure of an experiment as SVG text; none if its spec asks for none.
///
/// # Errors
/// [`FigureError`] if the drawing library fails.
pub fn figure_svg(report: &Report<'_>) -> Result<Option<String>, FigureError> {
    let report = &report.shown();
    match &report.experiment.figure {
        None => Ok(None),
        Some(FigureSetting::Intervals(setting)) => intervals::draw(report, setting).map(Some),
        Some(FigureSetting::Lines(setting)) => lines::draw(report, setting).map(Some),
        Some(FigureSetting::Curves(setting)) => curves::draw(report, setting).map(Some),
        Some(FigureSetting::Map(setting)) => map::draw(report, setting).map(Some),
        Some(FigureSetting::Violins(setting)) => violins::draw(report, setting).map(Some),
        Some(FigureSetting::Hinton(setting)) => hinton::draw(report, setting).map(Some),
        Some(FigureSetting::Calibration(setting)) => calibration::draw(report, setting).map(Some),
        Some(FigureSetting::Probabilities(setting)) => probabilities::draw(report, setting).map(Some),
        Some(FigureSetting::Traces(setting)) => traces::draw(report, setting).map(Some),
        Some(FigureSetting::Tiles(setting)) => tiles::draw(report, setting).map(Some),
        Some(FigureSetting::Bars(setting)) => bars::draw(report, setting).map(Some),
        Some(FigureSetting::Tutorial(setting)) => tutorial::draw(report, setting).map(Some),
    }
}
