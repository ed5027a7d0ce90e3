//! What is said of sums, to everybody and to the holder of the rows.

use schemars::JsonSchema;
use serde::Serialize;

/// What there is to say of sums.
#[derive(Debug, Clone)]
pub struct SumsDescription {
    /// For programs.
    pub facts: SumsFacts,
    /// For people.
    pub text: String,
}

/// Numbers of sums.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SumsFacts {
    /// What only the holder of the rows may know; none where it is not said.
    #[serde(flatten)]
    pub private: Option<HeldFacts>,
    /// What follows from the spec alone.
    #[serde(flatten)]
    pub public: PublicFacts,
}

/// Exact numbers that are as private as the rows.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HeldFacts {
    /// Always true: it stands beside the numbers wherever they go.
    pub not_private: NotPrivate,
    /// The number of rows.
    pub rows: u64,
    /// How many were clipped to public bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped: Option<u64>,
    /// How many are of each class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<u64>>,
    /// How many records lie in the bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// How many lie in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<u64>,
}

/// The mark of numbers that are not private, `true`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct NotPrivate(bool);

impl Default for NotPrivate {
    fn default() -> Self {
        Self(true)
    }
}

/// What the spec of sums says of their size.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct PublicFacts {
    /// The number of inducing inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inducing_inputs: Option<usize>,
    /// The number of cells of the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<usize>,
    /// The number of bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<usize>,
}

/// The same with what only the holder of the rows may know.
#[derive(Debug, Clone)]
pub struct HeldDescription {
    /// Exact numbers that are as private as the rows, for programs.
    pub private: HeldFacts,
    /// The same for people.
    pub counts: String,
    /// What follows from the spec alone, for programs.
    pub public: PublicFacts,
    /// The same for people.
    pub text: String,
}

impl HeldDescription {
    /// What may be said to everybody.
    pub fn of_all(self) -> SumsDescription {
        let Self { public, text, .. } = self;
        SumsDescription { facts: SumsFacts { private: None, public }, text: format!("{text}\n") }
    }

    /// What may be said to the holder.
    pub fn of_holder(self) -> SumsDescription {
        let Self { private, counts, public, text } = self;
        let facts = SumsFacts { private: Some(private), public };
        let text = format!("not private, for the holder of the rows alone: {counts}\n{text}\n");
        SumsDescription { facts, text }
    }
}
