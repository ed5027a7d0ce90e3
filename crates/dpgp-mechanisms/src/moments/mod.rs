//! Fourier moments of records whose inputs and targets are private. They are sums of cosines and sines, with
//! and without the targets as weights, and the sum of the squared targets. Gaussian noise is designed for all
//! of them together ([`FourierSensitivityRule`]).

mod cells;
mod choice;
mod design;
mod frequencies;
mod model;
mod released;
mod search;
mod torus;
mod whole;

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mechanism;
use dpgp_number::{Count, Positive};
use dpgp_spec::setting::rules::{CheckResult, check_dimension, check_range, fail};
use dpgp_spec::setting::{DataSetting, PersonRowChoiceBasis, SpecProblem};

pub use cells::{IntegerCellSums, NestedCellsDesign, NestedCellsNoise, ReleasedCellLevel, ReleasedCellSums};
pub use design::{FourierMomentsDesign, FourierMomentsNoise, FourierSensitivityRule};
pub use frequencies::{Frequencies, FrequencyPairTable, PhaseTable};
pub use model::{
    AuditedCellsNoise, AuditedMomentsNoise, AuditedWavesNoise, CertifiedMomentsNoise, FourierDesignProblem,
    LEAST_SIGMA, MomentsModel, RecordMomentsDesign, SimulatedMoments, check_spec_for_moments, check_stationary_kernel,
    check_waves_only, moments_certificate, public_target_quantizer, reference_model_for_moments, scale_and_clip_to_box,
};
pub use released::{MomentsPosterior, ReleasedFourierMoments, ReleasedMoments, SurfacePrediction};
pub use search::{LeastRiskWeights, SitePrior, WeightRiskObjective};
pub use whole::IntegerFourierMoments;

/// Gaussian noise on Fourier moments of records: sums of cosines and sines of the inputs, alone and multiplied by the target, and
/// the sum of squared targets. Neighbours differ by the replacement of one record. The model, the number of rows and the budget
/// determine which moments are released and how much noise each gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MomentsSetting {
    /// The public bound on the absolute value of targets, which are clipped to it.
    pub target_bound: Positive,
    /// The public box of the inputs: the two ends of each input's range, for at most four inputs, or twelve with the
    /// `additive` kernel. A point outside the box counts as the nearest point in it.
    pub domain: Vec<[f64; 2]>,
    /// What is summed: waves, which suit functions that vary slowly, or nested cells, whose number depends on the number
    /// of rows. Cells allow at most four inputs, and use only the form of the model's kernel and the ratios of its
    /// lengthscales.
    #[serde(default, skip_serializing_if = "MomentFeatures::are_waves")]
    pub features: MomentFeatures,
    /// Replaces the nested cells with a single grid with this number of cells along each input, a power of two. A prediction
    /// is the noisy sum of a cell divided by its noisy count. For comparisons in `task.leaderboard` and `task.calibration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells_per_input: Option<Count>,
    /// The longest wavelength, in units of the sides of the box, at least 1. Without it, the better of 1.2 and 1.6 is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<f64>,
    /// The approximate number of rows, from public knowledge. Required if their exact number is private, that is, if
    /// filters choose rows, people have several rows, or rows with missing cells are left out. The noise is designed for
    /// this number, and the exact number is released with noise, at no extra cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Count<MOST_ROWS>>,
}

/// Functions of the inputs that are summed over the rows, alone and multiplied by the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MomentFeatures {
    /// Cosines and sines.
    #[default]
    Waves,
    /// Indicators of nested cells of the box.
    Cells,
}

impl MomentFeatures {
    /// The better choice for a public number of rows and this many inputs, where no more is known. If somebody guessed the lengthscale
    /// right, waves err somewhat less. If the function varies faster, they miss it, and their intervals miss it too.
    ///
    /// Noise grows with the largest number of rows of one person (at least 1), so that this many rows count as one.
    pub fn for_rows(rows: usize, rows_per_person: usize, inputs: usize) -> Self {
        if rows / rows_per_person.max(1) >= FEWEST_ROWS_FOR_CELLS && inputs <= 2 { Self::Cells } else { Self::Waves }
    }

    fn are_waves(&self) -> bool {
        *self == Self::Waves
    }
}

impl Mechanism for MomentsSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Record
    }

    fn target_bound(&self) -> Option<f64> {
        Some(self.target_bound.get())
    }

    fn domain(&self) -> Option<&[[f64; 2]]> {
        Some(&self.domain)
    }

    fn stated_row_count(&self) -> Option<u64> {
        self.rows.map(|rows| rows.get() as u64)
    }
}

/// From this number of rows on, nested cells err far less than waves at epsilon 0.3 to 3 if the lengthscale was guessed four times too
/// long. If it was guessed right, they err up to twice as much, and less with a million rows (`beyond/more-rows`).
/// With 1,000 rows and a good guess, waves are clearly better (`beyond/leaderboard/citibike`).
const FEWEST_ROWS_FOR_CELLS: usize = 5_000;
/// The most rows: sums in 64 bits hold four times as many.
const MOST_ROWS: usize = 1_000_000_000_000;
/// The most inputs that rows are counted by.
const MOST_INPUTS: usize = 12;

/// The most cells of a single grid.
const MOST_CELLS: usize = 8192;

/// The most inputs that cells are cells of.
const MOST_INPUTS_OF_CELLS: usize = 4;

const PATH: &str = "privacy.mechanism.moments";

impl MomentsSetting {
    /// Checks the numbers, for data with this number of inputs.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`](dpgp_spec::setting::SpecProblem::OutOfRange),
    /// [`SpecProblem::WrongDimension`](dpgp_spec::setting::SpecProblem::WrongDimension).
    pub fn check(&self, inputs: usize) -> CheckResult {
        let path = PATH;
        let domain = format!("{path}.domain");
        check_range("data.inputs", inputs <= MOST_INPUTS, "at most 12 inputs for noisy moments", inputs as f64)?;
        check_dimension(&domain, inputs, self.domain.len())?;
        self.domain.iter().try_for_each(|[low, high]| {
            check_range(&domain, low < high && low.is_finite() && high.is_finite(), "increasing and finite", *high)
        })?;
        if self.features == MomentFeatures::Cells {
            check_range("data.inputs", inputs <= MOST_INPUTS_OF_CELLS, "at most 4 inputs for cells", inputs as f64)?;
            if self.period.is_some() {
                return fail(&format!("{path}.period"), SpecProblem::Shape("applies only to waves".to_owned()));
            }
        }
        if let Some(cells) = self.cells_per_input {
            let path = format!("{path}.cells_per_input");
            if self.features != MomentFeatures::Cells {
                return fail(&path, SpecProblem::Shape("applies only to features = \"cells\"".to_owned()));
            }
            let cells = cells.get();
            let all = (0..inputs).fold(1usize, |all, _| all.saturating_mul(cells));
            let is_possible = cells.is_power_of_two() && all <= MOST_CELLS;
            check_range(&path, is_possible, "a power of two, with at most 8192 cells in all", cells as f64)?;
        }
        let Some(period) = self.period else { return Ok(()) };
        // Longer waves are all but constant in the box.
        check_range(&format!("{path}.period"), (1.0..=10.0).contains(&period), "from 1 to 10", period)
    }

    /// How many inputs (n x d) lie outside the box. Each counts as the nearest point in the box.
    pub fn count_outside_box(&self, inputs: &DMatrix<f64>) -> usize {
        let mut outside = 0;
        for input in inputs.row_iter() {
            let inside = input.iter().zip(&self.domain).all(|(x, [low, high])| (*low..=*high).contains(x));
            outside += usize::from(!inside);
        }
        outside
    }

    /// Fails where the number of rows is private and none is said.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`].
    pub fn check_row_count_is_known(&self, data: &DataSetting) -> CheckResult {
        let by = if !data.filter.is_empty() {
            "data.filter, which makes the number of rows private,"
        } else if data.person.is_some() {
            "data.person, which makes the number of rows private,"
        } else if data.drops_missing() {
            "data.missing = \"drop\", which makes the number of rows private,"
        } else {
            return Ok(());
        };
        if self.rows.is_some() { Ok(()) } else { fail(PATH, SpecProblem::MissingKey { key: "rows", by }) }
    }

    /// The sides of the box.
    pub fn box_side_lengths(&self) -> Vec<f64> {
        self.domain.iter().map(|[low, high]| high - low).collect()
    }
}
