//! Verdicts and outcomes, counted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::table::{ClaimOutcome, Outcome, Verdict};
use dpgp_spec::ClaimOwner;

/// How many numbers have each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// Within the interval of one run of ours.
    pub agrees: usize,
    /// Outside.
    pub differs: usize,
    /// Of an interval that tells nothing.
    pub inconclusive: usize,
    /// Replicates do not tell the interval.
    pub not_judged: usize,
    /// Within, by a setting that was chosen so.
    pub fitted: usize,
    /// Of other data.
    pub stand_in: usize,
}

impl VerdictCounts {
    /// Of these names; others are not counted.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = Self::default();
        for name in names {
            match Verdict::named(name) {
                Some(Verdict::Agrees) => counts.agrees += 1,
                Some(Verdict::Differs) => counts.differs += 1,
                Some(Verdict::Inconclusive) => counts.inconclusive += 1,
                Some(Verdict::NotJudged) => counts.not_judged += 1,
                Some(Verdict::Fitted) => counts.fitted += 1,
                Some(Verdict::StandIn) => counts.stand_in += 1,
                Some(Verdict::None) | None => {}
            }
        }
        counts
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.agrees + self.differs + self.inconclusive + self.not_judged + self.fitted + self.stand_in
    }

    /// Adds those of other rows.
    pub fn add(&mut self, other: Self) {
        self.agrees += other.agrees;
        self.differs += other.differs;
        self.inconclusive += other.inconclusive;
        self.not_judged += other.not_judged;
        self.fitted += other.fitted;
        self.stand_in += other.stand_in;
    }
}

/// How many claims have each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomeCounts {
    /// Borne out.
    pub holds: usize,
    /// Contradicted.
    pub fails: usize,
    /// Neither.
    pub undecided: usize,
    /// Of other data.
    pub stand_in: usize,
}

impl OutcomeCounts {
    /// Of the claims of one owner.
    pub fn of(claims: &[ClaimOutcome], owner: ClaimOwner) -> Self {
        let mut counts = Self::default();
        for claim in claims.iter().filter(|claim| claim.from == owner) {
            match claim.outcome {
                Outcome::Holds => counts.holds += 1,
                Outcome::Fails => counts.fails += 1,
                Outcome::Undecided => counts.undecided += 1,
                Outcome::StandIn => counts.stand_in += 1,
            }
        }
        counts
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.holds + self.fails + self.undecided + self.stand_in
    }

    /// Adds those of other experiments.
    pub fn add(&mut self, other: Self) {
        self.holds += other.holds;
        self.fails += other.fails;
        self.undecided += other.undecided;
        self.stand_in += other.stand_in;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let one =
            VerdictCounts { agrees: 1, differs: 2, inconclusive: 3, not_judged: 4, fitted: 5, stand_in: 6 };
        let mut sum = VerdictCounts::default();
        (0..3).for_each(|_| sum.add(one));
        let thrice = VerdictCounts {
            agrees: 3,
            differs: 6,
            inconclusive: 9,
            not_judged: 12,
            fitted: 15,
            stand_in: 18,
        };
        assert_eq!((sum, sum.total()), (thrice, 63));
        let mut outcomes = OutcomeCounts::default();
        (0..3).for_each(|_| outcomes.add(OutcomeCounts { holds: 1, fails: 2, undecided: 3, stand_in: 4 }));
        let all = OutcomeCounts { holds: 3, fails: 6, undecided: 9, stand_in: 12 };
        assert_eq!((outcomes, outcomes.total()), (all, 30));
    }

    /// Each name as often as its place from the front.
    #[test]
    fn names_are_counted() {
        let verdicts = [
            Verdict::Agrees,
            Verdict::Differs,
            Verdict::Inconclusive,
            Verdict::NotJudged,
            Verdict::Fitted,
            Verdict::StandIn,
        ];
        let names = verdicts.iter().zip(1..).flat_map(|(verdict, times)| [verdict.name()].repeat(times));
        let counts = VerdictCounts::of(names.chain(["", "unknown"]));
        let expected =
            VerdictCounts { agrees: 1, differs: 2, inconclusive: 3, not_judged: 4, fitted: 5, stand_in: 6 };
        assert_eq!(counts, expected);
    }
}
