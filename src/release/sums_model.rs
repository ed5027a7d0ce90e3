//! What can be summed over rows and released.

use serde_json::Value;

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
    fn described(&self, sums: &SumsOf<Self>) -> SumsDescription;

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

/// What there is to say of exact sums; as private as the rows.
#[derive(Debug, Clone)]
pub struct SumsDescription {
    /// For programs.
    pub facts: Value,
    /// For people.
    pub text: String,
    /// The number of rows.
    pub rows: u64,
    /// The number of inducing inputs, if there are any.
    pub inducing: Option<usize>,
}

/// A matrix, row by row.
pub(super) fn matrix_rows(matrix: &nalgebra::DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}
