//! The interface of models whose sums over rows can be released: the sums, the released file, and the text
//! shown to the public and to the holder of the rows.

use std::path::Path;

use rand::Rng;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::certificate_file::sums_guarantee_limits;
use super::certificate_json::with_digest;
use super::draw::ReleaseGuarantee;
use super::new_file::OptionallySignedFile;
use super::{DrawnRelease, ReleaseError};
use dpgp_fs::SigningKey;
use dpgp_gp::variational::{IntegerSumUnits, NoisySufficientStatistics, SufficientStatistics};
use dpgp_mechanisms::PrivacySetting;
use dpgp_run::PROGRAM;
use dpgp_stream::{KernelSums, RowSummand};
use dpgp_task::{CellSetting, TaskError};

/// A model whose sums over rows are released.
pub trait SumsReleaseMethod: Clone {
    /// What is summed over the rows.
    type Rows: RowSummand;

    /// Returns the quantity that is summed over the rows.
    fn summand(&self) -> &Self::Rows;

    /// The same model without postprocessing of the noisy sums that takes time.
    #[must_use]
    fn without_postprocessing(&self) -> Self {
        self.clone()
    }

    /// The fields of the file that are noisy or follow from what is.
    const NOISY: &'static [&'static str];

    /// The independent noisy numbers of a file, and the standard deviation of the noise on each.
    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber>;

    /// The numbers of [`SumsReleaseMethod::noisy_numbers`] before noise, in the same order: what an attacker knows who knows the rows. Never
    /// shown.
    ///
    /// # Errors
    /// [`TaskError`] if no noise can be designed.
    fn exact_numbers(&self, privacy: &PrivacySetting, sums: &SumsOf<Self>) -> Result<Vec<f64>, TaskError>;

    /// The most extreme replacements of a record in a neighbour, with all columns that are read, in order.
    fn extreme_replacements(&self, record: &[f64]) -> Vec<Vec<f64>>;

    /// Whether a neighbour may lack a whole row: not where a row may stand for several records, of which one is
    /// protected.
    fn neighbour_may_lack_whole_row(&self) -> bool {
        true
    }

    /// The settings of the task that the sums depend on, by name.
    fn settings_of_sums(&self, setting: &CellSetting) -> Value;

    /// Describes exact sums to the holder of the rows.
    fn describe_sums(&self, sums: &SumsOf<Self>) -> DataHolderDescription;

    /// What a release guarantees, and the size of its noise.
    ///
    /// Obligation: it depends on the settings, and on the number of rows where that is public.
    ///
    /// # Errors
    /// [`TaskError`] if no noise can be designed.
    fn release_guarantee(&self, privacy: &PrivacySetting, sums: &SumsOf<Self>) -> Result<ReleaseGuarantee, TaskError>;

    /// The file of a release without the statement of its guarantee. Everything in it that depends on rows is computed
    /// from the noisy sums.
    ///
    /// # Errors
    /// [`TaskError`] for a matrix that cannot be inverted.
    fn draw_release(
        &self,
        setting: &CellSetting,
        privacy: &PrivacySetting,
        sums: &SumsOf<Self>,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError>;
}

/// A released number and the standard deviation of its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisyNumber {
    /// The number with its noise.
    pub number: f64,
    /// The standard deviation of the noise, as the file states it.
    pub sd: f64,
    /// The least value. After the noise is added, a lower number is raised to it.
    pub least: f64,
}

impl NoisyNumber {
    /// A number without a least value.
    pub fn new(number: f64, sd: f64) -> Self {
        Self { number, sd, least: f64::NEG_INFINITY }
    }

    /// Those of A and of the lower triangle of B, of the sums in a file.
    pub(super) fn from_sums_json(sums: &Value) -> Vec<Self> {
        let [sd_a, sd_b] = ["sd_a", "sd_b"].map(|name| number_or_infinity(&sums[name]));
        let mut found: Vec<Self> =
            list_elements(&sums["a"]).map(|value| Self::new(number_or_infinity(value), sd_a)).collect();
        for (i, row) in list_elements(&sums["b"]).enumerate() {
            for (j, value) in list_elements(row).take(i + 1).enumerate() {
                let sd = if i == j { sd_b } else { sd_b * std::f64::consts::FRAC_1_SQRT_2 };
                found.push(Self::new(number_or_infinity(value), sd));
            }
        }
        found
    }
}

/// A and the lower triangle of B without noise, in the order of [`NoisyNumber::from_sums_json`].
pub(super) fn flatten_exact_sums(sums: &KernelSums, units: IntegerSumUnits) -> Vec<f64> {
    let SufficientStatistics { a, b, .. } = sums.statistics(units);
    let mut numbers = a.as_slice().to_vec();
    for (i, row) in b.row_iter().enumerate() {
        numbers.extend(row.iter().take(i + 1));
    }
    numbers
}

/// A JSON number. Any other value counts as infinity, so that it lies far from every released number.
pub(super) fn number_or_infinity(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

/// The elements of a list; nothing of what is none.
pub(super) fn list_elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The sums of a model.
pub type SumsOf<M> = <<M as SumsReleaseMethod>::Rows as RowSummand>::Sum;

/// A matrix, row by row.
pub(super) fn matrix_rows(matrix: &nalgebra::DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

/// Sums or counts with noise, and what follows from them.
pub struct ReleasedSums {
    pub(super) value: Value,
}

impl DrawnRelease<ReleasedSums> {
    /// The release with its guarantee, as JSON.
    pub fn json(&self) -> Value {
        let (mut value, certificate) = (self.value().value.clone(), self.certificate());
        value["guarantee"] = json!({
            "text": certificate.to_string(), "epsilon": certificate.epsilon(), "delta": certificate.delta(),
            "delta_exact": certificate.delta_exact, "mu": self.gdp_mu(), "risk": self.risk_json(), "noise": self.noise_json(),
            "certificate": certificate, "warnings": self.warnings(), "program": PROGRAM,
        });
        value["release_id"] = json!(self.release_id());
        value["all_releases"] = json!(self.ledger_account_json());
        value["not_covered"] = json!(sums_guarantee_limits(&certificate.unit, self.account().is_some()));
        if let Some(joint) = self.joint_guarantee_json() {
            value["together"] = joint;
        }
        with_digest(value)
    }
}

/// Where a release is written, before it is charged: a new file, with its signature if there is a key, or a pipe.
pub struct NewSumsFile<'k>(OptionallySignedFile<'k>);

impl<'k> NewSumsFile<'k> {
    /// Checks that the file, and its signature if there is a key, can be written and do not exist yet, so that no
    /// charged release is replaced.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        OptionallySignedFile::open(path, key).map(Self)
    }

    /// Writes the release.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write(self, charged: &DrawnRelease<ReleasedSums>) -> Result<(), ReleaseError> {
        self.0.write_signed_text(&format!("{:#}\n", charged.json()))
    }
}

/// Sums with noise, which are whole numbers of the units beside them, to the nearest double.
pub(super) fn sums_json(noisy: &NoisySufficientStatistics, units: IntegerSumUnits) -> Value {
    json!({
        "a": noisy.a.as_slice(), "b": matrix_rows(&noisy.b), "sd_a": noisy.sd_a, "sd_b": noisy.sd_b,
        "unit_a": units.a, "unit_b": units.b,
    })
}

/// A description of sums.
#[derive(Debug, Clone)]
pub struct ShownSumsDescription {
    /// For programs.
    pub facts: SumsFacts,
    /// For people.
    pub text: String,
}

/// Numbers of sums.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SumsFacts {
    /// Facts for the holder of the rows only. None if they are not shown.
    #[serde(flatten)]
    pub private: Option<PrivateFacts>,
    /// Facts that follow from the spec alone.
    #[serde(flatten)]
    pub public: PublicFacts,
}

/// Exact numbers that are as private as the rows.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PrivateFacts {
    /// Always `true`: marks the numbers beside it as exact and not protected.
    pub not_private: NotPrivateMark,
    /// The number of rows.
    pub rows: u64,
    /// The number of rows that were clipped to public bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped: Option<u64>,
    /// The number of rows of each class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<u64>>,
    /// The number of records in the bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The number of records outside all bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<u64>,
}

/// The mark `true` of exact numbers that are not protected.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct NotPrivateMark(bool);

impl Default for NotPrivateMark {
    fn default() -> Self {
        Self(true)
    }
}

/// The size of the sums, which follows from the spec.
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

/// A description that includes facts for the holder of the rows only.
#[derive(Debug, Clone)]
pub struct DataHolderDescription {
    /// Exact numbers that are as private as the rows, for programs.
    pub private: PrivateFacts,
    /// The same for people.
    pub counts: String,
    /// The facts that follow from the spec alone, for programs.
    pub public: PublicFacts,
    /// The same for people.
    pub text: String,
}

impl DataHolderDescription {
    /// The description for everybody.
    pub fn into_public_description(self) -> ShownSumsDescription {
        let Self { public, text, .. } = self;
        ShownSumsDescription { facts: SumsFacts { private: None, public }, text: format!("{text}\n") }
    }

    /// The description for the holder of the rows.
    pub fn into_data_holder_description(self) -> ShownSumsDescription {
        let Self { private, counts, public, text } = self;
        let facts = SumsFacts { private: Some(private), public };
        let text = format!("exact counts (do not publish them): {counts}\n{text}\n");
        ShownSumsDescription { facts, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands beside the diagonal has noise that is `sqrt 2` times smaller.
    #[test]
    fn noisy_numbers_know_their_noise() {
        let sums = serde_json::json!({ "sd_a": 2.0, "sd_b": 4.0, "a": [1.0, 5.0], "b": [[6.0, 7.0], [7.0, 8.0]] });
        let found = NoisyNumber::from_sums_json(&sums);
        let numbers: Vec<f64> = found.iter().map(|noisy| noisy.number).collect();
        assert_eq!(numbers, [1.0, 5.0, 6.0, 7.0, 8.0]);
        for (noisy, sd) in found.iter().zip([2.0, 2.0, 4.0, 8f64.sqrt(), 4.0]) {
            assert!((noisy.sd - sd).abs() < 1e-14);
        }
    }

    #[test]
    fn matrices_are_written_row_by_row() {
        let matrix = nalgebra::DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(matrix_rows(&matrix), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    }
}
