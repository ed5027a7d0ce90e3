//! Columns that the path of a file names.

/// What stands in a path for a missing value.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// A column with one value in all rows of a file: `name=value`, a folder of its path.
///
/// ```
/// use dpgp_data::rows::Partition;
/// let month = Partition::of("month=06").map(|month| (month.name, month.value));
/// assert_eq!(month, Some(("month".to_owned(), Some("06".to_owned()))));
/// assert_eq!(Partition::of("at=12%3A30").and_then(|at| at.value).as_deref(), Some("12:30"));
/// assert_eq!(Partition::of("at=__HIVE_DEFAULT_PARTITION__").map(|at| at.value), Some(None));
/// assert_eq!(Partition::of("parts"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// The column.
    pub name: String,
    /// Its cell; none if it is missing.
    pub value: Option<String>,
}

impl Partition {
    /// What a folder of this name says, if it says anything. A byte may be written as `%` and two hexadecimal digits.
    pub fn of(folder: &str) -> Option<Self> {
        let (name, value) = folder.split_once('=')?;
        let (name, value) = (decoded(name), decoded(value));
        let value = Some(value).filter(|value| !value.trim().is_empty() && value != MISSING);
        if name.is_empty() { None } else { Some(Self { name, value }) }
    }
}

/// The text that is written with some of its bytes as `%41`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| hex::decode(digits).ok());
        rest = if code.is_some() { &after[2..] } else { after };
        bytes.extend(code.unwrap_or_else(|| vec![*first]));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
