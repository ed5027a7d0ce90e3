//! What can be summed over rows and released.

use serde_json::{Value, json};

use super::draw::{Noisy, SystemNoise};
use crate::setting::PrivacySetting;
use crate::stream::SumRows;
use crate::task::{Setting, TaskError};

/// A model whose sums over rows are released.
pub trait SumsModel {
    /// What is summed over the rows.
    type Rows: SumRows;

    /// What is summed over the rows.
    fn rows(&self) -> &Self::Rows;

    /// The settings of the task that the sums depend on, by name.
    fn depends_on(&self, setting: &Setting) -> Value;

    /// What there is to say of exact sums, to the holder of the rows.
    fn described(&self, sums: &SumsOf<Self>) -> HeldDescription;

    /// The file of a release, but for what is said of its guarantee. Everything in it that depends on rows is computed from
    /// the noisy sums.
    ///
    /// # Errors
    /// [`TaskError`] for a matrix that cannot be inverted.
    fn noisy(
        &self,
        setting: &Setting,
        privacy: &PrivacySetting,
        sums: &SumsOf<Self>,
        noise: &mut SystemNoise,
    ) -> Result<Noisy<Value>, TaskError>;
}

/// The sums of a model.
pub type SumsOf<M> = <<M as SumsModel>::Rows as SumRows>::Sum;

/// What there is to say of sums.
#[derive(Debug, Clone)]
pub struct SumsDescription {
    /// For programs.
    pub facts: Value,
    /// For people.
    pub text: String,
    /// The number of rows; none where it is not said.
    pub rows: Option<u64>,
    /// The number of inducing inputs, if there are any.
    pub inducing: Option<usize>,
}

/// The same with what only the holder of the rows may know.
#[derive(Debug, Clone)]
pub struct HeldDescription {
    /// Exact numbers that are as private as the rows, for programs.
    pub private: Value,
    /// The same for people.
    pub counts: String,
    /// The number of rows.
    pub rows: u64,
    /// What follows from the spec alone, for programs.
    pub public: Value,
    /// The same for people.
    pub text: String,
    /// The number of inducing inputs, if there are any.
    pub inducing: Option<usize>,
}

impl HeldDescription {
    /// What may be said to everybody.
    pub fn of_all(self) -> SumsDescription {
        let Self { public, text, inducing, .. } = self;
        SumsDescription { facts: public, text: format!("{text}\n"), rows: None, inducing }
    }

    /// What may be said to the holder.
    pub fn of_holder(self) -> SumsDescription {
        let Self { private, counts, rows, public, text, inducing } = self;
        let mut facts = json!({ "not_private": true });
        for (name, value) in [private, public].iter().filter_map(Value::as_object).flatten() {
            facts[name] = value.clone();
        }
        let text = format!("not private, for the holder of the rows alone: {counts}\n{text}\n");
        SumsDescription { facts, text, rows: Some(rows), inducing }
    }
}

/// A matrix, row by row.
pub(super) fn matrix_rows(matrix: &nalgebra::DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}
