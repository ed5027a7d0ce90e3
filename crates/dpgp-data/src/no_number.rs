//! Explains to the holder of a file why a cell is not a number.

use std::fmt;

use super::missing::is_missing_word;

/// Kind of a cell that should be a number and is not. It never holds the cell itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberError {
    /// `1,5`.
    DecimalComma,
    /// `1,234`.
    Comma,
    /// `1,234.5`.
    Thousands,
    /// `1.234.567`.
    PointThousands,
    /// `$5`, `5 EUR`.
    Currency,
    /// `5 %`.
    Percent,
    /// `175.5 cm`.
    Unit,
    /// `N/A`, `-`, `?`.
    Nothing,
    /// `2020-01-31`, `12:30`.
    Time,
    /// Any other text.
    Text,
}

/// Words that programs and people write for nothing, beside those that a reader takes for it.
const NOTHING: [&str; 10] = ["N/A", "#N/A", "-", "--", "?", ".", "none", "nil", "missing", "n.a."];

/// Signs and codes of currencies.
const CURRENCIES: [&str; 12] =
    ["$", "\u{20ac}", "\u{a3}", "\u{a5}", "\u{20b9}", "EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK"];

impl NumberError {
    /// The reason why a cell is not a number; none if it is one, or if it is empty.
    pub(super) fn from_cell(cell: &str) -> Option<Self> {
        let text = cell.trim();
        if text.is_empty() || is_missing_word(text) || is_number(text) {
            return None;
        }
        Some(Self::from_text(text))
    }

    fn from_text(text: &str) -> Self {
        if NOTHING.iter().any(|word| word.eq_ignore_ascii_case(text)) {
            return Self::Nothing;
        }
        if let Some(commas) = classify_commas(text) {
            return commas;
        }
        if text.strip_suffix('%').is_some_and(is_number_allowing_commas) {
            return Self::Percent;
        }
        for sign in CURRENCIES {
            let rest = text.trim_start_matches('-').strip_prefix(sign).or_else(|| text.strip_suffix(sign));
            if rest.is_some_and(is_number_allowing_commas) {
                return Self::Currency;
            }
        }
        if has_points_in_thousands(text) {
            return Self::PointThousands;
        }
        if is_date_or_time(text) {
            return Self::Time;
        }
        let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.,".contains(c))).unwrap_or(text.len());
        let (number, word) = text.split_at(end);
        let is_word = word.trim_start().starts_with(|c: char| c.is_alphabetic() || "\u{b0}\u{b5}'\"".contains(c));
        if is_number_allowing_commas(number) && is_word { Self::Unit } else { Self::Text }
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// A number, or one with commas in it.
fn is_number_allowing_commas(text: &str) -> bool {
    is_number(text.trim()) || classify_commas(text.trim()).is_some()
}

/// Role of the commas in a number; none if it is not a number with commas.
fn classify_commas(text: &str) -> Option<NumberError> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    if !digits.contains(',') || !digits.bytes().all(|byte| byte.is_ascii_digit() || b",.".contains(&byte)) {
        return None;
    }
    let groups: Vec<&str> = whole.split(',').collect();
    let are_thousands = groups[1..].iter().all(|group| group.len() == 3) && !decimals.contains(',');
    match groups.len() {
        // `1,234` may be either.
        2 if are_thousands && digits == whole => Some(NumberError::Comma),
        2.. if are_thousands && is_number(&text.replace(',', "")) => Some(NumberError::Thousands),
        // Points may part thousands where a comma begins the decimals.
        _ => is_number(&text.replace('.', "").replace(',', ".")).then_some(NumberError::DecimalComma),
    }
}

/// Groups of three digits with points between, two at the least.
fn has_points_in_thousands(text: &str) -> bool {
    let mut groups = text.trim_start_matches(['-', '+']).split('.');
    let is_first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && is_digits(first));
    let rest: Vec<&str> = groups.collect();
    is_first && rest.len() >= 2 && rest.iter().all(|group| group.len() == 3 && is_digits(group))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits with the signs of dates and times between.
fn is_date_or_time(text: &str) -> bool {
    let signs = text.chars().filter(|c| "-/:.".contains(*c)).count();
    let others = text.chars().all(|c| c.is_ascii_digit() || "-/:.TZ+ ".contains(c));
    others && (signs >= 2 || text.contains(':')) && text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the name of a column is a number, of whatever form: then the file has no header, and the name is a cell.
pub fn is_numeric_name(name: &str) -> bool {
    let name = name.trim();
    // Percentages are names of quantiles, too.
    let is_amount = matches!(NumberError::from_cell(name), Some(NumberError::Currency | NumberError::PointThousands));
    is_number(name) || classify_commas(name).is_some() || is_amount
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DecimalComma => "a number with a decimal comma; use a point",
            Self::Comma => "a number with a comma; use a point for decimals, and no thousands separators",
            Self::Thousands => "a number with commas as thousands separators; remove them",
            Self::PointThousands => "a number with points as thousands separators; remove them",
            Self::Currency => "a number with a currency symbol; write digits alone, with a point for decimals",
            Self::Percent => "a number with a percent sign; remove the percent sign",
            Self::Unit => "a number followed by text, such as a unit; remove the text",
            Self::Nothing => {
                "an unknown code for a missing value; leave the cell empty, or use NA, NaN or \
             null"
            }
            Self::Time => "a date or a time; use a number of days, hours or seconds",
            Self::Text => "text, not a number",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_apart() {
        for (cell, cause) in [
            ("1,5", Some(NumberError::DecimalComma)),
            ("-24,92", Some(NumberError::DecimalComma)),
            ("1.234,5", Some(NumberError::DecimalComma)),
            ("1,234", Some(NumberError::Comma)),
            ("24,923", Some(NumberError::Comma)),
            (",5", Some(NumberError::DecimalComma)),
            ("1,234.5", Some(NumberError::Thousands)),
            ("1.234.567,8", Some(NumberError::DecimalComma)),
            ("1,234,567", Some(NumberError::Thousands)),
            ("1.234.567", Some(NumberError::PointThousands)),
            ("31.12.202", Some(NumberError::Time)),
            ("$1,234.50", Some(NumberError::Currency)),
            ("5 EUR", Some(NumberError::Currency)),
            ("-\u{20ac}5", Some(NumberError::Currency)),
            ("5 %", Some(NumberError::Percent)),
            ("175.5 cm", Some(NumberError::Unit)),
            ("3kg", Some(NumberError::Unit)),
            ("N/A", Some(NumberError::Nothing)),
            ("-", Some(NumberError::Nothing)),
            ("2020-01-31", Some(NumberError::Time)),
            ("31.12.2020", Some(NumberError::Time)),
            ("12:30", Some(NumberError::Time)),
            ("2016-06-01 00:00:37", Some(NumberError::Time)),
            ("Total", Some(NumberError::Text)),
            ("25|175", Some(NumberError::Text)),
            ("25-30", Some(NumberError::Text)),
            ("25 175", Some(NumberError::Text)),
            ("1,2,3", Some(NumberError::Text)),
            ("5\u{b0}", Some(NumberError::Unit)),
            (" 1.5e3 ", None),
            ("NA", None),
            ("", None),
        ] {
            assert_eq!(NumberError::from_cell(cell), cause, "{cell:?}");
        }
    }

    #[test]
    fn cells_are_no_names() {
        assert!(["1", "24,92", "1,234.5", " -3 ", "$52,503.13"].into_iter().all(is_numeric_name));
        assert!(!["age", "x1", "", "2020-01-31", "a,b", "25%", "share (%)", "USD"].into_iter().any(is_numeric_name));
    }
}
