//! Tables of results: writing, comparing and judging them.

pub(super) mod claims;
mod compared;
mod constant;
mod csv;
mod first_screen;
mod fitted;
pub(super) mod markdown;
mod pivot;
mod predictive;
mod terminal;
pub(super) mod verdict;

pub use claims::{ClaimOutcome, ClaimOutcomeKind};
pub(crate) use compared::row_standard_error;
pub use compared::{RowPair, TableDifference, compare_tables, pair_rows};
pub use constant::SpreadForm;
pub use csv::table_csv;
pub(super) use csv::{claims_csv, read_claims};
pub use dpgp_number::text::{format_exact, format_four_digits};
pub use first_screen::{graded_summary_screen, run_summary_screen};
pub(super) use markdown::escape_markdown;
pub use markdown::{NOT_PRIVATE, table_page_markdown};
pub use pivot::{PivotTable, TableOutputFormat};
pub use predictive::PredictiveInterval;
pub(super) use terminal::format_hundredths_or_exponent;
pub use terminal::{explained_differences, plain_table, plain_table_dropping_columns, table_terminal, wrap_prose};
pub use verdict::{NumberVerdict, ReferenceComparison};
