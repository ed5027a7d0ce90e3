//! Private releases: predictions at the points of a grid, and sums over any number of rows.
//!
//! A release has five steps. Each has a type that only the previous step makes:
//!
//! | step | type | what it may do |
//! |---|---|---|
//! | read | [`PredictionRequest`], [`SumsRequest`] | refuse invalid requests, read the rows, fit, design the noise |
//! | offer | [`Offer`] | be charged: it states its cost and holds no noise |
//! | charge | [`Paid`] | be drawn: its cost is in the ledger |
//! | draw | [`Charged`] | be written |
//! | write | [`PredictionFiles`], [`SumsPlace`] | |
//!
//! [`publish`] runs them in this order, for the command and for Python.
//!
//! All noise comes from the operating system. The intermediate exact sums and counts are as private as the rows.
//!
//! A histogram of the rows of a file, charged to a ledger that holds one such release:
//!
//! ```
//! use dpgp_release::ledger::{BudgetSetting, LedgerPlace};
//! use dpgp_release::{ReleaseError, StreamedRelease, SumsPlace, SumsRequest, Terms, publish};
//! use dpgp_run::{DataPlaces, Pool, Project, StateFolder};
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
//! let project = Project::at(folder.path().to_path_buf(), &DataPlaces::default())?;
//! let experiment = project.parse("histogram", SPEC)?;
//! let StreamedRelease::Counts(streamed) = StreamedRelease::from_experiment(&experiment)? else { unreachable!() };
//! let state = StateFolder::at(&folder.path().join("state"))?; // its key identifies the rows
//! let total = streamed.sum(&[rows], None, &Pool::new(2)?, Some(state.key()))?;
//!
//! let budget = Some(BudgetSetting { epsilon: 1.0, delta: 1e-6 });
//! let place = LedgerPlace { state, file: None, budget, other_people: false };
//! let privacy = streamed.privacy(None)?;
//! let request = SumsRequest { streamed: &streamed, total: &total, privacy: &privacy, known: true };
//! let terms = Terms { place: Some(&place), allow_exceptions: false };
//! let file = SumsPlace::open(&folder.path().join("counts.json"), None)?; // before anything is charged
//! publish(&request, &terms, || Ok(()), |charged| -> Result<(), ReleaseError> {
//!     assert_eq!(charged.json()["counts"].as_array().map(Vec::len), Some(2));
//!     file.write(charged)
//! })?;
//!
//! // The budget is spent: another release cannot be charged, and so cannot be drawn.
//! let second = publish(&request, &terms, || Ok(()), |_| -> Result<(), ReleaseError> { unreachable!() });
//! assert!(second.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add_sums;
mod areas;
mod bounds;
mod certificate_file;
mod combinations_file;
mod content_digest;
mod counts;
mod counts_file;
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
mod numbers;
mod prediction_files;
mod predictions;
mod publish;
mod published;
mod signature;
mod stated;
mod statement;
mod streamed;
mod subject;
mod sum_rows;
mod sums_model;
mod surface_sums;
#[cfg(test)]
mod two_rows;
mod unrepeated;
mod verify;
#[cfg(test)]
mod worst_records;

pub use areas::Areas;
pub use bounds::ReleasedBounds;
pub use certificate_file::WiderChange;
pub use combinations_file::{CombinationsFile, NewCombinationsFile};
pub use counts::CountsRelease;
pub use counts_file::CountsFile;
pub use draw::{Charged, Guaranteed, Offer, Paid};
pub use end_to_end::{EndToEndCheck, FileCells, PairedRelease, ReplacedCell};
pub use error::{ReleaseError, spent_in};
pub use exact_sums::ExactSumsFile;
pub use exact_sums::HeldTable;
pub use exceptions::refuse_private_filter;
pub use grid::GridError;
pub use grid::{GridChoice, GridInput};
pub use grid::{PointsFile, PublicPoints};
pub use moments::MomentsRelease;
pub use moments_file::MomentsSurface;
pub use moments_file::{FilePredictions, MomentsFile, OtherModel, write_predictions};
pub use prediction_files::PredictionFiles;
pub use prediction_files::PredictionForm;
pub use predictions::most_uncertainty;
pub use predictions::{PredictionRequest, PrivatePredictions};
pub use predictions::{ReleasedInput, ReleasedPoint, ReleasedPredictions};
pub use publish::{AfterCharge, Release, SumsRequest, Terms, publish};
pub use published::{NoiseLaw, PublishedNoise, PublishedNumbers};
pub use signature::{NAMESPACE, SignatureError, Signers, SigningKey};
pub use statement::CertificateSummary;
pub use streamed::{Streamed, StreamedRelease, StreamedTotal};
pub use subject::Subject;
pub use subject::chosen_cell;
pub use sums_model::SumsModel;
pub use sums_model::{HeldDescription, HeldFacts, NotPrivate, PublicFacts, SumsDescription, SumsFacts};
pub use sums_model::{SumsFile, SumsPlace};
pub use surface_sums::ClassSumsRelease;
pub use surface_sums::SurfaceSumsRelease;
pub use unrepeated::unrepeated;
pub use verify::{VerifiedFact, VerifiedRelease, verify};
