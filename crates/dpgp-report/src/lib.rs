//! Turns result rows into tables, figures and verdicts. This crate knows the published results, not how they were computed.

mod bibtex;
mod figure;
mod grade;
mod map;
mod page;
mod paper_table;
mod ranking;
mod reference;
mod report;
mod results;
mod table;

pub use bibtex::BibliographyEntry;
pub use figure::{AccuracyGoal, FigureError, figure_svg, preview_svg};
pub use grade::{
    GradeError, GradedNumber, NumberComparison, OtherMethod, TableGrade, UnknownMetric, grade, read_other_methods,
};
pub use map::{DrawnMap, MapError, MapFormat, MapOptions, MapOutline, MapScale, MapSlice, draw_map};
pub use page::{PaperCoverageAndPages, is_report, report_html};
pub use paper_table::{PaperTableError, spec_from_paper_table};
pub use ranking::{ProtectedUnit, ProtectedUnitError, RankedMethod, Ranking, RankingFilter};
pub use reference::schema_markdown;
pub use report::{Report, ReportRow};
pub use results::{
    CHECKS, ClaimOutcomeCounts, CommittedResults, FindingRow, FindingVerdict, GuaranteeCounts, PaperFindings,
    PaperVerdictCounts, PublishError, REPRODUCTION, ResultsSource, VerdictCounts, agreement_summary, checks_markdown,
    collect_findings, ensure_no_links, find_stale_results, publish, reproduction_markdown, tidy_csv,
};
pub use table::{
    ClaimOutcome, ClaimOutcomeKind, NOT_PRIVATE, NumberVerdict, PivotTable, PredictiveInterval, ReferenceComparison,
    RowPair, TableDifference, TableOutputFormat, compare_tables, first_screen, first_screen_graded, format_exact,
    format_four_digits, pair_rows, plain_table, plain_table_fitted, table_csv, table_markdown, table_terminal,
    wrap_prose,
};
