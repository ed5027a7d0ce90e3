//! A tile for each label of an axis and each metric of a family, coloured by the value.

use super::*;
use dpgp_spec::TilesFigure;

/// The height of a row of tiles, and of what stands around them.
const ROW: f64 = 44.0;
const AROUND: f64 = 96.0;

/// The tiles of all panels.
struct TilePanels<'a> {
    setting: &'a TilesFigure,
    report: &'a Report<'a>,
    /// The x axis and its labels.
    axis: usize,
    labels: &'a [String],
    /// The names in the family, the first lowest.
    names: Vec<&'a str>,
    rows: Vec<&'a ReportRow>,
    /// The least and the largest value.
    range: Option<[f64; 2]>,
}

impl PictureBuilder for TilesFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let Some(tiles) = TilePanels::new(self, report) else {
            return Ok(Picture { legend: Vec::new(), layout: Layout::new(AROUND), panels: Vec::new() });
        };
        let mut groups = group_cells_into_panels(report, self.panels.as_deref(), &[self.x.as_str()]);
        groups.retain(|group| tiles.rows.iter().any(|row| group.cells.contains(&row.row.cell)));
        let panels = groups.iter().map(|group| tiles.panel(group)).collect();
        let layout = Layout::new(AROUND + ROW * tiles.names.len() as f64);
        Ok(Picture { legend: tiles.legend(), layout, panels }.with_panel_letters())
    }
}

impl<'a> TilePanels<'a> {
    /// None if the setting names an axis that is not there.
    fn new(setting: &'a TilesFigure, report: &'a Report<'_>) -> Option<Self> {
        let axis = report.axis_index(&setting.x)?;
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        for row in &report.rows {
            let Some(name) = member_name(&row.row.metric, &setting.metric) else { continue };
            rows.push(row);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let range = min_max(rows.iter().map(|row: &&ReportRow| row.row.value));
        Some(Self { setting, report, axis, labels: &report.experiment.axes[axis].labels, names, rows, range })
    }

    fn panel(&self, group: &PanelCells) -> Panel {
        let rows = self.rows.iter().filter(|row| group.cells.contains(&row.row.cell));
        let marks = rows.filter_map(|row| self.tile(row)).flatten().collect();
        let names = self.names.iter().map(|name| (*name).to_owned()).collect();
        let x = self.labels.iter().map(|label| self.report.display_label(self.axis, label)).collect();
        let (x, y) = (x, PlotAxis::with_category_names(names, &self.setting.y_label));
        let plot = Plot::new(PlotAxis::with_category_names(x, &self.setting.x_label), y, marks);
        Panel::new(&group.title, Plot { backdrop: Backdrop::Framed, ..plot })
    }

    /// A tile with its value.
    fn tile(&self, row: &ReportRow) -> Option<[Mark; 2]> {
        let column = self.labels.iter().position(|label| *label == row.labels[self.axis])?;
        let name = member_name(&row.row.metric, &self.setting.metric)?;
        let line = self.names.iter().position(|known| *known == name)?;
        let corner = PlotPoint::new(column as f64, line as f64);
        let [least, most] = self.range?;
        let colour = ramp_colour(if most > least { (row.row.value - least) / (most - least) } else { 0.0 });
        let words = TextLabel {
            text: format_four_digits_trimmed(format!("{:.1e}", row.row.value).parse().unwrap_or(row.row.value)),
            at: corner.moved(0.5, 0.5),
            offset: PlotPoint::new(0.0, 0.0),
            anchor: TextAnchor::Middle,
            colour: colour.contrasting_colour(),
        };
        Some([Mark::Tile([corner, corner.moved(1.0, 1.0)], colour), Mark::Words(words)])
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let Some([least, most]) = self.range else { return Vec::new() };
        let [least, most] =
            [least, most].map(|end| format_four_digits_trimmed(format!("{end:.2e}").parse().unwrap_or(end)));
        vec![Swatch::Bar.with_meaning(format!("{}, {least} to {most}", self.setting.label))]
    }
}

/// The part of a metric's name after the family.
fn member_name<'a>(metric: &'a str, family: &str) -> Option<&'a str> {
    metric.strip_prefix(family)?.strip_prefix(['/', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{count, drawn, row, showing};

    #[test]
    fn each_label_and_metric_has_a_tile() {
        let figure = "[tiles]\nx = \"method\"\nmetric = \"probability\"\nx_label = \"method\"\n\
                      y_label = \"lengthscale (years)\"\nlabel = \"probability\"\n";
        let experiment = showing(&["a", "b", "c", "d"], figure);
        let mut rows = vec![row(0, "probability", 900.0, None), row(0, "probability-sd@1", 900.0, None)];
        for (cell, number) in (0..4).flat_map(|cell| [1, 5, 25, 125, 625].map(|number| (cell, number))) {
            rows.push(row(cell, &format!("probability@{number}"), f64::from(number) / 700.0, None));
        }
        let svg = drawn("tiles", &Report::new(&experiment, rows, Vec::new()));
        assert_eq!(count(&svg, "polygon"), 4 * 5);
        assert_eq!(svg.matches("\n625\n").count(), 1, "the tick of the last metric");
        assert!(!svg.contains("900"));
    }

    #[test]
    fn members_of_a_family() {
        let of = |metric| member_name(metric, "probability");
        assert_eq!(
            [of("probability@25"), of("probability/a"), of("probability"), of("probability-sd/a")],
            [Some("25"), Some("a"), None, None]
        );
    }
}
