//! From result rows to tables, figures and verdicts. This room knows what was published, not how a number
//! was computed.

mod atomic;
mod canvas;
mod claims;
mod clip;
mod committed;
mod compare;
mod contour;
mod csv;
mod curve;
mod curve_pens;
mod curves;
#[cfg(test)]
mod fabricated;
mod figure;
mod folder;
mod freshness;
mod intervals;
mod legend;
mod lines;
mod manifest;
mod map;
mod map_discs;
mod markdown;
mod number;
mod page;
mod palette;
mod panels;
mod plain;
mod plot;
mod report;
mod reproduction;
mod scale;
mod shown;
mod terminal;
mod verdict;

pub use atomic::write_atomically;
pub use claims::ClaimOutcome;
pub use committed::{Committed, Counts, Guarantees};
pub use compare::{Difference, RowPair, compare_tables, side_by_side};
pub use csv::table_csv;
pub use figure::{FigureError, figure_svg};
pub use folder::{PublishError, publish};
pub use freshness::stale;
pub use manifest::{Provenance, commit};
pub use markdown::table_markdown;
pub use number::{exact, short};
pub use page::report_html;
pub use plain::plain_table;
pub use report::{Report, ReportRow};
pub use reproduction::{REPRODUCTION, reproduction_markdown};
pub use terminal::table_terminal;
pub use verdict::Verdict;
