//! Tables in the markup languages of papers.

use clap::ValueEnum;
use unicode_width::UnicodeWidthStr;

use super::markdown::escape_markdown;
use super::pivot::PivotTable;
use super::terminal::wrap_prose;
use super::terminal::{plain_table, text_width};
use dpgp_data::csv_cell;

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
    pub fn write(self, pivot: &PivotTable) -> String {
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
    let fits = text_width().is_none_or(|width| table_width(&pivot.lines) <= width);
    let without = |cell: &String| cell.split(" ± ").next().unwrap_or_default().to_owned();
    let rows = rows.iter().map(|row| if fits { row.clone() } else { row.iter().map(without).collect() });
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let legend = match (pivot.legend.is_empty(), fits) {
        (true, _) => String::new(),
        (false, true) => format!("{}\n", pivot.legend),
        (false, false) => "a wider terminal shows spreads; `--as csv` prints them too\n".to_owned(),
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
        let cells: Vec<String> = line.iter().map(|cell| latex_text(cell)).collect();
        text.push_str(&format!("{} \\\\\n", cells.join(" & ")));
        if i == 0 {
            text.push_str("\\hline\n");
        }
    }
    text.push_str("\\hline\n");
    if !pivot.legend.is_empty() {
        let legend = latex_text(&pivot.legend);
        text.push_str(&format!("\\multicolumn{{{columns}}}{{l}}{{\\footnotesize {legend}}} \\\\\n"));
    }
    text.push_str("\\end{tabular}\n");
    text
}

/// A text that LaTeX prints as it is.
fn latex_text(text: &str) -> String {
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
        let cells: Vec<String> = titled.map(|cell| csv_cell(cell).into_owned()).collect();
        // Writing to memory does not fail, and all lines have the same number of cells.
        let _ = writer.write_record(&cells);
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
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
        let latex = TableOutputFormat::Latex.write(&pivot());
        assert!(latex.contains("\\begin{tabular}{lr}") && latex.contains("a\\_b & x = 1 \\\\"), "{latex}");
        assert!(latex.contains("50\\% \\& <b>| & 1.0 $\\pm$ 0.1 \\\\"), "{latex}");
        let typst = TableOutputFormat::Typst.write(&pivot());
        assert!(typst.contains("table.header(\"a_b\", \"x = 1\")") && typst.contains("\"50% & <b>|\""), "{typst}");
        assert_eq!(typst_string("a\"\\\n"), "\"a\\\"\\\\ \"");
        let markdown = TableOutputFormat::Md.write(&pivot());
        assert!(markdown.contains("|---|--:|") && !markdown.contains("<b>|"), "{markdown}");
        let legend = "one standard deviation over 5 folds";
        let below = format!("\\multicolumn{{2}}{{l}}{{\\footnotesize $\\pm$: {legend}}} \\\\\n\\end{{tabular}}\n");
        assert!(latex.ends_with(&below), "{latex}");
        assert!(typst.ends_with(&format!("\n)\n#text(size: 0.8em, \"±: {legend}\")\n")), "{typst}");
        assert!(markdown.ends_with(&format!("|\n\n±: {legend}\n")), "{markdown}");
        assert!(TableOutputFormat::Text.write(&pivot()).ends_with(&format!("\n±: {legend}\n")));
        assert_eq!(TableOutputFormat::Csv.write(&pivot()), "t,a_b,x = 1\nt,50% & <b>|,1.0 ± 0.1\n");
    }
}
