//! The figure of expected errors at each epsilon before a release, and `figure.json`, the data of a figure that are not in the table.

use serde_json::{Map, Value, json};

use super::frames::FigureError;
use crate::report::Report;
use dpgp_number::text::{format_exact, format_four_digits_trimmed};
use dpgp_plot::{
    BLACK, COLOURS, DARK, Layout, LegendEntry, Mark, Panel, Pen, Picture, Plot, PlotAxis, PlotPoint, Scale, Swatch,
    render,
};
use dpgp_task::{ExpectedErrors, FigureTable, ReleasePreview};

const HEIGHT: f64 = 520.0;
const TOP: f64 = 16.0;
/// The share of the height for errors; the numbers released have the rest.
const ERRORS: f64 = 0.72;
const DOT: f64 = 3.5;
const ERROR: Pen = Pen::new(COLOURS[0], 2.25);
const NOISE: Pen = Pen::new(COLOURS[1], 2.0);
const CONSTANT: Pen = Pen::new(COLOURS[3], 2.0);
const RELEASED: Pen = Pen::new(COLOURS[2], 2.0);
const PRIOR: Pen = Pen::new(DARK, 1.5).dashed();
const MODEL: Pen = Pen::new(DARK, 1.5).dotted();
const WANTED: Pen = Pen::new(BLACK, 1.0);
/// The largest error shown, as a multiple of the prior mean's: a larger one would flatten the rest.
const HOPELESS: f64 = 2.0;
/// The room beside the epsilons, as factors.
const BESIDE: [f64; 2] = [0.9, 1.1];

/// A wanted error, in units of the target, and the least epsilon that reaches it, if one does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccuracyGoal {
    /// The error.
    pub error: f64,
    /// The epsilon.
    pub epsilon: Option<f64>,
}

/// Draws the expected error and the noise against epsilon, in units of the target, above the count of released numbers,
/// as SVG text.
///
/// # Errors
/// [`FigureError`] if the drawing library fails.
pub fn preview_svg(title: &str, preview: &ReleasePreview, wanted: Option<AccuracyGoal>) -> Result<String, FigureError> {
    Ok(render(&format!("Expected error at each epsilon: {title}"), &picture(preview, wanted), &[])?)
}

fn picture(preview: &ReleasePreview, wanted: Option<AccuracyGoal>) -> Picture {
    let mut rows = preview.expected.clone();
    rows.sort_by(|a, b| a.epsilon.get().total_cmp(&b.epsilon.get()));
    let found = wanted.and_then(|wanted| wanted.epsilon);
    let places = rows.iter().map(|row| row.epsilon.get()).chain(found);
    let x = Scale::covering(true, places.flat_map(|epsilon| BESIDE.map(|factor| factor * epsilon)));
    let plots = vec![error_plot(preview, &rows, wanted, x), released_number_count_plot(&rows, x)];
    Picture {
        legend: legend(preview, wanted),
        layout: Layout::new(HEIGHT).with_title_height(TOP),
        panels: vec![Panel { title: String::new(), span: 1, plots }],
    }
}

/// Errors, the noise and the ends between which they lie.
fn error_plot(preview: &ReleasePreview, rows: &[ExpectedErrors], wanted: Option<AccuracyGoal>, x: Scale) -> Plot {
    let [error, noise] = [curve_points(rows, |row| row.error), curve_points(rows, |row| row.noise)];
    let constant = curve_points(rows, |row| row.constant);
    let reached = error.iter().chain(&noise).chain(&constant).map(|spot| spot.y).filter(|y| is_on_scale(preview, *y));
    let ends = [preview.prior, preview.without_privacy];
    let y = Scale::from_zero(reached.chain(ends).chain(wanted.map(|wanted| wanted.error)));
    let mut marks = vec![Mark::Across(preview.prior, PRIOR), Mark::Across(preview.without_privacy, MODEL)];
    if let Some(AccuracyGoal { error, epsilon }) = wanted {
        marks.push(Mark::Across(error, WANTED));
        marks.extend(epsilon.map(|epsilon| Mark::Upright(epsilon, WANTED)));
    }
    marks.push(Mark::Line(constant, CONSTANT));
    marks.extend(line_with_dots(noise, NOISE));
    marks.extend(line_with_dots(error, ERROR));
    let y = PlotAxis::with_grid_lines(y, "root mean square (units of the target)");
    Plot { share: ERRORS, ..Plot::new(PlotAxis::without_ticks(x), y, marks) }
}

/// The number of noisy numbers released.
fn released_number_count_plot(rows: &[ExpectedErrors], x: Scale) -> Plot {
    let released = curve_points(rows, |row| row.released as f64);
    let y = PlotAxis::with_grid_lines(Scale::from_zero(released.iter().map(|spot| spot.y)), "numbers released");
    Plot {
        share: 1.0 - ERRORS,
        ..Plot::new(PlotAxis::with_numbers(x, "epsilon"), y, line_with_dots(released, RELEASED).into())
    }
}

fn curve_points(rows: &[ExpectedErrors], value: fn(&ExpectedErrors) -> f64) -> Vec<PlotPoint> {
    rows.iter().map(|row| PlotPoint::new(row.epsilon.get(), value(row))).collect()
}

/// A line with a dot at each of its spots.
fn line_with_dots(spots: Vec<PlotPoint>, pen: Pen) -> [Mark; 2] {
    let dots = Mark::dots(&spots, DOT, pen.colour);
    [Mark::Line(spots, pen), dots]
}

fn is_on_scale(preview: &ReleasePreview, value: f64) -> bool {
    value <= HOPELESS * preview.prior
}

fn legend(preview: &ReleasePreview, wanted: Option<AccuracyGoal>) -> Vec<LegendEntry> {
    let mut entries = vec![
        Swatch::Line(ERROR).with_meaning("expected error of predictions"),
        Swatch::Line(NOISE).with_meaning("privacy noise in the predictions"),
        Swatch::Line(CONSTANT).with_meaning("error of a private mean of all targets"),
        Swatch::Line(PRIOR)
            .with_meaning(format!("error if nothing is released: {}", format_four_digits_trimmed(preview.prior))),
        Swatch::Line(MODEL)
            .with_meaning(format!("error without privacy: {}", format_four_digits_trimmed(preview.without_privacy))),
    ];
    if let Some(AccuracyGoal { error, epsilon }) = wanted {
        let needs = match epsilon {
            Some(epsilon) => {
                format!(
                    "an error of {} needs epsilon = {}",
                    format_four_digits_trimmed(error),
                    format_four_digits_trimmed(epsilon)
                )
            }
            None => format!("no epsilon reaches an error of {}", format_four_digits_trimmed(error)),
        };
        entries.push(Swatch::Line(WANTED).with_meaning(needs));
    }
    let hidden = preview.expected.iter().filter(|row| !is_on_scale(preview, row.error.max(row.noise)));
    let hidden: Vec<String> = hidden.map(|row| format_exact(row.epsilon.get())).collect();
    if !hidden.is_empty() {
        let above = format!("off the scale at epsilon = {}", hidden.join(", "));
        entries.push(Swatch::None.with_meaning(above));
    }
    entries
}

/// Significant digits of a number, more than a figure shows.
const DIGITS: usize = 7;

/// One line per frame: its cell, the cell's labels, its name and its columns; none if no cell has a frame.
pub fn figure_frames_json(report: &Report<'_>) -> Option<String> {
    let lines: Vec<String> = report.frames.iter().map(|(cell, frame)| frame_json(report, *cell, frame)).collect();
    (!lines.is_empty()).then(|| format!("[\n{}\n]\n", lines.join(",\n")))
}

fn frame_json(report: &Report<'_>, cell: usize, frame: &FigureTable) -> String {
    let cell = &report.experiment.cells[cell];
    let axes = report.experiment.axes.iter().zip(cell.labels());
    let labels: Map<String, Value> = axes.map(|(axis, label)| (axis.name.clone(), json!(label))).collect();
    let columns = frame.columns.iter();
    let columns: Map<String, Value> = columns
        .map(|(name, values)| (name.clone(), values.iter().map(|value| round_to_json(*value)).collect()))
        .collect();
    json!({ "cell": cell.id().short(), "labels": labels, "frame": frame.name, "columns": columns }).to_string()
}

fn round_to_json(value: f64) -> Value {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if rounded == rounded.trunc() && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::lines_of;
    use dpgp_number::Epsilon;
    use dpgp_task::ErrorAveragingDomain;

    fn preview(rows: &[[f64; 3]]) -> ReleasePreview {
        let expected = rows.iter().map(|[epsilon, noise, error]| ExpectedErrors {
            least: None,
            epsilon: Epsilon::new(*epsilon).unwrap(),
            noise: *noise,
            error: *error,
            constant: 8.0,
            released: 2,
        });
        ReleasePreview {
            over: ErrorAveragingDomain::Points,
            prior: 10.0,
            expected: expected.collect(),
            without_privacy: 1.0,
        }
    }

    fn black_lines(svg: &str) -> usize {
        lines_of(svg, "#000000")
    }

    #[test]
    fn a_wanted_error_is_a_cross_of_lines() {
        let rows = preview(&[[0.1, 3.0, 9.0], [1.0, 2.0, 4.0]]);
        let plain = preview_svg("t", &rows, None).unwrap();
        let wanted = AccuracyGoal { error: 6.0, epsilon: Some(0.4) };
        let crossed = preview_svg("t", &rows, Some(wanted)).unwrap();
        assert_eq!(black_lines(&crossed), black_lines(&plain) + 3, "two lines and their sample");
        assert!(crossed.contains("an error of 6 needs epsilon = 0.4"));
        let none = preview_svg("t", &rows, Some(AccuracyGoal { error: 0.5, epsilon: None })).unwrap();
        assert_eq!(black_lines(&none), black_lines(&plain) + 2);
        assert!(none.contains("no epsilon reaches an error of 0.5"));
    }

    /// Hopeless errors are named, and the scale fits the rest.
    #[test]
    fn hopeless_errors_are_beyond_the_edge() {
        let svg = preview_svg("t", &preview(&[[2.0, 3.0, 5.0], [0.1, 280.0, 281.0]]), None).unwrap();
        assert!(svg.contains("off the scale at epsilon = 0.1") && !svg.contains("\n100\n"));
        let svg = preview_svg("t", &preview(&[[2.0, 3.0, 5.0]]), None).unwrap();
        assert!(!svg.contains("off the scale") && svg.contains("\n10\n"), "a single epsilon has an axis");
    }
}

#[cfg(test)]
mod shown_tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [1.0 / 3.0, 2.0, -0.0, 1.234_567_89e-9].map(|x| round_to_json(x).to_string());
        assert_eq!(texts, ["0.3333333", "2", "0", "1.234568e-9"]);
    }
}
