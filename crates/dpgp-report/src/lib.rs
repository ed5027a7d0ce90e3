//! Turns result rows into tables, figures and verdicts. This crate knows the published results, not how they were computed.

mod bibtex;
mod figure;
mod grade;
mod map;
mod page;
mod ranking;
mod reference;
mod report;
mod results;
mod table;

pub use bibtex::BibliographyEntry;
pub use figure::{FigureError, WantedError, figure_svg, preview_svg};
pub use grade::{BesideNumber, GradeError, Graded, GradedNumber, UnknownMetric, grade};
pub use map::{DrawnMap, MapError, MapFormat, MapOptions, MapOutline, MapScale, MapSlice, draw_map};
pub use page::{OfPapers, is_report, report_html};
pub use ranking::{Hides, RankedMethod, Ranking, RankingFilter, UnknownHidden};
pub use reference::reference;
pub use report::{Report, ReportRow};
pub use results::{
    CHECKS, Committed, Guarantees, OutcomeCounts, PlaceVerdict, PublishError, REPRODUCTION, ResultsSource,
    Tally, ToldPaper, ToldRow, VerdictCounts, checks_markdown, closing_sentence, ensure_no_links, publish,
    reproduction_markdown, stale, told_papers,
};
pub use table::{
    ClaimOutcome, Difference, Judged, NOT_PRIVATE, Outcome, Pivot, Predictive, RowPair, TableLanguage,
    Verdict, compare_tables, exact, first_screen, first_screen_graded, folded, plain_table,
    plain_table_sparing, short, side_by_side, table_csv, table_markdown, table_terminal,
};
