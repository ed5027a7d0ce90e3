//! Publish maps and predictions from data about people, with differential privacy. Also reproduces five papers.
//!
//! The command is [`cli::main`]. Its parts are crates of their own. This crate re-exports them by subject:
//!
//! | module | crate | start with |
//! |---|---|---|
//! | [`publish`] | `dpgp-report` | [`publish::publish`] |
//! | [`release`] | `dpgp-release` | [`release::AnyPlannedSumsRelease`] |
//! | [`run`] | `dpgp-run` | [`run::ExperimentRunner`] |
//! | [`audit`] | `dpgp-claim-audit`, `dpgp-audit` | [`run::audit`], [`audit::attack`] |
//! | [`task`] | `dpgp-task` | [`task::measure_replicate`] |
//! | [`spec`], [`setting`] | `dpgp-spec` | [`spec::Experiment`] |
//! | [`stream`] | `dpgp-stream` | [`stream::sum_blocks`] |
//! | [`data`], [`fs`] | `dpgp-data`, `dpgp-fs` | [`data::DatasetManifest`] |
//! | [`privacy`] | `dpgp-mechanisms`, `dpgp-cloaking`, `dpgp-accounting`, `dpgp-noise` | [`privacy::design_cloaking_noise`] |
//! | [`gp`], [`kernel`], [`advi`] | `dpgp-gp` | [`gp::exact_prediction_map`] |
//! | [`linalg`] | `dpgp-linalg` | [`linalg::Cholesky`] |
//! | [`number`] | `dpgp-number` | [`number::Positive`] |
//!
//! # A cloaked release
//!
//! Cloaking shapes the noise to the map from targets to predictions, and adds the least noise that hides any one target. Seeded noise
//! is for experiments only. A release of private data draws its noise from the operating system, see [`release`].
//!
//! ```
//! use dpgp::prelude::*;
//! use nalgebra::{DMatrix, DVector};
//!
//! let inputs = DMatrix::from_fn(8, 1, |i, _| i as f64);
//! let map = exact_prediction_map(&ExponentiatedQuadratic::isotropic(1.0, 2.0), 0.5, &inputs, &inputs)?;
//! let options = CloakingOptions {
//!     objective: Objective::LogDet,
//!     rank_tolerance: 1e-8,
//!     solver: Solver::InteriorPoint,
//!     release: DroppedDirectionRule::Projection,
//! };
//! let noise = design_cloaking_noise(map.distinct_columns(), &map.targets_per_column(), &options)?;
//! // The noise is scaled for a sensitivity of at most 1.
//! assert!(noise.sensitivity <= 1.0);
//!
//! // One target changes by at most 2; epsilon = 1 and delta = 1e-5.
//! let scale = 2.0 * Calibration::Analytic.sigma(1.0, 1e-5);
//! let unit = DVector::from_element(noise.rank, 0.0); // in a release: draws from a standard normal distribution
//! let targets = [0.1, 0.4, 0.2, 0.9, 0.5, 0.3, 0.8, 0.7];
//! let released = noise.released_mean_map() * map.sum_targets_by_input(&targets) + noise.noise_map() * unit * scale;
//! assert_eq!(released.len(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A study
//!
//! Parse a spec whose grid has two cells, and run it. Results are stored, so a second run computes nothing.
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
//! let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default())?;
//! let experiment = project.parse("two", SPEC)?;
//! let mut study = ExperimentRunner::open(&project, &folder.path().join("store"))?;
//! let pool = WorkerPool::new(2)?;
//! let report = study.run(&experiment, &RunOptions::new(&pool))?;
//! let results = report.results.ok_or("all cells were computed")?;
//! // Each cell has its error, and its error relative to that of a constant.
//! assert_eq!((results.rows.len(), report.computed), (4, 2));
//! assert!(results.rows.iter().all(|row| row.certificate.epsilon() == 1.0));
//! assert!(results.rows.iter().filter(|row| row.metric == "rmse").all(|row| row.value > 0.0));
//!
//! let again = study.run(&experiment, &RunOptions::new(&pool))?;
//! assert_eq!((again.stored, again.computed), (2, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cli;

pub use dpgp_data as data;
pub use dpgp_fs as fs;
pub use dpgp_gp as gp;
pub use dpgp_gp::{advi, kernel};
pub use dpgp_linalg as linalg;
pub use dpgp_number as number;
pub use dpgp_release as release;
pub use dpgp_report as publish;
pub use dpgp_run as run;
pub use dpgp_spec as spec;
pub use dpgp_spec::setting;
pub use dpgp_stream as stream;
pub use dpgp_task as task;

/// Noise, sensitivities, cloaking, accountants, certificates.
pub mod privacy {
    pub use dpgp_accounting as accounting;
    pub use dpgp_accounting::*;
    pub use dpgp_cloaking::*;
    pub use dpgp_mechanisms::*;
    pub use dpgp_noise::*;
}

/// Guarantees, recomputed from the noise that was sampled, and attacks on outputs.
pub mod audit {
    pub use dpgp_audit::*;
    pub use dpgp_claim_audit::*;
}

/// The items that most programs need.
pub mod prelude {
    pub use crate::gp::{PredictionMap, exact_prediction_map, fitc_prediction_map};
    pub use crate::kernel::{ExponentiatedQuadratic, Kernel};
    pub use crate::privacy::{
        Calibration, Certificate, CloakingOptions, DroppedDirectionRule, Objective, Solver, design_cloaking_noise,
        gaussian_delta,
    };
    pub use crate::release::{AnyPlannedSumsRelease, DrawnRelease, UnchargedRelease, ledger::LedgerOptions};
    pub use crate::run::{
        DataLocations, ExperimentRunReport, ExperimentRunner, Project, RunOptions, RunPlan, Shard, WorkerPool,
    };
    pub use crate::task::Experiment;
}

/// Examples in the documentation, run as tests.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../docs/extend.md")]
    struct ExtendPage;

    #[doc = include_str!("../docs/mechanisms.md")]
    struct MechanismsPage;

    #[doc = include_str!("../docs/style.md")]
    struct StylePage;
}
