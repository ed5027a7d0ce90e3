//! Claims about results, and reference numbers from papers and other sources, matched to cells and metrics.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::document::RawSpec;
use super::experiment::SpecReferenceResolver;
use super::value_table::{ValueEntry, ValueTable};
use super::{CellSelector, SpecError, SpecProblem, TaskSection};
use dpgp_number::OutOfRangeError;

/// A claim about the results, as written in the spec.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClaim {
    /// The statement, in words.
    pub text: String,
    /// The metric that the claim is about; `rmse/*` means every metric of the family `rmse`.
    pub metric: String,
    /// The cells on the left-hand side, by their labels on the axes.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// Cells whose values are subtracted from the values on the left-hand side.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub minus: Option<Table>,
    pub is: ClaimRelation,
    /// The cells on the right-hand side.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub other: Option<Table>,
    /// Several sets of cells on the right-hand side, instead of one. The relation must hold for each set.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub others: Vec<Table>,
    /// The metric of the cells on the right-hand side, if it differs from `metric`. No row is compared with itself, so
    /// `rmse/*` means all other metrics of the family.
    #[serde(default)]
    pub other_metric: Option<String>,
    /// A number instead of cells on the right-hand side.
    #[serde(default)]
    pub value: Option<f64>,
    /// A uniformly random choice among the members that a private selection allows, instead of cells on the right-hand
    /// side.
    #[serde(default)]
    pub uniform: Option<UniformBaseline>,
    /// Cells whose values are subtracted from the right-hand side, which may be cells or a number.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub other_minus: Option<Table>,
    /// By how much the two sides may differ in the wrong direction while the claim still holds.
    #[serde(default)]
    pub margin: Option<ClaimMargin>,
    /// The relation must hold for more than this share of the comparisons, or for all of them if no share is given.
    #[serde(default)]
    pub share: Option<f64>,
    /// Whether to compare only rows that agree on every axis that neither side names.
    #[serde(default)]
    pub paired: bool,
    /// The paper's own sentence; without it, the claim is ours.
    #[serde(default)]
    pub quote: Option<String>,
    /// Where the paper makes the claim, for example `Section 6.2`.
    #[serde(default)]
    pub place: Option<String>,
}

impl RawClaim {
    /// Whose claim it is.
    pub fn owner(&self) -> ClaimOwner {
        if self.quote.is_some() { ClaimOwner::Paper } else { ClaimOwner::Ours }
    }
}

/// Who makes a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOwner {
    /// The paper makes the claim about its results.
    Paper,
    /// We make the claim about our results.
    Ours,
}

impl ClaimOwner {
    /// Its name, as result tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }
}

/// The error of a private selection that chooses uniformly at random among the members that it allows. It is the root mean
/// square of `of/NAME`, as for an `expected-rmse`, over the members NAME of the family whose `allowed/NAME` is above zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformBaseline {
    /// The family of errors to average.
    pub of: String,
    /// The family of metrics that are above zero for the members that the selection allows, for example their
    /// probabilities.
    pub allowed: String,
}

/// By how much the two sides of a claim may differ in the wrong direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimMargin {
    /// The difference between the two numbers that the paper prints: the largest that their rounding allows, and at least
    /// zero. The paper treats such a small difference as none.
    AsPrinted,
}

/// Right-hand side of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimRightSide {
    /// The rows of any of these cells.
    Cells(Vec<CellSelector>),
    /// A number.
    Number(f64),
    /// A uniformly random choice in the same cell.
    Uniform(UniformBaseline),
}

/// A statement as a predicate over rows: every row of `cells`, less the row of `minus` that agrees with it, stands in the relation to every
/// row on the right.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Whose statement it is.
    pub from: ClaimOwner,
    /// Where the paper makes the claim; empty if the claim is ours.
    pub place: String,
    /// The paper's sentence; empty if the claim is ours.
    pub quote: String,
    /// The statement, in words.
    pub text: String,
    /// The metric that the claim is about.
    pub metric: String,
    /// The cells on the left.
    pub cells: CellSelector,
    /// The cells whose values are subtracted on the left.
    pub minus: Option<CellSelector>,
    /// The relation.
    pub is: ClaimRelation,
    /// The right-hand side.
    pub other: ClaimRightSide,
    /// The metric on the right, if it differs from `metric`.
    pub other_metric: Option<String>,
    /// The cells whose values are subtracted on the right.
    pub other_minus: Option<CellSelector>,
    /// How far the left-hand side may lie on the wrong side of the right-hand side.
    pub margin: Option<ClaimMargin>,
    /// The relation must hold for more than this share of the comparisons, or for all of them if there is no share.
    pub share: Option<f64>,
    /// The axes on which compared rows agree, by index.
    pub agree: Vec<usize>,
    /// The axes on which rows on the left differ, by index and name.
    pub open: Vec<(usize, String)>,
}

impl Claim {
    /// Whether it compares a cell with these labels.
    pub fn compares_cell(&self, labels: &[String]) -> bool {
        let others = match &self.other {
            ClaimRightSide::Cells(others) => others.as_slice(),
            ClaimRightSide::Number(_) | ClaimRightSide::Uniform(_) => &[],
        };
        let sides = [Some(&self.cells), self.minus.as_ref(), self.other_minus.as_ref()];
        sides.into_iter().flatten().chain(others).any(|side| side.selects(labels))
    }

    /// Whether its left side takes rows of a metric.
    pub fn has_left_metric(&self, metric: &str) -> bool {
        matches_metric(&self.metric, metric)
    }

    /// Whether its right side takes rows of a metric.
    pub fn has_right_metric(&self, metric: &str) -> bool {
        matches_metric(self.other_metric.as_ref().unwrap_or(&self.metric), metric)
    }
}

/// Whether a metric is the named one, or belongs to the named family.
fn matches_metric(named: &str, metric: &str) -> bool {
    match named.strip_suffix('*') {
        Some(family) => metric.starts_with(family),
        None => named == metric,
    }
}

/// The relation of the left-hand side to the right-hand side of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimRelation {
    /// Less than.
    Below,
    /// Greater than.
    Above,
}

impl<T: TaskSection> SpecReferenceResolver<'_, T> {
    pub(super) fn resolve_claim(&self, i: usize, raw: &RawClaim) -> Result<Claim, SpecError> {
        let number = i.to_string();
        let place = |key| ["claim", number.as_str(), key];
        if raw.quote.is_some() != raw.place.is_some() {
            return Err(self.source.error(&["claim", &number], SpecProblem::QuoteNeedsPlace));
        }
        let selector = |key, table: &Table| CellSelector::new(table, self.axes, self.source, &place(key));
        let optional = |key, table: &Option<Table>| table.as_ref().map(|table| selector(key, table)).transpose();
        let one = raw.other.iter().map(|other| selector("other", other));
        let others = one.chain(raw.others.iter().map(|other| selector("others", other)));
        let others = others.collect::<Result<Vec<CellSelector>, SpecError>>()?;
        let other = match (others.is_empty(), raw.value, &raw.uniform) {
            (false, None, None) => ClaimRightSide::Cells(others),
            (true, Some(value), None) => ClaimRightSide::Number(value),
            (true, None, Some(pick)) => {
                self.check_metric_family(&place("uniform"), &pick.of)?;
                self.check_metric_family(&place("uniform"), &pick.allowed)?;
                ClaimRightSide::Uniform(pick.clone())
            }
            _ => return Err(self.source.error(&["claim", &number], SpecProblem::ClaimNeedsOneSide)),
        };
        if let Some(share) = raw.share.filter(|share| !(0.0..1.0).contains(share)) {
            let problem = OutOfRangeError::new("at least 0 and less than 1", share).into();
            return Err(self.source.error(&place("share"), problem));
        }
        let metrics = [("metric", Some(&raw.metric)), ("other_metric", raw.other_metric.as_ref())];
        for (key, metric) in metrics.into_iter().filter_map(|(key, metric)| Some((key, metric?))) {
            match metric.strip_suffix("/*") {
                Some(family) => self.check_metric_family(&place(key), family)?,
                None => self.check_metric(&place(key), metric)?,
            }
        }
        if raw.other_metric.is_some() && !matches!(other, ClaimRightSide::Cells(_)) {
            return Err(self.source.error(&place("other_metric"), SpecProblem::OtherMetricNeedsCells));
        }
        Ok(Claim {
            from: raw.owner(),
            place: raw.place.clone().unwrap_or_default(),
            quote: raw.quote.clone().unwrap_or_default(),
            text: raw.text.clone(),
            metric: raw.metric.clone(),
            cells: selector("cells", &raw.cells)?,
            minus: optional("minus", &raw.minus)?,
            is: raw.is,
            other,
            other_metric: raw.other_metric.clone(),
            other_minus: optional("other_minus", &raw.other_minus)?,
            margin: raw.margin,
            share: raw.share,
            agree: self.paired_axes(raw),
            open: self.unnamed_axes(&raw.cells),
        })
    }

    /// The axes with several labels that a side does not name.
    fn unnamed_axes(&self, side: &Table) -> Vec<(usize, String)> {
        let all = self.axes.iter().enumerate();
        let open = all.filter(|(_, axis)| axis.labels.len() > 1 && !side.contains_key(&axis.name));
        open.map(|(i, axis)| (i, axis.name.clone())).collect()
    }

    /// The axes on which compared rows must agree: those that no side names, if the claim pairs rows or subtracts one from another.
    fn paired_axes(&self, raw: &RawClaim) -> Vec<usize> {
        let subtracts = raw.minus.is_some() || raw.other_minus.is_some();
        let sides = [Some(&raw.cells), raw.minus.as_ref(), raw.other.as_ref(), raw.other_minus.as_ref()];
        let sides: Vec<&Table> = sides.into_iter().flatten().chain(&raw.others).collect();
        let free = |axis: &usize| {
            let name = &self.axes[*axis].name;
            sides.iter().all(|side| !side.contains_key(name))
        };
        (0..self.axes.len()).filter(|axis| (raw.paired || subtracts) && free(axis)).collect()
    }
}

/// A number that stands beside one of ours, tied to its cell.
#[derive(Debug, Clone)]
pub struct ReferenceValue {
    /// Whose number it is.
    pub owner: ReferenceValueOwner,
    /// Index of the cell.
    pub cell: usize,
    /// The metric.
    pub metric: String,
    /// The number.
    pub value: f64,
    /// Its spread, if any.
    pub spread: Option<f64>,
    /// What the spread is.
    pub spread_kind: SpreadKind,
    /// The number of folds, replicates or values over which the spread was computed.
    pub count: Option<u32>,
    /// How many runs the number is the mean of.
    pub runs: u32,
    /// The unit of the last printed digit.
    pub precision: f64,
    /// The largest difference that counts as agreement, for formulas and for numbers read off a figure.
    pub tolerance: Option<f64>,
    /// The difference that matters: a wider interval is inconclusive.
    pub effect: Option<f64>,
    /// Why agreement proves nothing: a setting was chosen so that the number fits.
    pub fitted: Option<String>,
    /// Where it stands.
    pub source: String,
    /// How it was read.
    pub read: ReadingMethod,
}

/// Where a number comes from. Only the paper's numbers were published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceValueOwner {
    /// Printed in the paper, or read off its figure.
    Paper,
    /// From a result file or the code of the paper's authors.
    Authors,
    /// From an independent computation, not in the paper.
    Reference,
}

impl ReferenceValueOwner {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Authors, Self::Reference];

    /// The name of the spec section and of the result table column for these numbers.
    pub fn section_name(self) -> &'static str {
        match self {
            Self::Paper => "published",
            Self::Authors => "authors",
            Self::Reference => "reference",
        }
    }
}

/// The kind of spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadKind {
    /// No spread.
    #[default]
    None,
    /// Standard deviation over folds.
    SdFolds,
    /// Standard deviation over replicates.
    SdReplicates,
    /// Standard error of the mean.
    StandardError,
}

impl SpreadKind {
    const ALL: [Self; 4] = [Self::None, Self::SdFolds, Self::SdReplicates, Self::StandardError];

    /// The kind that result tables show by this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The names of all kinds.
    pub fn joined_names() -> String {
        let named = Self::ALL.into_iter().filter(|kind| *kind != Self::None);
        named.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Its name, as result tables show it; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::SdFolds => "sd-folds",
            Self::SdReplicates => "sd-replicates",
            Self::StandardError => "standard-error",
        }
    }
}

/// How a published number was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingMethod {
    /// Printed in a table.
    #[default]
    Printed,
    /// Stated in the text.
    Text,
    /// Read off a figure.
    Figure,
}

/// The numbers that have a cell, and how many have none in a reduced grid.
pub(super) struct ResolvedReferenceValues {
    pub found: Vec<ReferenceValue>,
    pub left_out: usize,
}

/// Where a table of numbers stands: its owner and its name.
#[derive(Clone, Copy)]
struct ValueTablePlace<'a> {
    owner: ReferenceValueOwner,
    table: &'a str,
}

impl<T: TaskSection> SpecReferenceResolver<'_, T> {
    /// The numbers in all tables of a spec. With reduced settings, a number that fails is left out: the full spec has been checked.
    pub fn resolve_reference_values(&self, document: &RawSpec) -> Result<ResolvedReferenceValues, SpecError> {
        let mut all = ResolvedReferenceValues { found: Vec::new(), left_out: 0 };
        let mut seen = BTreeSet::new();
        for owner in ReferenceValueOwner::ALL {
            for (name, table) in document.value_tables(owner) {
                let place = ValueTablePlace { owner, table: name };
                for (number, row) in table.rows.iter().enumerate() {
                    match self.resolve_value_row(place, table, number, row) {
                        Err(_) if self.quick => all.left_out += 1,
                        Err(error) => return Err(error),
                        Ok(one) if seen.insert((owner, one.cell, one.metric.clone())) => all.found.push(one),
                        Ok(_) => {
                            return Err(self.row_error(place, &number.to_string(), SpecProblem::ValueTwice));
                        }
                    }
                }
            }
        }
        Ok(all)
    }

    fn resolve_value_row(
        &self,
        place: ValueTablePlace<'_>,
        table: &ValueTable,
        number: usize,
        row: &[toml::Value],
    ) -> Result<ReferenceValue, SpecError> {
        let row_text = number.to_string();
        let at = [place.owner.section_name(), place.table, "rows", &row_text];
        let entry = table.parse_row(row).map_err(|problem| self.source.error(&at, problem))?;
        let selector = CellSelector::new(&entry.cells, self.axes, self.source, &at)?;
        let cell = selector.find_only_cell(self.cells).map_err(|problem| self.source.error(&at, problem))?;
        self.check_metric(&at, &entry.metric)?;
        if self.cells[cell].setting().task.uncompared_metrics().contains(&entry.metric) {
            let why = format!("{:?} is a secondary metric, which is never compared with other numbers", entry.metric);
            return Err(self.source.error(&at, SpecProblem::Shape(why)));
        }
        let (value, runs) = (self.checked_value(&at, &entry)?, self.resolve_run_count(&at, &entry)?);
        Ok(ReferenceValue {
            owner: place.owner,
            cell,
            metric: entry.metric,
            value,
            spread: entry.spread,
            spread_kind: entry.spread_kind,
            count: entry.count,
            runs,
            precision: entry.precision,
            tolerance: entry.tolerance,
            effect: entry.effect,
            fitted: entry.fitted,
            source: entry.source,
            read: entry.read,
        })
    }

    /// The number of runs that an entry is the mean of; one by default.
    fn resolve_run_count(&self, at: &[&str], entry: &ValueEntry) -> Result<u32, SpecError> {
        match entry.runs {
            None => Ok(1),
            Some(0) => Err(self.source.error(at, OutOfRangeError::new("at least 1", 0.0).into())),
            Some(runs) => Ok(runs),
        }
    }

    /// The numbers of an entry: finite, and none negative but the value itself, which is returned.
    fn checked_value(&self, at: &[&str], entry: &ValueEntry) -> Result<f64, SpecError> {
        let value = entry.value.unwrap_or(f64::NAN);
        let least_of_others = [entry.spread, Some(entry.precision), entry.tolerance, entry.effect];
        if !value.is_finite() {
            return Err(self.source.error(at, OutOfRangeError::new("finite", value).into()));
        }
        for found in least_of_others.into_iter().flatten() {
            if !found.is_finite() || found < 0.0 {
                return Err(self.source.error(at, OutOfRangeError::new("at least 0 and finite", found).into()));
            }
        }
        Ok(value)
    }

    fn row_error(&self, place: ValueTablePlace<'_>, row: &str, problem: SpecProblem) -> SpecError {
        self.source.error(&[place.owner.section_name(), place.table, "rows", row], problem)
    }
}
