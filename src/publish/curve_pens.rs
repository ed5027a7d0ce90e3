//! The colours of a curve's parts, and their legend.

use plotters::style::{BLACK, Color, RGBAColor};

use super::legend::Sample;
use super::palette::{COLOURS, GREY};
use super::pen::{Pen, Stroke};
use super::report::{Report, named};
use crate::spec::CurvesFigure;

/// The parts of a curve that has its panel alone.
pub(super) struct Pens {
    pub draw: Pen,
    pub band: RGBAColor,
    pub mean: Pen,
    pub noise: Pen,
    pub quarter: Pen,
    pub truth: Pen,
    pub data: Pen,
    pub inducing: Pen,
}

/// The pens of a curve that has its panel alone.
pub(super) fn pens() -> Pens {
    Pens {
        draw: Pen::new(GREY.mix(0.55), 0.75),
        band: COLOURS[0].mix(0.18),
        mean: Pen::new(COLOURS[0], 2.25),
        noise: Pen::new(BLACK, 1.5).dashed(),
        quarter: Pen::new(GREY, 1.5).dashed(),
        truth: Pen::new(BLACK, 1.5).dotted(),
        data: Pen::new(COLOURS[1].mix(0.7), 1.0),
        inducing: Pen::new(COLOURS[2], 2.5),
    }
}

/// The pens of the mean, of its standard deviation and of the data of a curve among others: the first is solid.
pub(super) fn overlay_pens(number: usize) -> (Pen, Pen, Pen) {
    let colour = COLOURS[number % COLOURS.len()];
    let solid = |pen: Pen| if number == 0 { pen } else { pen.dashed() };
    (solid(Pen::new(colour, 2.25)), solid(Pen::new(colour.mix(0.8), 1.0)), Pen::new(colour, 1.25))
}

/// What the figure's lines and marks mean: only what some panel shows.
pub(super) fn legend(report: &Report<'_>, setting: &CurvesFigure) -> Vec<(Sample, String)> {
    let entries = match &setting.overlay {
        Some(overlay) => overlay_entries(report, overlay),
        None => entries(report, &pens()),
    };
    let shown = entries.into_iter().filter(|entry| has(report, entry.frame, entry.column));
    shown.map(|entry| (entry.sample, entry.text)).collect()
}

/// An explanation, and the frame and the column without which it is left out.
struct Entry {
    frame: &'static str,
    column: &'static str,
    sample: Sample,
    text: String,
}

fn entry(frame: &'static str, column: &'static str, sample: Sample, text: &str) -> Entry {
    Entry { frame, column, sample, text: text.to_owned() }
}

fn overlay_entries(report: &Report<'_>, overlay: &str) -> Vec<Entry> {
    let axis = report.experiment.axes.iter().find(|axis| axis.name == overlay);
    let cells = &report.experiment.cells;
    let shown =
        |label: &&String| (0..cells.len()).any(|c| report.holds(c) && cells[c].labels().contains(*label));
    let labels =
        axis.into_iter().flat_map(|axis| axis.labels.iter().filter(shown).map(|label| named(axis, label)));
    let mean = |(i, label): (usize, String)| entry("curve", "mean", Sample::Line(overlay_pens(i).0), &label);
    let mut entries: Vec<Entry> = labels.enumerate().map(mean).collect();
    let (_, sd, data) = overlay_pens(0);
    entries.push(entry("curve", "gp-sd", Sample::Line(sd), "± 1 sd of the model"));
    entries.push(entry("data", "y", Sample::Mark(Stroke::Times, 4.0, data), "data"));
    entries
}

/// A mean beside which the noise is shown has none itself; inducing inputs with outputs are crosses.
fn entries(report: &Report<'_>, pens: &Pens) -> Vec<Entry> {
    let noisy = has(report, "curve", "noise-sd");
    let mean = if noisy { "mean without privacy noise" } else { "mean" };
    let (sample, inducing) = match has(report, "inducing", "y") {
        true => (Sample::Mark(Stroke::Plus, 5.0, pens.inducing), "means of the inducing values"),
        false => (Sample::Mark(Stroke::Tick, 7.0, pens.inducing), "inducing inputs"),
    };
    vec![
        entry("curve", "mean", Sample::Line(pens.mean), mean),
        entry("curve", "gp-sd", Sample::Area(pens.band), "± 2 sd of the model"),
        entry("curve", "draw", Sample::Line(pens.draw), "private releases"),
        entry("curve", "noise-sd", Sample::Line(pens.noise), "± 1 sd of the privacy noise"),
        entry("curve", "noise-sd", Sample::Line(pens.quarter), "± ¼ sd of the privacy noise"),
        entry("curve", "truth", Sample::Line(pens.truth), "truth"),
        entry("data", "y", Sample::Mark(Stroke::Times, 3.0, pens.data), "data"),
        entry("inducing", "x1", sample, inducing),
    ]
}

/// Whether some frame has values in a column whose name begins so.
fn has(report: &Report<'_>, name: &str, column: &str) -> bool {
    let mut frames = report.frames.iter().filter(|(_, frame)| frame.name == name);
    frames.any(|(_, frame)| frame.columns_named(column).any(|values| !values.is_empty()))
}
