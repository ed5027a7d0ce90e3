//! Tables of results: how they are written, compared and judged.

pub(super) mod claims;
mod claims_csv;
mod compare;
mod constant;
mod csv;
mod fitted;
mod jitter;
mod laid_out;
mod languages;
mod lines;
mod markdown;
mod markdown_text;
pub(super) mod notes;
pub(super) mod number;
mod pivot;
mod plain;
mod predictive;
mod spreads;
mod terminal;
mod undefined;
pub(super) mod verdict;
mod width;
mod without_privacy;

pub use claims::{ClaimOutcome, Outcome};
pub(super) use claims_csv::{claims_csv, read_claims};
pub use compare::{Difference, RowPair, compare_tables, side_by_side};
pub use csv::table_csv;
pub use languages::TableLanguage;
pub use markdown::{NOT_PRIVATE, table_markdown};
pub use number::{exact, short};
pub use pivot::Pivot;
pub use plain::{plain_table, plain_table_sparing};
pub use predictive::Predictive;
pub use terminal::table_terminal;
pub use verdict::{Judged, Verdict};
pub use width::folded;
