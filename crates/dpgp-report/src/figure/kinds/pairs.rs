//! One family of metrics against another: a dot for each member, with lines to the numbers from other sources.

use super::*;
use dpgp_spec::PairsFigure;

const HEIGHT: f64 = 390.0;
const DOT: f64 = 3.0;
const RING: f64 = 4.5;
const OURS: Pen = Pen::new(COLOURS[0], 1.0);
const OTHERS: Pen = Pen::new(COLOURS[1], 1.0);
const APART: Pen = Pen::new(COLOURS[1].with_opacity(0.4), 0.75);

/// A member of both families in a cell.
struct MetricPair<'a> {
    x: &'a ReportRow,
    y: &'a ReportRow,
}

impl MetricPair<'_> {
    fn plot_point(&self) -> PlotPoint {
        PlotPoint::new(self.x.row.value, self.y.row.value)
    }

    /// Two standard errors on either side, across and upright.
    fn error_bars(&self) -> [Mark; 2] {
        let upright = PlottedEstimate::new(self.x.row.value, self.y).error_bar_ends();
        let across =
            PlottedEstimate::new(0.0, self.x).error_bar_ends().map(|end| PlotPoint::new(end.y, self.y.row.value));
        [across, upright].map(|ends| Mark::line(ends, OURS))
    }

    /// The place that one owner gives it; none unless both numbers are known.
    fn reference_point(&self, owner: ReferenceValueOwner) -> Option<PlotPoint> {
        let [x, y] = [self.x, self.y].map(|row| {
            row.reference_comparisons()
                .find(|judged| judged.counterpart.owner == owner)
                .map(|judged| judged.counterpart.value)
        });
        Some(PlotPoint::new(x?, y?))
    }

    fn marks(&self) -> Vec<Mark> {
        let mut marks = self.error_bars().to_vec();
        for owner in ReferenceValueOwner::ALL {
            let Some(spot) = self.reference_point(owner) else { continue };
            marks.push(Mark::line([self.plot_point(), spot], APART));
            marks.push(reference_mark(owner, vec![spot], RING, OTHERS));
        }
        marks.push(Mark::dots(&[self.plot_point()], DOT, OURS.colour));
        marks
    }
}

impl PictureBuilder for PairsFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let groups = group_cells_into_panels(report, self.panels.as_deref(), &[]);
        let panels: Vec<(String, Vec<MetricPair<'_>>)> =
            groups.into_iter().map(|group| (group.title.clone(), pair_metrics(self, report, &group))).collect();
        let all: Vec<&MetricPair<'_>> = panels.iter().flat_map(|(_, pairs)| pairs).collect();
        let spots: Vec<PlotPoint> = all.iter().flat_map(|pair| plotted_points(pair)).collect();
        let x = Scale::covering(false, spots.iter().map(|spot| spot.x));
        let y = Scale::covering(self.log_y, spots.iter().map(|spot| spot.y));
        let legend = legend(&all);
        let shown = panels.iter().filter(|(_, pairs)| !pairs.is_empty());
        let panels = shown.map(|(title, pairs)| {
            let (x, y) = (PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_grid_lines(y, &self.label));
            Panel::new(title, Plot::new(x, y, pairs.iter().flat_map(MetricPair::marks).collect()))
        });
        let panels = panels.collect();
        Ok(Picture { legend, layout: Layout::new(HEIGHT), panels }.with_panel_letters())
    }
}

/// The members that a cell has of both families, in the order of the first.
fn pair_metrics<'a>(setting: &PairsFigure, report: &'a Report<'_>, group: &PanelCells) -> Vec<MetricPair<'a>> {
    let rows: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.cell == group.first_cell()).collect();
    let mut pairs = Vec::new();
    for &x in &rows {
        let Some(name) = member_name(&x.row.metric, &setting.x) else { continue };
        let y = rows.iter().copied().find(|row| member_name(&row.row.metric, &setting.y) == Some(name));
        pairs.extend(y.map(|y| MetricPair { x, y }));
    }
    pairs
}

/// The part of a metric's name after the family.
fn member_name<'a>(metric: &'a str, family: &str) -> Option<&'a str> {
    metric.strip_prefix(family)?.strip_prefix('/')
}

/// The places of a member in our results and in others'.
fn plotted_points(pair: &MetricPair<'_>) -> Vec<PlotPoint> {
    ReferenceValueOwner::ALL
        .into_iter()
        .filter_map(|owner| pair.reference_point(owner))
        .chain([pair.plot_point()])
        .collect()
}

fn legend(pairs: &[&MetricPair<'_>]) -> Vec<LegendEntry> {
    let known = ReferenceValueOwner::ALL
        .into_iter()
        .filter(|owner| pairs.iter().any(|pair| pair.reference_point(*owner).is_some()));
    let others: Vec<LegendEntry> = known.map(|owner| reference_legend_entry(owner, RING, OTHERS)).collect();
    let apart = (!others.is_empty()).then(|| Swatch::Line(APART).with_meaning("from our number to theirs"));
    let ours = [Swatch::Disc(DOT, OURS.colour).with_meaning("ours"), error_bar_legend()];
    ours.into_iter().chain(others).chain(apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{count, drawn, experiment, lines_of, row, showing};

    const FIGURE: &str = "[pairs]\nx = \"probability\"\ny = \"rmse\"\nx_label = \"probability\"\n\
                          label = \"RMSE (cm)\"\nlog_y = true\n";

    #[test]
    fn each_member_of_both_families_has_a_dot() {
        let experiment = showing(&["text", "authors"], FIGURE);
        let value = |cell, metric, value| row(cell, metric, value, Some(value / 10.0));
        let mut rows = vec![value(0, "probability/only", 0.9), value(0, "rmse-worst/a", 1000.0)];
        for cell in 0..2 {
            rows.push(value(cell, "probability/a", 0.02));
            rows.push(value(cell, "probability/b", 0.01));
            rows.push(value(cell, "rmse/a", 15.0));
            rows.push(value(cell, "rmse/b", 700.0));
        }
        let svg = drawn("pairs", &Report::new(&experiment, rows, Vec::new()));
        assert_eq!(count(&svg, "circle"), 2 * 2 + 1, "two dots in each panel, and their sample");
        assert_eq!(lines_of(&svg, "#005FAA"), 2 * 2 * 2, "two bars at each");
        assert!(svg.contains("(B) authors") && !svg.contains("theirs"));
    }

    #[test]
    fn a_printed_pair_is_joined_to_ours() {
        let published = "[published.values]\nall = { metric = \"rmse\", precision = 0.01, source = \"Table\" }\n\
                         columns = [\"method\", \"value\"]\nrows = [[\"a\", 16.0], [\"b\", 12.0]]\n";
        // The rows of two cells stand for two metrics: the task of the experiment knows one.
        let experiment = experiment(&["a", "b"], published);
        let rows = vec![row(0, "rmse", 15.0, None), row(1, "rmse", 10.0, None)];
        let report = Report::new(&experiment, rows, Vec::new());
        let pair = MetricPair { x: &report.rows[0], y: &report.rows[1] };
        assert_eq!(
            (pair.plot_point(), pair.reference_point(ReferenceValueOwner::Paper)),
            (PlotPoint::new(15.0, 10.0), Some(PlotPoint::new(16.0, 12.0)))
        );
        assert_eq!((pair.reference_point(ReferenceValueOwner::Reference), pair.marks().len()), (None, 2 + 2 + 1));
        assert_eq!(legend(&[&pair]).len(), 2 + 1 + 1);
    }
}
