//! Which rows of a table to keep.

use std::cmp::Ordering;

/// Keeps the rows whose cell in `column` compares so to `value`. A row whose cell is missing is never kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The column compared.
    pub column: String,
    /// How.
    pub is: Comparison,
    /// With what.
    pub value: FilterValue,
}

/// How a cell is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum Comparison {
    /// The cell equals the value.
    #[serde(rename = "==")]
    Equal,
    /// The cell differs from the value.
    #[serde(rename = "!=")]
    NotEqual,
    /// The cell is less than the value.
    #[serde(rename = "<")]
    Less,
    /// The cell is at most the value.
    #[serde(rename = "<=")]
    LessOrEqual,
    /// The cell is greater than the value.
    #[serde(rename = ">")]
    Greater,
    /// The cell is at least the value.
    #[serde(rename = ">=")]
    GreaterOrEqual,
}

/// What cells are compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterValue {
    /// A number: every cell that is not missing must be one too.
    Number(f64),
    /// A text, compared letter by letter (which puts ISO dates in order).
    Text(String),
}

impl Comparison {
    /// Whether a cell that stands so to the value passes.
    #[must_use]
    pub fn holds(self, cell_to_value: Option<Ordering>) -> bool {
        let Some(order) = cell_to_value else {
            return false;
        };
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
