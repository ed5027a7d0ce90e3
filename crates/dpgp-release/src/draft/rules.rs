//! Rules for proposed numbers, and for numbers that follow from answers.

use super::questions::{BOUNDS, SpecQuestion};

/// The value of an empty answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DefaultAnswer {
    Number(f64),
    /// A range that the name of a column suggests, or any.
    Guess([f64; 2]),
    /// Half of the width of such a range.
    HalfOfGuess([f64; 2]),
    /// A fraction of the width of the target's bounds.
    OfWidth(f64),
    /// A fraction of a range.
    OfRange {
        of: usize,
        times: f64,
    },
}

/// A rule that computes numbers from the answers to another question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DerivationRule {
    /// A multiple of the width of a range.
    Width { of: usize, times: f64 },
    /// A multiple of the width, rounded to four digits.
    Part { of: usize, times: f64 },
    /// A multiple of the square of the width.
    Square { of: usize, times: f64 },
    /// The range of the map with a margin at both ends.
    Around(usize),
    /// The middle of a range.
    Middle(usize),
}

/// The answers so far, one place for each question.
pub(super) type NewSpecAnswers = [Option<Vec<f64>>];

/// The word before a proposal in a comment.
pub(super) const FOR_EXAMPLE: &str = "for example ";
/// Fractions of the range of an input, by the words of the comment beside its lengthscale.
const PARTS: [(&str, f64); 3] =
    [("an eighth of its range", 0.125), ("a fifth of its range", 0.2), ("a quarter of its range", 0.25)];

/// Public ranges of columns with a word in their names, and the range of any other column.
const RANGES: [(&str, [f64; 2]); 8] = [
    ("age", [0.0, 120.0]),
    ("hour", [0.0, 24.0]),
    ("lat", [-90.0, 90.0]),
    ("latitude", [-90.0, 90.0]),
    ("lon", [-180.0, 180.0]),
    ("longitude", [-180.0, 180.0]),
    ("month", [1.0, 12.0]),
    ("probability", [0.0, 1.0]),
];
const ANY: [f64; 2] = [0.0, 100.0];

/// The margin of the box around the map, as a fraction of the map's width. Rows outside the box count at its edge, and must not mix
/// with rows on the map.
const MARGIN: f64 = 0.1;

impl DefaultAnswer {
    /// Returns the proposal, rounded to four digits, once the answers that it depends on are known.
    pub fn value(self, questions: &[SpecQuestion], answers: &NewSpecAnswers) -> Option<Vec<f64>> {
        let (range, times) = match self {
            Self::Number(value) => return Some(vec![value]),
            Self::Guess(range) => return Some(range.to_vec()),
            Self::HalfOfGuess([low, high]) => return Some(vec![0.5 * (high - low)]),
            Self::OfWidth(part) => (questions.iter().position(|question| question.key == BOUNDS)?, part),
            Self::OfRange { of, times } => (of, times),
        };
        let [low, high] = answers[range].as_deref()? else { return None };
        Some(vec![round_to_four_digits(times * (high - low))])
    }

    /// Proposes public numbers for a column of this name: a range, or one number.
    pub fn guess(column: &str, is_range: bool) -> Self {
        let words = column.to_lowercase();
        let known = |(part, _): &&(&str, [f64; 2])| words.split(|c: char| !c.is_alphabetic()).any(|word| word == *part);
        let range = RANGES.iter().find(known).map_or(ANY, |(_, range)| *range);
        if is_range { Self::Guess(range) } else { Self::HalfOfGuess(range) }
    }

    /// Whether the proposal says nothing about the data.
    pub fn is_guess(self) -> bool {
        matches!(self, Self::Guess(_) | Self::HalfOfGuess(_))
    }

    /// Parses the proposal for a standard deviation at the end of a comment, such as `for example ((high - low) / 8)^2`.
    pub fn parse_comment(about: &str) -> Option<Self> {
        let (_, said) = about.rsplit_once(FOR_EXAMPLE)?;
        let divisor = said.strip_prefix("((high - low) / ")?.strip_suffix(")^2")?;
        divisor.parse::<f64>().ok().map(|divisor| Self::OfWidth(1.0 / divisor))
    }
}

/// Finds the fraction of a range that the comment names.
pub(super) fn parse_range_fraction(about: &str) -> Option<f64> {
    PARTS.into_iter().find(|(words, _)| about.contains(words)).map(|(_, times)| times)
}

impl DerivationRule {
    /// Computes the numbers, once the other answer is known.
    pub fn compute_numbers(self, answers: &NewSpecAnswers) -> Option<Vec<f64>> {
        let (Self::Width { of, .. }
        | Self::Part { of, .. }
        | Self::Square { of, .. }
        | Self::Around(of)
        | Self::Middle(of)) = self;
        let [low, high] = answers[of].as_deref()? else { return None };
        let width = high - low;
        Some(match self {
            Self::Width { times, .. } => vec![times * width],
            Self::Part { times, .. } => vec![round_to_four_digits(times * width)],
            Self::Square { times, .. } => vec![round_to_four_digits(times * width * width)],
            Self::Around(_) => {
                vec![
                    round_to_width_millionth(low - MARGIN * width, width),
                    round_to_width_millionth(high + MARGIN * width, width),
                ]
            }
            Self::Middle(_) => vec![round_to_width_millionth(low + 0.5 * width, width)],
        })
    }
}

/// Rounds to four significant digits.
pub(super) fn round_to_four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Rounds to a millionth of the width.
fn round_to_width_millionth(value: f64, width: f64) -> f64 {
    let digits = (6.0 - width.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    format!("{value:.digits$}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::questions::find_questions;
    use super::*;

    #[test]
    fn what_follows_is_reckoned() {
        let answers = [Some(vec![-2.0, 1.0]), None];
        assert_eq!(DerivationRule::Width { of: 0, times: 0.5 }.compute_numbers(&answers), Some(vec![1.5]));
        assert_eq!(DerivationRule::Square { of: 0, times: 0.25 }.compute_numbers(&answers), Some(vec![2.25]));
        assert_eq!(DerivationRule::Around(0).compute_numbers(&answers), Some(vec![-2.3, 1.3]));
        assert_eq!(
            (DerivationRule::Middle(0).compute_numbers(&answers), DerivationRule::Middle(1).compute_numbers(&answers)),
            (Some(vec![-0.5]), None)
        );
        assert_eq!(round_to_width_millionth(-73.941_000_000_000_01, 0.11), -73.941);
    }

    #[test]
    fn proposals_stand_in_comments() {
        assert_eq!(
            DefaultAnswer::parse_comment("how far; for example ((high - low) / 8)^2"),
            Some(DefaultAnswer::OfWidth(0.125))
        );
        assert_eq!(DefaultAnswer::parse_comment("for example somebody knows"), None);
        let bounds = &find_questions("[normalise.bounds]\nlow = nan # l\nhigh = nan # h\n");
        assert_eq!(bounds[0].about, "l; and h");
        let answers = [Some(vec![0.0, 40.0]), None];
        assert_eq!(DefaultAnswer::OfWidth(0.125).value(bounds, &answers), Some(vec![5.0]));
        assert_eq!(DefaultAnswer::OfRange { of: 0, times: 0.25 }.value(bounds, &answers), Some(vec![10.0]));
        assert_eq!(DefaultAnswer::OfRange { of: 1, times: 0.25 }.value(bounds, &answers), None);
    }

    #[test]
    fn names_suggest_ranges() {
        assert_eq!(DefaultAnswer::guess("hour_of_day", true), DefaultAnswer::Guess([0.0, 24.0]));
        assert_eq!(DefaultAnswer::guess("start_latitude", false).value(&[], &[]), Some(vec![90.0]));
        assert_eq!(DefaultAnswer::guess("average_wage", true), DefaultAnswer::Guess([0.0, 100.0]));
    }

    #[test]
    fn comments_name_parts_of_ranges() {
        assert_eq!(parse_range_fraction("in its units; an eighth of its range (\"x\")"), Some(0.125));
        assert_eq!(parse_range_fraction("a quarter of its range"), Some(0.25));
        assert_eq!(parse_range_fraction("in its units"), None);
    }
}
