//! Texts of users as they are shown: what would steer a terminal, a page or a spreadsheet is made visible.

use std::borrow::Cow;

/// A message of several lines: every character that is not seen, but for ends of lines and tabs, is spelled out.
///
/// ```
/// use dpgp_data::{shown_line, shown_text};
///
/// assert_eq!(shown_text("a\u{1b}[2J\nb"), "a\\u{1b}[2J\nb");
/// assert_eq!(shown_line("a\nb"), "a\\nb");
/// ```
pub fn shown_text(text: &str) -> Cow<'_, str> {
    spelled(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// A name, which has one line.
pub fn shown_line(text: &str) -> Cow<'_, str> {
    spelled(text, is_hidden)
}

/// A text as a cell of CSV: one that a spreadsheet would take for a formula begins with an apostrophe. Numbers stay as they are.
///
/// ```
/// use dpgp_data::csv_cell;
///
/// assert_eq!(csv_cell("=1+1"), "'=1+1");
/// assert_eq!(csv_cell("\u{ff1d}1+1"), "'\u{ff1d}1+1");
/// assert_eq!(csv_cell("-1.5"), "-1.5");
/// ```
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    // Spreadsheets in East Asian settings take the wide forms of these signs for the narrow ones.
    let signs = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let is_formula = text.starts_with(signs) && text.parse::<f64>().is_err();
    if is_formula { format!("'{}", shown_line(text)).into() } else { shown_line(text) }
}

fn spelled(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_spelled(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.into()
}

/// Controls; ends of lines and turns of direction of Unicode; and what XML does not allow.
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{fffe}' | '\u{ffff}')
}
