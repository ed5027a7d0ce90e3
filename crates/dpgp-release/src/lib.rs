//! Private releases: predictions at the points of a grid, and sums over any number of rows.
//!
//! A release has five steps. Each has a type that only the previous step makes:
//!
//! | step | type | what it may do |
//! |---|---|---|
//! | read | [`PredictionRequest`], [`SumsRequest`] | refuse invalid requests, read the rows, fit, design the noise |
//! | offer | [`UnchargedRelease`] | be charged: it states its cost and holds no noise |
//! | charge | [`ChargedRelease`] | be drawn: its cost is in the ledger |
//! | draw | [`DrawnRelease`] | be written |
//! | write | [`PredictionFiles`], [`NewSumsFile`] | |
//!
//! [`charge_draw_and_write`] runs them in this order, for the command and for Python, and [`charge_draw_and_write_together`] with several releases that share one
//! budget and one charge ([`JointReleasePlan`]).
//!
//! All noise comes from the operating system. The intermediate exact sums and counts are as private as the rows.
//!
//! A histogram of the rows of a file, charged to a ledger that holds one such release:
//!
//! ```
//! use dpgp_release::ledger::{BudgetSetting, LedgerOptions};
//! use dpgp_release::{ReleaseError, AnyPlannedSumsRelease, NewSumsFile, SumsRequest, ReleaseOptions, charge_draw_and_write};
//! use dpgp_run::{DataLocations, WorkerPool, Project, StateFolder};
//!
//! const SPEC: &str = r#"
//! experiment.title = "a histogram"
//! data = { source.csv.path = "rows.csv", inputs = ["x"], target = "trips" }
//! task.density = { bins = [{ from = 0.0, to = 2.0, bins = 2 }], test = [{ from = 0.0, to = 2.0, bins = 2 }], draws = 1, estimate.histogram = {} }
//! privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.histogram = { relation = "add-remove" } }
//! "#;
//!
//! let folder = tempfile::tempdir()?;
//! let rows = folder.path().join("rows.csv");
//! std::fs::write(&rows, "x,trips\n0.5,1\n1.5,1\n1.7,2\n")?;
//! let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default())?;
//! let experiment = project.parse("histogram", SPEC)?;
//! let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment)? else { unreachable!() };
//! let state = StateFolder::open_at(&folder.path().join("state"))?; // its key identifies the rows
//! let total = streamed.sum(&[rows], None, &WorkerPool::new(2)?, Some(state.key()))?;
//!
//! let budget = Some(BudgetSetting { epsilon: 1.0, delta: 1e-6 });
//! let place = LedgerOptions { state, file: None, budget, other_people: false };
//! let privacy = streamed.resolve_privacy_setting(None)?;
//! let request = SumsRequest { streamed: &streamed, total: &total, privacy: &privacy, known: true };
//! let terms = ReleaseOptions { place: Some(&place), allow_exceptions: false };
//! let file = NewSumsFile::open(&folder.path().join("counts.json"), None)?; // before anything is charged
//! charge_draw_and_write(&request, &terms, || Ok(()), |charged| -> Result<(), ReleaseError> {
//!     assert_eq!(charged.json()["counts"].as_array().map(Vec::len), Some(2));
//!     file.write(charged)
//! })?;
//!
//! // The budget is spent: another release cannot be charged, and so cannot be drawn.
//! let second = charge_draw_and_write(&request, &terms, || Ok(()), |_| -> Result<(), ReleaseError> { unreachable!() });
//! assert!(second.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add_sums;
mod areas;
mod bounds;
mod certificate_file;
mod certificate_json;
mod classes_file;
mod combinations_file;
mod counts;
mod counts_file;
pub mod draft;
mod draw;
mod earlier_wording;
mod end_to_end;
mod error;
mod exact_sums;
mod exceptions;
mod grid;
pub mod ledger;
mod moments;
mod moments_file;
mod new_file;
mod person_table;
mod prediction_files;
mod predictions;
mod publish;
mod published;
mod stated;
mod statement;
mod streamed;
mod subject;
mod sum_rows;
mod sums_model;
mod surface_sums;
mod together;
#[cfg(test)]
mod two_rows;
mod verify;

pub use areas::NamedAreas;
pub use bounds::ReleasedBounds;
pub use certificate_file::WholeWidthGuarantee;
pub use certificate_json::parse_json_with_unique_keys;
pub use classes_file::ClassesFile;
pub use combinations_file::{NewTargetCombinationsFile, TargetCombinationsFile};
pub use counts::HistogramReleaseMethod;
pub use counts_file::CountsFile;
pub use draw::{ChargedRelease, DrawnRelease, JointGuarantee, ReleaseGuarantee, UnchargedRelease};
pub use end_to_end::{
    AddedFilter, AttackDrawSetting, EndToEndCheck, FileCells, NeighbourDistanceEstimator, NeighbourRunPlan,
    NeighbourRunPoints, NeighbourRunSituation, NeighbourRunVerb, NoisyColumnsOrFields, ReplacedCell,
    edge_case_neighbours, neighbour_run_situations,
};
pub use error::{ReleaseError, charge_remains_message};
pub use exact_sums::{NewExactSumsFile, TableInMemory};
pub use exceptions::refuse_private_filter;
pub use grid::{GridChoice, GridError, GridInput, PointsFile, PublicPoints, grid_template};
pub use moments::MomentsReleaseMethod;
pub use moments_file::MomentsFilePosterior;
pub use moments_file::{ModelOverride, MomentsFile, PostprocessedPredictions, write_predictions};
pub use new_file::UnnamedFiles;
pub use prediction_files::{CERTIFICATE_ENDING, PredictionFiles, PredictionFormat, prediction_paths};
pub use predictions::informative_total_sd_limit;
pub use predictions::{PredictionRequest, PrivatePredictions};
pub use predictions::{PredictionsFileContents, PredictionsFileInput, PredictionsFilePoint};
pub use publish::{
    AfterChargeError, ReleaseOptions, RequestedRelease, SumsRequest, charge_draw_and_write,
    charge_draw_and_write_together,
};
pub use published::{NoiseDistribution, PublishedNoise, PublishedNumbers};
pub use statement::CertificateSummary;
pub use streamed::{AnyPlannedSumsRelease, ExactSums, PlannedSumsRelease};
pub use subject::{ReleaseSpec, select_cells, select_release_cell};
pub use sums_model::{
    DataHolderDescription, NotPrivateMark, PrivateFacts, PublicFacts, ShownSumsDescription, SumsFacts,
    SumsReleaseMethod,
};
pub use sums_model::{NewSumsFile, ReleasedSums};
pub use surface_sums::{ClassReleaseMethod, SparseGpReleaseMethod};
pub use together::{JointReleasePlan, PlannedJointRelease};
pub use verify::{CheckedFact, ReleaseVerification, verify_release};
