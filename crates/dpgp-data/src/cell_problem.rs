//! What can be wrong with a cell.

/// Why a cell is no finite number. What stands in it is not told: messages end up in logs, and the rows may be private.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CellProblem {
    /// Nothing stands in it.
    #[error("the cell is empty, where a number was expected")]
    Missing,
    /// It holds a word, or a number, that stands for nothing.
    #[error("the cell is NA, NaN or null, where a number was expected")]
    Absent,
    /// No person stands in it.
    #[error("the cell is empty, NA, NaN or null, where a person was expected")]
    NoPerson,
    /// It holds something else.
    #[error("the cell is not a number")]
    NotANumber,
    /// It holds something else than a time.
    #[error("the cell is not a time; use 2016-06-01 00:00:37 or 6/1/2016 00:00:37, month first")]
    NotATime,
    /// It holds an infinity, or what is no number by name, or one beyond the range of 64-bit floating point.
    #[error("the cell is not a finite number")]
    NotFinite,
    /// It holds a word that the list of codes lacks.
    #[error("the cell is none of the codes {}", .0.join(", "))]
    NoCode(Vec<String>),
    /// It holds a key that a row above it holds too.
    #[error("the cell stands in a row above too, where every row needs a key of its own")]
    RepeatedKey,
    /// It has no target, whose row may not be left out.
    #[error(
        "the cell has no target. Inputs are public, and would tell that a row is left out for its target: data.missing leaves out rows without an input. Filter by a public column, or make whole records private"
    )]
    NoTarget,
    /// What a spec may leave out.
    #[error("{0}; a spec leaves such rows out by data.missing = \"drop\"")]
    Refused(Box<Self>),
}

impl CellProblem {
    /// Whether nothing stands in the cell.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing | Self::Absent | Self::NoPerson)
    }
}
