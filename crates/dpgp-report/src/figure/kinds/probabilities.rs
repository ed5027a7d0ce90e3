//! Families of metrics along an axis of the grid: a line for each member of a family.

use super::*;
use dpgp_spec::ProbabilitiesFigure;

const HEIGHT: f64 = 300.0;
const MARK: f64 = 4.5;

/// A member of a family along the axis.
struct MetricMemberLine {
    /// The number after the family's name.
    number: f64,
    points: Vec<PlottedEstimate>,
    others: Vec<(ReferenceValueOwner, PlotPoint)>,
}

impl MetricMemberLine {
    /// Its line with bars, and the numbers of others.
    fn marks(&self, pen: Pen) -> Vec<Mark> {
        let mut marks = line_with_error_bars(&self.points, pen);
        for (owner, spot) in &self.others {
            marks.push(reference_mark(*owner, vec![*spot], MARK, pen.solid_hairline()));
        }
        marks
    }
}

/// A family in the cells that differ in the axis alone.
struct MetricFamilyLines<'a> {
    title: String,
    name: &'a str,
    /// Its place in the setting.
    place: usize,
    members: Vec<MetricMemberLine>,
}

impl MetricFamilyLines<'_> {
    fn members_with_pens(&self) -> impl Iterator<Item = (&MetricMemberLine, Pen)> {
        self.members.iter().enumerate().map(|(i, member)| (member, pen(self.place, i)))
    }
}

impl PictureBuilder for ProbabilitiesFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let layout = Layout::new(HEIGHT).with_columns(Some(self.metrics.len()));
        let Some(axis) = report.axis_index(&self.x) else {
            return Ok(Picture { legend: Vec::new(), layout, panels: Vec::new() });
        };
        let groups = group_cells_into_panels(report, None, &[self.x.as_str()]);
        let families: Vec<MetricFamilyLines<'_>> =
            groups.iter().flat_map(|group| metric_family_lines(self, report, axis, group)).collect();
        let points = families.iter().flat_map(|family| &family.members).flat_map(|member| &member.points);
        let x = Scale::covering(true, points.map(|point| point.at.x));
        let y = Scale::between(0.0, 1.0).with_default_margin();
        let panels = families.iter().map(|family| {
            let marks = family.members_with_pens().flat_map(|(member, pen)| member.marks(pen)).collect();
            Panel::new(
                &family.title,
                Plot::new(PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_grid_lines(y, &self.label), marks),
            )
        });
        let named = families.iter().take(self.metrics.len());
        let legend =
            named.flat_map(|family| legend(report, family)).chain([error_bar_legend()]).chain(owner_legend(&families));
        let legend = legend.collect();
        Ok(Picture { legend, layout, panels: panels.collect() }.with_panel_letters())
    }
}

/// The families of a group that have members.
fn metric_family_lines<'a>(
    setting: &'a ProbabilitiesFigure,
    report: &Report<'_>,
    axis: usize,
    group: &PanelCells,
) -> Vec<MetricFamilyLines<'a>> {
    let families = setting.metrics.iter().enumerate().map(|(place, name)| {
        let title = group.title_followed_by(report.display_name(name));
        MetricFamilyLines { title, name, place, members: member_lines(report, axis, group, name) }
    });
    families.filter(|family| !family.members.is_empty()).collect()
}

/// The members of a family at the places of the cells. A cell whose label is no positive finite number has none.
fn member_lines(report: &Report<'_>, axis: usize, group: &PanelCells, family: &str) -> Vec<MetricMemberLine> {
    let mut found: Vec<MetricMemberLine> = Vec::new();
    for &cell in &group.cells {
        let place = report.label(cell, axis).parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
        let Some(x) = place else { continue };
        for (member, row) in metric_family_estimates(report, cell, family) {
            let point = PlottedEstimate { at: PlotPoint::new(x, member.at.y), ..member };
            let others = row.reference_comparisons().map(|judged| (judged.counterpart.owner, judged.counterpart.value));
            let others: Vec<(ReferenceValueOwner, PlotPoint)> =
                others.map(|(owner, y)| (owner, PlotPoint::new(x, y))).collect();
            match found.iter_mut().find(|known| known.number == member.at.x) {
                Some(known) => {
                    known.points.push(point);
                    known.others.extend(others);
                }
                None => found.push(MetricMemberLine { number: member.at.x, points: vec![point], others }),
            }
        }
    }
    found
}

/// Pens that distinguish the members of a family even without colours.
fn pen(family: usize, member: usize) -> Pen {
    let pen = Pen::new(COLOURS[(3 * family + member) % COLOURS.len()], 2.0);
    match member % 3 {
        0 => pen,
        1 => pen.dashed(),
        _ => pen.dotted(),
    }
}

/// A family and the numbers of its members.
fn legend(report: &Report<'_>, family: &MetricFamilyLines<'_>) -> Vec<LegendEntry> {
    let members = family
        .members_with_pens()
        .map(|(member, pen)| Swatch::Line(pen).with_meaning(format_four_digits_trimmed(member.number)));
    let name = Swatch::None.with_meaning(format!("{}:", report.display_name(family.name)));
    std::iter::once(name).chain(members).collect()
}

/// The owners of numbers beside ours.
fn owner_legend(families: &[MetricFamilyLines<'_>]) -> Vec<LegendEntry> {
    let others: Vec<ReferenceValueOwner> = families
        .iter()
        .flat_map(|family| &family.members)
        .flat_map(|member| member.others.iter().map(|(owner, _)| *owner))
        .collect();
    let there = ReferenceValueOwner::ALL.into_iter().filter(|owner| others.contains(owner));
    there.map(|owner| reference_legend_entry(owner, MARK, Pen::new(BLACK, 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{drawn, lines_of, rows, showing};
    use crate::report::Report;

    const FIGURE: &str = "[probabilities]\nmetrics = [\"lengthscale\", \"noise-sd\"]\nx = \"method\"\n\
                          x_label = \"epsilon\"\nlabel = \"probability\"\n";

    #[test]
    fn a_panel_for_each_family_and_a_line_for_each_member() {
        let experiment = showing(&["1", "10", "inf"], FIGURE);
        let metrics = ["lengthscale/1", "lengthscale/3", "noise-sd/0.1", "both"];
        let values = rows(&experiment, &metrics, |cell, metric| 0.2 * (cell + metric) as f64);
        let svg = drawn("probabilities", &Report::new(&experiment, values, Vec::new()));
        // A solid line with two bars, and a sample; the label `inf` has no place on the axis.
        assert_eq!(lines_of(&svg, "#005FAA"), 1 + 2 + 1);
        for text in ["(A) lengthscale", "(B) noise-sd", "lengthscale:", "3", "noise-sd:", "0.1"] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text}");
        }
    }
}
