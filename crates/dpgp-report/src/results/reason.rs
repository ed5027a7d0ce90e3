//! What a reader of a paper is told of one of its places, in plain words.

use serde::Serialize;

/// One of the five verdicts on a table, a figure or a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "words")]
pub enum PlaceVerdict {
    /// Ours is what the paper says.
    Same,
    /// It is, with settings that the paper does not print and that we chose.
    SameWithSettings,
    /// It is not, and why.
    Different(String),
    /// It is not, and nobody knows why: what was tried.
    Unknown(String),
    /// Nothing can be told, and why.
    Untold(String),
}

impl PlaceVerdict {
    /// The verdict in words.
    pub fn words(&self) -> String {
        match self {
            Self::Same => "**same**".to_owned(),
            Self::SameWithSettings => "**same with settings we chose**".to_owned(),
            Self::Different(because) => format!("**different**: because {because}"),
            Self::Unknown(tried) => format!("**different**: reason unknown; tried: {tried}"),
            Self::Untold(why) => format!("**cannot be told**: {why}"),
        }
    }
}

/// What counts for the verdict on a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Printed numbers inside what one run gives, or statements that hold.
    pub same: usize,
    /// Of these, numbers that a setting was chosen by.
    pub fitted: usize,
    /// Printed numbers outside.
    pub outside: usize,
    /// Statements that fail.
    pub fails: usize,
    /// Printed numbers inside what one run gives, which is wider than what matters.
    pub wide: usize,
    /// Numbers and statements that ours leave open.
    pub open: usize,
    /// Those on other data.
    pub stand_in: usize,
}

/// From so many numbers on a few may lie outside their 95 % by chance.
const MANY: usize = 20;

/// The share of papers that reproduce and are yet called different, at most.
const LEVEL: f64 = 0.05;

impl Evidence {
    /// Adds that of others.
    pub fn add(&mut self, other: Self) {
        self.same += other.same;
        self.fitted += other.fitted;
        self.outside += other.outside;
        self.fails += other.fails;
        self.wide += other.wide;
        self.open += other.open;
        self.stand_in += other.stand_in;
    }

    /// Whether as many numbers outside are no more than chance: of n at 95 % so many or more lie outside in at least a twentieth of
    /// cases, if they are independent.
    pub fn is_chance(&self) -> bool {
        self.are_many() && tail(self.numbers(), self.outside) >= LEVEL
    }

    /// Whether it leaves open what is said. A wide interval alone tells nothing of its number; many of them together do.
    pub fn is_open(&self) -> bool {
        let wide = if self.are_many() { 0 } else { self.wide };
        let told = self.same + self.outside + self.wide - wide;
        self.open + wide > told || told == 0
    }

    fn are_many(&self) -> bool {
        self.numbers() >= MANY
    }

    fn numbers(&self) -> usize {
        self.same + self.wide + self.outside
    }

    /// Whether ours is different.
    pub fn is_different(&self) -> bool {
        self.fails > 0 || (self.outside > 0 && !self.is_chance())
    }
}

/// The probability of at least `least` of `count`, each with a probability of .05.
fn tail(count: usize, least: usize) -> f64 {
    let outside: f64 = 0.05;
    let mut term = (1.0 - outside).powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for k in 0..least {
        below += term;
        term *= (count - k) as f64 / (k + 1) as f64 * outside / (1.0 - outside);
    }
    1.0 - below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(same: usize, outside: usize) -> Evidence {
        Evidence { same, outside, ..Evidence::default() }
    }

    /// One of one is different; of 80 numbers four are expected, and seven or more happen in 11 % of cases, eight in 4.7 %.
    #[test]
    fn a_few_of_many_may_be_chance() {
        for (same, outside, different) in
            [(0, 1, true), (18, 1, true), (19, 1, false), (73, 7, false), (72, 8, true), (80, 0, false)]
        {
            assert_eq!(evidence(same, outside).is_different(), different, "{same} {outside}");
        }
        assert!(Evidence { fails: 1, ..evidence(80, 0) }.is_different());
    }

    /// Eight agree, 71 lie in intervals that are wide, one outside: together they are 80 numbers. Of three alone nothing can be told.
    #[test]
    fn many_wide_intervals_tell_together() {
        let many = Evidence { wide: 71, ..evidence(8, 1) };
        assert!(!many.is_different() && !many.is_open());
        let few = Evidence { wide: 3, ..evidence(2, 0) };
        assert!(!few.is_different() && few.is_open());
        assert!(!Evidence { wide: 1, ..evidence(3, 0) }.is_open());
        assert!(Evidence { open: 1, ..evidence(0, 0) }.is_open() && evidence(0, 0).is_open());
    }

    /// 1 - .95^20 = .6415; 1 - .95^20 - 20 .05 .95^19 = .2642.
    #[test]
    fn the_tail_is_that_of_the_binomial() {
        for (count, least, expected) in [(20, 1, 0.641_514), (20, 2, 0.264_161), (5, 0, 1.0)] {
            assert!((tail(count, least) - expected).abs() < 1e-6, "{count} {least}");
        }
    }
}
