//! A metric along an axis of the grid: lines with error bars, in panels.

use super::super::prelude::*;
use dpgp_spec::LinesFigure;

const HEIGHT: f64 = 390.0;
/// Radii of the points and of the rings around them, in pixels.
const DOT: f64 = 3.5;
const RING: f64 = 5.5;
/// The lightest colour of many, as a part of the whole range: what is lighter cannot be seen on white.
const LIGHTEST: f64 = 0.9;
/// The most shades that the legend names.
const SHADES: usize = 8;
const LEVEL: Pen = Pen::new(BLACK, 1.0).dashed();

/// The points of one label.
struct Series {
    label: String,
    pen: Pen,
    points: Vec<Estimate>,
    others: Vec<(Owner, Vec<PlotPoint>)>,
    /// Points that lie below the axis.
    below: usize,
}

/// The lines of a panel.
struct LinesPanel {
    title: String,
    series: Vec<Series>,
}

impl Drawing for LinesFigure {
    fn picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let panels = panels(self, report);
        let series: Vec<&Series> = panels.iter().flat_map(|panel| &panel.series).collect();
        let places: Vec<f64> = series.iter().flat_map(|s| &s.points).map(|point| point.at.x).collect();
        let x = Scale::along(self.log, &places);
        let y = y_scale(self, &series);
        let legend = legend(self, &series);
        let panels = panels.iter().map(|panel| {
            let levels = self.levels.iter().map(|level| Mark::Across(level.value, LEVEL));
            let marks = levels.chain(panel.series.iter().flat_map(|series| marks(self, series))).collect();
            Panel::new(
                &panel.title,
                Plot::new(Side::values(x, &self.x_label), Side::lines(y, &self.label), marks),
            )
        });
        Ok(Picture { legend, layout: Layout::new(HEIGHT), panels: panels.collect() })
    }
}

/// The panels that have lines; none if the setting names an axis that is not there.
fn panels(setting: &LinesFigure, report: &Report<'_>) -> Vec<LinesPanel> {
    let (Some(x), Some(line)) = (report.axis(&setting.x), report.axis(&setting.lines)) else {
        return Vec::new();
    };
    let rows: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.metric == setting.metric).collect();
    let labels = &report.experiment.axes[line].labels;
    let mut panels = Vec::new();
    for (title, rows) in split(report, setting.panels.as_deref(), rows) {
        let all = labels.iter().enumerate().map(|(place, label)| {
            let own: Vec<&ReportRow> =
                rows.iter().copied().filter(|row| row.labels[line] == *label).collect();
            series(setting, &own, x, label, pen(setting, place, labels.len()))
        });
        let series: Vec<Series> = all.filter(|series| !series.points.is_empty()).collect();
        if !series.is_empty() {
            panels.push(LinesPanel { title, series });
        }
    }
    panels
}

/// The rows of each panel, with its title.
fn split<'a>(
    report: &Report<'_>,
    axis: Option<&str>,
    rows: Vec<&'a ReportRow>,
) -> Vec<(String, Vec<&'a ReportRow>)> {
    let Some(at) = axis.and_then(|name| report.axis(name)) else { return vec![(String::new(), rows)] };
    let axis = &report.experiment.axes[at];
    let panels = axis.labels.iter().map(|label| {
        (
            format!("{} = {label}", axis.name),
            rows.iter().copied().filter(|row| row.labels[at] == *label).collect(),
        )
    });
    panels.collect()
}

/// The line through the rows of a label.
fn series(setting: &LinesFigure, rows: &[&ReportRow], x: usize, label: &str, pen: Pen) -> Series {
    let estimates = rows.iter().filter_map(|row| Some(Estimate::new(row.place(x)?, row)));
    let (points, below): (Vec<Estimate>, Vec<Estimate>) =
        estimates.partition(|point| shown(setting, point.at.y));
    let label = format!("{} = {label}", setting.lines);
    let others = Owner::ALL.map(|owner| (owner, others(setting, rows, x, owner))).to_vec();
    Series { label, pen, points, others, below: below.len() }
}

fn shown(setting: &LinesFigure, value: f64) -> bool {
    setting.least.is_none_or(|least| value >= least)
}

/// The shown numbers of one owner beside the rows.
fn others(setting: &LinesFigure, rows: &[&ReportRow], x: usize, owner: Owner) -> Vec<PlotPoint> {
    let mut spots = beside_spots(rows, x, owner);
    spots.retain(|spot| shown(setting, spot.y));
    spots
}

/// The pen of the line at a place among all.
fn pen(setting: &LinesFigure, place: usize, count: usize) -> Pen {
    if setting.shades {
        let pen = Pen::new(viridis(LIGHTEST * place as f64 / count.saturating_sub(1).max(1) as f64), 2.0);
        return match place % 3 {
            0 => pen,
            1 => pen.dashed(),
            _ => pen.dotted(),
        };
    }
    coloured(place)
}

/// The pen of a colour; a second round of colours is dashed, a third one dotted.
fn coloured(place: usize) -> Pen {
    let pen = Pen::new(COLOURS[place % COLOURS.len()], 2.0);
    match place / COLOURS.len() {
        0 => pen,
        1 => pen.dashed(),
        _ => pen.dotted(),
    }
}

/// From the least to the largest of all that is drawn.
fn y_scale(setting: &LinesFigure, series: &[&Series]) -> Scale {
    let points = series.iter().flat_map(|s| &s.points);
    // On a logarithmic scale a bar that reaches zero is drawn to the edge.
    let ends = points.flat_map(|point| point.ends().map(|end| end.y).into_iter().chain([point.at.y]));
    let levels = setting.levels.iter().map(|level| level.value);
    let others = series.iter().flat_map(|s| &s.others).flat_map(|(_, spots)| spots).map(|spot| spot.y);
    let values = ends.chain(levels).chain(others).filter(|value| *value > 0.0 || !setting.log_y);
    Scale::covering(setting.log_y, values).within(setting.least, None)
}

fn marks(setting: &LinesFigure, series: &Series) -> Vec<Mark> {
    let mut marks = vec![line(&series.points, series.pen)];
    if !setting.shades {
        marks = line_with_bars(&series.points, series.pen);
        let dots: Vec<PlotPoint> = series.points.iter().map(|point| point.at).collect();
        marks.push(Mark::dots(&dots, DOT, series.pen.colour));
    }
    let others = series.others.iter().filter(|(_, spots)| !spots.is_empty());
    marks.extend(others.map(|(owner, spots)| beside_mark(*owner, spots.clone(), RING, series.pen.thin())));
    marks
}

fn legend(setting: &LinesFigure, series: &[&Series]) -> Vec<LegendEntry> {
    let mut entries: Vec<LegendEntry> = Vec::new();
    for one in series {
        if entries.iter().all(|entry| entry.text != one.label) {
            entries.push(Swatch::Line(one.pen).means(&one.label));
        }
    }
    // Of many shades the first of each few are named, and the last.
    let every = if setting.shades { entries.len().div_ceil(SHADES).max(1) } else { 1 };
    let last = entries.len().saturating_sub(1);
    let kept = entries.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
    let levels = setting.levels.iter().map(|level| Swatch::Line(LEVEL).means(&level.label));
    kept.map(|(_, entry)| entry).chain(levels).chain(notes(setting, series)).collect()
}

fn notes(setting: &LinesFigure, series: &[&Series]) -> Vec<LegendEntry> {
    let widest = series.iter().flat_map(|s| &s.points).map(|point| point.error).fold(0.0, f64::max);
    let below: usize = series.iter().map(|s| s.below).sum();
    let mut notes = Vec::new();
    if setting.shades {
        let widest = brief(format!("{widest:.1e}").parse().unwrap_or(widest));
        notes.push(Swatch::None.means(format!("standard error at most {widest}")));
    } else if widest > 0.0 {
        notes.push(bars());
    }
    for owner in Owner::ALL {
        let own = series.iter().flat_map(|s| &s.others).filter(|(other, _)| *other == owner);
        if own.flat_map(|(_, spots)| spots).next().is_some() {
            notes.push(beside_legend(owner, RING, Pen::new(BLACK, 1.0)));
        }
    }
    if let Some(least) = setting.least.filter(|_| below > 0) {
        notes.push(Swatch::None.means(format!("not shown: {below} below {least}")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{drawn, experiment, lines_of, row};

    /// A row for each cell of an axis of numbers and an axis of lines.
    fn figure(name: &str, lines: usize, shades: bool) -> String {
        let axis: Vec<String> = (1..=lines).map(|i| format!("{}.0", 4 * i)).collect();
        let grid = format!(
            "[grid]\n\"privacy.epsilon\" = [0.25, 0.5, 1.0]\n\"model.kernel.eq.lengthscale\" = [{}]\n",
            axis.join(", ")
        );
        let settings = "metric = \"rmse\"\nx = \"epsilon\"\nlines = \"lengthscale\"\nx_label = \"epsilon\"\n\
                        label = \"RMSE\"\nlog = true\n";
        let figure = format!("{grid}[figure.lines]\n{settings}shades = {shades}\n");
        let experiment = experiment(&["only"], &figure);
        let value = |cell: usize| 1.0 + (cell / lines) as f64 * 0.2 + (cell % lines) as f64 * 0.05;
        let rows =
            (0..experiment.cells.len()).map(|cell| row(cell, "rmse", value(cell), Some(0.02))).collect();
        drawn(name, &Report::new(&experiment, rows, Vec::new()))
    }

    /// Boards have more methods than there are colours, solid and dashed.
    #[test]
    fn many_lines_are_told_apart() {
        let pens: Vec<Pen> = (0..3 * COLOURS.len()).map(coloured).collect();
        for (place, one) in pens.iter().enumerate() {
            assert!(!pens[..place].contains(one), "{place}");
        }
    }

    #[test]
    fn many_lines_differ_in_colour_and_dashes_and_have_no_bars() {
        let svg = figure("lines-shades", 40, true);
        assert_eq!(lines_of(&svg, "#440154"), 2, "the first line and its sample, the darkest of viridis");
        assert!(svg.contains("lengthscale = 4\n") && svg.contains("standard error at most 0.02"));
        let texts = svg.matches("lengthscale = ").count();
        assert!((5..12).contains(&texts), "only some of them are named: {texts}");
    }

    #[test]
    fn few_lines_have_colours_bars_and_texts() {
        let svg = figure("lines", 3, false);
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 3, "a line, its sample, and a bar at each point");
        assert_eq!(svg.matches("lengthscale = ").count(), 3);
        assert!(svg.contains("bars: two standard errors"));
    }

    #[test]
    fn rows_without_privacy_stand_beyond_a_break() {
        let grid = "[grid]\n\"privacy.epsilon\" = [0.5, 1.0, inf]\n";
        let settings = "metric = \"rmse\"\nx = \"epsilon\"\nlines = \"method\"\nx_label = \"epsilon\"\n\
                        label = \"RMSE\"\nlog = true\n";
        let experiment = experiment(&["only"], &format!("{grid}[figure.lines]\n{settings}"));
        let rows = (0..3).map(|cell| row(cell, "rmse", 3.0 - cell as f64, Some(0.1))).collect();
        let svg = drawn("lines-infinity", &Report::new(&experiment, rows, Vec::new()));
        assert_eq!(lines_of(&svg, "#005FAA"), 1 + 1 + 3, "a line, its sample, and a bar at each point");
        assert_eq!(svg.matches("\ninf\n").count(), 1, "the last tick");
    }

    #[test]
    fn panels_of_numbers_are_named_by_their_axis() {
        let grid = "[grid]\n\"privacy.epsilon\" = [0.5, 1.0]\n\"model.kernel.eq.lengthscale\" = [1.0, 2.0]\n";
        let settings = "metric = \"rmse\"\nx = \"lengthscale\"\nlines = \"method\"\npanels = \"epsilon\"\n\
                        x_label = \"x\"\nlabel = \"y\"\n";
        let experiment = experiment(&["only"], &format!("{grid}[figure.lines]\n{settings}"));
        let half: Vec<usize> = (0..4).filter(|c| experiment.cells[*c].labels()[0] == "0.5").collect();
        let rows = half.into_iter().map(|cell| row(cell, "rmse", 1.0 + cell as f64, None)).collect();
        let svg = drawn("lines-panels", &Report::new(&experiment, rows, Vec::new()));
        assert!(
            svg.contains("epsilon = 0.5") && !svg.contains("epsilon = 1\n"),
            "a panel without lines is left out"
        );
    }
}
