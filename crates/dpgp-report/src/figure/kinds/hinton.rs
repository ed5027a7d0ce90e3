//! Blocks of circles: many private predictions of a class at each point.

use std::iter::zip;

use super::*;
use dpgp_spec::HintonFigure;

const SAMPLES: &str = "samples";
const CLASSES: &str = "classes";
const TRAINING: &str = "training";

/// The part of the room of a place that its block fills.
const BLOCK: f64 = 0.86;
const ARM: f64 = 4.0;
const HALO: Pen = Pen::new(WHITE.with_opacity(0.6), 3.5);

frame! {
    /// The frame `samples`: private probabilities, one for every draw, at each place.
    Samples {
        needs x = "x1", y = "x2";
        numbered probability = "probability";
        passes "latent";
    }
}

frame! {
    /// The frame `classes`: the probability without privacy at each place.
    CertainClasses {
        needs x = "x1", y = "x2", probability = "probability";
        passes "latent";
    }
}

/// The probabilities at each place: of the private draws, or the one without privacy.
fn read_probability_samples<'a>(report: &'a Report<'_>, cell: Option<usize>) -> Result<Vec<Samples<'a>>, FigureError> {
    let mut samples = read_frames(report, cell, SAMPLES, Samples::from_frame_columns)?;
    for CertainClasses { x, y, probability } in read_frames(report, cell, CLASSES, CertainClasses::from_frame_columns)?
    {
        samples.push(Samples { x, y, probability: vec![probability] });
    }
    Ok(samples)
}

/// The frame `training`: rows of both classes, each with its mark on a lighter one that sets it off.
fn read_training_marks(columns: &mut FrameColumns<'_>) -> Result<Vec<Mark>, FigureError> {
    let places = points_from_columns(columns.require_column("x1")?, columns.require_column("x2")?);
    let marks = zip(places, columns.require_column("y")?).flat_map(|(place, class)| {
        let (stroke, pen) = class_mark(*class > 0.0);
        [(ARM + 0.5, HALO), (ARM, pen)].map(|(arm, pen)| Mark::Strokes(vec![place], stroke, arm, pen))
    });
    Ok(marks.collect())
}

impl PictureBuilder for HintonFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let all = read_probability_samples(report, None)?;
        let xs: Vec<f64> = all.iter().flat_map(|samples| samples.x).copied().collect();
        let ys: Vec<f64> = all.iter().flat_map(|samples| samples.y).copied().collect();
        let room = PlotPoint::new(least_gap(&xs), least_gap(&ys));
        let (x, y) = (padded_scale(xs, room.x), padded_scale(ys, room.y));
        let mut panels = Vec::new();
        for group in group_cells_into_panels(report, self.panels.as_deref(), &[]) {
            let here = read_probability_samples(report, Some(group.first_cell()))?;
            if here.is_empty() {
                continue;
            }
            let blocks = here.iter().map(|samples| probability_circles(samples, room));
            let training = read_frames(report, Some(group.first_cell()), TRAINING, read_training_marks)?;
            let marks = blocks.chain(training.into_iter().flatten()).collect();
            let plot =
                Plot::new(PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_numbers(y, &self.y_label), marks);
            panels.push(Panel::new(group.title, Plot { backdrop: Backdrop::Filled(GROUND), ..plot }));
        }
        // As many pixels for a place upwards as to the right.
        let ratio = ((y.high - y.low) / room.y) / ((x.high - x.low) / room.x);
        Ok(Picture { legend: hinton_legend(), layout: Layout::with_aspect_ratio(ratio), panels }.with_panel_letters())
    }
}

/// The scale of places that each have this room.
fn padded_scale(values: Vec<f64>, room: f64) -> Scale {
    let [low, high] = min_max(values).unwrap_or([0.0, 0.0]);
    Scale::between(low, high).with_margin(room / 2.0)
}

/// A square of circles at each place, row by row from the upper left.
fn probability_circles(samples: &Samples<'_>, room: PlotPoint) -> Mark {
    let side = (samples.probability.len() as f64).sqrt().ceil();
    let (step, middle) = (BLOCK / side, (side - 1.0) / 2.0);
    let mut discs = Vec::new();
    for (row, at) in points_from_columns(samples.x, samples.y).into_iter().enumerate() {
        for (k, probability) in samples.probability.iter().enumerate() {
            let Some(p) = probability.get(row) else { continue };
            let (down, right) = ((k as f64 / side).floor() - middle, k as f64 % side - middle);
            // White above a half and black below; the surer, the larger.
            let colour = if *p > 0.5 { WHITE } else { BLACK };
            let radius = 0.5 * step * (2.0 * (p - 0.5).abs()).min(1.0);
            discs.push(Disc { at, offset: PlotPoint::new(step * right, step * down), radius, colour });
        }
    }
    Mark::Discs(discs, DiscUnit::Cell(room))
}

fn class_mark(positive: bool) -> (MarkShape, Pen) {
    match positive {
        true => (MarkShape::Plus, Pen::new(COLOURS[0], 1.75)),
        false => (MarkShape::Times, Pen::new(RED, 1.75)),
    }
}

fn hinton_legend() -> Vec<LegendEntry> {
    vec![
        framed_disc_swatch(WHITE).with_meaning("probability above ½"),
        framed_disc_swatch(BLACK).with_meaning("below ½ (larger circles are more certain)"),
        class_swatch(true).with_meaning("training, positive"),
        class_swatch(false).with_meaning("training, negative"),
    ]
}

fn framed_disc_swatch(colour: Colour) -> Swatch {
    Swatch::Framed(6.0, colour, GROUND)
}

fn class_swatch(positive: bool) -> Swatch {
    let (stroke, pen) = class_mark(positive);
    Swatch::Mark(stroke, ARM, pen)
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{count, example_table, experiment, lines_of, svg};

    #[test]
    fn each_place_has_a_block_of_circles() {
        let rows = [[0.0, 0.0, 0.1, 0.2], [0.0, 1.0, 0.4, 0.7], [1.0, 0.0, 0.6, 0.5], [1.0, 1.0, 1.0, 0.9]];
        let samples = || example_table("samples x1 x2 probability1 probability2", &rows);
        let training = example_table("training x1 x2 y", &[[0.1, 0.2, -1.0], [0.8, 0.9, 1.0], [0.9, 0.4, 1.0]]);
        let figure = "[figure.hinton]\nx_label = \"first input\"\ny_label = \"second input\"\n";
        let certain = rows.map(|[x, y, p, _]| [x, y, p, 0.0]);
        let certain = example_table("classes x1 x2 probability latent", &certain);
        let frames = vec![(0, samples()), (0, training), (1, samples()), (2, certain)];
        let svg = svg("hinton", &experiment(&["a", "b", "none"], figure), frames);
        assert_eq!(count(&svg, "circle"), 2 * 4 * 2 + 4 + 2, "one circle at each place without privacy");
        assert_eq!(lines_of(&svg, "#005FAA"), 2 * 2 + 2, "crosses of the positive class and their sample");
        assert_eq!(lines_of(&svg, "#D72828"), 2 + 2);
    }
}
