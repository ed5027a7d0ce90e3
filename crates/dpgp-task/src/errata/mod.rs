//! Statements of the papers against computed numbers: errors, loose bounds, gaps, and remarks on what is no paper's.
//!
//! A row holds what is said (`claimed`), what is true of that very statement (`found`), whether the statement holds, the number
//! that a right statement has (`corrected`), and the first over the second (`factor`). Whether a statement holds always follows
//! from a comparison of computed numbers. The words, with what kind of statement it is, stand in the spec, in its `[[erratum]]`
//! tables.

mod measure;
mod registry;
mod selection;

pub use measure::ErrataTask;
pub use measure::Numbers;
pub use registry::Erratum;
