//! `dpgp` reproduces, certifies and extends works on differentially private Gaussian processes.

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
pub mod run;
pub mod setting;
pub mod spec;
pub mod stream;
pub mod task;

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
