//! Plain aligned columns.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

/// A table without lines, its columns aligned, fitted to the terminal where there is one.
pub fn plain_table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings.iter().copied());
    rows.for_each(|row| {
        table.add_row(row);
    });
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
