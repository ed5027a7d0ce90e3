//! Plain aligned columns.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use terminal_size::{Width, terminal_size_of};

use crate::data::shown_line;

/// A table without lines, its columns aligned, fitted to the terminal where there is one.
pub fn plain_table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    fit(table.load_style(NOTHING));
    table.set_header(headings.iter().copied());
    rows.for_each(|row| {
        // A line end in a name would look like a row of its own.
        table.add_row(row.iter().map(|cell| shown_line(cell)));
    });
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Wraps the cells of a table where it is wider than the terminal.
pub(super) fn fit(table: &mut Table) {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // A terminal that does not know its width says 0.
    if let Some((Width(width @ 1..), _)) = terminal_size_of(std::io::stdout()) {
        table.set_width(width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_line() {
        let table = plain_table(&["name", "n"], [vec!["a\n99  b".to_owned(), "1".to_owned()]].into_iter());
        assert_eq!(table.lines().count(), 2);
        assert!(table.contains("a\\n99  b"), "{table}");
    }
}
