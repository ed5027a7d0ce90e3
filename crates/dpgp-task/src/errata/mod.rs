//! Checks statements of the papers against computed numbers: errors, loose bounds, gaps, and remarks. A row
//! holds the published number (`claimed`), the true value of that statement (`found`), the result of the
//! comparison (`holds`), the correct number (`corrected`), and the ratio of the first to the second
//! (`factor`). The `[[erratum]]` tables of the spec hold the text and the kind of each statement.

mod measure;
mod registry;
mod selection;

pub use measure::ErrataTask;
pub use measure::ErratumNumbers;
pub use registry::Erratum;
