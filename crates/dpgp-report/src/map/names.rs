//! Names and cells of somebody else's file, as they are shown.

use dpgp_data::shown_line;
use dpgp_number::text::exact;

/// The most letters of a name in a picture.
const MOST: usize = 60;

/// A name in one line without hidden characters, cut where it is too long for a picture.
pub fn shown(name: &str) -> String {
    let name = shown_line(name);
    if name.chars().count() <= MOST {
        name.into_owned()
    } else {
        name.chars().take(MOST).chain(['…']).collect()
    }
}

/// A cell: numbers to seven digits.
pub fn shown_cell(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) => exact(format!("{number:.6e}").parse().unwrap_or(number)),
        Err(_) => shown(cell),
    }
}
