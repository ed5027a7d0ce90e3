//! Tables of results: how they are written, compared and judged.

pub(super) mod claims;
mod compare;
mod csv;
mod markdown;
pub(super) mod notes;
pub(super) mod number;
mod plain;
mod terminal;
pub(super) mod verdict;

pub use claims::ClaimOutcome;
pub use compare::{Difference, RowPair, compare_tables, side_by_side};
pub use csv::table_csv;
pub use markdown::{NOT_PRIVATE, table_markdown};
pub use number::{exact, short};
pub use plain::plain_table;
pub use terminal::table_terminal;
pub use verdict::Verdict;
