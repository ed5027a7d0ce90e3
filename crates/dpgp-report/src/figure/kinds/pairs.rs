//! One family of metrics against another: a dot for each member, with lines to the numbers from other sources.

use super::super::prelude::*;
use dpgp_spec::PairsFigure;

const HEIGHT: f64 = 390.0;
const DOT: f64 = 3.0;
const RING: f64 = 4.5;
const OURS: Pen = Pen::new(COLOURS[0], 1.0);
const OTHERS: Pen = Pen::new(COLOURS[1], 1.0);
const APART: Pen = Pen::new(COLOURS[1].faint(0.4), 0.75);

/// A member of both families in a cell.
struct MemberPair<'a> {
    x: &'a ReportRow,
    y: &'a ReportRow,
}

impl MemberPair<'_> {
    fn at(&self) -> PlotPoint {
        PlotPoint::new(self.x.row.value, self.y.row.value)
    }

    /// Two standard errors on either side, across and upright.
    fn bars(&self) -> [Mark; 2] {
        let upright = Estimate::new(self.x.row.value, self.y).ends();
        let across = Estimate::new(0.0, self.x).ends().map(|end| PlotPoint::new(end.y, self.y.row.value));
        [across, upright].map(|ends| Mark::line(ends, OURS))
    }

    /// The place that one owner gives it; none unless both numbers are known.
    fn point_of(&self, owner: Owner) -> Option<PlotPoint> {
        let [x, y] = [self.x, self.y].map(|row| {
            row.beside()
                .find(|judged| judged.counterpart.owner == owner)
                .map(|judged| judged.counterpart.value)
        });
        Some(PlotPoint::new(x?, y?))
    }

    fn marks(&self) -> Vec<Mark> {
        let mut marks = self.bars().to_vec();
        for owner in Owner::ALL {
            let Some(spot) = self.point_of(owner) else { continue };
            marks.push(Mark::line([self.at(), spot], APART));
            marks.push(beside_mark(owner, vec![spot], RING, OTHERS));
        }
        marks.push(Mark::dots(&[self.at()], DOT, OURS.colour));
        marks
    }
}

impl Drawing for PairsFigure {
    fn picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let groups = groups(report, self.panels.as_deref(), &[]);
        let panels: Vec<(String, Vec<MemberPair<'_>>)> =
            groups.into_iter().map(|group| (group.title.clone(), pairs(self, report, &group))).collect();
        let all: Vec<&MemberPair<'_>> = panels.iter().flat_map(|(_, pairs)| pairs).collect();
        let spots: Vec<PlotPoint> = all.iter().flat_map(|pair| reached(pair)).collect();
        let x = Scale::covering(false, spots.iter().map(|spot| spot.x));
        let y = Scale::covering(self.log_y, spots.iter().map(|spot| spot.y));
        let legend = legend(&all);
        let shown = panels.iter().filter(|(_, pairs)| !pairs.is_empty());
        let panels = shown.map(|(title, pairs)| {
            let (x, y) = (Side::values(x, &self.x_label), Side::lines(y, &self.label));
            Panel::new(title, Plot::new(x, y, pairs.iter().flat_map(MemberPair::marks).collect()))
        });
        let panels = panels.collect();
        Ok(Picture { legend, layout: Layout::new(HEIGHT), panels }.lettered())
    }
}

/// The members that a cell has of both families, in the order of the first.
fn pairs<'a>(setting: &PairsFigure, report: &'a Report<'_>, group: &Group) -> Vec<MemberPair<'a>> {
    let rows: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.cell == group.cell()).collect();
    let mut pairs = Vec::new();
    for &x in &rows {
        let Some(name) = member(&x.row.metric, &setting.x) else { continue };
        let y = rows.iter().copied().find(|row| member(&row.row.metric, &setting.y) == Some(name));
        pairs.extend(y.map(|y| MemberPair { x, y }));
    }
    pairs
}

/// The part of a metric's name after the family.
fn member<'a>(metric: &'a str, family: &str) -> Option<&'a str> {
    metric.strip_prefix(family)?.strip_prefix('/')
}

/// The places of a member in our results and in others'.
fn reached(pair: &MemberPair<'_>) -> Vec<PlotPoint> {
    Owner::ALL.into_iter().filter_map(|owner| pair.point_of(owner)).chain([pair.at()]).collect()
}

fn legend(pairs: &[&MemberPair<'_>]) -> Vec<LegendEntry> {
    let known =
        Owner::ALL.into_iter().filter(|owner| pairs.iter().any(|pair| pair.point_of(*owner).is_some()));
    let others: Vec<LegendEntry> = known.map(|owner| beside_legend(owner, RING, OTHERS)).collect();
    let apart = (!others.is_empty()).then(|| Swatch::Line(APART).means("from our number to theirs"));
    let ours = [Swatch::Disc(DOT, OURS.colour).means("ours"), bars()];
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
        let pair = MemberPair { x: &report.rows[0], y: &report.rows[1] };
        assert_eq!(
            (pair.at(), pair.point_of(Owner::Paper)),
            (PlotPoint::new(15.0, 10.0), Some(PlotPoint::new(16.0, 12.0)))
        );
        assert_eq!((pair.point_of(Owner::Reference), pair.marks().len()), (None, 2 + 2 + 1));
        assert_eq!(legend(&[&pair]).len(), 2 + 1 + 1);
    }
}
