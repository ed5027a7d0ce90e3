//! The verdicts on somebody else's table.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::given::{Given, GivenTable, GradeError};
use crate::results::{Committed, OutcomeCounts, VerdictCounts};
use crate::table::Predictive;
use crate::table::claims::{ClaimOutcome, ClaimRow, check};
use crate::table::verdict::{Conditions, Verdict, verdict_by};
use dpgp_accounting::Certificate;
use dpgp_data::csv_cell;
use dpgp_spec::{ClaimOwner, Counterpart, DeviationKind, Owner, SpreadKind};
use dpgp_task::{Experiment, Row};

/// A number of the table beside the one that the paper prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GradedNumber {
    /// The cell's label on each axis.
    pub labels: Vec<String>,
    /// The metric.
    pub metric: String,
    /// The number of the table.
    pub value: f64,
    /// Where another run of theirs lies, as far as their table tells.
    pub interval: Option<[f64; 2]>,
    /// What the paper prints.
    pub published: f64,
    /// What is said of it.
    pub verdict: &'static str,
    /// Why nothing is said of it; none where something is.
    pub reason: Option<&'static str>,
}

/// Why a number is not judged that has no spread.
const NO_SPREAD: &str =
    "it has no spread over runs and no interval, and is random as far as our results tell";

/// Why a number is not judged whose spread tells nothing of runs.
const OTHER_SPREAD: &str = "its spread is over the folds of one run, or over an unknown number of runs";

/// What is said of a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Graded {
    /// The numbers that the paper prints, too, in grid order.
    pub numbers: Vec<GradedNumber>,
    /// The claims of the experiment, checked by the rows of the table.
    pub claims: Vec<ClaimOutcome>,
    /// The verdicts, counted.
    pub verdicts: VerdictCounts,
    /// The outcomes of the claims, counted.
    pub outcomes: OutcomeCounts,
    /// Rows of no cell of the experiment.
    pub unknown_rows: usize,
    /// The first of them: its line, and its label that no cell has.
    pub first_unknown: Option<String>,
    /// Printed numbers that the table has no row for.
    pub missing_numbers: usize,
    /// Claims about rows that the table has not, which are left out.
    pub missing_claims: usize,
}

impl Graded {
    /// Whether a number differs or a claim fails.
    pub fn fails(&self) -> bool {
        self.verdicts.differs + self.outcomes.fails > 0
    }
}

/// Judges a table as CSV by the numbers that the paper prints, and by all claims of the experiment.
///
/// It needs the columns `metric`, `value` and one for each axis, as `table.csv` of our own results has them. Where another run lies
/// comes from `interval_low` and `interval_high`; else from the spread over `repeats` runs in a row of kind `sd-replicates` (of the metric or
/// of `METRIC-replicates`). A number without any spread is compared with the printed one as it is where nothing is random in ours, the
/// row of our results having no spread either; else it is not judged. Claims have no pairs of replicates here, so that some are
/// undecided that our own rows decide.
///
/// # Errors
/// [`GradeError`], with all columns that are missing, or the line that is wrong.
pub fn grade(experiment: &Experiment, ours: Option<&Committed>, table: &str) -> Result<Graded, GradeError> {
    let table = GivenTable::read(table, experiment)?;
    let stand_in = experiment.deviations.iter().any(|deviation| deviation.kind == DeviationKind::StandIn);
    let conditions = Conditions { stand_in, reduced: experiment.quick };
    let printed = experiment.counterparts.iter().filter(|one| one.owner == Owner::Paper);
    let mut numbers: BTreeMap<(usize, &str), GradedNumber> = BTreeMap::new();
    let mut missing = 0;
    for counterpart in printed {
        let fixed = ours.is_some_and(|ours| ours.is_fixed(experiment, counterpart.cell, &counterpart.metric));
        match table.judged(experiment, counterpart, Ours { conditions, fixed })? {
            Some(number) => {
                numbers.insert((counterpart.cell, &counterpart.metric), number);
            }
            None => missing += 1,
        }
    }
    let told = table.numbers.keys();
    let rows: Vec<Row> = told
        .map(|(cell, metric)| {
            let fixed = ours.is_some_and(|ours| ours.is_fixed(experiment, *cell, metric));
            table.row(*cell, metric, fixed)
        })
        .collect();
    let printed_of = |row: &Row| {
        let own = |one: &&Counterpart| {
            one.owner == Owner::Paper && one.cell == row.cell && one.metric == row.metric
        };
        experiment.counterparts.iter().find(own).map(|one| [one.value, one.precision])
    };
    let seen = rows.iter().map(|row| ClaimRow {
        labels: experiment.cells[row.cell].labels(),
        row,
        printed: printed_of(row),
    });
    let seen: Vec<ClaimRow<'_>> = seen.collect();
    let all = experiment.claims.iter().map(|claim| check(claim, &seen, stand_in));
    // A claim about no pair of rows says nothing of the table.
    let claims: Vec<ClaimOutcome> = all.filter(|claim| claim.left.is_some()).collect();
    let mut outcomes = OutcomeCounts::of(&claims, ClaimOwner::Paper);
    outcomes.add(OutcomeCounts::of(&claims, ClaimOwner::Ours));
    Ok(Graded {
        verdicts: VerdictCounts::of(numbers.values().map(|number| number.verdict)),
        missing_numbers: missing,
        missing_claims: experiment.claims.len() - claims.len(),
        numbers: numbers.into_values().collect(),
        unknown_rows: table.unknown,
        first_unknown: table.first_unknown,
        claims,
        outcomes,
    })
}

/// What ours say of a number that is judged.
#[derive(Debug, Clone, Copy)]
struct Ours {
    conditions: Conditions,
    /// Nothing in it is random.
    fixed: bool,
}

impl Committed {
    /// Whether nothing is random in a number: the row of it has no spread.
    fn is_fixed(&self, experiment: &Experiment, cell: usize, metric: &str) -> bool {
        let labels = experiment.cells[cell].labels();
        let own = self.rows.iter().find(|row| {
            let mut axes = experiment.axes.iter().zip(labels);
            self.field(row, "metric") == csv_cell(metric)
                && axes.all(|(axis, label)| self.label(row, axis) == csv_cell(label))
        });
        own.is_some_and(|row| self.field(row, "spread").is_empty())
    }
}

impl GivenTable {
    fn get(&self, cell: usize, metric: &str) -> Option<&Given> {
        self.numbers.get(&(cell, metric.to_owned()))
    }

    fn judged(
        &self,
        experiment: &Experiment,
        counterpart: &Counterpart,
        ours: Ours,
    ) -> Result<Option<GradedNumber>, GradeError> {
        let Counterpart { cell, metric, .. } = counterpart;
        let Some(given) = self.get(*cell, metric) else { return Ok(None) };
        let interval = match given.interval {
            // Ends may be rounded as the paper prints.
            Some([low, high])
                if given.value < low - counterpart.precision
                    || given.value > high + counterpart.precision =>
            {
                return Err(GradeError::Outside { line: given.line, value: given.value, low, high });
            }
            Some([low, high]) => Some(Predictive::told(low, high)),
            None => {
                let widened = counterpart.tolerance.unwrap_or(0.0);
                let own = self.predictive(*cell, metric, counterpart.runs, ours.fixed);
                own.map(|own| own.printed_to(counterpart.precision).widened(widened))
            }
        };
        let verdict = verdict_by(interval, counterpart, ours.conditions);
        let reason = if given.spread.is_none() { NO_SPREAD } else { OTHER_SPREAD };
        Ok(Some(GradedNumber {
            reason: (verdict == Verdict::NotJudged).then_some(reason),
            labels: experiment.cells[*cell].labels().to_vec(),
            metric: metric.clone(),
            value: given.value,
            interval: interval.map(|interval| [interval.low, interval.high]),
            published: counterpart.value,
            verdict: verdict.name(),
        }))
    }

    /// Where so many more runs lie; none where the table does not tell. What is fixed is the same in every run.
    fn predictive(&self, cell: usize, metric: &str, runs: u32, fixed: bool) -> Option<Predictive> {
        let given = self.get(cell, metric)?;
        let over_runs = self.over_runs(cell, metric);
        match (over_runs.and_then(|one| Some((one.spread?, one.repeats?))), given.spread) {
            (Some((spread, count)), _) if count > 1 => {
                Some(Predictive::of_moments(given.value, spread, count, runs))
            }
            (_, None) if fixed => Some(Predictive::told(given.value, given.value)),
            _ => None,
        }
    }

    /// The row that says how much runs differ.
    fn over_runs(&self, cell: usize, metric: &str) -> Option<&Given> {
        let own = self.get(cell, metric).filter(|given| given.spread_kind == SpreadKind::SdReplicates);
        own.or_else(|| self.get(cell, &format!("{metric}-replicates")))
    }

    /// A row as claims look at it: its error is that of the mean over runs where the table tells how much they differ, zero
    /// where nothing is random, and else not a number: then no claim about it is decided.
    fn row(&self, cell: usize, metric: &str, fixed: bool) -> Row {
        let none = Given {
            value: f64::NAN,
            spread: None,
            spread_kind: SpreadKind::None,
            repeats: None,
            interval: None,
            line: 0,
        };
        let given = self.get(cell, metric).copied().unwrap_or(none);
        let error_of = self.over_runs(cell, metric).copied().unwrap_or(given);
        let is_known = fixed || error_of.spread.is_some();
        Row {
            cell,
            metric: metric.to_owned(),
            value: given.value,
            spread: if is_known { error_of.spread } else { Some(f64::NAN) },
            spread_kind: if is_known { error_of.spread_kind } else { SpreadKind::StandardError },
            repeats: error_of.repeats.unwrap_or(1) as usize,
            replicates: Vec::new(),
            fold_spreads: Vec::new(),
            certificate: Certificate::none(),
            jitter: 0.0,
            undefined: None,
        }
    }
}
