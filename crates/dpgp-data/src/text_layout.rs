//! How text files of rows are laid out.

use super::format::{CsvFormat, Separator};

/// What stands between two cells, and what the columns are called.
///
/// ```
/// use dpgp_data::TextLayout;
/// let named = TextLayout { separator: b';', columns: Some(vec!["age".to_owned(), "height".to_owned()]) };
/// assert!(!named.format().header && TextLayout::default().format().header);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLayout {
    /// One ASCII character between two cells.
    pub separator: u8,
    /// The names of the columns, in their order, of files without a header; none where the first line has them.
    pub columns: Option<Vec<String>>,
}

impl Default for TextLayout {
    /// Commas, and a header.
    fn default() -> Self {
        Self { separator: b',', columns: None }
    }
}

impl TextLayout {
    /// The format that says the same.
    #[must_use]
    pub fn format(&self) -> CsvFormat {
        CsvFormat {
            separator: Separator::Byte(self.separator),
            header: self.columns.is_none(),
            columns: self.columns.clone().unwrap_or_default(),
            ..CsvFormat::default()
        }
    }
}
