//! `dpgp` reproduces, certifies and extends works on differentially private Gaussian processes.

pub mod advi;
pub mod cli;
pub mod data;
pub mod gp;
pub mod kernel;
pub mod linalg;
pub mod privacy;
pub mod publish;
pub mod run;
pub mod spec;
pub mod stream;
pub mod task;
