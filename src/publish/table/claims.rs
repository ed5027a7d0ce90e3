//! Claims, checked against rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verdict::standard_error;
use crate::spec::{Claim, ClaimOwner, Relation, Selector};
use crate::task::Row;

/// Standard errors of a difference within which it may be chance.
const WITHIN: f64 = 2.0;

/// What the rows say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every pair of rows bears it out by more than two standard errors of the difference.
    Holds,
    /// Some pair contradicts it by more.
    Fails,
    /// Some difference may be chance.
    Undecided,
}

impl Outcome {
    /// Its name, as result tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
        }
    }
}

/// A claim and what the rows say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimOutcome {
    /// Whose statement it is.
    pub from: ClaimOwner,
    /// Where the paper says it.
    pub place: String,
    /// Its sentence.
    pub quote: String,
    /// The statement, in words.
    pub text: String,
    /// What the rows say.
    pub outcome: Outcome,
    /// Of the pair that decides: the value on the left.
    pub left: Option<f64>,
    /// The value on the right.
    pub right: Option<f64>,
    /// The standard error of their difference.
    pub error: Option<f64>,
}

/// What a claim looks at in a row.
#[derive(Debug, Clone, Copy)]
pub struct ClaimRow<'a> {
    pub labels: &'a [String],
    pub row: &'a Row,
}

/// Two numbers that a claim compares.
#[derive(Debug, Clone, Copy)]
struct Compared {
    left: f64,
    right: f64,
    /// The standard error of the difference; not a number where that of a row is not known.
    error: f64,
}

impl Compared {
    /// Two rows; replicates of the same number share their data and streams where they can, so that the error is that of their
    /// paired differences.
    fn rows(left: &Row, right: &Row) -> Self {
        let pairs = left.replicates.len().min(right.replicates.len());
        let error = if pairs > 1 && left.replicates.len() == right.replicates.len() {
            let differences = left.replicates.iter().zip(&right.replicates).map(|(a, b)| a - b);
            error_of_mean(&differences.collect::<Vec<f64>>())
        } else {
            own_error(left).hypot(own_error(right))
        };
        Self { left: left.value, right: right.value, error }
    }

    fn number(left: &Row, right: f64) -> Self {
        Self { left: left.value, right, error: own_error(left) }
    }

    /// How far it is from what is claimed; negative if it is as claimed.
    fn excess(&self, is: Relation) -> f64 {
        match is {
            Relation::Below => self.left - self.right,
            Relation::Above => self.right - self.left,
        }
    }

    /// A difference whose error nobody knows, not a number, decides nothing.
    fn outcome(&self, is: Relation) -> Outcome {
        let (excess, chance) = (self.excess(is), WITHIN * self.error);
        // A number that is undefined decides nothing.
        if excess.is_nan() {
            return Outcome::Undecided;
        }
        if chance == 0.0 {
            return if excess < 0.0 { Outcome::Holds } else { Outcome::Fails };
        }
        match excess {
            excess if excess < -chance => Outcome::Holds,
            excess if excess > chance => Outcome::Fails,
            _ => Outcome::Undecided,
        }
    }
}

/// Of the mean of a row: over replicates, or over the folds of a single one.
fn own_error(row: &Row) -> f64 {
    match row.replicates.len() {
        0 | 1 => standard_error(row.spread, row.spread_kind, row.repeats),
        _ => error_of_mean(&row.replicates),
    }
}

fn error_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    // What is the same in all replicates has no error, not that of rounding.
    if values.iter().all(|value| *value == values[0]) {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// Checks a claim: every selected row on the left against every one on the right that agrees with it on the claim's
/// axes. The worst pair decides; a claim about no pair fails.
pub fn check(claim: &Claim, rows: &[ClaimRow<'_>]) -> ClaimOutcome {
    let left = selected(claim, &claim.cells, rows);
    let mut pairs: Vec<Compared> = Vec::new();
    match &claim.other {
        Err(number) => pairs.extend(left.iter().map(|one| Compared::number(one.row, *number))),
        Ok(other) => {
            let right = selected(claim, other, rows);
            for one in left {
                let agreeing = right.iter().filter(|other| agree(claim, one, other));
                pairs.extend(agreeing.map(|other| Compared::rows(one.row, other.row)));
            }
        }
    }
    let outcome = all(pairs.iter().map(|pair| pair.outcome(claim.is)));
    let worst = pairs.into_iter().max_by(|a, b| worse(claim.is, a).total_cmp(&worse(claim.is, b)));
    ClaimOutcome {
        from: claim.from,
        place: claim.place.clone(),
        quote: claim.quote.clone(),
        text: claim.text.clone(),
        outcome,
        left: worst.map(|pair| pair.left).filter(|left| !left.is_nan()),
        right: worst.map(|pair| pair.right).filter(|right| !right.is_nan()),
        error: worst
            .filter(|pair| !pair.excess(claim.is).is_nan())
            .map(|pair| pair.error)
            .filter(|error| !error.is_nan()),
    }
}

/// How near a pair is to a contradiction: in standard errors, as far as there are any.
fn worse(is: Relation, pair: &Compared) -> f64 {
    let excess = pair.excess(is);
    if pair.error > 0.0 { excess / pair.error } else { excess.signum() * f64::INFINITY }
}

/// The outcome of all pairs together.
fn all(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let outcomes: Vec<Outcome> = outcomes.collect();
    if outcomes.is_empty() || outcomes.contains(&Outcome::Fails) {
        Outcome::Fails
    } else if outcomes.contains(&Outcome::Undecided) {
        Outcome::Undecided
    } else {
        Outcome::Holds
    }
}

fn selected<'a>(claim: &Claim, selector: &Selector, rows: &'a [ClaimRow<'a>]) -> Vec<&'a ClaimRow<'a>> {
    rows.iter().filter(|one| one.row.metric == claim.metric && selector.selects(one.labels)).collect()
}

fn agree(claim: &Claim, a: &ClaimRow<'_>, b: &ClaimRow<'_>) -> bool {
    claim.agree.iter().all(|&axis| a.labels[axis] == b.labels[axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Certificate;
    use crate::publish::figure::fabricated;
    use crate::spec::SpreadKind;

    fn row(replicates: &[f64]) -> Row {
        Row {
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

    /// Replicates that move together show a difference that is small beside their spread.
    #[test]
    fn differences_are_paired() {
        let (one, other) = (row(&[1.0, 5.0, 9.0, 13.0]), row(&[1.1, 5.2, 9.1, 13.2]));
        let pair = Compared::rows(&one, &other);
        assert_eq!(pair.outcome(Relation::Below), Outcome::Holds);
        assert_eq!(pair.outcome(Relation::Above), Outcome::Fails);
        let crossed = Compared::rows(&one, &row(&[13.1, 1.2, 5.1, 9.2]));
        assert_eq!(crossed.outcome(Relation::Below), Outcome::Undecided);
    }

    #[test]
    fn exact_numbers_need_no_margin() {
        let (one, other) = (row(&[1.0]), row(&[1.0 + 1e-12]));
        assert_eq!(Compared::rows(&one, &other).outcome(Relation::Below), Outcome::Holds);
        assert_eq!(Compared::rows(&one, &one).outcome(Relation::Below), Outcome::Fails);
        assert_eq!(Compared::number(&one, 0.5).outcome(Relation::Above), Outcome::Holds);
    }

    /// Where one of two numbers is undefined nothing is decided, whichever it is.
    #[test]
    fn undefined_numbers_decide_nothing() {
        let (one, undefined) = (row(&[1.0]), row(&[f64::NAN]));
        for pair in [Compared::rows(&one, &undefined), Compared::number(&undefined, 0.5)] {
            assert_eq!(pair.outcome(Relation::Below), Outcome::Undecided);
            assert_eq!(pair.outcome(Relation::Above), Outcome::Undecided);
        }
    }

    /// The differences -2 and -6 have the mean -4 and the standard error 2, twice of which is 4: that is not enough, a little more is. The
    /// rows alone, with standard errors 3 and 5, would say nothing.
    #[test]
    fn the_margin_is_two_standard_errors_of_the_differences() {
        let (left, right) = (row(&[4.0, 10.0]), row(&[6.0, 16.0]));
        let pair = Compared::rows(&left, &right);
        assert_eq!((pair.left, pair.right, pair.error), (7.0, 11.0, 2.0));
        for is in [Relation::Below, Relation::Above] {
            assert_eq!(pair.outcome(is), Outcome::Undecided);
        }
        let more = Compared { right: 11.001, ..pair };
        assert_eq!(
            (more.outcome(Relation::Below), more.outcome(Relation::Above)),
            (Outcome::Holds, Outcome::Fails)
        );
        // Rows of different length are not paired: the errors 3 and 4 / sqrt 12 of theirs add as squares, 9 + 4/3.
        let other = Compared::rows(&left, &row(&[9.0, 11.0, 13.0]));
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
        let [few, many] = [(4.0, 4.0), (3.0, 2.0)].map(|(left, error)| Compared { left, right: 0.0, error });
        assert_eq!((worse(Relation::Below, &few), worse(Relation::Below, &many)), (1.0, 1.5));
        let exact = Compared { left: 1e-9, right: 0.0, error: 0.0 };
        assert_eq!(worse(Relation::Below, &exact), f64::INFINITY);
        assert_eq!(worse(Relation::Above, &exact), f64::NEG_INFINITY);
    }

    #[test]
    fn the_worst_pair_decides() {
        for (outcomes, expected) in [
            (vec![Outcome::Holds, Outcome::Holds], Outcome::Holds),
            (vec![Outcome::Holds, Outcome::Undecided], Outcome::Undecided),
            (vec![Outcome::Undecided, Outcome::Fails], Outcome::Fails),
            (vec![], Outcome::Fails),
        ] {
            assert_eq!(all(outcomes.into_iter()), expected);
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
        for (paired, outcome) in [(true, Outcome::Holds), (false, Outcome::Fails)] {
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
            let rows: Vec<Row> = rows.collect();
            let labelled: Vec<ClaimRow<'_>> = rows
                .iter()
                .map(|row| ClaimRow { labels: experiment.cells[row.cell].labels(), row })
                .collect();
            let found = check(&experiment.claims[0], &labelled);
            assert_eq!((found.outcome, found.error), (outcome, Some(0.0)), "{paired}");
        }
    }

    /// One replicate each tells nothing of their difference; what is known are the errors of both, 3 and 4.
    #[test]
    fn single_replicates_are_not_paired() {
        let one = |value: f64, error: f64| Row {
            spread: Some(error),
            spread_kind: SpreadKind::StandardError,
            ..row(&[value])
        };
        assert_eq!(Compared::rows(&one(1.0, 3.0), &one(2.0, 4.0)).error, 5.0);
    }
}
