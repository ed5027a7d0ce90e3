//! Errors of the papers, each with a counter-example that is computed.
//!
//! A row holds what the paper says (`claimed`), what is true of that very statement (`found`), whether the statement holds,
//! and the number that a right statement has (`corrected`). The words stand in the spec, in its `[[erratum]]` tables.

mod honkela2021;
mod jalko2016;
mod numbers;
mod registry;
mod setting;
mod smith2016;
mod smith2021;

pub use numbers::Numbers;
pub use registry::Erratum;
pub use setting::ErrataTask;
