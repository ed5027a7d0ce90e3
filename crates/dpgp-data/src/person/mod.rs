//! Whose row a row is, and which of a person's rows are used.
//!
//! A guarantee about persons needs a bound on the rows that each of them brings. Of the rows of a person that pass the filters
//! at most a public number is used ([`PersonRows`]); which of them depends on that person's own rows alone, so that no
//! person's rows have a say in which rows of another are used.

mod choice;
mod id;
mod kept;

pub use choice::PersonRows;
pub use id::PersonId;
pub use kept::KeptRows;
