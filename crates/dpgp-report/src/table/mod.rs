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

pub use claims::{ClaimOutcome, Outcome};
pub use compared::{Difference, RowPair, compare_tables, side_by_side};
pub use csv::table_csv;
pub(super) use csv::{claims_csv, read_claims};
pub use dpgp_number::text::{exact, short};
pub use first_screen::{first_screen, first_screen_graded};
pub use languages::TableLanguage;
pub(super) use markdown::markdown_text;
pub use markdown::{NOT_PRIVATE, table_markdown};
pub use pivot::Pivot;
pub use predictive::Predictive;
pub use terminal::folded;
pub(super) use terminal::hundredths;
pub use terminal::table_terminal;
pub use terminal::{plain_table, plain_table_sparing};
pub use verdict::{Judged, Verdict};
