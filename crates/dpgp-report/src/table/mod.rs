//! Tables of results: writing, comparing and judging them.

pub(super) mod claims;
mod compared;
mod constant;
mod csv;
mod first_screen;
mod fitted;
mod laid_out;
mod languages;
pub(super) mod markdown;
mod pivot;
mod predictive;
mod terminal;
pub(super) mod verdict;

pub use claims::{ClaimOutcome, ClaimOutcomeKind};
pub use compared::{RowPair, TableDifference, compare_tables, pair_rows};
pub use csv::table_csv;
pub(super) use csv::{claims_csv, read_claims};
pub use dpgp_number::text::{format_exact, format_short};
pub use first_screen::{first_screen, first_screen_graded};
pub use languages::TableOutputFormat;
pub(super) use markdown::escape_markdown;
pub use markdown::{NOT_PRIVATE, table_markdown};
pub use pivot::PivotTable;
pub use predictive::PredictiveInterval;
pub(super) use terminal::format_hundredths;
pub use terminal::table_terminal;
pub use terminal::wrap_prose;
pub use terminal::{plain_table, plain_table_fitted};
pub use verdict::{NumberVerdict, ReferenceComparison};
