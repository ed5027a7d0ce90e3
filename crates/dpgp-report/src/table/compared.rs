//! The quantities that claims compare, with the error of their difference. Also compares two versions of a `table.csv`, cell by cell.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use csv::ReaderBuilder;

use super::claims::ClaimOutcomeKind;
use super::verdict::standard_error;
use dpgp_spec::{ClaimRelation, FIXED_COLUMNS, SpreadKind};
use dpgp_task::MetricSummary;

/// Standard errors of a difference within which it may be chance.
const WITHIN: f64 = 2.0;

/// One of our numbers: a row, a difference of rows, or a given number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClaimQuantity {
    value: f64,
    /// Its values by replicate; empty where they are not known, or it is no random number.
    replicates: Vec<f64>,
    /// The standard error of the value alone; NaN if unknown.
    error: f64,
}

impl ClaimQuantity {
    pub fn from_row(row: &MetricSummary) -> Self {
        Self { value: row.value, replicates: row.replicates.clone(), error: row_standard_error(row) }
    }

    /// Without an error.
    pub fn from_number(value: f64) -> Self {
        Self { value, replicates: Vec::new(), error: 0.0 }
    }

    /// Their difference. Replicates of the same number share their data and streams where they can, so that the error is that of their
    /// paired differences.
    pub fn minus(&self, other: &Self) -> Self {
        let value = self.value - other.value;
        let are_paired = self.replicates.len() > 1 && self.replicates.len() == other.replicates.len();
        if !are_paired {
            let replicates = match (self.replicates.is_empty(), other.replicates.is_empty()) {
                (false, true) => self.replicates.iter().map(|one| one - other.value).collect(),
                (true, false) => other.replicates.iter().map(|one| self.value - one).collect(),
                _ => Vec::new(),
            };
            return Self { value, replicates, error: self.error.hypot(other.error) };
        }
        let pairs = self.replicates.iter().zip(&other.replicates);
        let replicates: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        Self { value, error: error_of_mean(&replicates), replicates }
    }

    /// The root mean square of the first rows whose second is above zero, in each replicate; none where there is none in some replicate, or replicates
    /// are not known.
    pub fn rms_where_positive(members: &[(&MetricSummary, &MetricSummary)]) -> Option<Self> {
        let count = members.first()?.0.replicates.len();
        let known = |row: &MetricSummary| row.replicates.len() == count;
        if count == 0 || !members.iter().all(|(of, allowed)| known(of) && known(allowed)) {
            return None;
        }
        let means = (0..count).map(|replicate| {
            let allowed = members.iter().filter(|(_, allowed)| allowed.replicates[replicate] > 0.0);
            let squares: Vec<f64> = allowed.map(|(of, _)| of.replicates[replicate].powi(2)).collect();
            (!squares.is_empty()).then(|| mean(&squares).sqrt())
        });
        let replicates = means.collect::<Option<Vec<f64>>>()?;
        let error = if count > 1 { error_of_mean(&replicates) } else { f64::NAN };
        Some(Self { value: mean(&replicates), error, replicates })
    }
}

/// Two numbers that a claim compares.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimNumberPair {
    pub left: f64,
    pub right: f64,
    /// The standard error of the difference; not a number where that of a row is not known.
    pub error: f64,
}

impl ClaimNumberPair {
    pub fn compare(left: &ClaimQuantity, right: &ClaimQuantity) -> Self {
        Self { left: left.value, right: right.value, error: left.minus(right).error }
    }

    /// With a right side that is larger by so much.
    pub fn with_margin(self, by: f64) -> Self {
        Self { right: self.right + by, ..self }
    }

    /// Whether both numbers are defined.
    pub fn is_defined(&self) -> bool {
        !self.left.is_nan() && !self.right.is_nan()
    }

    /// The distance from the claim; negative if the claim holds.
    fn excess(&self, is: ClaimRelation) -> f64 {
        match is {
            ClaimRelation::Below => self.left - self.right,
            ClaimRelation::Above => self.right - self.left,
        }
    }

    /// The outcome of the comparison. A difference with an unknown error (NaN) decides nothing.
    pub fn outcome(&self, is: ClaimRelation) -> ClaimOutcomeKind {
        let (excess, chance) = (self.excess(is), WITHIN * self.error);
        // A number that is undefined decides nothing.
        if excess.is_nan() {
            return ClaimOutcomeKind::Undecided;
        }
        if chance == 0.0 {
            return if excess < 0.0 { ClaimOutcomeKind::Holds } else { ClaimOutcomeKind::Fails };
        }
        match excess {
            excess if excess < -chance => ClaimOutcomeKind::Holds,
            excess if excess > chance => ClaimOutcomeKind::Fails,
            _ => ClaimOutcomeKind::Undecided,
        }
    }

    /// The excess over the claim in standard errors, or infinite if the numbers are exact.
    pub fn standardised_excess(&self, is: ClaimRelation) -> f64 {
        let excess = self.excess(is);
        if self.error > 0.0 { excess / self.error } else { excess.signum() * f64::INFINITY }
    }
}

/// The standard error of a row's mean, over replicates or over the folds of a single one.
pub(crate) fn row_standard_error(row: &MetricSummary) -> f64 {
    match row.replicates.len() {
        0 | 1 => standard_error(row.spread, row.spread_kind, row.repeats),
        _ => error_of_mean(&row.replicates),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn error_of_mean(values: &[f64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    // Equal replicates have no error, not even that of rounding.
    if values.iter().all(|value| *value == values[0]) {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// One difference between a committed table and a fresh one.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDifference {
    /// The cell and metric of the row.
    pub row: String,
    /// The metric of the row.
    pub metric: String,
    /// The column; `None` if the whole row is only in one of the tables.
    pub column: Option<String>,
    /// The committed text.
    pub committed: String,
    /// The fresh text.
    pub fresh: String,
}

impl fmt::Display for TableDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column, committed, fresh, .. } = self;
        match column {
            Some(column) => write!(f, "{row}: {column} was {committed:?}, is now {fresh:?}")?,
            None => write!(f, "{row}: the row is {fresh}")?,
        }
        match self.relative_change() {
            Some(relative) => write!(f, " ({relative:+.1e} relative)"),
            None => Ok(()),
        }
    }
}

impl TableDifference {
    /// The relative difference of the fresh number from the committed one.
    pub fn relative_change(&self) -> Option<f64> {
        let (committed, fresh): (f64, f64) = (self.committed.parse().ok()?, self.fresh.parse().ok()?);
        (committed != 0.0).then(|| fresh / committed - 1.0)
    }
}

/// Compares two tables row by row (rows are known by cell and metric, so their order does not matter);
/// numbers may differ by `tolerance`, relative. The `gap` column is a bound near rounding: it is compared
/// with an absolute tolerance of 1e-8.
///
/// # Errors
/// The CSV reader's error if a table is malformed.
pub fn compare_tables(committed: &str, fresh: &str, tolerance: f64) -> Result<Vec<TableDifference>, csv::Error> {
    let pairs = match_rows(rows(committed)?, rows(fresh)?);
    Ok(pairs.iter().flat_map(|pair| pair.differences(tolerance)).collect())
}

/// A row of two tables; it may be in one of them only.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPair {
    key: RowKey,
    before: Option<RowFields>,
    after: Option<RowFields>,
    /// Whether another row has the same value with its spread over replicates, on both sides.
    has_replicate_row: bool,
}

/// The rows of two tables side by side. Rows are known by their place on the axes and their metric alone, so that
/// cells whose setting changed still meet.
///
/// # Errors
/// The CSV reader's error if a table is malformed.
pub fn pair_rows(before: &str, after: &str) -> Result<Vec<RowPair>, csv::Error> {
    Ok(match_rows(drop_cell_ids(rows(before)?), drop_cell_ids(rows(after)?)))
}

fn drop_cell_ids(rows: BTreeMap<RowKey, RowFields>) -> BTreeMap<RowKey, RowFields> {
    let mut without = BTreeMap::new();
    for (key, mut row) in rows {
        row.remove("cell");
        without.insert(RowKey { cell: String::new(), ..key }, row);
    }
    without
}

fn match_rows(mut before: BTreeMap<RowKey, RowFields>, after: BTreeMap<RowKey, RowFields>) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    for (key, row) in after {
        pairs.push(RowPair { before: before.remove(&key), after: Some(row), key, has_replicate_row: false });
    }
    let gone = before.into_iter();
    pairs.extend(gone.map(|(key, row)| RowPair { key, before: Some(row), after: None, has_replicate_row: false }));
    pairs.sort_by(|a: &RowPair, b| a.key.cmp(&b.key));
    let over_replicates =
        pairs.iter().filter(|pair| pair.before.is_some() && pair.after.is_some()).filter_map(|pair| {
            let metric = pair.key.metric.strip_suffix("-replicates")?.to_owned();
            Some(RowKey { metric, ..pair.key.clone() })
        });
    let over_replicates: BTreeSet<RowKey> = over_replicates.collect();
    for pair in &mut pairs {
        pair.has_replicate_row = over_replicates.contains(&pair.key);
    }
    pairs
}

impl RowPair {
    /// The place on the axes and the metric.
    pub fn name(&self) -> String {
        self.key.name()
    }

    /// The value on each side; empty where the row is missing.
    pub fn values(&self) -> (String, String) {
        (value(self.before.as_ref()), value(self.after.as_ref()))
    }

    /// How many standard errors of the difference the value after lies above the one before, as if both runs were independent; none
    /// where a row is missing or an error is not known. None, too, for a metric that has another row with its spread over
    /// replicates: this row then has the spread over folds, whose rows a second run shares, so it says nothing of the error of a run.
    pub fn standardised_difference(&self) -> Option<f64> {
        if self.has_replicate_row {
            return None;
        }
        let [before, after] = [self.before.as_ref()?, self.after.as_ref()?].map(value_and_error);
        let ((before, error_before), (after, error_after)) = (before?, after?);
        let error = error_before.hypot(error_after);
        (error > 0.0).then_some((after - before) / error)
    }

    /// The differences of more than a relative `tolerance`.
    pub fn differences(&self, tolerance: f64) -> Vec<TableDifference> {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => compare_rows(&self.key, before, after, tolerance),
            (Some(_), None) => vec![whole_row_difference(&self.key, "there", "gone")],
            (None, _) => vec![whole_row_difference(&self.key, "missing", "new")],
        }
    }
}

/// The value of a row and its standard error.
fn value_and_error(row: &RowFields) -> Option<(f64, f64)> {
    let number = |column: &str| row.get(column)?.parse::<f64>().ok();
    let kind = SpreadKind::from_name(row.get("spread_kind")?)?;
    Some((number("value")?, standard_error(number("spread"), kind, row.get("repeats")?.parse().ok()?)))
}

fn value(row: Option<&RowFields>) -> String {
    row.and_then(|row| row.get("value")).cloned().unwrap_or_default()
}

/// The fields of a row by their column.
type RowFields = BTreeMap<String, String>;

/// A row is known by its cell and metric, and named by its place on the axes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    cell: String,
    metric: String,
    place: String,
}

impl RowKey {
    fn name(&self) -> String {
        format!("{}: {}", self.place, self.metric)
    }
}

fn rows(text: &str) -> Result<BTreeMap<RowKey, RowFields>, csv::Error> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let headings = reader.headers()?.clone();
    let mut rows = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        let fields = headings.iter().zip(record.iter());
        let axes = fields.clone().filter(|(h, _)| !FIXED_COLUMNS.contains(h) || *h == "epsilon");
        let place = axes.map(|(h, v)| format!("{h} = {v}")).collect::<Vec<_>>().join(", ");
        let row: RowFields = fields.map(|(h, v)| (h.to_owned(), v.to_owned())).collect();
        let [cell, metric] = ["cell", "metric"].map(|key| row.get(key).cloned().unwrap_or_default());
        rows.insert(RowKey { cell, metric, place }, row);
    }
    Ok(rows)
}

fn whole_row_difference(key: &RowKey, committed: &str, fresh: &str) -> TableDifference {
    let (row, metric) = (key.name(), key.metric.clone());
    TableDifference { row, metric, column: None, committed: committed.to_owned(), fresh: fresh.to_owned() }
}

fn compare_rows(key: &RowKey, committed: &RowFields, fresh: &RowFields, tolerance: f64) -> Vec<TableDifference> {
    let names: BTreeSet<&String> = committed.keys().chain(fresh.keys()).collect();
    let mut differences = Vec::new();
    for column in names {
        let [before, after] = [committed, fresh].map(|row| row.get(column).cloned().unwrap_or_default());
        if !are_fields_close(column, &before, &after, tolerance) {
            let column = Some(column.clone());
            let (row, metric) = (key.name(), key.metric.clone());
            differences.push(TableDifference { row, metric, column, committed: before, fresh: after });
        }
    }
    // The number itself comes first, and its verdict: all else follows from them.
    let rank = |difference: &TableDifference| match difference.column.as_deref() {
        Some("value") => 0,
        Some("verdict") => 1,
        _ => 2,
    };
    differences.sort_by_key(rank);
    differences
}

fn are_fields_close(column: &str, before: &str, after: &str, tolerance: f64) -> bool {
    match (before.parse::<f64>(), after.parse::<f64>()) {
        (Ok(a), Ok(b)) if column == "gap" => (a - b).abs() <= 1e-8,
        (Ok(a), Ok(b)) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        _ => before == after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::Certificate;
    use dpgp_spec::SpreadKind;

    fn row(replicates: &[f64]) -> MetricSummary {
        MetricSummary {
            cell: 0,
            metric: "m".to_owned(),
            value: replicates.iter().sum::<f64>() / replicates.len() as f64,
            spread: None,
            spread_kind: SpreadKind::None,
            repeats: replicates.len(),
            replicates: replicates.to_vec(),
            fold_spreads: Vec::new(),
            certificate: Certificate::none(),
            jitter: 0.0,
            undefined: None,
        }
    }

    fn rows(one: &MetricSummary, other: &MetricSummary) -> ClaimNumberPair {
        ClaimNumberPair::compare(&ClaimQuantity::from_row(one), &ClaimQuantity::from_row(other))
    }

    /// Replicates that move together show a difference that is small beside their spread.
    #[test]
    fn differences_are_paired() {
        let (one, other) = (row(&[1.0, 5.0, 9.0, 13.0]), row(&[1.1, 5.2, 9.1, 13.2]));
        let pair = rows(&one, &other);
        assert_eq!(pair.outcome(ClaimRelation::Below), ClaimOutcomeKind::Holds);
        assert_eq!(pair.outcome(ClaimRelation::Above), ClaimOutcomeKind::Fails);
        let crossed = rows(&one, &row(&[13.1, 1.2, 5.1, 9.2]));
        assert_eq!(crossed.outcome(ClaimRelation::Below), ClaimOutcomeKind::Undecided);
    }

    #[test]
    fn exact_numbers_need_no_margin() {
        let (one, other) = (row(&[1.0]), row(&[1.0 + 1e-12]));
        assert_eq!(rows(&one, &other).outcome(ClaimRelation::Below), ClaimOutcomeKind::Holds);
        assert_eq!(rows(&one, &one).outcome(ClaimRelation::Below), ClaimOutcomeKind::Fails);
        assert_eq!(
            ClaimNumberPair::compare(&ClaimQuantity::from_row(&one), &ClaimQuantity::from_number(0.5))
                .outcome(ClaimRelation::Above),
            ClaimOutcomeKind::Holds
        );
    }

    /// Where one of two numbers is undefined nothing is decided, whichever it is.
    #[test]
    fn undefined_numbers_decide_nothing() {
        let (one, undefined) = (row(&[1.0]), row(&[f64::NAN]));
        let beside = ClaimNumberPair::compare(&ClaimQuantity::from_row(&undefined), &ClaimQuantity::from_number(0.5));
        for pair in [rows(&one, &undefined), beside] {
            assert!(!pair.is_defined());
            assert_eq!(pair.outcome(ClaimRelation::Below), ClaimOutcomeKind::Undecided);
            assert_eq!(pair.outcome(ClaimRelation::Above), ClaimOutcomeKind::Undecided);
        }
    }

    /// The differences -2 and -6 have the mean -4 and the standard error 2, twice of which is 4: that is not enough, a little more is. The
    /// rows alone, with standard errors 3 and 5, would say nothing.
    #[test]
    fn the_margin_is_two_standard_errors_of_the_differences() {
        let (left, right) = (row(&[4.0, 10.0]), row(&[6.0, 16.0]));
        let pair = rows(&left, &right);
        assert_eq!((pair.left, pair.right, pair.error), (7.0, 11.0, 2.0));
        for is in [ClaimRelation::Below, ClaimRelation::Above] {
            assert_eq!(pair.outcome(is), ClaimOutcomeKind::Undecided);
        }
        let more = ClaimNumberPair { right: 11.001, ..pair };
        assert_eq!(
            (more.outcome(ClaimRelation::Below), more.outcome(ClaimRelation::Above)),
            (ClaimOutcomeKind::Holds, ClaimOutcomeKind::Fails)
        );
        // Rows of different length are not paired: the errors 3 and 4 / sqrt 12 of theirs add as squares, 9 + 4/3.
        let other = rows(&left, &row(&[9.0, 11.0, 13.0]));
        assert!((other.error - (9.0f64 + 4.0 / 3.0).sqrt()).abs() < 1e-12, "{}", other.error);
    }

    /// Of five values 1 to 5 the variance is 10/4, that of the mean 10/20; values that are all the same have none.
    #[test]
    fn the_error_of_a_mean_is_that_of_the_sample() {
        assert!((error_of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 0.5f64.sqrt()).abs() < 1e-15);
        assert_eq!(error_of_mean(&[0.1, 0.1, 0.1]), 0.0);
        assert!(error_of_mean(&[1.0, 1.0, 2.0]) > 0.3);
    }

    /// A difference of 3 with an error of 2 is nearer to a contradiction than one of 4 with an error of 4, an exact one nearest.
    #[test]
    fn the_worst_pair_is_that_of_most_standard_errors() {
        let [few, many] = [(4.0, 4.0), (3.0, 2.0)].map(|(left, error)| ClaimNumberPair { left, right: 0.0, error });
        assert_eq!(
            (few.standardised_excess(ClaimRelation::Below), many.standardised_excess(ClaimRelation::Below)),
            (1.0, 1.5)
        );
        let exact = ClaimNumberPair { left: 1e-9, right: 0.0, error: 0.0 };
        assert_eq!(exact.standardised_excess(ClaimRelation::Below), f64::INFINITY);
        assert_eq!(exact.standardised_excess(ClaimRelation::Above), f64::NEG_INFINITY);
    }

    /// One replicate each tells nothing of their difference; what is known are the errors of both, 3 and 4.
    #[test]
    fn single_replicates_are_not_paired() {
        let one = |value: f64, error: f64| MetricSummary {
            spread: Some(error),
            spread_kind: SpreadKind::StandardError,
            ..row(&[value])
        };
        assert_eq!(rows(&one(1.0, 3.0), &one(2.0, 4.0)).error, 5.0);
    }

    /// 5 and 7 less 1 and 3 are 4 and 4, which has no error: what is common to both goes. Beside a number the error is that of the row.
    #[test]
    fn differences_keep_their_pairs() {
        let difference = ClaimQuantity::from_row(&row(&[5.0, 7.0])).minus(&ClaimQuantity::from_row(&row(&[1.0, 3.0])));
        assert_eq!(difference, ClaimQuantity { value: 4.0, replicates: vec![4.0, 4.0], error: 0.0 });
        let shifted = ClaimQuantity::from_row(&row(&[5.0, 7.0])).minus(&ClaimQuantity::from_number(1.0));
        assert_eq!(shifted, ClaimQuantity { value: 5.0, replicates: vec![4.0, 6.0], error: 1.0 });
        let turned = ClaimQuantity::from_number(1.0).minus(&ClaimQuantity::from_row(&row(&[5.0, 7.0])));
        assert_eq!(turned, ClaimQuantity { value: -5.0, replicates: vec![-4.0, -6.0], error: 1.0 });
        let uneven = ClaimQuantity::from_row(&row(&[5.0, 7.0])).minus(&ClaimQuantity::from_row(&row(&[1.0, 2.0, 3.0])));
        assert!(uneven.replicates.is_empty() && uneven.error > 1.0, "{uneven:?}");
    }

    /// In the first replicate 10 and 70 are allowed, whose squares have the mean 2500, in the second 20 alone.
    #[test]
    fn a_uniform_pick_is_among_what_is_allowed() {
        let rows = [[10.0, 90.0], [99.0, 20.0], [70.0, 95.0]].map(|values| row(&values));
        let allowed = [[0.5, 0.0], [0.0, 1.0], [0.5, 0.0]].map(|values| row(&values));
        let members: Vec<(&MetricSummary, &MetricSummary)> = rows.iter().zip(&allowed).collect();
        let pick = ClaimQuantity::rms_where_positive(&members).unwrap();
        assert_eq!((pick.value, pick.replicates), (35.0, vec![50.0, 20.0]));
        let none = row(&[0.0, 0.0]);
        assert_eq!(ClaimQuantity::rms_where_positive(&[(&rows[0], &none)]), None);
        assert_eq!(ClaimQuantity::rms_where_positive(&[]), None);
    }
}

#[cfg(test)]
mod compare_tests {
    use super::*;

    const TABLE: &str = "cell,size,metric,value,verdict,gap\na,1,m,1.0,agrees,1e-12\nb,2,m,2.0,agrees,1e-12\n";

    #[test]
    fn order_and_rounding_do_not_matter() {
        let other = "cell,size,metric,value,verdict,gap\nb,2,m,2.0000000001,agrees,3e-10\na,1,m,1.0,agrees,0\n";
        assert_eq!(compare_tables(TABLE, other, 1e-9).unwrap(), []);
    }

    #[test]
    fn one_digit_is_found_and_named() {
        let found = compare_tables(TABLE, &TABLE.replace("2.0", "2.1"), 1e-9).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "size = 2: m: value was \"2.0\", is now \"2.1\" (+5.0e-2 relative)");
        let found = compare_tables(TABLE, &TABLE.replace("1.0,agrees", "1.0,differs"), 1e-9).unwrap();
        assert_eq!(found.len(), 1);
        assert!(compare_tables("cell,metric\na\n", TABLE, 1e-9).is_err());
    }

    #[test]
    fn missing_and_new_rows_are_found() {
        let found = compare_tables(TABLE, &TABLE.replace("b,2,m", "c,2,m"), 1e-9).unwrap();
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn values_stand_on_their_sides() {
        let pairs = pair_rows(TABLE, &TABLE.replace("b,2,m,2.0,agrees,1e-12\n", "")).unwrap();
        let values: Vec<(String, String)> = pairs.iter().map(RowPair::values).collect();
        assert_eq!(values, [("1.0".to_owned(), "1.0".to_owned()), ("2.0".to_owned(), String::new())]);
    }

    /// A part in a thousand of the greater number, whatever its size.
    #[test]
    fn a_tolerance_is_relative() {
        for (one, other, expected) in
            [("100", "100.09", true), ("100", "100.2", false), ("1e-9", "1.0009e-9", true), ("1e-9", "1.002e-9", false)]
        {
            assert_eq!(are_fields_close("value", one, other, 1e-3), expected, "{one} {other}");
        }
        assert!(are_fields_close("gap", "1e-9", "9e-9", 0.0) && !are_fields_close("gap", "1e-9", "2e-8", 1.0));
    }
}
