//! `dpgp` reproduces, certifies and extends works on differentially private Gaussian processes.
//!
//! # The rooms
//!
//! A room imports only from rooms below it; a test proves it.
//!
//! | room | what it holds | enter by |
//! |---|---|---|
//! | [`cli`] | the verbs of the program `dpgp` | [`cli::main`] |
//! | [`publish`] | tables, figures, verdicts and pages from results | [`publish::publish`] |
//! | [`release`] | private releases: drawn from the system, charged to a ledger, then written | [`release::StreamedRelease`] |
//! | [`run`] | experiments of a project: planned, computed in parallel, stored | [`run::Study`] |
//! | [`audit`] | what is guaranteed, recomputed from what was sampled | [`run::audit`] |
//! | [`task`] | what one cell of an experiment measures | [`task::measure`] |
//! | [`spec`] | the language: TOML texts, grids, numbers beside ours, claims | [`spec::Experiment`] |
//! | [`setting`] | what specs say of data, models and privacy, each with its checks | [`setting::Setting`] |
//! | [`stream`] | sums over rows that do not fit in memory | [`stream::collect`] |
//! | [`privacy`] | noise, sensitivities, cloaking, accountants, certificates | [`privacy::cloak`] |
//! | [`gp`] | Gaussian process and linear models | [`gp::exact`] |
//! | [`advi`] | variational inference of hyperparameters | |
//! | [`kernel`] | covariance functions | [`kernel::Kernel`] |
//! | [`linalg`] | factorisations and special functions | |
//! | [`data`] | datasets, tables and rows of files | [`data::Manifest`] |
//! | [`number`] | numbers that are checked once | |
//!
//! # A kernel and a Gaussian process
//!
//! Predictions are linear in the targets, `C y`; the map `C` depends on inputs alone.
//!
//! ```
//! use dpgp::prelude::*;
//! use nalgebra::DMatrix;
//!
//! let kernel = ExponentiatedQuadratic::isotropic(10.0, 15.0);
//! let ages = DMatrix::from_column_slice(3, 1, &[10.0, 20.0, 30.0]);
//! let at = DMatrix::from_column_slice(1, 1, &[20.0]);
//! let map = exact(&kernel, 1e-6, &ages, &at)?;
//! // With hardly any noise the process passes through the data.
//! assert!((map.predict(&[-1.0, 2.0, 0.5])[0] - 2.0).abs() < 1e-4);
//! # Ok::<(), dpgp::linalg::LinalgError>(())
//! ```
//!
//! # A cloaked release
//!
//! Noise shaped to the map: the least that hides any one target. Seeded noise is for experiments only; a release of private data
//! draws from the operating system, see [`release`].
//!
//! ```
//! use dpgp::prelude::*;
//! use nalgebra::{DMatrix, DVector};
//!
//! let inputs = DMatrix::from_fn(8, 1, |i, _| i as f64);
//! let map = exact(&ExponentiatedQuadratic::isotropic(1.0, 2.0), 0.5, &inputs, &inputs)?;
//! let options = CloakingOptions {
//!     objective: Objective::LogDet,
//!     rank_tolerance: 1e-8,
//!     solver: Solver::InteriorPoint,
//!     release: ReleaseRecipe::Projection,
//! };
//! let noise = cloak(map.columns(), &map.counts(), &options)?;
//! // No target moves the release by more than the noise is scaled for.
//! assert!(noise.sensitivity <= 1.0);
//!
//! // One target changes by at most 2; epsilon = 1 and delta = 1e-5.
//! let scale = 2.0 * Calibration::Analytic.sigma(1.0, 1e-5);
//! let unit = DVector::from_element(noise.rank, 0.0); // draw these from a standard normal distribution
//! let targets = [0.1, 0.4, 0.2, 0.9, 0.5, 0.3, 0.8, 0.7];
//! let released = noise.mean_columns() * map.sum_groups(&targets) + noise.noise_map() * unit * scale;
//! assert_eq!(released.len(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # An accountant
//!
//! What a thousand steps with Gaussian noise on one per cent of the records cost.
//!
//! ```
//! use dpgp::privacy::accounting::{Accountant, Event, LossDistribution, Relation, Sampling};
//!
//! let event = Event { noise_multiplier: 1.0, sampling: Sampling::Poisson { rate: 0.01 }, steps: 1000 };
//! let spent = LossDistribution::default().epsilon(&event, Relation::AddRemove, 1e-5)?;
//! assert!(spent.lower > 1.827 && spent.upper < 1.829);
//! # Ok::<(), dpgp::privacy::accounting::AccountingError>(())
//! ```
//!
//! # A study
//!
//! An experiment from the text of a spec: its grid has two cells. What was computed is stored and not computed again.
//!
//! ```
//! use dpgp::prelude::*;
//!
//! const SPEC: &str = r#"
//! experiment.title = "two lengthscales"
//! data = { source.inline = { x = [0, 1, 2, 3], y = [1, 3, 2, 5] }, inputs = ["x"], target = "y" }
//! model = { noise_variance = 1.0, kernel.eq = { variance = 9.0, lengthscale = 5.0 } }
//! task.regression = { split.contiguous = 2, draws = 5 }
//! privacy = { epsilon = 1.0, delta = 0.01, change = 4.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
//! grid = { "model.kernel.eq.lengthscale" = [1.0, 5.0] }
//! "#;
//!
//! let folder = tempfile::tempdir()?;
//! let project = Project::at(folder.path().to_path_buf(), &DataPlaces::default())?;
//! let experiment = project.parse("two", SPEC)?;
//! let mut study = Study::open(&project, &folder.path().join("store"))?;
//! let pool = Pool::new(2)?;
//! let report = study.run(&experiment, &RunOptions::new(&pool))?;
//! let results = report.results.ok_or("all of it was computed")?;
//! // Of each cell its error, and what that is beside the error of a constant.
//! assert_eq!((results.rows.len(), report.computed), (4, 2));
//! assert!(results.rows.iter().all(|row| row.certificate.epsilon() == 1.0));
//! assert!(results.rows.iter().filter(|row| row.metric == "rmse").all(|row| row.value > 0.0));
//!
//! let again = study.run(&experiment, &RunOptions::new(&pool))?;
//! assert_eq!((again.stored, again.computed), (2, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advi;
pub mod audit;
pub mod cli;
pub mod data;
pub mod gp;
pub mod kernel;
pub mod linalg;
pub mod number;
pub mod privacy;
pub mod publish;
pub mod release;
pub mod run;
pub mod setting;
pub mod spec;
pub mod stream;
pub mod task;

/// What most programs that use the library need.
pub mod prelude {
    pub use crate::gp::{LinearMap, exact, fitc};
    pub use crate::kernel::{ExponentiatedQuadratic, Kernel};
    pub use crate::privacy::{
        Calibration, Certificate, CloakingOptions, Objective, ReleaseRecipe, Solver, cloak, gaussian_delta,
    };
    pub use crate::release::{Charged, Offer, StreamedRelease, ledger::LedgerPlace};
    pub use crate::run::{DataPlaces, Plan, Pool, Project, RunOptions, Shard, Study, StudyReport};
    pub use crate::task::Experiment;
}

/// The examples of the documentation, which run as tests.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../docs/add-a-kernel.md")]
    struct AddAKernel;

    #[doc = include_str!("../docs/add-a-mechanism.md")]
    struct AddAMechanism;

    #[doc = include_str!("../docs/add-a-task.md")]
    struct AddATask;

    #[doc = include_str!("../docs/mechanisms.md")]
    struct Mechanisms;

    #[doc = include_str!("../docs/style.md")]
    struct Style;
}
