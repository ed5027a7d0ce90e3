//! Tables that fit a terminal without breaking a word.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle, Width};
use unicode_width::UnicodeWidthStr;

use super::terminal::{INDENT, WordWrapper, available_text_width};

/// Headings and cells, and how they are drawn.
pub(super) struct WidthFittedTable<'a> {
    pub headings: &'a [String],
    /// As many cells as headings in each row.
    pub rows: &'a [Vec<String>],
    /// The lines around cells, as a style of the table library.
    pub style: TableStyle,
    /// Whether these lines take a column beside each cell.
    pub bordered: bool,
    /// Headings of columns that may be left out where they do not fit, in this order.
    pub spare: &'a [&'a str],
}

/// Blanks at the left and at the right of a cell.
const PADDING: usize = 2;

impl WidthFittedTable<'_> {
    /// The table, fitted to the available columns if they are limited.
    pub fn text(&self) -> String {
        self.fit_to_width(available_text_width())
    }

    /// Within so many columns, with each spread in one piece with its `±` where that fits.
    fn fit_to_width(&self, width: Option<usize>) -> String {
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| glue_spread(cell)).collect()).collect();
        let whole = WidthFittedTable { rows: &rows, ..*self };
        let words: Vec<usize> = (0..self.headings.len()).map(|column| whole.longest_word_width(column)).collect();
        let all: Vec<usize> = (0..self.headings.len()).collect();
        let fits = width.is_none_or(|width| whole.least_width(&all, &words) <= width);
        if fits { whole.wrap_to_width(width) } else { self.wrap_to_width(width) }
    }

    /// Within so many columns: cells are wrapped between words; where that is too wide, spare columns are left out, which is said
    /// below; where even that is too wide, each row is a record of its own.
    fn wrap_to_width(&self, width: Option<usize>) -> String {
        let words: Vec<usize> = (0..self.headings.len()).map(|column| self.longest_word_width(column)).collect();
        let Some(width) = width else { return self.render_table(None, &words) };
        let mut shown: Vec<usize> = (0..self.headings.len()).collect();
        let mut left_out = Vec::new();
        for name in self.spare {
            if self.least_width(&shown, &words) <= width {
                break;
            }
            if let Some(place) = shown.iter().position(|column| self.headings[*column] == *name) {
                shown.remove(place);
                left_out.push(*name);
            }
        }
        if self.least_width(&shown, &words) > width {
            return self.render_records(width);
        }
        if left_out.is_empty() {
            return self.render_table(Some(width), &words);
        }
        let note = format!("(left out at this width: {})", left_out.join(", "));
        let mut said = WordWrapper::default();
        note.split(' ').for_each(|word| said.push_word(word, width));
        format!("{}{}\n", self.render_columns(&shown, width), said.text)
    }

    /// The width that these columns need without breaking a word.
    fn least_width(&self, columns: &[usize], words: &[usize]) -> usize {
        let lines = if self.bordered { columns.len() + 1 } else { 0 };
        columns.iter().map(|column| words[*column] + PADDING).sum::<usize>() + lines
    }

    /// The table of these columns.
    fn render_columns(&self, columns: &[usize], width: usize) -> String {
        let headings: Vec<String> = columns.iter().map(|column| self.headings[*column].clone()).collect();
        let rows = self.rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect());
        let rows: Vec<Vec<String>> = rows.collect();
        let words: Vec<usize> = columns.iter().map(|column| self.longest_word_width(*column)).collect();
        WidthFittedTable { headings: &headings, rows: &rows, ..*self }.render_table(Some(width), &words)
    }

    fn render_table(&self, width: Option<usize>, words: &[usize]) -> String {
        let mut table = Table::new();
        table.load_style(self.style).set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = width {
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        table.set_header(self.headings).add_rows(self.rows);
        let least = words.iter().map(|word| u16::try_from(word + PADDING).unwrap_or(u16::MAX));
        table.set_constraints(least.map(|width| ColumnConstraint::LowerBoundary(Width::Fixed(width))));
        table.lines().map(|line| format!("{}\n", line.trim_end().replace(GLUE, " "))).collect()
    }

    /// `heading: cell` in lines, and a blank line between rows.
    fn render_records(&self, width: usize) -> String {
        let rows = self.rows.iter().map(|row| {
            let filled = self.headings.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            filled.map(|(heading, cell)| wrapped(heading, cell, width)).collect::<String>()
        });
        rows.collect::<Vec<String>>().join("\n")
    }

    fn longest_word_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).chain(self.headings.get(column));
        cells.flat_map(|cell| cell.split(' ')).map(UnicodeWidthStr::width).max().unwrap_or(0)
    }
}

/// A blank that no line is broken at.
const GLUE: char = '\u{a0}';

/// With `±` and the spread behind it in one piece.
fn glue_spread(cell: &str) -> String {
    cell.replace("± ", &format!("±{GLUE}"))
}

/// A heading and its cell, wrapped between words; the lines after the first are indented.
fn wrapped(heading: &str, cell: &str, width: usize) -> String {
    let heading = if heading.is_empty() { String::new() } else { format!("{heading}:") };
    let mut words = WordWrapper::from_text(heading, INDENT);
    cell.split_whitespace().for_each(|word| words.push_word(word, width));
    words.text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use comfy_table::presets::{NOTHING, UTF8_BORDERS_ONLY};
    use proptest::prelude::*;

    fn texts(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    /// Every word of every cell, in the order of the rows where they are records.
    fn words(text: &str) -> Vec<&str> {
        let mut words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "│┌┐└┘═╞╡─:".contains(c)).collect();
        words.retain(|word| !word.is_empty());
        words.sort_unstable();
        words
    }

    proptest! {
        #[test]
        fn no_width_breaks_a_word(
            cells in prop::collection::vec(prop::collection::vec("[a-z]{1,12}( [a-z]{1,9}){0,6}", 4), 1..5),
            width in 1usize..140,
        ) {
            let headings = texts(&["name", "published", "verdict", "other numbers"]);
            for (style, bordered) in [(NOTHING, false), (UTF8_BORDERS_ONLY, true)] {
                let fitted = WidthFittedTable { headings: &headings, rows: &cells, style, bordered, spare: &[] };
                let text = fitted.fit_to_width(Some(width));
                let found = words(&text);
                let all = cells.iter().flatten().flat_map(|cell| cell.split(' '));
                let mut all: Vec<&str> = all.collect();
                all.sort_unstable();
                // All words of the cells stand there whole; the rest are headings.
                let mut rest = found.iter();
                prop_assert!(all.iter().all(|word| rest.any(|other| other == word)), "{text}");
                // Nothing is wider than the terminal but a word or a heading that is.
                let longest = found.iter().map(|word| word.width()).max().unwrap_or(0);
                let most = width.max(longest + INDENT).max("other numbers:".len());
                prop_assert!(text.lines().all(|line| line.width() <= most), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_spread_stays_with_its_sign() {
        let headings = texts(&["method", "a long heading"]);
        let rows = [texts(&["constant", "241545 ± 13135"])];
        let fitted = WidthFittedTable { headings: &headings, rows: &rows, style: NOTHING, bordered: false, spare: &[] };
        let text = fitted.fit_to_width(Some(20));
        assert!(text.contains(" 241545\n") && text.contains(" ± 13135\n") && !text.contains(GLUE), "{text}");
        // Where no line holds them together, neither is broken.
        let rows = [texts(&["constant", "2 ± 1234567890"])];
        let fitted = WidthFittedTable { headings: &headings, rows: &rows, style: NOTHING, bordered: false, spare: &[] };
        assert!(fitted.fit_to_width(Some(22)).contains(" 2 ±\n"), "{}", fitted.fit_to_width(Some(22)));
    }

    #[test]
    fn a_narrow_terminal_shows_records() {
        let headings = texts(&["name", "claim"]);
        let rows = [texts(&["smith2021/table1", "sparse errs less than standard at epsilon"])];
        let fitted = WidthFittedTable { headings: &headings, rows: &rows, style: NOTHING, bordered: false, spare: &[] };
        assert_eq!(
            fitted.fit_to_width(Some(24)),
            "name: smith2021/table1\nclaim: sparse errs less\n  than standard at\n  epsilon\n"
        );
        assert!(fitted.fit_to_width(Some(40)).starts_with(" name "));
    }

    /// A column that is spare goes before the table does; without one that would do all of it stands in records.
    #[test]
    fn a_spare_column_is_left_out_before_the_table_is() {
        let headings = texts(&["name", "data", "cells"]);
        let rows = [texts(&["smith2021/table1", "howell1-in-all", "12"])];
        let fitted = WidthFittedTable {
            headings: &headings,
            rows: &rows,
            style: NOTHING,
            bordered: false,
            spare: &["nothing", "data"],
        };
        let narrow = fitted.fit_to_width(Some(30));
        assert_eq!(narrow, " name              cells\n smith2021/table1  12\n(left out at this width: data)\n");
        assert!(fitted.fit_to_width(Some(41)).contains("howell1-in-all"));
        assert!(fitted.fit_to_width(Some(20)).starts_with("name:\n  smith2021/table1\ndata:"));
    }
}
