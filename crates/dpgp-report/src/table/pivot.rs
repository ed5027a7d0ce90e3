//! A committed table with some axes as rows and others as columns, in the markup languages of papers.

use clap::ValueEnum;
use unicode_width::UnicodeWidthStr;

use super::constant::{SpreadDescription, SpreadForm, spread_kinds_legend};
use super::markdown::escape_markdown;
use super::terminal::{UNDEFINED, available_text_width, plain_table, with_spread, wrap_prose};
use crate::report::label_with_axis;
use crate::results::CommittedResults;
use dpgp_data::escape_csv_formula;
use dpgp_number::text::format_four_digits;
use dpgp_spec::{ExperimentAxis, SpreadKind, TableLayout};
use dpgp_task::Experiment;

/// Labels on some axes.
type PivotLabels = Vec<String>;

/// A table as text, cell by cell: the headings first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PivotTable {
    /// The labels on the axes that stand neither at the left nor at the top.
    pub title: String,
    /// The number of columns with labels.
    pub label_columns: usize,
    /// The headings, then the rows; all have the same number of cells.
    pub lines: Vec<Vec<String>>,
    /// The meaning of `±` for all tables, on the last one; empty on the others.
    pub legend: String,
}

impl PivotTable {
    /// The tables of a layout, one for each combination of labels on the axes that it does not name; rows of another metric
    /// are left out. A value has as many digits as its spread makes known: those of two digits of the spread.
    pub fn from_layout(
        experiment: &Experiment,
        committed: &CommittedResults,
        layout: &TableLayout,
        form: SpreadForm,
    ) -> Vec<Self> {
        let [left, top] = [&layout.rows, &layout.columns].map(|names| axes(experiment, names));
        let named_axis =
            |axis: &&ExperimentAxis| layout.rows.contains(&axis.name) || layout.columns.contains(&axis.name);
        let others: Vec<&ExperimentAxis> = experiment.axes.iter().filter(|axis| !named_axis(axis)).collect();
        let of_metric = committed.rows.iter().filter(|row| committed.field(row, "metric") == layout.metric);
        let source = PivotSource { committed, form, rows: of_metric.map(Vec::as_slice).collect() };
        let parts = source.distinct_labels(&others);
        let pivots =
            parts.iter().map(|part| source.select_rows(&others, part).pivot(&left, &top, heading(&others, part)));
        let mut pivots: Vec<Self> = pivots.collect();
        if let Some(last) = pivots.last_mut() {
            last.legend = source.legend();
        }
        pivots
    }
}

fn axes<'a>(experiment: &'a Experiment, names: &[String]) -> Vec<&'a ExperimentAxis> {
    names.iter().filter_map(|name| experiment.axes.iter().find(|axis| axis.name == *name)).collect()
}

fn heading(axes: &[&ExperimentAxis], labels: &PivotLabels) -> String {
    let parts = axes.iter().zip(labels).map(|(axis, label)| label_with_axis(axis, label));
    parts.collect::<Vec<_>>().join(", ")
}

/// Rows of one metric.
struct PivotSource<'a> {
    committed: &'a CommittedResults,
    form: SpreadForm,
    rows: Vec<&'a [String]>,
}

impl<'a> PivotSource<'a> {
    fn labels(&self, row: &[String], axes: &[&ExperimentAxis]) -> PivotLabels {
        axes.iter().map(|axis| self.committed.label(row, axis).to_owned()).collect()
    }

    /// The labels that rows have on some axes, in the order of the table.
    fn distinct_labels(&self, axes: &[&ExperimentAxis]) -> Vec<PivotLabels> {
        let mut all: Vec<PivotLabels> = Vec::new();
        for row in &self.rows {
            let own = self.labels(row, axes);
            if !all.contains(&own) {
                all.push(own);
            }
        }
        all
    }

    /// The rows with these labels.
    fn select_rows(&self, axes: &[&ExperimentAxis], labels: &PivotLabels) -> PivotSource<'a> {
        let own = self.rows.iter().copied().filter(|row| self.labels(row, axes) == *labels);
        PivotSource { committed: self.committed, form: self.form, rows: own.collect() }
    }

    fn pivot(&self, left: &[&ExperimentAxis], top: &[&ExperimentAxis], title: String) -> PivotTable {
        let columns = self.distinct_labels(top);
        let names = left.iter().map(|axis| axis.name.clone());
        let mut lines = vec![names.chain(columns.iter().map(|labels| heading(top, labels))).collect()];
        for labels in self.distinct_labels(left) {
            let line = self.select_rows(left, &labels);
            let cells: Vec<String> =
                columns.iter().map(|column| line.select_rows(top, column).format_first_row_value()).collect();
            lines.push(labels.into_iter().chain(cells).collect());
        }
        PivotTable { title, label_columns: left.len(), lines, legend: String::new() }
    }

    /// The meaning of the spreads; empty if there are none.
    fn legend(&self) -> String {
        let spreads = self.rows.iter().filter_map(|row| self.spread(row)).map(|(_, description)| description);
        spread_kinds_legend(&spreads.collect::<Vec<_>>(), self.form)
    }

    /// The number after `±` and what it is.
    fn spread(&self, row: &[String]) -> Option<(f64, SpreadDescription)> {
        let kind = SpreadKind::from_name(self.committed.field(row, "spread_kind"))?;
        let spread = self.committed.field(row, "spread").parse::<f64>().ok()?;
        let repeats = self.committed.field(row, "repeats").parse().ok()?;
        let shown = self.form.convert(spread, kind, repeats);
        (spread > 0.0 && kind != SpreadKind::None).then_some((shown, SpreadDescription { kind, repeats }))
    }

    /// The content of the first row; empty without one.
    fn format_first_row_value(&self) -> String {
        let Some(row) = self.rows.first() else { return String::new() };
        let value = self.committed.field(row, "value").parse().ok();
        let spread = self.spread(row).map(|(spread, _)| spread);
        value.map_or_else(|| UNDEFINED.to_owned(), |value| format_value(value, spread))
    }
}

/// Decimals after which a number is read no more: what is so small is written with a power of ten.
const MOST_DECIMALS: usize = 9;

/// A value with the digits that two digits of its spread make known; without a spread, four digits.
fn format_value(value: f64, spread: Option<f64>) -> String {
    match spread {
        Some(spread) if spread > 0.0 && spread.is_finite() && value.is_finite() => {
            // The second digit of the spread; rounding up to the next power of ten moves it by one place.
            let rounded: f64 = format!("{spread:.1e}").parse().unwrap_or(spread);
            let digits = (1.0 - rounded.log10().floor()).max(0.0) as usize;
            if digits > MOST_DECIMALS {
                return with_spread(format_four_digits(value), Some(format_four_digits(spread)));
            }
            with_spread(format!("{value:.digits$}"), Some(format!("{spread:.digits$}")))
        }
        _ => format_four_digits(value),
    }
}

/// The language of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableOutputFormat {
    /// Columns, for a terminal.
    Text,
    /// Markdown.
    Md,
    /// A LaTeX tabular.
    Latex,
    /// A Typst table.
    Typst,
    /// CSV.
    Csv,
}

impl TableOutputFormat {
    /// The table in this language; texts of users print as they are.
    pub fn render_pivot(self, pivot: &PivotTable) -> String {
        match self {
            Self::Text => text(pivot),
            Self::Md => markdown(pivot),
            Self::Latex => latex(pivot),
            Self::Typst => typst(pivot),
            Self::Csv => csv(pivot),
        }
    }
}

/// Plain text. Where the terminal is too narrow for the spreads, they are left out.
fn text(pivot: &PivotTable) -> String {
    let title = if pivot.title.is_empty() { String::new() } else { format!("{}\n", pivot.title) };
    let Some((headings, rows)) = pivot.lines.split_first() else { return title };
    let fits = available_text_width().is_none_or(|width| table_width(&pivot.lines) <= width);
    let without = |cell: &String| cell.split(" ± ").next().unwrap_or_default().to_owned();
    let rows = rows.iter().map(|row| if fits { row.clone() } else { row.iter().map(without).collect() });
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let legend = match (pivot.legend.is_empty(), fits) {
        (true, _) => String::new(),
        (false, true) => format!("{}\n", pivot.legend),
        (false, false) => "a wider terminal would show spreads; `--as csv` always prints them\n".to_owned(),
    };
    format!("{}{}{}", wrap_prose(&title), plain_table(&headings, rows), wrap_prose(&legend))
}

/// The width of a table whose cells do not wrap.
fn table_width(lines: &[Vec<String>]) -> usize {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.width()).max();
    (0..columns).map(|column| width(column).unwrap_or(0) + 2).sum()
}

fn markdown(pivot: &PivotTable) -> String {
    let mut text =
        if pivot.title.is_empty() { String::new() } else { format!("{}:\n\n", escape_markdown(&pivot.title)) };
    for (i, line) in pivot.lines.iter().enumerate() {
        let cells: Vec<String> = line.iter().map(|cell| escape_markdown(cell).replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if i == 0 {
            let marks: Vec<&str> =
                (0..line.len()).map(|i| if i < pivot.label_columns { "---" } else { "--:" }).collect();
            text.push_str(&format!("|{}|\n", marks.join("|")));
        }
    }
    if !pivot.legend.is_empty() {
        text.push_str(&format!("\n{}\n", escape_markdown(&pivot.legend)));
    }
    text
}

/// A tabular with rules, which needs no package.
fn latex(pivot: &PivotTable) -> String {
    let columns = pivot.lines.first().map_or(0, Vec::len);
    let aligned: String = (0..columns).map(|i| if i < pivot.label_columns { 'l' } else { 'r' }).collect();
    let mut text = String::new();
    if !pivot.title.is_empty() {
        text.push_str(&format!("% {}\n", pivot.title.replace(['\n', '\r'], " ")));
    }
    text.push_str(&format!("\\begin{{tabular}}{{{aligned}}}\n\\hline\n"));
    for (i, line) in pivot.lines.iter().enumerate() {
        let cells: Vec<String> = line.iter().map(|cell| escape_latex(cell)).collect();
        text.push_str(&format!("{} \\\\\n", cells.join(" & ")));
        if i == 0 {
            text.push_str("\\hline\n");
        }
    }
    text.push_str("\\hline\n");
    if !pivot.legend.is_empty() {
        let legend = escape_latex(&pivot.legend);
        text.push_str(&format!("\\multicolumn{{{columns}}}{{l}}{{\\footnotesize {legend}}} \\\\\n"));
    }
    text.push_str("\\end{tabular}\n");
    text
}

/// A text that LaTeX prints as it is.
fn escape_latex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '±' => escaped.push_str("$\\pm$"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn typst(pivot: &PivotTable) -> String {
    let columns = pivot.lines.first().map_or(0, Vec::len);
    let aligned: Vec<&str> = (0..columns).map(|i| if i < pivot.label_columns { "left" } else { "right" }).collect();
    let mut text = String::new();
    if !pivot.title.is_empty() {
        text.push_str(&format!("// {}\n", pivot.title.replace(['\n', '\r'], " ")));
    }
    text.push_str(&format!("#table(\n  columns: {columns},\n  align: ({},),\n", aligned.join(", ")));
    for (i, line) in pivot.lines.iter().enumerate() {
        // A string prints as it is; only quotes and backslashes have a meaning in it.
        let cells: Vec<String> = line.iter().map(|cell| typst_string(cell)).collect();
        let cells = cells.join(", ");
        text.push_str(&if i == 0 { format!("  table.header({cells}),\n") } else { format!("  {cells},\n") });
    }
    text.push_str(")\n");
    if !pivot.legend.is_empty() {
        text.push_str(&format!("#text(size: 0.8em, {})\n", typst_string(&pivot.legend)));
    }
    text
}

fn typst_string(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

fn csv(pivot: &PivotTable) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in &pivot.lines {
        let titled = [pivot.title.as_str()].into_iter().chain(line.iter().map(String::as_str));
        let cells: Vec<String> = titled.map(|cell| escape_csv_formula(cell).into_owned()).collect();
        // Writing to memory does not fail, and all lines have the same number of cells.
        let _ = writer.write_record(&cells);
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_their_spread_makes_known() {
        assert_eq!(format_value(12.3456, Some(0.0234)), "12.346 ± 0.023");
        assert_eq!(format_value(12.3456, Some(0.0999)), "12.35 ± 0.10");
        assert_eq!(format_value(217_813.4, Some(4645.2)), "217813 ± 4645");
        assert_eq!(format_value(1.0, Some(0.0)), "1.000");
        assert_eq!(format_value(0.5, None), "0.5000");
        assert_eq!(format_value(0.5, Some(1e-8)), "0.500000000 ± 0.000000010");
        assert_eq!(format_value(-5e-17, Some(1.25e-16)), "-5.00e-17 ± 1.25e-16");
    }
}

#[cfg(test)]
mod languages_tests {
    use super::*;

    fn pivot() -> PivotTable {
        let lines = [["a_b", "x = 1"], ["50% & <b>|", "1.0 ± 0.1"]];
        PivotTable {
            title: "t".to_owned(),
            label_columns: 1,
            lines: lines.map(|line| line.map(str::to_owned).to_vec()).to_vec(),
            legend: "±: one standard deviation over 5 folds".to_owned(),
        }
    }

    #[test]
    fn texts_of_users_print_as_they_are() {
        let latex = TableOutputFormat::Latex.render_pivot(&pivot());
        assert!(latex.contains("\\begin{tabular}{lr}") && latex.contains("a\\_b & x = 1 \\\\"), "{latex}");
        assert!(latex.contains("50\\% \\& <b>| & 1.0 $\\pm$ 0.1 \\\\"), "{latex}");
        let typst = TableOutputFormat::Typst.render_pivot(&pivot());
        assert!(typst.contains("table.header(\"a_b\", \"x = 1\")") && typst.contains("\"50% & <b>|\""), "{typst}");
        assert_eq!(typst_string("a\"\\\n"), "\"a\\\"\\\\ \"");
        let markdown = TableOutputFormat::Md.render_pivot(&pivot());
        assert!(markdown.contains("|---|--:|") && !markdown.contains("<b>|"), "{markdown}");
        let legend = "one standard deviation over 5 folds";
        let below = format!("\\multicolumn{{2}}{{l}}{{\\footnotesize $\\pm$: {legend}}} \\\\\n\\end{{tabular}}\n");
        assert!(latex.ends_with(&below), "{latex}");
        assert!(typst.ends_with(&format!("\n)\n#text(size: 0.8em, \"±: {legend}\")\n")), "{typst}");
        assert!(markdown.ends_with(&format!("|\n\n±: {legend}\n")), "{markdown}");
        assert!(TableOutputFormat::Text.render_pivot(&pivot()).ends_with(&format!("\n±: {legend}\n")));
        assert_eq!(TableOutputFormat::Csv.render_pivot(&pivot()), "t,a_b,x = 1\nt,50% & <b>|,1.0 ± 0.1\n");
    }
}
