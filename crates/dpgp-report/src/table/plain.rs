//! Plain aligned columns.

use comfy_table::presets::NOTHING;

use super::fitted::Fitted;
use dpgp_data::shown_line;

/// A table without lines, its columns aligned, fitted to the terminal where there is one.
pub fn plain_table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    plain_table_sparing(headings, rows, &[])
}

/// The same without columns of these headings, in this order, where all would not fit.
pub fn plain_table_sparing(
    headings: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    spare: &[&str],
) -> String {
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    // A line end in a name would look like a row of its own.
    let rows = rows.map(|row| row.iter().map(|cell| shown_line(cell).into_owned()).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    Fitted { headings: &headings, rows: &rows, style: NOTHING, bordered: false, spare }.text()
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
