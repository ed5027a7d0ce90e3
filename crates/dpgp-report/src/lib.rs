//! Turns result rows into tables, figures and verdicts. This crate knows the published results, not how they were computed.

mod bibtex;
mod check_findings;
mod figure;
mod grade;
mod grade_text;
mod map;
mod page;
mod paper_table;
mod ranking;
mod reference;
mod registry_entry;
mod report;
mod results;
mod table;

pub use bibtex::BibliographyEntry;
pub use check_findings::{CheckFindings, check_junit_xml, check_summary_markdown};
pub use figure::{AccuracyGoal, FigureError, figure_svg, preview_svg};
pub use grade::{
    AddedMethod, GradeError, GradedNumber, NumberComparison, TableGrade, UnknownMetric, grade_submitted_table,
    read_added_methods,
};
pub use grade_text::{grade_markdown, grade_text, grading_notes};
pub use map::{DrawnMap, MapError, MapFormat, MapOptions, MapOutline, MapSlice, ValueScaleEnds, draw_map};
pub use page::{PaperCoverageAndPages, is_report_page, report_html};
pub use paper_table::{PaperTableError, spec_from_paper_table};
pub use ranking::{ProtectedUnit, ProtectedUnitError, RankedMethod, Ranking, RankingFilter};
pub use reference::schema_markdown;
pub use registry_entry::RegistryEntry;
pub use report::{Report, ReportRow};
pub use results::{
    CHECKS, ClaimOutcomeCounts, CommittedResults, DeltaCheckCounts, FindingRow, PaperFindings, PaperNumberCounts,
    PublishError, REPRODUCTION, ReproductionVerdict, ResultsSource, VerdictCounts, agreement_summary, checks_markdown,
    collect_findings, ensure_no_links, list_result_differences, publish, reproduction_markdown, tidy_runs_csv,
};
pub use table::{
    ClaimOutcome, ClaimOutcomeKind, NOT_PRIVATE, NumberVerdict, PivotTable, PredictiveInterval, ReferenceComparison,
    RowPair, SpreadForm, TableDifference, TableOutputFormat, compare_tables, explained_differences, format_exact,
    format_four_digits, graded_summary_screen, pair_rows, plain_table, plain_table_dropping_columns,
    run_summary_screen, table_csv, table_page_markdown, table_terminal, wrap_prose,
};
