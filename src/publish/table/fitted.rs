//! Tables that fit a terminal without breaking a word.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle, Width};
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

/// Headings and cells, and how they are drawn.
pub(super) struct Fitted<'a> {
    pub headings: &'a [String],
    /// As many cells as headings in each row.
    pub rows: &'a [Vec<String>],
    /// The lines around cells, as a style of the table library.
    pub style: TableStyle,
    /// What these lines take of the width.
    pub lines: usize,
}

/// Blanks at the left and at the right of a cell.
const PADDING: usize = 2;

impl Fitted<'_> {
    /// For the terminal, if there is one; else as wide as it is.
    pub fn text(&self) -> String {
        let width = terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        // A terminal that does not know its width says 0.
        self.within(width.filter(|width| *width > 0))
    }

    /// Within so many columns: cells are wrapped between words; where even that is too wide, each row is a record of its own.
    fn within(&self, width: Option<usize>) -> String {
        let words: Vec<usize> = (0..self.headings.len()).map(|column| self.longest_word(column)).collect();
        let least: usize = words.iter().map(|word| word + PADDING).sum::<usize>() + self.lines;
        match width {
            Some(width) if least > width => self.records(width),
            _ => self.table(width, &words),
        }
    }

    fn table(&self, width: Option<usize>, words: &[usize]) -> String {
        let mut table = Table::new();
        table.load_style(self.style).set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = width {
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        table.set_header(self.headings).add_rows(self.rows);
        let least = words.iter().map(|word| u16::try_from(word + PADDING).unwrap_or(u16::MAX));
        table.set_constraints(least.map(|width| ColumnConstraint::LowerBoundary(Width::Fixed(width))));
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// `heading: cell` in lines, and a blank line between rows.
    fn records(&self, width: usize) -> String {
        let rows = self.rows.iter().map(|row| {
            let filled = self.headings.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            filled.map(|(heading, cell)| wrapped(heading, cell, width)).collect::<String>()
        });
        rows.collect::<Vec<String>>().join("\n")
    }

    fn longest_word(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).chain(self.headings.get(column));
        cells.flat_map(|cell| cell.split(' ')).map(UnicodeWidthStr::width).max().unwrap_or(0)
    }
}

/// A heading and its cell, wrapped between words; the lines after the first are indented.
fn wrapped(heading: &str, cell: &str, width: usize) -> String {
    let (mut text, mut at) = (String::new(), 0);
    if !heading.is_empty() {
        text.push_str(&format!("{heading}:"));
        at = heading.width() + 1;
    }
    for word in cell.split_whitespace() {
        if at > INDENT && at + 1 + word.width() > width {
            text.push_str(&format!("\n{}", " ".repeat(INDENT)));
            at = INDENT;
        } else if at > 0 {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += word.width();
    }
    text.push('\n');
    text
}

/// How far the lines after the first stand to the right.
const INDENT: usize = 2;

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
        let mut words: Vec<&str> =
            text.split(|c: char| c.is_whitespace() || "│┌┐└┘═╞╡─:".contains(c)).collect();
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
            for (style, lines) in [(NOTHING, 0), (UTF8_BORDERS_ONLY, 5)] {
                let fitted = Fitted { headings: &headings, rows: &cells, style, lines };
                let text = fitted.within(Some(width));
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
    fn a_narrow_terminal_shows_records() {
        let headings = texts(&["name", "claim"]);
        let rows = [texts(&["smith2021/table1", "sparse errs less than standard at epsilon"])];
        let fitted = Fitted { headings: &headings, rows: &rows, style: NOTHING, lines: 0 };
        assert_eq!(
            fitted.within(Some(24)),
            "name: smith2021/table1\nclaim: sparse errs less\n  than standard at\n  epsilon\n"
        );
        assert!(fitted.within(Some(40)).starts_with(" name "));
    }
}
