//! The lines of a figure in their panels: their points, pens and names.

use super::*;
use dpgp_spec::LinesFigure;

/// The lightest colour of many, as a part of the whole range: what is lighter cannot be seen on white.
const LIGHTEST: f64 = 0.9;

/// The points of one label.
pub struct LineSeries {
    /// Its name; of a number, the value.
    pub name: String,
    pub pen: Pen,
    pub points: Vec<PlottedEstimate>,
    pub others: Vec<(ReferenceValueOwner, Vec<PlotPoint>)>,
    /// Points that lie below the axis.
    pub below: usize,
}

impl LineSeries {
    /// Its last point along the axis.
    pub fn last_point(&self) -> Option<PlotPoint> {
        self.points.iter().map(|point| point.at).max_by(|a, b| a.x.total_cmp(&b.x))
    }

    /// The least and the largest of its values above the upper end `most` of the axis, and whether all values lie above it.
    fn range_above(&self, most: f64) -> Option<([f64; 2], bool)> {
        let above = self.points.iter().map(|point| point.at.y).filter(|y| *y > most);
        let range = min_max(above.clone())?;
        Some((range, above.count() == self.points.len()))
    }
}

/// The lines of a panel.
pub struct LinesPanel {
    pub title: String,
    pub series: Vec<LineSeries>,
}

impl LinesPanel {
    /// The lines that leave the panel at its upper end, and how far they go.
    pub fn overflow_note(&self, most: Option<f64>) -> String {
        let Some(most) = most else { return String::new() };
        let leaving = self.series.iter().filter_map(|series| Some((&series.name, series.range_above(most)?)));
        let named: Vec<String> = leaving
            .map(|(name, ([least, largest], all))| match (format_two_digits(least), format_two_digits(largest)) {
                (least, largest) if all && least != largest => format!("{name} ({least} to {largest})"),
                (_, largest) if all => format!("{name} ({largest})"),
                (_, largest) => format!("{name} (up to {largest})"),
            })
            .collect();
        if named.is_empty() {
            String::new()
        } else {
            format!("Above {}: {}", format_four_digits_trimmed(most), named.join(", "))
        }
    }
}

/// Two significant digits.
fn format_two_digits(value: f64) -> String {
    format_four_digits_trimmed(format!("{value:.1e}").parse().unwrap_or(value))
}

/// The rows of a figure of lines, and its axes.
struct LineRows<'a> {
    setting: &'a LinesFigure,
    report: &'a Report<'a>,
    x: usize,
    line: usize,
    rows: Vec<&'a ReportRow>,
    /// The labels that have lines, with their names and pens.
    labels: Vec<(&'a str, String, Pen)>,
}

/// The panels that have lines; none if the setting names an axis that is not there.
pub fn panels(setting: &LinesFigure, report: &Report<'_>) -> Vec<LinesPanel> {
    let (Some(x), Some(line)) = (report.axis_index(&setting.x), report.axis_index(&setting.lines)) else {
        return Vec::new();
    };
    let rows = report.rows.iter().filter(|row| row.row.metric == setting.metric).collect();
    let rows = LineRows { setting, report, x, line, rows, labels: line_labels(setting, report, line) };
    let axis = setting.panels.as_deref().and_then(|name| report.axis_index(name));
    let of_axis: Vec<Option<&str>> = match axis {
        Some(axis) => report.experiment.axes[axis].labels.iter().map(|label| Some(label.as_str())).collect(),
        None => vec![None],
    };
    let groups: Vec<Option<&str>> = match setting.groups.as_slice() {
        [] => vec![None],
        groups => groups.iter().map(|group| Some(group.prefix.as_str())).collect(),
    };
    let panels = of_axis.into_iter().flat_map(|label| groups.iter().map(move |group| (label, *group)));
    let panels = panels.map(|(label, group)| rows.panel(axis.zip(label), group));
    panels.filter(|panel| !panel.series.is_empty()).collect()
}

/// The labels that have lines. The one that all are divided by is a level.
fn line_labels<'a>(setting: &LinesFigure, report: &'a Report<'_>, line: usize) -> Vec<(&'a str, String, Pen)> {
    let labels = report.experiment.axes[line].labels.iter().map(String::as_str);
    let labels: Vec<&str> = labels.filter(|label| setting.relative.as_deref() != Some(*label)).collect();
    let bare = |label: &'a str| {
        let prefix = setting.group(label).map_or("", |group| &group.prefix);
        label.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(label)
    };
    let pens = match setting.families {
        true => pens_by_first_word(labels.iter().map(|label| bare(label))),
        false => {
            (0..labels.len()).map(|i| pen(setting, position_in_group(setting, &labels, i), labels.len())).collect()
        }
    };
    let names = labels.iter().map(|label| match report.display_label(line, label) {
        name if name == *label => bare(label).to_owned(),
        name => name,
    });
    labels.iter().copied().zip(names).zip(pens).map(|((label, name), pen)| (label, name, pen)).collect()
}

/// The place of a label in its group, or among all without groups.
fn position_in_group(setting: &LinesFigure, labels: &[&str], label: usize) -> usize {
    let group = |label: &str| setting.group(label).map(|group| group.prefix.as_str());
    let before = labels.iter().take(label);
    before.filter(|other| labels.get(label).is_some_and(|own| group(own) == group(other))).count()
}

impl LineRows<'_> {
    /// The panel of a label of an axis, and of the lines that begin with a prefix.
    fn panel(&self, of: Option<(usize, &str)>, group: Option<&str>) -> LinesPanel {
        let (line, prefix) = (self.line, group.unwrap_or_default());
        let here = |row: &&&ReportRow| of.is_none_or(|(axis, label)| row.labels[axis] == label);
        let all = self.labels.iter().filter(|(label, ..)| label.starts_with(prefix));
        let series = all.map(|(label, name, pen)| {
            let own = self.rows.iter().filter(here).filter(|row| row.labels[line] == *label);
            self.series(own.copied().collect(), name, *pen)
        });
        let titles = [
            of.map(|(axis, label)| self.report.display_label_with_axis(axis, label)),
            self.setting.groups.iter().find(|one| Some(one.prefix.as_str()) == group).map(|one| one.title.clone()),
        ];
        let title = titles.into_iter().flatten().collect::<Vec<_>>().join(", ");
        LinesPanel { title, series: series.filter(|series| !series.points.is_empty()).collect() }
    }

    /// The line through some rows.
    fn series(&self, rows: Vec<&ReportRow>, name: &str, pen: Pen) -> LineSeries {
        let least = self.setting.least;
        let is_shown = |value: f64| least.is_none_or(|least| value >= least);
        let measured = rows.iter().filter_map(|row| Some((*row, row.axis_value(self.x)?, self.divisor_for_row(row)?)));
        let measured: Vec<(&ReportRow, f64, f64)> = measured.collect();
        let estimates = measured.iter().map(|(row, x, unit)| PlottedEstimate::new(*x, row).divide_by(*unit));
        let (points, below): (Vec<PlottedEstimate>, Vec<PlottedEstimate>) =
            estimates.partition(|point| is_shown(point.at.y));
        let of_owner = |owner| {
            let spots = measured.iter().flat_map(|(row, _, unit)| {
                let spots = reference_points(&[row], self.x, owner).into_iter();
                spots.map(move |spot| PlotPoint::new(spot.x, spot.y / unit))
            });
            (owner, spots.filter(|spot| is_shown(spot.y)).collect())
        };
        let others = ReferenceValueOwner::ALL.map(of_owner).to_vec();
        LineSeries { name: name.to_owned(), pen, points, others, below: below.len() }
    }

    /// What the values of a row are divided by: one, or the value of the row that differs from it in the label of lines
    /// alone. None if there is no such value.
    fn divisor_for_row(&self, row: &ReportRow) -> Option<f64> {
        let Some(relative) = self.setting.relative.as_deref() else { return Some(1.0) };
        let is_unit = |other: &&&ReportRow| {
            let mut labels = other.labels.iter().zip(&row.labels).enumerate();
            labels.all(|(axis, (other, own))| if axis == self.line { other == relative } else { other == own })
        };
        let value = self.rows.iter().find(is_unit)?.row.value;
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

/// The pen of the line at a place among all.
fn pen(setting: &LinesFigure, place: usize, count: usize) -> Pen {
    if setting.shades {
        let colour = viridis(LIGHTEST * place as f64 / count.saturating_sub(1).max(1) as f64);
        return pen_with_dash_style(colour, place % 3);
    }
    palette_pen(place)
}

/// The pen of a place among the colours; each further round has other dashes.
fn palette_pen(place: usize) -> Pen {
    pen_with_dash_style(COLOURS[place % COLOURS.len()], place / COLOURS.len())
}

fn pen_with_dash_style(colour: Colour, round: usize) -> Pen {
    let pen = Pen::new(colour, 2.0);
    match round % 4 {
        0 => pen,
        1 => pen.dashed(),
        2 => pen.dotted(),
        _ => pen.long_dashed(),
    }
}

/// A colour for the names that begin with the same word, and in it other dashes for each.
fn pens_by_first_word<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Pen> {
    let mut families: Vec<(&str, usize)> = Vec::new();
    let mut pens = Vec::new();
    for name in names {
        let word = name.split('-').next().unwrap_or(name);
        let family = families.iter().position(|(known, _)| *known == word).unwrap_or_else(|| {
            families.push((word, 0));
            families.len() - 1
        });
        pens.push(pen_with_dash_style(COLOURS[family % COLOURS.len()], families[family].1));
        families[family].1 += 1;
    }
    pens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_are_told_apart() {
        let pens: Vec<Pen> = (0..4 * COLOURS.len()).map(palette_pen).collect();
        for (place, one) in pens.iter().enumerate() {
            assert!(!pens[..place].contains(one), "{place}");
        }
    }

    #[test]
    fn families_share_a_colour_and_differ_in_dashes() {
        let pens = pens_by_first_word(["mean", "risk", "bins", "risk-sparse", "risk-way"].into_iter());
        let colours: Vec<Colour> = pens.iter().map(|pen| pen.colour).collect();
        assert_eq!(colours, [0, 1, 2, 1, 1].map(|i| COLOURS[i]));
        assert_eq!(pens[3], pens[1].dashed());
        assert_eq!(pens[4], pens[1].dotted());
    }

    #[test]
    fn lines_that_leave_the_panel_are_named_with_their_reach() {
        let series = |name: &str, values: &[f64]| LineSeries {
            name: name.to_owned(),
            pen: palette_pen(0),
            points: values.iter().map(|y| PlottedEstimate { at: PlotPoint::new(1.0, *y), error: 0.0 }).collect(),
            others: Vec::new(),
            below: 0,
        };
        let series = vec![series("a", &[152.3, 2.434]), series("b", &[8.357, 0.9]), series("c", &[0.5])];
        let panel = LinesPanel { title: String::new(), series };
        assert_eq!(panel.overflow_note(Some(1.2)), "Above 1.2: a (2.4 to 150), b (up to 8.4)");
        assert_eq!([panel.overflow_note(None), panel.overflow_note(Some(1e3))], ["", ""]);
    }
}
