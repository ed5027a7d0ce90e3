//! Private predictions of a class over one input: frequencies, and violins (kernel densities) of probabilities and latent means.

use std::iter::zip;

use super::*;
use dpgp_spec::ViolinsFigure;

const SAMPLES: &str = "samples";
const CLASSES: &str = "classes";
const COUNTS: &str = "counts";

const HEIGHT: f64 = 700.0;
/// The parts of the height.
const SHARES: [f64; 3] = [0.24, 0.38, 0.38];
/// Half the width of a bar and of a violin, as parts of the room of a value.
const BAR: f64 = 0.32;
const VIOLIN: f64 = 0.42;
const INSIDE: Colour = COLOURS[0].with_opacity(0.35);
const NEGATIVE: Colour = GREY.with_opacity(0.6);
const EXACT: Pen = Pen::new(BLACK, 1.75);
const ARM: f64 = 4.0;

frame! {
    /// The frame `samples`: private values, one of each for every draw.
    Samples {
        needs x = "x1";
        numbered probability = "probability", latent = "latent";
    }
}

frame! {
    /// The frame `classes`: values without privacy.
    Classes {
        needs x = "x1", probability = "probability", latent = "latent";
    }
}

frame! {
    /// The frame `counts`: rows of both classes at each value.
    ClassCounts {
        needs x = "x1", positive = "positive", negative = "negative";
    }
}

impl PictureBuilder for ViolinsFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let shared = ViolinPanels::new(self, report)?;
        let groups = group_cells_with_frame_into_panels(report, None, SAMPLES);
        let panels: Result<Vec<Panel>, FigureError> = groups.iter().map(|group| shared.panel(report, group)).collect();
        let legend: Vec<LegendEntry> = vec![
            Swatch::Area(COLOURS[1]).with_meaning(&self.positive),
            Swatch::Area(NEGATIVE).with_meaning(&self.negative),
            Swatch::Area(INSIDE).with_meaning("distribution of private means"),
            Swatch::Mark(MarkShape::Times, ARM, EXACT).with_meaning("mean without privacy"),
        ];
        Ok(Picture { legend, layout: Layout::new(HEIGHT).with_columns(Some(groups.len())), panels: panels? }
            .with_panel_letters())
    }
}

/// Scales and rows that all panels share.
struct ViolinPanels<'a> {
    setting: &'a ViolinsFigure,
    x: Scale,
    /// The room of a value on the x axis.
    room: f64,
    rows: Scale,
    latent: Scale,
    /// The rows of both classes, of whatever cell has them.
    counts: Vec<Mark>,
}

impl<'a> ViolinPanels<'a> {
    fn new(setting: &'a ViolinsFigure, report: &Report<'_>) -> Result<Self, FigureError> {
        let (samples, classes) = (
            read_frames(report, None, SAMPLES, Samples::from_frame_columns)?,
            read_frames(report, None, CLASSES, Classes::from_frame_columns)?,
        );
        let counts = read_frames(report, None, COUNTS, ClassCounts::from_frame_columns)?;
        let inputs: Vec<f64> =
            samples.iter().map(|s| s.x).chain(counts.iter().map(|c| c.x)).flatten().copied().collect();
        let room = least_gap(&inputs);
        let rows = counts.iter().flat_map(|c| zip(c.positive, c.negative)).map(|(p, n)| p + n);
        let private = samples.iter().flat_map(|s| &s.latent).copied().flatten().copied();
        let exact = classes.iter().flat_map(|c| c.latent).copied();
        Ok(Self {
            setting,
            room,
            x: Scale::tight(inputs).with_margin(0.7 * room),
            rows: Scale::from_zero(rows),
            latent: Scale::covering(false, private.chain(exact)),
            counts: counts.first().map(|counts| stacked_class_bars(counts, room)).unwrap_or_default(),
        })
    }

    fn panel(&self, report: &Report<'_>, group: &PanelCells) -> Result<Panel, FigureError> {
        let (mut probability, mut latent) = (Vec::new(), Vec::new());
        for samples in read_frames(report, Some(group.first_cell()), SAMPLES, Samples::from_frame_columns)? {
            probability.extend(self.violins(&samples, &samples.probability));
            latent.extend(self.violins(&samples, &samples.latent));
        }
        if let Some(exact) = read_similar_cell_nonprivate_classes(report, group.first_cell())? {
            probability.push(Mark::Strokes(
                points_from_columns(exact.x, exact.probability),
                MarkShape::Times,
                ARM,
                EXACT,
            ));
            latent.push(Mark::Strokes(points_from_columns(exact.x, exact.latent), MarkShape::Times, ARM, EXACT));
        }
        let probability_label = format!("probability of {}", self.setting.label);
        let unit = Scale::between(-0.02, 1.02);
        let plots = [
            Plot::new(
                PlotAxis::without_ticks(self.x),
                PlotAxis::with_grid_lines(self.rows, "number of rows"),
                self.counts.clone(),
            ),
            Plot::new(PlotAxis::without_ticks(self.x), PlotAxis::with_grid_lines(unit, probability_label), probability),
            Plot::new(
                PlotAxis::with_numbers(self.x, &self.setting.x_label),
                PlotAxis::with_grid_lines(self.latent, "mean of the latent function"),
                latent,
            ),
        ];
        let plots = zip(SHARES, plots).map(|(share, plot)| Plot { share, ..plot }).collect();
        Ok(Panel { title: group.title.clone(), span: 1, plots })
    }

    /// The private values of each input as a violin.
    fn violins(&self, samples: &Samples<'_>, columns: &[&[f64]]) -> Vec<Mark> {
        let rows = samples.x.iter().enumerate();
        rows.flat_map(|(row, x)| {
            let values: Vec<f64> = columns.iter().filter_map(|column| column.get(row)).copied().collect();
            violin(*x, self.room, &values)
        })
        .collect()
    }
}

/// The rows of both classes at each value, one upon the other.
fn stacked_class_bars(counts: &ClassCounts<'_>, room: f64) -> Vec<Mark> {
    let mut marks = Vec::new();
    for ((x, positive), negative) in counts.x.iter().zip(counts.positive).zip(counts.negative) {
        let (left, right) = (x - BAR * room, x + BAR * room);
        let all = positive + negative;
        marks.push(Mark::rectangle(PlotPoint::new(left, 0.0), PlotPoint::new(right, *positive), COLOURS[1]));
        marks.push(Mark::rectangle(PlotPoint::new(left, *positive), PlotPoint::new(right, all), NEGATIVE));
    }
    marks
}

/// The density of some values on both sides of a place; a stroke where they are all equal.
fn violin(x: f64, room: f64, values: &[f64]) -> Vec<Mark> {
    let density = kernel_density(values);
    if density.is_empty() {
        let ends = values.first().map(|y| [-1.0, 1.0].map(|side| (x + side * BAR * room, *y)));
        return ends.map(|ends| Mark::line(ends, Pen::new(COLOURS[0], 1.5))).into_iter().collect();
    }
    let widest = density.iter().map(|point| point.y).fold(0.0, f64::max);
    let left = density.iter().map(|point| PlotPoint::new(x - VIOLIN * room * point.y / widest, point.x));
    let right = density.iter().rev().map(|point| PlotPoint::new(x + VIOLIN * room * point.y / widest, point.x));
    let outline: Vec<PlotPoint> = left.chain(right).collect();
    let line = Mark::line(outline.iter().chain(outline.first()).copied(), Pen::new(COLOURS[0], 1.0));
    vec![Mark::Area(outline, INSIDE), line]
}

/// The values without privacy, from the cell that has the most labels in common.
fn read_similar_cell_nonprivate_classes<'a>(
    report: &'a Report<'_>,
    cell: usize,
) -> Result<Option<Classes<'a>>, FigureError> {
    let exact = report.frames.iter().filter(|(_, frame)| frame.name == CLASSES);
    let nearest = exact.map(|(other, _)| *other).min_by_key(|other| report.count_label_differences(cell, *other));
    let Some(nearest) = nearest else { return Ok(None) };
    Ok(read_frames(report, Some(nearest), CLASSES, Classes::from_frame_columns)?.into_iter().next())
}

/// Points at which a density is evaluated.
const POINTS: usize = 81;

/// The Gaussian kernel density of some samples from the least to the largest of them: a density y at each value x. Its
/// bandwidth is Silverman's. Samples that are all equal have none.
fn kernel_density(samples: &[f64]) -> Vec<PlotPoint> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if low == high {
        return Vec::new();
    }
    let width = bandwidth(&sorted).max((high - low) / POINTS as f64);
    let norm = 1.0 / (sorted.len() as f64 * width * (2.0 * std::f64::consts::PI).sqrt());
    let values = (0..POINTS).map(|i| low + (high - low) * i as f64 / (POINTS - 1) as f64);
    values
        .map(|value| {
            let kernels = sorted.iter().map(|sample| (-0.5 * ((value - sample) / width).powi(2)).exp());
            PlotPoint::new(value, norm * kernels.sum::<f64>())
        })
        .collect()
}

/// Silverman's rule: 0.9 min(sd, interquartile range / 1.34) n^(-1/5).
fn bandwidth(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let [low, high] = [0.25, 0.75].map(|q| sorted[((n - 1.0) * q).round() as usize]);
    let range = (high - low) / 1.34;
    0.9 * (if range > 0.0 { sd.min(range) } else { sd }) * n.powf(-0.2)
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{count, example_table, experiment, lines_of, svg};

    const FIGURE: &str = "[figure.violins]\nx_label = \"delinquent credit lines\"\nlabel = \"default\"\n\
                          positive = \"defaulted\"\nnegative = \"repaid\"\n";

    #[test]
    fn bars_violins_and_crosses_for_each_value() {
        let counts =
            example_table("counts x1 positive negative", &[[0.0, 20.0, 30.0], [1.0, 18.0, 9.0], [2.0, 5.0, 1.0]]);
        let classes =
            example_table("classes x1 probability latent", &[[0.0, 0.3, -1.0], [1.0, 0.5, 0.0], [2.0, 0.7, 1.0]]);
        let samples = [[0.0, 0.2, 0.3, -1.4, -0.8], [1.0, 0.4, 0.6, -0.4, 0.4], [2.0, 0.5, 0.9, 0.0, 2.2]];
        let samples = example_table("samples x1 probability1 probability2 latent1 latent2", &samples);
        let experiment = experiment(&["none", "private"], FIGURE);
        let svg = svg("violins", &experiment, vec![(0, classes), (0, counts), (1, samples)]);
        assert_eq!(count(&svg, "polygon"), 2 * 3 + 2 * 3, "two bars and two violins each");
        let crosses = svg.split('<').filter(|e| e.contains("stroke=\"#000000\" stroke-width=\"7\"")).count();
        assert_eq!(crosses, 2 * (2 * 3 + 1), "crosses and their sample");
        assert_eq!(lines_of(&svg, "#005FAA"), 2 * 3, "outlines");
    }

    #[test]
    fn equal_samples_are_a_stroke() {
        let equal = example_table("samples x1 probability1 probability2", &[[1.0, 0.5, 0.5]]);
        let svg = svg("violins-equal", &experiment(&["none", "private"], FIGURE), vec![(1, equal)]);
        assert_eq!(lines_of(&svg, "#005FAA"), 1, "a stroke instead of a violin");
    }
}

#[cfg(test)]
mod density_tests {
    use super::*;

    #[test]
    fn the_density_of_logistic_quantiles_is_near_the_logistic_density() {
        let quantile = |i: usize| ((i as f64 + 0.5) / (1000.0 - i as f64 - 0.5)).ln();
        let samples: Vec<f64> = (0..1000).map(quantile).collect();
        let found = kernel_density(&samples);
        let logistic = |x: f64| (-x).exp() / (1.0 + (-x).exp()).powi(2);
        assert!(found.iter().all(|at| (at.y - logistic(at.x)).abs() < 0.01), "{found:?}");
        assert_eq!((found[0].x, found[POINTS - 1].x), (samples[0], samples[999]), "nothing beyond the samples");
    }

    #[test]
    fn equal_samples_have_no_density() {
        assert!(kernel_density(&[0.5; 10]).is_empty() && kernel_density(&[]).is_empty());
        assert!(kernel_density(&[0.0, 1.0]).iter().all(|at| at.y.is_finite() && at.y > 0.0));
    }
}
