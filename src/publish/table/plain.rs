//! Plain aligned columns.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use terminal_size::{Width, terminal_size_of};

/// A table without lines, its columns aligned, fitted to the terminal where there is one.
pub fn plain_table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    fit(table.load_style(NOTHING));
    table.set_header(headings.iter().copied());
    rows.for_each(|row| {
        table.add_row(row);
    });
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Wraps the cells of a table where it is wider than the terminal.
pub(super) fn fit(table: &mut Table) {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some((Width(width), _)) = terminal_size_of(std::io::stdout()) {
        table.set_width(width);
    }
}
