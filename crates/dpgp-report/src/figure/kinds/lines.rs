//! A metric along an axis of the grid: lines with error bars, in panels.

use super::line_series::{LineSeries, LinesPanel, panels};
use super::*;
use dpgp_spec::LinesFigure;

const HEIGHT: f64 = 390.0;
/// Radii of the points and of the rings around them, in pixels.
const DOT: f64 = 3.5;
const RING: f64 = 5.5;
/// The most shades that the legend names.
const SHADES: usize = 8;
const LEVEL: Pen = Pen::new(BLACK, 1.0).dashed();

impl PictureBuilder for LinesFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let lines = LinesFigureContent {
            setting: self,
            report,
            levels: baseline_levels(self, report),
            panels: panels(self, report),
        };
        let legend = lines.legend();
        Ok(Picture { legend, layout: Layout::new(HEIGHT), panels: lines.panels() })
    }
}

/// A horizontal line that is compared with.
struct BaselineLevel {
    name: String,
    value: f64,
}

/// The levels of the spec, and that of the values by which all are divided.
fn baseline_levels(setting: &LinesFigure, report: &Report<'_>) -> Vec<BaselineLevel> {
    let unit =
        setting.relative.iter().map(|label| BaselineLevel { name: report.display_name(label).to_owned(), value: 1.0 });
    let own = setting.levels.iter().map(|level| BaselineLevel { name: level.label.clone(), value: level.value });
    unit.chain(own).collect()
}

/// The lines of all panels.
struct LinesFigureContent<'a> {
    setting: &'a LinesFigure,
    report: &'a Report<'a>,
    levels: Vec<BaselineLevel>,
    panels: Vec<LinesPanel>,
}

impl LinesFigureContent<'_> {
    fn panels(&self) -> Vec<Panel> {
        let places: Vec<f64> = self.points().map(|point| point.at.x).collect();
        let (x, y) = (Scale::covering_with_infinity(self.setting.log, &places), self.y_scale());
        let last = places.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let panels = self.panels.iter().map(|panel| {
            let levels = self.levels.iter().map(|level| Mark::Across(level.value, LEVEL));
            let marks = levels.chain(panel.series.iter().flat_map(|series| self.marks(series))).collect();
            let infinity =
                self.report.axis_index(&self.setting.x).map_or("inf", |axis| self.report.infinity_name(axis));
            let sides = (
                PlotAxis::with_numbers(x, &self.setting.x_label).with_infinity_name(infinity),
                PlotAxis::with_grid_lines(y, &self.setting.label),
            );
            let (ends, note) = (self.line_end_labels(panel, last), panel.overflow_note(self.setting.most));
            Panel::new(&panel.title, Plot { ends, note, ..Plot::new(sides.0, sides.1, marks) })
        });
        panels.collect()
    }

    fn series(&self) -> impl Iterator<Item = &LineSeries> {
        self.panels.iter().flat_map(|panel| &panel.series)
    }

    fn points(&self) -> impl Iterator<Item = &PlottedEstimate> {
        self.series().flat_map(|series| &series.points)
    }

    /// From the least to the largest of all that is drawn.
    fn y_scale(&self) -> Scale {
        let LinesFigure { log_y, least, most, .. } = *self.setting;
        // On a logarithmic scale a bar that reaches zero is drawn to the edge.
        let ends =
            self.points().flat_map(|point| point.error_bar_ends().map(|end| end.y).into_iter().chain([point.at.y]));
        let levels = self.levels.iter().map(|level| level.value);
        let others = self.series().flat_map(|s| &s.others).flat_map(|(_, spots)| spots).map(|spot| spot.y);
        let values = ends.chain(levels).chain(others).filter(|value| *value > 0.0 || !log_y);
        Scale::covering(log_y, values).with_given_ends(least, most)
    }

    /// Whether names stand at the ends of lines: those of numbers stand in the legend, in their order.
    fn has_end_labels(&self) -> bool {
        let axis = self.report.axis_index(&self.setting.lines);
        !self.setting.shades && axis.is_some_and(|axis| !self.report.is_numeric(axis))
    }

    /// The names of the lines of a panel, and of the levels at the last place of the x axis.
    fn line_end_labels(&self, panel: &LinesPanel, last: f64) -> Vec<LineEndLabel> {
        if !self.has_end_labels() {
            return Vec::new();
        }
        let lines = panel.series.iter().filter_map(|series| {
            Some(LineEndLabel { text: series.name.clone(), at: series.last_point()?, pen: series.pen })
        });
        let levels = self.levels.iter().map(|level| LineEndLabel {
            text: level.name.clone(),
            at: PlotPoint::new(last, level.value),
            pen: LEVEL,
        });
        lines.chain(levels).collect()
    }

    fn marks(&self, series: &LineSeries) -> Vec<Mark> {
        let mut marks = vec![estimate_line(&series.points, series.pen)];
        if !self.setting.shades {
            marks = line_with_error_bars(&series.points, series.pen);
            let dots: Vec<PlotPoint> = series.points.iter().map(|point| point.at).collect();
            marks.push(Mark::dots(&dots, DOT, series.pen.colour));
        }
        let others = series.others.iter().filter(|(_, spots)| !spots.is_empty());
        let others =
            others.map(|(owner, spots)| reference_mark(*owner, spots.clone(), RING, series.pen.solid_hairline()));
        marks.extend(others);
        marks
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let names = if self.has_end_labels() { Vec::new() } else { self.line_and_level_legend() };
        names.into_iter().chain(self.note_legend()).collect()
    }

    /// The axis of lines, its values, and the levels.
    fn line_and_level_legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for one in self.series() {
            if entries.iter().all(|entry| entry.text != one.name) {
                entries.push(Swatch::Line(one.pen).with_meaning(&one.name));
            }
        }
        // Of many shades the first of each few are named, and the last.
        let every = if self.setting.shades { entries.len().div_ceil(SHADES).max(1) } else { 1 };
        let last = entries.len().saturating_sub(1);
        let kept = entries.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
        let axis = Swatch::None.with_meaning(format!("{}:", self.report.display_name(&self.setting.lines)));
        let levels = self.levels.iter().map(|level| Swatch::Line(LEVEL).with_meaning(&level.name));
        std::iter::once(axis).chain(kept.map(|(_, entry)| entry)).chain(levels).collect()
    }

    fn note_legend(&self) -> Vec<LegendEntry> {
        let widest = self.points().map(|point| point.error).fold(0.0, f64::max);
        let below: usize = self.series().map(|s| s.below).sum();
        let mut notes = Vec::new();
        if self.setting.shades {
            let widest = format_four_digits_trimmed(format!("{widest:.1e}").parse().unwrap_or(widest));
            notes.push(Swatch::None.with_meaning(format!("standard error at most {widest}")));
        } else if widest > 0.0 {
            notes.push(error_bar_legend());
        }
        for owner in ReferenceValueOwner::ALL {
            let own = self.series().flat_map(|s| &s.others).filter(|(other, _)| *other == owner);
            if own.flat_map(|(_, spots)| spots).next().is_some() {
                notes.push(reference_legend_entry(owner, RING, Pen::new(BLACK, 1.0)));
            }
        }
        if let Some(least) = self.setting.least.filter(|_| below > 0) {
            notes.push(Swatch::None.with_meaning(format!("not shown: {below} below {least}")));
        }
        if let Some(relative) = self.setting.relative.as_ref().filter(|_| self.panels.is_empty()) {
            notes.push(Swatch::None.with_meaning(format!("nothing to compare with: no values of {relative}")));
        }
        notes
    }
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
        let rows = (0..experiment.cells.len()).map(|cell| row(cell, "rmse", value(cell), Some(0.02))).collect();
        drawn(name, &Report::new(&experiment, rows, Vec::new()))
    }

    #[test]
    fn many_lines_differ_in_colour_and_dashes_and_have_no_bars() {
        let svg = figure("lines-shades", 40, true);
        assert_eq!(lines_of(&svg, "#440154"), 2, "the first line and its sample, the darkest of viridis");
        assert!(
            svg.contains("\nlengthscale:\n") && svg.contains("\n4\n") && svg.contains("standard error at most 0.02")
        );
        let named = (1..=40).filter(|i| svg.contains(&format!("\n{}\n", 4 * i))).count();
        assert!((5..12).contains(&named), "only some of them are named: {named}");
    }

    #[test]
    fn few_lines_have_colours_bars_and_texts() {
        let svg = figure("lines", 3, false);
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 3, "a line, its sample, and a bar at each point");
        assert!(["lengthscale:", "4", "8", "12"].iter().all(|text| svg.contains(&format!("\n{text}\n"))));
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
        assert_eq!(lines_of(&svg, "#005FAA"), 1 + 2 + 3, "a line, its sample and the way there, and three bars");
        assert_eq!(svg.matches("\nonly\n").count(), 1, "the name at its end");
        assert!(svg.contains("\nno\n") && svg.contains("\nprivacy\n") && !svg.contains("\ninf\n"), "the last tick");
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
        assert!(svg.contains("epsilon = 0.5") && !svg.contains("epsilon = 1\n"), "a panel without lines is left out");
    }

    /// Four methods at two epsilons: `constant` has 10 everywhere, and the others its half, its double, and 0.9 and 30 times it.
    #[test]
    fn groups_have_panels_with_values_in_units_of_another() {
        let grid = "[grid]\n\"privacy.epsilon\" = [0.5, 1.0]\n";
        let settings = "metric = \"rmse\"\nx = \"epsilon\"\nlines = \"method\"\nx_label = \"epsilon\"\nlabel = \"y\"\n\
                        least = 0.0\nmost = 1.2\nrelative = \"constant\"\n\
                        groups = [{ prefix = \"in-\", title = \"inside\" }, { prefix = \"out-\", title = \"outside\" }]\n";
        let labels = ["constant", "in-half", "in-double", "out-both"];
        let experiment = experiment(&labels, &format!("{grid}[figure.lines]\n{settings}"));
        let value = |cell: usize| {
            let labels = experiment.cells[cell].labels();
            match labels.iter().find(|label| labels_of(label)).map(String::as_str) {
                Some("in-half") => 5.0,
                Some("in-double") => 20.0,
                Some("out-both") => {
                    if labels.iter().any(|label| label == "1") {
                        9.0
                    } else {
                        300.0
                    }
                }
                _ => 10.0,
            }
        };
        let rows = (0..experiment.cells.len()).map(|cell| row(cell, "rmse", value(cell), None)).collect();
        let svg = drawn("lines-groups", &Report::new(&experiment, rows, Vec::new()));
        for text in ["inside", "outside", "half", "both", "Above 1.2: double (2)", "Above 1.2: both (up to 30)"] {
            assert_eq!(svg.matches(&format!("\n{text}\n")).count(), 1, "{text}");
        }
        assert_eq!(svg.matches("\nconstant\n").count(), 2, "a level in each panel");
        assert!(!svg.contains("\ndouble\n"), "it ends outside");
    }

    fn labels_of(label: &str) -> bool {
        label.parse::<f64>().is_err()
    }
}
