//! Reads another implementation's table and judges it as we judge our own.

use std::collections::{BTreeMap, BTreeSet};

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::report::ENOUGH_REPLICATES;
use crate::results::{ClaimOutcomeCounts, CommittedResults, VerdictCounts};
use crate::table::PredictiveInterval;
use crate::table::claims::{ClaimOutcome, ClaimOutcomeKind, ClaimRow, check_claim, count_pairs};
use crate::table::verdict::{ComparisonConditions, NumberVerdict, standard_error, verdict_from_interval};
use dpgp_accounting::Certificate;
use dpgp_data::escape_csv_formula;
use dpgp_data::suggest::closest_name;
use dpgp_number::text::format_four_digits;
use dpgp_spec::{
    ClaimOwner, DeviationKind, ExperimentAxis, FIXED_COLUMNS, ReferenceValue, ReferenceValueOwner, SpreadKind,
    TaskSection,
};
use dpgp_task::{Experiment, MetricSummary};

/// Reasons why a table cannot be judged.
#[derive(Debug, Error)]
pub enum GradeError {
    /// Not CSV.
    #[error("is not a table: {0}")]
    Csv(#[from] csv::Error),
    /// Missing columns for the cell of a row, or for its number.
    #[error("has no column {}; it needs metric, value and the axes of {experiment}", missing.join(", "))]
    MissingColumns {
        /// Their names.
        missing: Vec<String>,
        /// The experiment.
        experiment: String,
    },
    /// A field that should be a number.
    #[error("line {line}: {column} is not a number: {found:?}")]
    NumberError {
        /// Its line.
        line: u64,
        /// Its column.
        column: &'static str,
        /// The text found there.
        found: String,
    },
    /// An unknown kind of spread.
    #[error("line {line}: spread_kind is {found:?}; use one of {}", SpreadKind::joined_names())]
    NoKind {
        /// Its line.
        line: u64,
        /// The text found there.
        found: String,
    },
    /// A negative spread.
    #[error("line {line}: spread is {found:?}, but it must not be negative")]
    NegativeSpread {
        /// Its line.
        line: u64,
        /// The text found there.
        found: f64,
    },
    /// An interval that lacks an endpoint, or whose lower endpoint is above the upper one.
    #[error("line {line}: interval_low and interval_high must both be given, with low <= high")]
    NoInterval {
        /// Its line.
        line: u64,
    },
    /// An interval that does not contain its number.
    #[error("line {line}: value {value:?} lies outside its own interval, {low:?} to {high:?}")]
    Outside {
        /// Its line.
        line: u64,
        /// The number.
        value: f64,
        /// The lower endpoint.
        low: f64,
        /// The upper endpoint.
        high: f64,
    },
    /// Two rows for one number.
    #[error("line {line} has the same cell and metric as an earlier row{}", missing_columns_hint(without))]
    Twice {
        /// The line of the second.
        line: u64,
        /// The axes that the table has no column for, since they have one label.
        without: Vec<String>,
    },
    /// No row is about a number or claim of the experiment.
    #[error(
        "none of its rows corresponds to a printed number or a claim: its metrics are {}, but those of {experiment} are {}",
        found.join(", "), known.join(", ")
    )]
    NothingPrinted {
        /// Its metrics.
        found: Vec<String>,
        /// The metrics of printed numbers and claims.
        known: Vec<String>,
        /// The experiment.
        experiment: String,
    },
    /// No row is of another method.
    #[error("has no {metric} for a method that is not in {experiment}")]
    NoOtherMethod {
        /// The metric.
        metric: String,
        /// The experiment.
        experiment: String,
    },
    /// A row of another method is in no column of the ranking.
    #[error("{experiment} ranks no methods at {axis} = {found}; its values of {axis} are {}", known.join(", "))]
    NotRanked {
        /// The experiment.
        experiment: String,
        /// The axis of the columns.
        axis: String,
        /// The label of the row.
        found: String,
        /// The labels of the columns.
        known: Vec<String>,
    },
    /// No row matches the experiment.
    #[error(
        "none of its {rows} rows matches a cell of {experiment}; to rank a method of your own, use `dpgp show NAME --best --with TABLE.csv`"
    )]
    NoCell {
        /// The number of its rows.
        rows: usize,
        /// The experiment.
        experiment: String,
    },
}

/// Names the missing columns that make rows look alike.
fn missing_columns_hint(without: &[String]) -> String {
    match without {
        [] => String::new(),
        names => format!("; the table has no column {}, so all its rows get the same label there", names.join(", ")),
    }
}

/// A number with its spread and interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SubmittedNumber {
    pub value: f64,
    pub spread: Option<f64>,
    pub spread_kind: SpreadKind,
    pub repeats: Option<u32>,
    /// The interval for another run, if the table gives one.
    pub interval: Option<[f64; 2]>,
    pub line: u64,
}

/// Values of one number, one for each replicate: its place in the order of replicates, the value and its line.
type ReplicateValuesWithLines = Vec<(f64, f64, u64)>;

/// The mean of replicates and their spread. A single replicate has no spread.
///
/// # Errors
/// [`GradeError::Twice`] if two are the same replicate.
fn average_replicates(
    mut replicates: ReplicateValuesWithLines,
    without: &[String],
) -> Result<(SubmittedNumber, Vec<f64>), GradeError> {
    replicates.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    if let Some(twice) = replicates.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(GradeError::Twice { line: twice[1].2, without: without.to_vec() });
    }
    let values: Vec<f64> = replicates.iter().map(|(_, value, _)| *value).collect();
    let (value, spread) = mean_and_sd(&values);
    let several = spread.is_some();
    let given = SubmittedNumber {
        value,
        spread,
        spread_kind: if several { SpreadKind::SdReplicates } else { SpreadKind::None },
        repeats: several.then_some(values.len() as u32),
        interval: None,
        line: replicates[0].2,
    };
    Ok((given, values))
}

/// The mean of numbers and their standard deviation; one number has none.
fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()))
}

/// All numbers of a table, by the index of their cell and their metric.
#[derive(Debug, Default)]
pub(super) struct SubmittedTable {
    pub numbers: BTreeMap<(usize, String), SubmittedNumber>,
    /// The values of single replicates, for numbers that the table gives by replicate.
    pub replicates: BTreeMap<(usize, String), Vec<f64>>,
    /// Numbers that belong to no cell, such as those of another method, keyed by labels and metric.
    pub others: BTreeMap<(Vec<String>, String), Vec<AddedMethodValue>>,
    /// Rows that match no cell of the experiment.
    pub unknown: usize,
    /// The line and the first unknown label of the first such row.
    pub first_unknown: Option<String>,
    /// Metrics that the experiment does not have, each with the line that names it first.
    pub unknown_metrics: BTreeMap<String, u64>,
}

impl SubmittedTable {
    /// Reads a table. Columns that are not needed are ignored.
    ///
    /// # Errors
    /// [`GradeError`], also if no row matches a cell.
    pub fn read(text: &str, experiment: &Experiment) -> Result<Self, GradeError> {
        let table = Self::read_allowing_no_match(text, experiment)?;
        if table.numbers.is_empty() {
            return Err(GradeError::NoCell { rows: table.unknown, experiment: experiment.name.clone() });
        }
        Ok(table)
    }

    /// Reads a table, and accepts one in which no row matches a cell: all rows may be of other methods.
    fn read_allowing_no_match(text: &str, experiment: &Experiment) -> Result<Self, GradeError> {
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let columns = TableHeadings { headings: reader.headers()?.clone() };
        let axes = columns.axis_columns(experiment)?;
        let without = experiment.axes.iter().zip(&axes).filter(|(_, at)| at.is_none());
        let without: Vec<String> = without.map(|(axis, _)| axis.name.clone()).collect();
        let known = known_metrics(experiment);
        let mut table = Self::default();
        let by_replicate = columns.column_index("replicate").is_some();
        let mut replicates: BTreeMap<(usize, String), ReplicateValuesWithLines> = BTreeMap::new();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let row = SubmittedRow { columns: &columns, record: &record, line };
            let metric = columns.field(&record, "metric").to_owned();
            if !known.contains(metric.strip_suffix("-replicates").unwrap_or(&metric)) {
                table.unknown_metrics.entry(metric.clone()).or_insert(line);
            }
            let Some(cell) = find_cell(experiment, &axes, &record) else {
                table.unknown += 1;
                let label = |at: &Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default().trim().to_owned();
                let labels = axes.iter().map(label).collect();
                let fold = columns.field(&record, "fold");
                let replicate = columns.field(&record, "replicate");
                let value = row.number("value")?.map(|value| row.to_added_value(value, replicate, fold)).transpose()?;
                table.others.entry((labels, metric)).or_default().extend(value);
                let found = || describe_unknown_label(experiment, &axes, &record);
                table.first_unknown.get_or_insert_with(|| format!("line {line}{}", found()));
                continue;
            };
            let Some(value) = row.number("value")? else { continue };
            if by_replicate {
                let missing = || GradeError::NumberError { line, column: "replicate", found: String::new() };
                let order = row.number("replicate")?.ok_or_else(missing)?;
                replicates.entry((cell, metric)).or_default().push((order, value, line));
                continue;
            }
            if table.numbers.insert((cell, metric), row.to_submitted_number(value)?).is_some() {
                return Err(GradeError::Twice { line, without });
            }
        }
        for (number, values) in replicates {
            let (given, values) = average_replicates(values, &without)?;
            table.numbers.insert(number.clone(), given);
            table.replicates.insert(number, values);
        }
        Ok(table)
    }
}

/// One of the numbers of a method that an experiment does not have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AddedMethodValue {
    value: f64,
    /// Its own standard error; zero if the table gives none.
    standard_error: f64,
    /// The replicate. Empty if the table has no column `replicate`.
    replicate: String,
    /// The fold whose test points it is about. Empty if the table has no column `fold`.
    fold: String,
}

/// The mean of the numbers of a method, and its standard error as for our methods: over replicates if there are five or more, else
/// over the folds of one, averaged over replicates. Rows of one fold of one replicate share test points, so they are averaged first.
fn mean_and_standard_error(values: &[AddedMethodValue]) -> (f64, f64) {
    if let [one] = values {
        return (one.value, one.standard_error);
    }
    let mut replicates: BTreeMap<&str, BTreeMap<(&str, usize), Vec<f64>>> = BTreeMap::new();
    for (i, one) in values.iter().enumerate() {
        // Without folds each row is a number of its own.
        let own = if one.fold.is_empty() { i } else { 0 };
        replicates.entry(&one.replicate).or_default().entry((&one.fold, own)).or_default().push(one.value);
    }
    let folds = replicates.values().map(|folds| folds.values().map(|rows| mean_and_sd(rows).0).collect());
    let folds: Vec<Vec<f64>> = folds.collect();
    let means: Vec<f64> = folds.iter().map(|folds| mean_and_sd(folds).0).collect();
    let (mean, over_replicates) = mean_and_sd(&means);
    let standard_error = |sd: Option<f64>, count: usize| sd.map(|sd| sd / (count as f64).sqrt());
    let of_folds: Option<Vec<f64>> = folds.iter().map(|one| standard_error(mean_and_sd(one).1, one.len())).collect();
    let error = match of_folds {
        Some(errors) if means.len() < ENOUGH_REPLICATES => Some(mean_and_sd(&errors).0),
        _ => standard_error(over_replicates, means.len()),
    };
    (mean, error.unwrap_or(0.0))
}

/// A method that an experiment does not have, with its number of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedMethod {
    /// The method's label on each axis.
    pub labels: Vec<String>,
    /// The mean of the method's numbers.
    pub value: f64,
    /// The standard error of that mean. For one number, the error that the table gives, or zero.
    pub standard_error: f64,
}

/// Reads the methods of a table that are none of an experiment, with their numbers of one metric. The table is as for [`grade_submitted_table`]; several
/// rows of a method are repetitions, which the columns `replicate` and `fold` tell apart.
///
/// # Errors
/// [`GradeError`], also if the table has no such method.
pub fn read_added_methods(text: &str, experiment: &Experiment, metric: &str) -> Result<Vec<AddedMethod>, GradeError> {
    let table = SubmittedTable::read_allowing_no_match(text, experiment)?;
    let mut by_labels: BTreeMap<Vec<String>, Vec<AddedMethodValue>> = BTreeMap::new();
    for ((labels, of), values) in table.others {
        if of == metric && !values.is_empty() {
            // A number may be written in another way, as 1 and 1.0.
            let own = |(label, axis): (String, &ExperimentAxis)| {
                axis.labels.iter().find(|own| field_matches_label(&label, own)).cloned().unwrap_or(label)
            };
            let labels: Vec<String> = labels.into_iter().zip(&experiment.axes).map(own).collect();
            refuse_method_without_ranking_column(experiment, &labels)?;
            by_labels.entry(labels).or_default().extend(values);
        }
    }
    let methods: Vec<AddedMethod> = by_labels
        .into_iter()
        .map(|(labels, values)| {
            let (value, standard_error) = mean_and_standard_error(&values);
            AddedMethod { labels, value, standard_error }
        })
        .collect();
    match methods.is_empty() {
        true => Err(GradeError::NoOtherMethod { metric: metric.to_owned(), experiment: experiment.name.clone() }),
        false => Ok(methods),
    }
}

/// Refuses a method whose labels on the axes of the columns are not those of the experiment: no ranking could show it.
fn refuse_method_without_ranking_column(experiment: &Experiment, labels: &[String]) -> Result<(), GradeError> {
    let columns = experiment.layout.as_ref().map_or(&[][..], |layout| &layout.columns);
    let mut all = experiment.axes.iter().zip(labels).filter(|(axis, _)| columns.contains(&axis.name));
    match all.find(|(axis, label)| !axis.labels.contains(label)) {
        None => Ok(()),
        Some((axis, found)) => Err(GradeError::NotRanked {
            experiment: experiment.name.clone(),
            axis: axis.name.clone(),
            found: found.clone(),
            known: axis.labels.clone(),
        }),
    }
}

/// The metrics of the experiment's tasks, of its printed numbers and of its claims.
fn known_metrics(experiment: &Experiment) -> BTreeSet<String> {
    let tasks = experiment.cells.iter().map(|cell| &cell.setting().task);
    let measured = tasks.flat_map(|task| task.metric_names(experiment.meta.replicates));
    let printed = experiment.counterparts.iter().map(|one| one.metric.clone());
    measured.chain(printed).chain(experiment.claims.iter().map(|claim| claim.metric.clone())).collect()
}

struct TableHeadings {
    headings: StringRecord,
}

impl TableHeadings {
    fn column_index(&self, name: &str) -> Option<usize> {
        self.headings.iter().position(|heading| heading.trim() == name || heading == escape_csv_formula(name))
    }

    fn field<'a>(&self, record: &'a StringRecord, name: &str) -> &'a str {
        self.column_index(name).and_then(|at| record.get(at)).unwrap_or_default().trim()
    }

    /// The column of an axis: its name, or its whole path where a fixed column has the name. A table of a program that claims a guarantee
    /// has the claimed epsilon under another path.
    fn axis_column(&self, axis: &ExperimentAxis) -> Option<usize> {
        let is_fixed = FIXED_COLUMNS.contains(&axis.name.as_str());
        let claimed = (axis.path == "privacy.epsilon").then(|| self.column_index("task.command.guarantee.epsilon"));
        let by_path = self.column_index(&axis.path).or(claimed.flatten());
        by_path.filter(|_| is_fixed).or_else(|| self.column_index(&axis.name))
    }

    /// The columns of the axes. An axis with one label needs none.
    fn axis_columns(&self, experiment: &Experiment) -> Result<Vec<Option<usize>>, GradeError> {
        let needed = ["metric", "value"].into_iter().filter(|name| self.column_index(name).is_none());
        let mut missing: Vec<String> = needed.map(str::to_owned).collect();
        let axes: Vec<Option<usize>> = experiment.axes.iter().map(|axis| self.axis_column(axis)).collect();
        let without = experiment.axes.iter().zip(&axes).filter(|(axis, at)| axis.labels.len() > 1 && at.is_none());
        missing.extend(without.map(|(axis, _)| axis.name.clone()));
        if missing.is_empty() {
            return Ok(axes);
        }
        Err(GradeError::MissingColumns { missing, experiment: experiment.name.clone() })
    }
}

/// The cell whose labels a row has.
fn find_cell(experiment: &Experiment, axes: &[Option<usize>], record: &StringRecord) -> Option<usize> {
    experiment.cells.iter().position(|cell| {
        let mut labels = cell.labels().iter().zip(axes);
        labels.all(|(label, at)| at.is_none_or(|at| field_matches_label(record.get(at).unwrap_or_default(), label)))
    })
}

/// The first label of a row that no cell of the experiment has, in words; nothing if each is one of some cell.
fn describe_unknown_label(experiment: &Experiment, axes: &[Option<usize>], record: &StringRecord) -> String {
    let mut all = experiment.axes.iter().zip(axes).filter_map(|(axis, at)| Some((axis, record.get((*at)?)?)));
    let unknown = all.find(|(axis, found)| !axis.labels.iter().any(|label| field_matches_label(found, label)));
    unknown.map_or(String::new(), |(axis, found)| {
        let hint = closest_name(found.trim(), axis.labels.iter().map(String::as_str));
        let hint = hint.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        format!(", {} = {found:?}{hint}", axis.name)
    })
}

/// Whether a field holds a label, as such or as in our tables, where the start of a formula is quoted.
fn field_matches_label(found: &str, label: &str) -> bool {
    dpgp_task::is_same_label(found, label) || found.trim() == escape_csv_formula(label)
}

struct SubmittedRow<'a> {
    columns: &'a TableHeadings,
    record: &'a StringRecord,
    line: u64,
}

impl SubmittedRow<'_> {
    /// A number; none if the field is empty.
    fn number(&self, column: &'static str) -> Result<Option<f64>, GradeError> {
        let found = self.columns.field(self.record, column);
        if found.is_empty() {
            return Ok(None);
        }
        let number = found.parse::<f64>().ok().filter(|number| !number.is_nan());
        let wrong = GradeError::NumberError { line: self.line, column, found: found.to_owned() };
        number.map(Some).ok_or(wrong)
    }

    /// The kind of a spread; the default kind if the field is empty.
    fn spread_kind(&self) -> Result<SpreadKind, GradeError> {
        let found = self.columns.field(self.record, "spread_kind");
        SpreadKind::from_name(found).ok_or_else(|| GradeError::NoKind { line: self.line, found: found.to_owned() })
    }

    fn to_added_value(&self, value: f64, replicate: &str, fold: &str) -> Result<AddedMethodValue, GradeError> {
        let SubmittedNumber { spread, spread_kind, repeats, .. } = self.to_submitted_number(value)?;
        let standard_error = standard_error(spread, spread_kind, repeats.unwrap_or(1) as usize);
        Ok(AddedMethodValue { value, standard_error, replicate: replicate.to_owned(), fold: fold.to_owned() })
    }

    fn to_submitted_number(&self, value: f64) -> Result<SubmittedNumber, GradeError> {
        let repeats = self.number("repeats")?;
        let spread = self.number("spread")?;
        if let Some(found) = spread.filter(|spread| *spread < 0.0) {
            return Err(GradeError::NegativeSpread { line: self.line, found });
        }
        Ok(SubmittedNumber {
            value,
            spread,
            spread_kind: self.spread_kind()?,
            repeats: repeats.map(|repeats| repeats as u32),
            interval: self.interval()?,
            line: self.line,
        })
    }

    fn interval(&self) -> Result<Option<[f64; 2]>, GradeError> {
        match [self.number("interval_low")?, self.number("interval_high")?] {
            [None, None] => Ok(None),
            [Some(low), Some(high)] if low <= high => Ok(Some([low, high])),
            _ => Err(GradeError::NoInterval { line: self.line }),
        }
    }
}

/// A number of the table beside the one that the paper prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GradedNumber {
    /// The cell's label on each axis.
    pub labels: Vec<String>,
    /// The metric.
    pub metric: String,
    /// The number in the table.
    pub value: f64,
    /// The interval for another of their runs, if their table gives one.
    pub interval: Option<[f64; 2]>,
    /// The printed number.
    pub published: f64,
    /// Its verdict.
    pub verdict: &'static str,
    /// The printed number with its spread and digits.
    #[serde(skip)]
    pub(crate) printed: ReferenceValue,
    /// The verdict, for its mark.
    #[serde(skip)]
    pub(crate) judged: NumberVerdict,
    /// Why the number is not judged, inconclusive or fitted. None for other verdicts.
    pub reason: Option<String>,
}

/// A number of the table beside ours and the printed one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NumberComparison {
    /// The label on each axis.
    pub labels: Vec<String>,
    /// The metric.
    pub metric: String,
    /// The number in the table, or the mean if several rows give it.
    pub theirs: Option<f64>,
    /// Our committed number.
    pub ours: Option<f64>,
    /// The printed number.
    pub published: Option<f64>,
}

/// The reason why a number without a spread is not judged.
const NO_SPREAD: &str =
    "neither a spread over runs nor an interval is given, and our results do not show the same value in every run";

/// The reason why a number with another kind of spread is not judged.
const OTHER_SPREAD: &str = "the spread is over the folds of one run, or over an unknown number of runs";

/// A metric of the table that the experiment does not have: perhaps a misspelt one, so that its numbers are compared with none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnknownMetric {
    /// The metric's name in the table.
    pub metric: String,
    /// The first line with this metric.
    pub line: u64,
    /// The closest metric of the experiment.
    pub closest: Option<String>,
}

/// The verdicts on a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableGrade {
    /// The numbers that the paper prints as well, in grid order.
    pub numbers: Vec<GradedNumber>,
    /// The claims of the experiment, checked against the rows of the table.
    pub claims: Vec<ClaimOutcome>,
    /// The verdicts, counted.
    pub verdicts: VerdictCounts,
    /// The outcomes of the claims, counted.
    pub outcomes: ClaimOutcomeCounts,
    /// Rows that match no cell of the experiment.
    pub unknown_rows: usize,
    /// The line and the unknown label of the first such row.
    pub first_unknown: Option<String>,
    /// Metrics that the experiment does not have.
    pub unknown_metrics: Vec<UnknownMetric>,
    /// Printed numbers without a row in the table.
    pub missing_numbers: usize,
    /// Claims left out because the table lacks their rows.
    pub missing_claims: usize,
    /// Claims that need more rows than the table has. They can fail but not hold.
    pub partial_claims: usize,
    /// The numbers of the table, ours and the printed ones, for every cell and each metric of the table.
    /// Rows that match no cell, such as another method, come last.
    pub beside: Vec<NumberComparison>,
}

impl TableGrade {
    /// Whether a number differs or a claim fails.
    pub fn fails(&self) -> bool {
        self.verdicts.differs + self.outcomes.fails > 0
    }
}

/// Judges a table as CSV by the numbers that the paper prints, and by all claims of the experiment.
///
/// It needs the columns `metric`, `value` and one for each axis, as in `table.csv` of our own results. The interval of
/// another run comes from `interval_low` and `interval_high`, or else from the spread over `repeats` runs in a row of
/// kind `sd-replicates` (of the metric or of `METRIC-replicates`). A number without any spread is judged only if our
/// row has no spread either: then nothing is random, and the number is compared as it is. Claims have no pairs of
/// replicates here, so some stay undecided that our own rows decide.
///
/// # Errors
/// [`GradeError`], with all columns that are missing, or the line that is wrong.
pub fn grade_submitted_table(
    experiment: &Experiment,
    ours: Option<&CommittedResults>,
    table: &str,
) -> Result<TableGrade, GradeError> {
    let table = SubmittedTable::read(table, experiment)?;
    let stand_in = experiment.deviations.iter().any(|deviation| deviation.kind == DeviationKind::StandIn);
    let conditions = ComparisonConditions { stand_in, reduced: experiment.quick };
    let printed = experiment.counterparts.iter().filter(|one| one.owner == ReferenceValueOwner::Paper);
    let mut numbers: BTreeMap<(usize, &str), GradedNumber> = BTreeMap::new();
    let mut missing = 0;
    for counterpart in printed {
        let fixed = ours.is_some_and(|ours| ours.is_deterministic(experiment, counterpart.cell, &counterpart.metric));
        match table.grade_number(experiment, counterpart, GradingConditions { conditions, fixed })? {
            Some(number) => {
                numbers.insert((counterpart.cell, &counterpart.metric), number);
            }
            None => missing += 1,
        }
    }
    let told = table.numbers.keys();
    let rows: Vec<MetricSummary> = told
        .map(|(cell, metric)| {
            let fixed = ours.is_some_and(|ours| ours.is_deterministic(experiment, *cell, metric));
            table.metric_summary_for_claims(*cell, metric, fixed)
        })
        .collect();
    let printed_of = |row: &MetricSummary| {
        let own = |one: &&ReferenceValue| {
            one.owner == ReferenceValueOwner::Paper && one.cell == row.cell && one.metric == row.metric
        };
        experiment.counterparts.iter().find(own).map(|one| [one.value, one.precision])
    };
    let seen =
        rows.iter().map(|row| ClaimRow { labels: experiment.cells[row.cell].labels(), row, printed: printed_of(row) });
    let seen: Vec<ClaimRow<'_>> = seen.collect();
    let absent: Vec<MetricSummary> = table
        .absent_numbers(experiment, ours)
        .into_iter()
        .map(|(cell, metric)| table.metric_summary_for_claims(cell, &metric, false))
        .collect();
    let absent = absent.iter().map(|row| ClaimRow {
        labels: experiment.cells[row.cell].labels(),
        row,
        printed: printed_of(row),
    });
    let whole: Vec<ClaimRow<'_>> = seen.iter().copied().chain(absent).collect();
    let (mut claims, mut partial_claims) = (Vec::new(), 0);
    for claim in &experiment.claims {
        let (mut checked, pairs) = (check_claim(claim, &seen, stand_in), count_pairs(claim, &seen));
        // A claim about no pair of rows says nothing of the table.
        if checked.left.is_none() {
            continue;
        }
        // One pair can contradict a claim, but only all of them confirm it.
        if pairs < count_pairs(claim, &whole) {
            partial_claims += 1;
            if checked.outcome == ClaimOutcomeKind::Holds || claim.share.is_some() {
                checked.outcome = ClaimOutcomeKind::Undecided;
            }
        }
        claims.push(checked);
    }
    if numbers.is_empty() && claims.is_empty() {
        let known = experiment.counterparts.iter().map(|one| one.metric.clone());
        let known: BTreeSet<String> = known.chain(experiment.claims.iter().map(|claim| claim.metric.clone())).collect();
        let found: BTreeSet<String> = table.numbers.keys().map(|(_, metric)| metric.clone()).collect();
        let (found, known) = (found.into_iter().collect(), known.into_iter().collect());
        return Err(GradeError::NothingPrinted { found, known, experiment: experiment.name.clone() });
    }
    let mut outcomes = ClaimOutcomeCounts::count(&claims, ClaimOwner::Paper);
    outcomes.add(ClaimOutcomeCounts::count(&claims, ClaimOwner::Ours));
    Ok(TableGrade {
        beside: table.compare_numbers(experiment, ours),
        verdicts: VerdictCounts::count(numbers.values().map(|number| number.verdict)),
        missing_numbers: missing,
        missing_claims: experiment.claims.len() - claims.len(),
        partial_claims,
        numbers: numbers.into_values().collect(),
        unknown_rows: table.unknown,
        first_unknown: table.first_unknown,
        unknown_metrics: find_unknown_metrics(&table.unknown_metrics, experiment),
        claims,
        outcomes,
    })
}

fn find_unknown_metrics(found: &BTreeMap<String, u64>, experiment: &Experiment) -> Vec<UnknownMetric> {
    let known = known_metrics(experiment);
    let closest = |metric: &str| closest_name(metric, known.iter().map(String::as_str)).map(str::to_owned);
    let described = |(metric, line): (&String, &u64)| UnknownMetric {
        closest: closest(metric),
        metric: metric.clone(),
        line: *line,
    };
    found.iter().map(described).collect()
}

/// Conditions from our own results for judging a number.
#[derive(Debug, Clone, Copy)]
struct GradingConditions {
    conditions: ComparisonConditions,
    /// Whether nothing in it is random.
    fixed: bool,
}

impl CommittedResults {
    /// The row of a number.
    fn find_row(&self, experiment: &Experiment, cell: usize, metric: &str) -> Option<&[String]> {
        let labels = experiment.cells[cell].labels();
        let own = self.rows.iter().find(|row| {
            let mut axes = experiment.axes.iter().zip(labels);
            self.field(row, "metric") == escape_csv_formula(metric)
                && axes.all(|(axis, label)| self.label(row, axis) == escape_csv_formula(label))
        });
        own.map(Vec::as_slice)
    }

    /// Whether nothing is random in a number: the row of it has no spread.
    fn is_deterministic(&self, experiment: &Experiment, cell: usize, metric: &str) -> bool {
        self.find_row(experiment, cell, metric).is_some_and(|row| self.field(row, "spread").is_empty())
    }

    fn value(&self, experiment: &Experiment, cell: usize, metric: &str) -> Option<f64> {
        self.field(self.find_row(experiment, cell, metric)?, "value").parse().ok()
    }
}

impl SubmittedTable {
    fn compare_numbers(&self, experiment: &Experiment, ours: Option<&CommittedResults>) -> Vec<NumberComparison> {
        let metrics: BTreeSet<&str> = self.numbers.keys().map(|(_, metric)| metric.as_str()).collect();
        let mut all = Vec::new();
        for (cell, about) in experiment.cells.iter().enumerate() {
            for metric in &metrics {
                let printed = |one: &&ReferenceValue| {
                    one.owner == ReferenceValueOwner::Paper && one.cell == cell && one.metric == **metric
                };
                let number = NumberComparison {
                    labels: about.labels().to_vec(),
                    metric: (*metric).to_owned(),
                    theirs: self.get(cell, metric).map(|given| given.value),
                    ours: ours.and_then(|ours| ours.value(experiment, cell, metric)),
                    published: experiment.counterparts.iter().find(printed).map(|one| one.value),
                };
                if number.theirs.or(number.ours).or(number.published).is_some() {
                    all.push(number);
                }
            }
        }
        for ((labels, metric), values) in &self.others {
            let (labels, metric) = (labels.clone(), metric.clone());
            let mean = values.iter().map(|one| one.value).sum::<f64>() / values.len() as f64;
            let theirs = mean.is_finite().then_some(mean);
            all.push(NumberComparison { labels, metric, theirs, ours: None, published: None });
        }
        all
    }

    /// The numbers that the table lacks: those of our own results, or else the printed ones.
    fn absent_numbers(&self, experiment: &Experiment, ours: Option<&CommittedResults>) -> BTreeSet<(usize, String)> {
        let all: BTreeSet<(usize, String)> = match ours {
            Some(ours) => {
                let metrics: BTreeSet<String> =
                    ours.rows.iter().map(|row| ours.field(row, "metric").trim_start_matches('\'').to_owned()).collect();
                let cells = 0..experiment.cells.len();
                let pairs = cells.flat_map(|cell| metrics.iter().map(move |metric| (cell, metric.clone())));
                pairs.filter(|(cell, metric)| ours.value(experiment, *cell, metric).is_some()).collect()
            }
            None => experiment.counterparts.iter().map(|one| (one.cell, one.metric.clone())).collect(),
        };
        all.into_iter().filter(|number| !self.numbers.contains_key(number)).collect()
    }

    fn get(&self, cell: usize, metric: &str) -> Option<&SubmittedNumber> {
        self.numbers.get(&(cell, metric.to_owned()))
    }

    fn grade_number(
        &self,
        experiment: &Experiment,
        counterpart: &ReferenceValue,
        ours: GradingConditions,
    ) -> Result<Option<GradedNumber>, GradeError> {
        let ReferenceValue { cell, metric, .. } = counterpart;
        let Some(given) = self.get(*cell, metric) else { return Ok(None) };
        let interval = match given.interval {
            // Ends may be rounded as the paper prints.
            Some([low, high])
                if given.value < low - counterpart.precision || given.value > high + counterpart.precision =>
            {
                return Err(GradeError::Outside { line: given.line, value: given.value, low, high });
            }
            Some([low, high]) => Some(PredictiveInterval::from_bounds(low, high)),
            None => {
                let widened = counterpart.tolerance.unwrap_or(0.0);
                let own = self.predictive_interval(*cell, metric, counterpart.runs, ours.fixed);
                own.map(|own| own.widen_by_rounding(counterpart.precision).widened(widened))
            }
        };
        let verdict = verdict_from_interval(interval.as_ref(), counterpart, ours.conditions);
        let reason = match (verdict, &interval, counterpart.effect) {
            (NumberVerdict::NotJudged, ..) if given.spread.is_none() => Some(NO_SPREAD.to_owned()),
            (NumberVerdict::NotJudged, ..) => Some(OTHER_SPREAD.to_owned()),
            (NumberVerdict::Inconclusive, Some(interval), Some(effect)) => Some(format!(
                "interval width {} exceeds effect {}",
                format_four_digits(interval.high - interval.low),
                format_four_digits(effect)
            )),
            (NumberVerdict::Fitted, ..) => Some("agrees, but one of our settings was chosen to match it".to_owned()),
            _ => None,
        };
        Ok(Some(GradedNumber {
            reason,
            labels: experiment.cells[*cell].labels().to_vec(),
            metric: metric.clone(),
            value: given.value,
            interval: interval.map(|interval| [interval.low, interval.high]),
            published: counterpart.value,
            verdict: verdict.name(),
            printed: counterpart.clone(),
            judged: verdict,
        }))
    }

    /// The interval of the mean of more runs, if the table gives it. A fixed number is the same in every run.
    fn predictive_interval(&self, cell: usize, metric: &str, runs: u32, fixed: bool) -> Option<PredictiveInterval> {
        let given = self.get(cell, metric)?;
        let over_runs = self.number_with_run_spread(cell, metric);
        match (over_runs.and_then(|one| Some((one.spread?, one.repeats?))), given.spread) {
            (Some((spread, count)), _) if count > 1 => {
                Some(PredictiveInterval::from_moments(given.value, spread, count, runs))
            }
            (_, None) if fixed => Some(PredictiveInterval::from_bounds(given.value, given.value)),
            _ => None,
        }
    }

    /// The row with the spread over runs.
    fn number_with_run_spread(&self, cell: usize, metric: &str) -> Option<&SubmittedNumber> {
        let own = self.get(cell, metric).filter(|given| given.spread_kind == SpreadKind::SdReplicates);
        own.or_else(|| self.get(cell, &format!("{metric}-replicates")))
    }

    /// A row for checking claims. Its error is that of the mean over runs if the table gives their spread, and zero if
    /// nothing is random. Otherwise it is NaN, and no claim about the row is decided.
    fn metric_summary_for_claims(&self, cell: usize, metric: &str, fixed: bool) -> MetricSummary {
        let none = SubmittedNumber {
            value: f64::NAN,
            spread: None,
            spread_kind: SpreadKind::None,
            repeats: None,
            interval: None,
            line: 0,
        };
        let given = self.get(cell, metric).copied().unwrap_or(none);
        let error_of = self.number_with_run_spread(cell, metric).copied().unwrap_or(given);
        let spread_over_runs = error_of.spread.filter(|_| error_of.spread_kind == SpreadKind::SdReplicates);
        let is_known = fixed || spread_over_runs.is_some();
        MetricSummary {
            cell,
            metric: metric.to_owned(),
            value: given.value,
            spread: if is_known { error_of.spread } else { Some(f64::NAN) },
            spread_kind: if is_known { error_of.spread_kind } else { SpreadKind::StandardError },
            repeats: error_of.repeats.unwrap_or(1) as usize,
            replicates: self.replicates.get(&(cell, metric.to_owned())).cloned().unwrap_or_default(),
            fold_spreads: Vec::new(),
            certificate: Certificate::none(),
            jitter: 0.0,
            undefined: None,
        }
    }
}
