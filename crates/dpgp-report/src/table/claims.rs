//! Checks claims against rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compared::{ClaimNumberPair, ClaimQuantity};
use super::verdict::ReferenceComparison;
use dpgp_number::text::format_four_digits;
use dpgp_spec::{CellSelector, Claim, ClaimMargin, ClaimOwner, ClaimRelation, ClaimRightSide, UniformBaseline};
use dpgp_task::MetricSummary;

/// The verdict of the rows on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOutcomeKind {
    /// Every pair of rows confirms it by more than two standard errors of the difference.
    Holds,
    /// Some pair contradicts it by more than two standard errors.
    Fails,
    /// Some difference may be chance.
    Undecided,
    /// The paper's claim about data that we do not have; our rows use other data.
    StandIn,
}

impl ClaimOutcomeKind {
    /// Its name, as result tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::StandIn => "stand-in",
        }
    }
}

/// A claim and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimOutcome {
    /// The owner of the statement.
    pub from: ClaimOwner,
    /// Its place in the paper.
    pub place: String,
    /// Its sentence.
    pub quote: String,
    /// The statement, in words.
    pub text: String,
    /// The outcome.
    pub outcome: ClaimOutcomeKind,
    /// The value on the left of the deciding pair.
    pub left: Option<f64>,
    /// The value on the right.
    pub right: Option<f64>,
    /// The standard error of their difference.
    pub error: Option<f64>,
    /// The cell of the value on the left, if the claim is about several cells.
    #[serde(default)]
    pub at: String,
}

impl ClaimOutcome {
    /// The place, numbers and standard error of the decisive pair, as in ` at epsilon = 1 (ours: 0.3 against 0.2, standard error 0.01)`.
    pub fn decisive_pair_text(&self) -> String {
        let error = self.error.filter(|error| *error > 0.0);
        let error = error.map(|error| format!(", standard error {}", format_four_digits(error))).unwrap_or_default();
        let numbers = match (self.left, self.right) {
            (Some(left), Some(right)) => {
                format!(" (ours: {} against {}{error})", format_four_digits(left), format_four_digits(right))
            }
            _ => String::new(),
        };
        let at = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
        format!("{at}{numbers}")
    }
}

/// The parts of a row that a claim uses.
#[derive(Debug, Clone, Copy)]
pub struct ClaimRow<'a> {
    pub labels: &'a [String],
    pub row: &'a MetricSummary,
    /// The paper's number for it, and the unit of its last digit.
    pub printed: Option<[f64; 2]>,
}

impl<'a> ClaimRow<'a> {
    /// A row beside the paper's number for it.
    pub fn new(labels: &'a [String], row: &'a MetricSummary, published: Option<&ReferenceComparison>) -> Self {
        let printed = published.map(|judged| [judged.counterpart.value, judged.counterpart.precision]);
        Self { labels, row, printed }
    }
}

/// One side of a comparison.
struct ClaimSide<'a> {
    one: ClaimRow<'a>,
    quantity: ClaimQuantity,
}

impl<'a> ClaimSide<'a> {
    fn from_row(one: &ClaimRow<'a>) -> Self {
        Self { one: *one, quantity: ClaimQuantity::from_row(one.row) }
    }
}

/// Checks a claim: compares each quantity on the left with each one on the right that agrees with it on the claim's axes. The worst pair
/// decides, or else the share of pairs that are as stated. A claim about no pair fails. Other data do not decide a paper's statement.
pub fn check_claim(claim: &Claim, rows: &[ClaimRow<'_>], stand_in: bool) -> ClaimOutcome {
    let pairs = pair_sides(claim, rows);
    let compared: Vec<ClaimNumberPair> = pairs.iter().map(|(pair, _)| *pair).collect();
    let (outcome, shown, at) = match claim.share {
        None => {
            let (shown, at) = worst_pair(claim.is, &pairs).unzip();
            let outcome = combine_outcomes(compared.iter().map(|pair| pair.outcome(claim.is)));
            (outcome, shown, at.map(|one| describe_cell(claim, &one)).unwrap_or_default())
        }
        Some(share) => {
            let (outcome, shown) = judge_share(claim.is, &compared, share);
            (outcome, shown, String::new())
        }
    };
    let outcome = if stand_in && claim.from == ClaimOwner::Paper { ClaimOutcomeKind::StandIn } else { outcome };
    ClaimOutcome {
        from: claim.from,
        place: claim.place.clone(),
        quote: claim.quote.clone(),
        text: claim.text.clone(),
        outcome,
        left: shown.map(|pair| pair.left).filter(|left| !left.is_nan()),
        right: shown.map(|pair| pair.right).filter(|right| !right.is_nan()),
        error: shown.filter(|pair| pair.is_defined()).map(|pair| pair.error).filter(|error| !error.is_nan()),
        at,
    }
}

/// The number of pairs of rows that a claim compares.
pub fn count_pairs(claim: &Claim, rows: &[ClaimRow<'_>]) -> usize {
    pair_sides(claim, rows).len()
}

/// The cell of a row, if a claim is about several cells; numbers are named by their axis.
fn describe_cell(claim: &Claim, one: &ClaimRow<'_>) -> String {
    let labels = claim.open.iter().map(|(axis, name)| match one.labels[*axis].as_str() {
        number if number.parse::<f64>().is_ok() => format!("{name} = {number}"),
        label => label.to_owned(),
    });
    labels.collect::<Vec<_>>().join(", ")
}

/// The pairs that a claim compares, each with the row on its left.
fn pair_sides<'a>(claim: &'a Claim, rows: &'a [ClaimRow<'a>]) -> Vec<(ClaimNumberPair, ClaimRow<'a>)> {
    let [minus, other_minus] = [claim.minus.as_ref(), claim.other_minus.as_ref()];
    let left = select_sides(claim, &claim.cells, rows).flat_map(|one| subtract_rows(claim, one, minus, rows));
    let left: Vec<ClaimSide<'_>> = left.collect();
    let mut pairs = Vec::new();
    match &claim.other {
        ClaimRightSide::Number(number) => {
            for one in &left {
                let number = ClaimSide { one: one.one, quantity: ClaimQuantity::from_number(*number) };
                let right = subtract_rows(claim, number, other_minus, rows);
                pairs.extend(
                    right.iter().map(|other| (ClaimNumberPair::compare(&one.quantity, &other.quantity), one.one)),
                );
            }
        }
        ClaimRightSide::Uniform(pick) => {
            pairs.extend(left.iter().filter_map(|one| {
                let other = uniform_selection_rms(pick, one.one.labels, rows)?;
                Some((ClaimNumberPair::compare(&one.quantity, &other), one.one))
            }));
        }
        ClaimRightSide::Cells(others) => {
            let right = rows.iter().filter(|one| {
                claim.has_right_metric(&one.row.metric) && others.iter().any(|other| other.selects(one.labels))
            });
            let right = right.map(ClaimSide::from_row).flat_map(|one| subtract_rows(claim, one, other_minus, rows));
            let right: Vec<ClaimSide<'_>> = right.collect();
            for one in &left {
                let agreeing = right.iter().filter(|other| is_compared_pair(claim, &one.one, &other.one));
                pairs.extend(agreeing.filter_map(|other| Some((compare_sides(claim, one, other)?, one.one))));
            }
        }
    }
    pairs
}

/// Two sides, with the margin that the claim leaves; none if the paper does not print the numbers for it.
fn compare_sides(claim: &Claim, left: &ClaimSide<'_>, right: &ClaimSide<'_>) -> Option<ClaimNumberPair> {
    let pair = ClaimNumberPair::compare(&left.quantity, &right.quantity);
    let Some(ClaimMargin::AsPrinted) = claim.margin else { return Some(pair) };
    let ([left, unit], [right, other_unit]) = (left.one.printed?, right.one.printed?);
    let rounding = 0.5 * (unit + other_unit);
    Some(match claim.is {
        ClaimRelation::Below => pair.with_margin((left - right + rounding).max(0.0)),
        ClaimRelation::Above => pair.with_margin(-(right - left + rounding).max(0.0)),
    })
}

/// A side less each row that is subtracted from it.
fn subtract_rows<'a>(
    claim: &Claim,
    from: ClaimSide<'a>,
    minus: Option<&CellSelector>,
    rows: &[ClaimRow<'_>],
) -> Vec<ClaimSide<'a>> {
    let Some(minus) = minus else { return vec![from] };
    let agreeing = select_sides(claim, minus, rows).filter(|other| is_matching_pair(claim, &from.one, &other.one));
    agreeing.map(|other| ClaimSide { one: from.one, quantity: from.quantity.minus(&other.quantity) }).collect()
}

/// The root mean square over the members of a family that a selection allows in a cell; for each replicate, over those allowed there.
fn uniform_selection_rms(pick: &UniformBaseline, labels: &[String], rows: &[ClaimRow<'_>]) -> Option<ClaimQuantity> {
    let own = |family: &str, name: &str| {
        let metric = format!("{family}/{name}");
        rows.iter().find(|one| one.labels == labels && one.row.metric == metric).map(|one| one.row)
    };
    let prefix = format!("{}/", pick.of);
    let members = rows.iter().filter(|one| one.labels == labels);
    let members = members.filter_map(|one| {
        let name = one.row.metric.strip_prefix(&prefix)?;
        Some((one.row, own(&pick.allowed, name)?))
    });
    ClaimQuantity::rms_where_positive(&members.collect::<Vec<_>>())
}

/// The pair that is nearest to a contradiction.
fn worst_pair<'a>(
    is: ClaimRelation,
    pairs: &[(ClaimNumberPair, ClaimRow<'a>)],
) -> Option<(ClaimNumberPair, ClaimRow<'a>)> {
    pairs.iter().max_by(|(a, _), (b, _)| a.standardised_excess(is).total_cmp(&b.standardised_excess(is))).copied()
}

/// Whether the relation holds for more than a share of the pairs, and the share for which it does.
fn judge_share(
    is: ClaimRelation,
    pairs: &[ClaimNumberPair],
    share: f64,
) -> (ClaimOutcomeKind, Option<ClaimNumberPair>) {
    let count = |outcome| pairs.iter().filter(|pair| pair.outcome(is) == outcome).count() as f64;
    let (all, held, open) = (pairs.len() as f64, count(ClaimOutcomeKind::Holds), count(ClaimOutcomeKind::Undecided));
    if pairs.is_empty() {
        return (ClaimOutcomeKind::Fails, None);
    }
    let outcome = match (held / all > share, (held + open) / all > share) {
        (true, _) => ClaimOutcomeKind::Holds,
        (_, false) => ClaimOutcomeKind::Fails,
        _ => ClaimOutcomeKind::Undecided,
    };
    (outcome, Some(ClaimNumberPair { left: held / all, right: share, error: 0.0 }))
}

/// The outcome of all pairs together.
fn combine_outcomes(outcomes: impl Iterator<Item = ClaimOutcomeKind>) -> ClaimOutcomeKind {
    let outcomes: Vec<ClaimOutcomeKind> = outcomes.collect();
    if outcomes.is_empty() || outcomes.contains(&ClaimOutcomeKind::Fails) {
        ClaimOutcomeKind::Fails
    } else if outcomes.contains(&ClaimOutcomeKind::Undecided) {
        ClaimOutcomeKind::Undecided
    } else {
        ClaimOutcomeKind::Holds
    }
}

fn select_sides<'a>(
    claim: &'a Claim,
    selector: &'a CellSelector,
    rows: &'a [ClaimRow<'a>],
) -> impl Iterator<Item = ClaimSide<'a>> {
    let selected = rows.iter().filter(|one| claim.has_left_metric(&one.row.metric) && selector.selects(one.labels));
    selected.map(ClaimSide::from_row)
}

/// Whether a claim compares two rows: of the same metric, or of another, which is not the row itself.
fn is_compared_pair(claim: &Claim, a: &ClaimRow<'_>, b: &ClaimRow<'_>) -> bool {
    match claim.other_metric {
        None => is_matching_pair(claim, a, b),
        Some(_) => {
            let is_same = a.row.metric == b.row.metric && a.labels == b.labels;
            !is_same && claim.agree.iter().all(|&axis| a.labels[axis] == b.labels[axis])
        }
    }
}

fn is_matching_pair(claim: &Claim, a: &ClaimRow<'_>, b: &ClaimRow<'_>) -> bool {
    a.row.metric == b.row.metric && claim.agree.iter().all(|&axis| a.labels[axis] == b.labels[axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated;
    use dpgp_task::Experiment;

    #[test]
    fn the_worst_pair_decides() {
        for (outcomes, expected) in [
            (vec![ClaimOutcomeKind::Holds, ClaimOutcomeKind::Holds], ClaimOutcomeKind::Holds),
            (vec![ClaimOutcomeKind::Holds, ClaimOutcomeKind::Undecided], ClaimOutcomeKind::Undecided),
            (vec![ClaimOutcomeKind::Undecided, ClaimOutcomeKind::Fails], ClaimOutcomeKind::Fails),
            (vec![], ClaimOutcomeKind::Fails),
        ] {
            assert_eq!(combine_outcomes(outcomes.into_iter()), expected);
        }
    }

    /// Two values of a and b at each epsilon: at the same one a is below b, at another it is not.
    #[test]
    fn rows_are_compared_where_they_agree() {
        let claim = |paired: bool| {
            format!(
                "[grid]\n\"privacy.epsilon\" = [1.0, 2.0]\n[[claim]]\ntext = \"a is below b\"\nmetric = \"rmse\"\n\
                 cells = {{ method = \"a\" }}\nis = \"below\"\nother = {{ method = \"b\" }}\npaired = {paired}\n"
            )
        };
        for (paired, outcome) in [(true, ClaimOutcomeKind::Holds), (false, ClaimOutcomeKind::Fails)] {
            let experiment = fabricated::experiment(&["a", "b"], &claim(paired));
            let method = experiment.axes.iter().position(|axis| axis.name == "method").unwrap();
            let rows = experiment.cells.iter().enumerate().map(|(cell, one)| {
                let first = one.labels()[1 - method].starts_with('1');
                let value = match (one.labels()[method].as_str(), first) {
                    ("a", true) => 1.0,
                    ("b", true) => 2.0,
                    ("a", false) => 3.0,
                    _ => 4.0,
                };
                fabricated::row(cell, "rmse", value, None)
            });
            let found = found(&experiment, &rows.collect::<Vec<MetricSummary>>());
            assert_eq!((found.outcome, found.error), (outcome, Some(0.0)), "{paired}");
            assert!(found.at.starts_with("epsilon = "), "{}", found.at);
        }
    }

    fn found(experiment: &Experiment, rows: &[MetricSummary]) -> ClaimOutcome {
        let labelled: Vec<ClaimRow<'_>> =
            rows.iter().map(|row| ClaimRow::new(experiment.cells[row.cell].labels(), row, None)).collect();
        check_claim(&experiment.claims[0], &labelled, false)
    }

    /// The outcome of a claim about the methods a, b, c and d, with these values.
    fn outcome(claim: &str, values: [f64; 4]) -> ClaimOutcomeKind {
        let claim = format!("[[claim]]\ntext = \"t\"\nmetric = \"rmse\"\n{claim}\n");
        let experiment = fabricated::experiment(&["a", "b", "c", "d"], &claim);
        let rows = values.iter().enumerate();
        let rows: Vec<MetricSummary> = rows.map(|(cell, value)| fabricated::row(cell, "rmse", *value, None)).collect();
        found(&experiment, &rows).outcome
    }

    #[test]
    fn differences_are_compared_with_differences_and_numbers() {
        let ab_below_cd = "cells = { method = \"a\" }\nminus = { method = \"b\" }\nis = \"below\"\n\
                           other = { method = \"c\" }\nother_minus = { method = \"d\" }";
        assert_eq!(outcome(ab_below_cd, [9.0, 8.0, 4.0, 2.0]), ClaimOutcomeKind::Holds);
        assert_eq!(outcome(ab_below_cd, [9.0, 6.0, 4.0, 2.0]), ClaimOutcomeKind::Fails);
        let ab_above_3 = "cells = { method = \"a\" }\nminus = { method = \"b\" }\nis = \"above\"\nvalue = 3.0";
        assert_eq!(outcome(ab_above_3, [9.0, 5.0, 0.0, 0.0]), ClaimOutcomeKind::Holds);
        assert_eq!(outcome(ab_above_3, [9.0, 7.0, 0.0, 0.0]), ClaimOutcomeKind::Fails);
        // a - b = 4 against 10 - c.
        let rest = "cells = { method = \"a\" }\nminus = { method = \"b\" }\nis = \"above\"\nvalue = 10.0\n\
                    other_minus = { method = \"c\" }";
        assert_eq!(outcome(rest, [9.0, 5.0, 7.0, 0.0]), ClaimOutcomeKind::Holds);
        assert_eq!(outcome(rest, [9.0, 5.0, 5.0, 0.0]), ClaimOutcomeKind::Fails);
    }

    /// a is the best of three, but not of all four; what is not named does not count.
    #[test]
    fn a_row_is_compared_with_several_sets_of_cells() {
        let best = |others: &str| format!("cells = {{ method = \"a\" }}\nis = \"below\"\nothers = [{others}]");
        let (b, c, d) = ("{ method = \"b\" }", "{ method = \"c\" }", "{ method = \"d\" }");
        let values = [2.0, 3.0, 4.0, 1.0];
        assert_eq!(outcome(&best(&[b, c].join(", ")), values), ClaimOutcomeKind::Holds);
        assert_eq!(outcome(&best(&[b, c, d].join(", ")), values), ClaimOutcomeKind::Fails);
    }

    /// Of the members 1, 2 and 3 of a family the second is the least; beside itself it would not be.
    #[test]
    fn a_row_is_compared_with_the_others_of_a_family() {
        let experiment = fabricated::experiment(&["a"], "");
        let rows = [("rmse/1", 9.0), ("rmse/2", 4.0), ("rmse/3", 5.0), ("mae/1", 1.0)];
        let rows = rows.map(|(metric, value)| fabricated::row(0, metric, value, None));
        let labelled = rows.each_ref().map(|row| ClaimRow::new(experiment.cells[0].labels(), row, None));
        for (metric, is, expected) in [
            ("rmse/2", ClaimRelation::Below, ClaimOutcomeKind::Holds),
            ("rmse/3", ClaimRelation::Below, ClaimOutcomeKind::Fails),
            ("rmse/1", ClaimRelation::Above, ClaimOutcomeKind::Holds),
        ] {
            let claim = Claim {
                from: ClaimOwner::Ours,
                place: String::new(),
                quote: String::new(),
                text: String::new(),
                metric: metric.to_owned(),
                cells: CellSelector::default(),
                minus: None,
                is,
                other: ClaimRightSide::Cells(vec![CellSelector::default()]),
                other_metric: Some("rmse/*".to_owned()),
                other_minus: None,
                margin: None,
                share: None,
                agree: Vec::new(),
                open: Vec::new(),
            };
            assert_eq!(check_claim(&claim, &labelled, false).outcome, expected, "{metric}");
        }
    }

    /// Three of four are below 5: more than half of them, not more than three quarters.
    #[test]
    fn a_share_of_the_cells_is_enough_where_a_claim_says_so() {
        let share = |share: &str| format!("is = \"below\"\nvalue = 5.0\nshare = {share}");
        for (wanted, expected) in
            [("0.5", ClaimOutcomeKind::Holds), ("0.75", ClaimOutcomeKind::Fails), ("0.0", ClaimOutcomeKind::Holds)]
        {
            assert_eq!(outcome(&share(wanted), [1.0, 2.0, 3.0, 9.0]), expected, "{wanted}");
        }
        let undecided = ClaimNumberPair { left: 1.0, right: 2.0, error: 1.0 };
        let held = ClaimNumberPair { error: 0.1, ..undecided };
        assert_eq!(judge_share(ClaimRelation::Below, &[held, undecided], 0.4).0, ClaimOutcomeKind::Holds);
        assert_eq!(judge_share(ClaimRelation::Below, &[held, undecided], 0.5).0, ClaimOutcomeKind::Undecided);
        assert_eq!(judge_share(ClaimRelation::Below, &[], 0.5).0, ClaimOutcomeKind::Fails);
    }

    /// Printed are 10.2 and 9.9: .3 worse, and with both rounded to .1 up to .4.
    #[test]
    fn what_is_no_worse_than_printed_is_not_inferior() {
        let claim = "[[claim]]\ntext = \"t\"\nmetric = \"rmse\"\ncells = { method = \"a\" }\nis = \"below\"\n\
                     other = { method = \"b\" }\nmargin = \"as-printed\"\n";
        let experiment = fabricated::experiment(&["a", "b"], claim);
        for (ours, print, expected) in [
            ([10.18, 9.92], [10.2, 9.9], ClaimOutcomeKind::Holds),
            ([10.38, 9.92], [10.2, 9.9], ClaimOutcomeKind::Fails),
            ([9.9, 9.92], [9.0, 9.9], ClaimOutcomeKind::Holds),
        ] {
            let rows = [0, 1].map(|cell| fabricated::row(cell, "rmse", ours[cell], None));
            let labelled = [0, 1].map(|cell| ClaimRow {
                labels: experiment.cells[cell].labels(),
                row: &rows[cell],
                printed: Some([print[cell], 0.1]),
            });
            assert_eq!(check_claim(&experiment.claims[0], &labelled, false).outcome, expected, "{ours:?}");
        }
        let unprinted = [0, 1].map(|cell| fabricated::row(cell, "rmse", 1.0, None));
        assert_eq!(found(&experiment, &unprinted).left, None, "no pair without what is printed");
    }

    /// Of the members l=1 and l=2 of a cell the second alone is allowed.
    #[test]
    fn a_selection_is_compared_with_a_uniform_pick() {
        let experiment = fabricated::experiment(&["a"], "");
        let claim = Claim {
            from: ClaimOwner::Ours,
            place: String::new(),
            quote: String::new(),
            text: String::new(),
            metric: "expected".to_owned(),
            cells: CellSelector::default(),
            minus: None,
            is: ClaimRelation::Below,
            other: ClaimRightSide::Uniform(UniformBaseline {
                of: "rmse".to_owned(),
                allowed: "probability".to_owned(),
            }),
            other_metric: None,
            other_minus: None,
            margin: None,
            share: None,
            agree: Vec::new(),
            open: Vec::new(),
        };
        let metrics = [
            ("rmse/l=1", 9.0),
            ("rmse/l=2", 4.0),
            ("probability/l=1", 0.0),
            ("probability/l=2", 1.0),
            ("expected", 3.0),
        ];
        let rows = metrics.map(|(metric, value)| fabricated::row(0, metric, value, None));
        let labelled = rows.each_ref().map(|row| ClaimRow::new(experiment.cells[0].labels(), row, None));
        let outcome = check_claim(&claim, &labelled, false);
        assert_eq!((outcome.outcome, outcome.left, outcome.right), (ClaimOutcomeKind::Holds, Some(3.0), Some(4.0)));
        let stand_in = Claim { from: ClaimOwner::Paper, ..claim };
        assert_eq!(check_claim(&stand_in, &labelled, true).outcome, ClaimOutcomeKind::StandIn);
    }
}
