//! Answers to the questions of a draft: what is read as a number, what is proposed, and what follows.

use dpgp_number::text::format_exact;

use super::questions::{AnswerSource, BOUNDS, SpecQuestion, asking_order, find_questions};
use super::rules::{FOR_EXAMPLE, round_to_four_digits};

/// A template of a spec, the questions about its open places, and the answers so far.
///
/// Questions are numbered in the order of the template. An answer has one number, or both ends of a range, as the spec writes them.
#[derive(Debug, Clone)]
pub struct SpecDraft {
    template: String,
    questions: Vec<SpecQuestion>,
    answers: Vec<Option<Vec<f64>>>,
    /// Whether the bounds of the target are given, and not asked for.
    has_bounds: bool,
}

impl SpecDraft {
    /// Finds the questions of a template.
    pub fn new(template: &str) -> Self {
        let questions = find_questions(template);
        Self { template: template.to_owned(), answers: vec![None; questions.len()], questions, has_bounds: false }
    }

    /// Takes the bounds of the target as answered.
    pub fn set_target_bounds(&mut self, bounds: [f64; 2]) {
        if let Some(place) = self.target_bounds_question() {
            self.answers[place] = Some(bounds.into());
            self.has_bounds = true;
        }
    }

    fn target_bounds_question(&self) -> Option<usize> {
        self.questions.iter().position(|question| question.key == BOUNDS)
    }

    /// Returns the questions to ask, in order. One whose proposal follows from a range comes after all ranges.
    pub fn asking_order(&self) -> Vec<usize> {
        let mut order = asking_order(&self.questions);
        order.retain(|place| !self.has_bounds || self.questions[*place].key != BOUNDS);
        order
    }

    /// Returns a question.
    pub fn question(&self, place: usize) -> &SpecQuestion {
        &self.questions[place]
    }

    /// Returns the answer to a question, as the spec writes it.
    pub fn answer(&self, place: usize) -> Option<&[f64]> {
        self.answers[place].as_deref()
    }

    /// Returns the proposal for a question, in its units, if it is known yet.
    pub fn proposed_answer(&self, place: usize) -> Option<Vec<f64>> {
        match self.questions[place].source {
            AnswerSource::Proposed(proposal) => proposal.value(&self.questions, &self.answers),
            AnswerSource::Derived(_) => None,
        }
    }

    /// Parses an answer, in the units of its question.
    ///
    /// # Errors
    /// A sentence that says what to enter.
    pub fn parse_answer(&self, place: usize, line: &str) -> Result<Vec<f64>, String> {
        self.questions[place].parse_answer(line).and_then(|numbers| self.check_answer_against_bounds(place, numbers))
    }

    /// Refuses a standard deviation above half of the width of the bounds, which targets within them cannot have (Popoviciu 1935).
    ///
    /// # Errors
    /// A sentence that says what to enter.
    pub fn check_answer_against_bounds(&self, place: usize, numbers: Vec<f64>) -> Result<Vec<f64>, String> {
        let bounds = self.target_bounds_question().and_then(|place| self.answer(place));
        match (bounds, &numbers[..]) {
            (Some([low, high]), [root]) if self.questions[place].is_squared && *root > 0.5 * (high - low) => {
                Err(format!("enter at most {}, half of the width of the bounds", format_exact(0.5 * (high - low))))
            }
            _ => Ok(numbers),
        }
    }

    /// Keeps an answer, in the units of its question: the spec has the square of a standard deviation.
    pub fn set_answer(&mut self, place: usize, mut numbers: Vec<f64>) {
        if self.questions[place].is_squared {
            numbers.iter_mut().for_each(|number| *number = round_to_four_digits(*number * *number));
        }
        self.answers[place] = Some(numbers);
    }

    /// Drops the answer to a question.
    pub fn forget_answer(&mut self, place: usize) {
        self.answers[place] = None;
    }

    /// Drops the answers in a line of the spec that is wrong, or all if the line has none.
    pub fn forget_answers_in_line(&mut self, line: usize) {
        let order = self.asking_order();
        let of_line: Vec<usize> =
            order.iter().filter(|place| self.questions[**place].lines.contains(&line)).copied().collect();
        let again = if of_line.is_empty() { order } else { of_line };
        again.iter().for_each(|place| self.answers[*place] = None);
    }

    /// Computes the numbers that follow from the answers.
    pub fn derive_answers(&mut self) {
        for (place, question) in self.questions.iter().enumerate() {
            if let AnswerSource::Derived(rule) = question.source {
                self.answers[place] = rule.compute_numbers(&self.answers);
            }
        }
    }

    /// Returns the keys and numbers that were computed from answers.
    pub fn derived_answers(&self) -> impl Iterator<Item = (&str, &[f64])> {
        let derived = |question: &SpecQuestion| matches!(question.source, AnswerSource::Derived(_));
        let all = self.questions.iter().zip(&self.answers).filter(move |(question, _)| derived(question));
        all.filter_map(|(question, answer)| Some((question.key.as_str(), answer.as_deref()?)))
    }

    /// Writes the spec with the answers in their places, without the words that ask for them.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        for (question, answer) in self.questions.iter().zip(&self.answers) {
            parts.extend(question.places.iter().cloned().zip(answer.iter().flatten().copied()));
        }
        let mut text = self.template.clone();
        // From the end, so that earlier places do not move.
        for (place, number) in parts.into_iter().rev() {
            text.replace_range(place, &format!("{number:?}"));
        }
        // Cells take their epsilon from the grid, so the answer must go there too.
        let epsilon = self.questions.iter().zip(&self.answers).find(|(question, _)| question.key == "privacy.epsilon");
        if let Some((_, Some(epsilon))) = epsilon {
            text = text.replace(GRID, &format!("\"privacy.epsilon\" = [{:?}, inf]", epsilon[0]));
        }
        text.replace("# fill in: ", "# ").replace("fill in every `nan` below, then ", "")
    }

    /// Writes the template with the bounds, with what follows from them and with what is proposed for them. Everything else stays to be
    /// filled in.
    pub fn text_with_bounds_filled(mut self) -> String {
        for place in 0..self.questions.len() {
            if !self.questions[place].about.contains(FOR_EXAMPLE) {
                continue;
            }
            match self.proposed_answer(place) {
                Some(root) => self.set_answer(place, root),
                None => self.forget_answer(place),
            }
        }
        self.derive_answers();
        let text = self.text();
        // Only what is still open asks to be filled in.
        let asks = self.template.lines().zip(text.lines()).map(|(before, after)| {
            let is_open = after.split('#').next().is_some_and(|code| code.contains("nan"));
            if is_open || before.starts_with('#') { before } else { after }
        });
        asks.map(|line| format!("{line}\n")).collect()
    }
}

/// The line of the grid, with the epsilon of the release and no privacy.
const GRID: &str = "\"privacy.epsilon\" = [1.0, inf]";

/// The ratio to the proposal from which a lengthscale is unusual. A proposal is an eighth or a quarter of the range.
const LONG: f64 = 7.0;
/// The largest usual epsilon.
const USUAL_EPSILON: f64 = 10.0;
/// No answer for delta may reach this. It is more than one over the number of rows of any file worth a release, so such an answer was
/// meant for another question.
const MOST_DELTA: f64 = 1e-3;

impl SpecQuestion {
    /// Formats the question, with the value of an empty answer. Does not repeat the text of the question before.
    pub fn prompt_text(&self, default: Option<&[f64]>, is_same: bool) -> String {
        let (mut about, mut beside) = (self.about.as_str(), String::new());
        if let Some(numbers) = default {
            about = about.split_once(FOR_EXAMPLE).map_or(about, |(about, _)| about.trim_end_matches("; "));
            let numbers: Vec<String> = numbers.iter().map(|number| format_exact(*number)).collect();
            let guess = if self.has_guessed_default() { ", a guess" } else { "" };
            beside = format!(" [{}{guess}]", numbers.join(" "));
        }
        if is_same {
            return format!("{}: same as above{beside}", self.key);
        }
        let root = if self.is_squared { " (square root)" } else { "" };
        let many = if self.places.len() == 2 { "; two numbers, such as 0 40" } else { "" };
        format!("{}{root}: {about}{many}{beside}", self.key)
    }

    /// Whether its default is no more than a guess, or the budget.
    pub fn needs_answer(&self) -> bool {
        self.has_guessed_default() || self.key == "privacy.epsilon"
    }

    fn has_guessed_default(&self) -> bool {
        matches!(self.source, AnswerSource::Proposed(proposal) if proposal.is_guess())
    }

    /// Warns about a guess that was taken, about a budget that protects next to nothing, and about a lengthscale far from the proposal.
    /// The user may keep them.
    pub fn answer_warning(&self, numbers: &[f64], proposed: Option<&[f64]>, is_default: bool) -> Option<String> {
        if self.has_guessed_default() {
            let guess = range_text(numbers);
            return is_default.then(|| {
                format!(
                    "note: {guess} is a guess by this program, which read no value of the column; check it, because the error of the \
                     predictions depends on it"
                )
            });
        }
        let proposed = proposed.and_then(|numbers| numbers.first().copied());
        match (self.last_key_part(), numbers, proposed) {
            ("epsilon", [epsilon], _) if *epsilon > USUAL_EPSILON => {
                let epsilon = format_exact(*epsilon);
                Some(format!(
                    "note: epsilon = {epsilon} gives almost no protection: one row can make a conclusion e^{epsilon} times as likely"
                ))
            }
            ("delta", [delta], Some(proposed)) if *delta > 10.0 * proposed => Some(format!(
                "note: delta = {} is far above the suggested value: with this probability a row may be revealed exactly",
                format_exact(*delta)
            )),
            ("lengthscales", [lengthscale], Some(proposed)) if *lengthscale > LONG * proposed => Some(format!(
                "note: with a lengthscale of {} the function can hardly change over the map; the intervals rely on this, \
                     whatever the rows show",
                format_exact(*lengthscale)
            )),
            ("lengthscales", [lengthscale], Some(proposed)) if LONG * lengthscale < proposed => Some(format!(
                "note: with a lengthscale of {} each prediction depends on few rows, so noise may hide the pattern",
                format_exact(*lengthscale)
            )),
            _ => None,
        }
    }

    /// Parses the numbers of a line, separated by spaces or `..`. An error says what to enter. Conditions on several answers are checked
    /// later, with the whole spec.
    fn parse_answer(&self, line: &str) -> Result<Vec<f64>, String> {
        // A comma separates two numbers that have decimal points. Otherwise it may be a decimal comma.
        let comma = line.split_once(',').filter(|(low, high)| low.contains('.') && high.contains('.'));
        let apart = comma.map_or(line.to_owned(), |(low, high)| format!("{low} {high}")).replace("..", " ");
        let words = apart.split_whitespace().map(|word| word.trim_end_matches(','));
        let words: Vec<&str> = words.filter(|word| *word != "to").collect();
        let finite = words.iter().map_while(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()));
        let numbers: Vec<f64> = finite.collect();
        let is_all = numbers.len() == self.places.len();
        if is_all && words.len() == numbers.len() {
            return self.check_numbers(numbers);
        }
        let hint = match is_all {
            _ if line.contains(',') => ", with a decimal point",
            true if words.len() == numbers.len() + 1 => ", without a unit",
            _ => "",
        };
        Err(match self.places.len() {
            1 => format!("enter a finite number{hint}"),
            _ => format!("enter two finite numbers, lowest first, such as 0 40{hint}"),
        })
    }

    fn check_numbers(&self, numbers: Vec<f64>) -> Result<Vec<f64>, String> {
        let positive = ["epsilon", "delta", "noise_variance", "variance", "lengthscale", "lengthscales"]
            .contains(&self.last_key_part());
        match numbers[..] {
            [low, high] if high <= low => Err(format!(
                "the second number must be above the first, but {} is not above {}",
                format_exact(high),
                format_exact(low)
            )),
            [value] if positive && value <= 0.0 => Err("enter a number above 0".to_owned()),
            [value] if self.last_key_part() == "delta" && value >= MOST_DELTA => Err(format!(
                "enter a number below {MOST_DELTA} and far below one over the number of rows: with probability delta, a row may be \
                 revealed exactly"
            )),
            _ => Ok(numbers),
        }
    }

    /// Returns the last part of the key.
    fn last_key_part(&self) -> &str {
        let key = self.key.split(',').next().unwrap_or(&self.key);
        key.rsplit('.').next().unwrap_or(key)
    }
}

/// Writes both ends of a range, or one number.
pub fn range_text(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format_exact(*number)).collect::<Vec<_>>().join(" to ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_into_their_places() {
        let template = "[normalise.bounds]\nlow = nan # l\nhigh = nan # h\n[model]\nnoise_variance = nan # n\n[privacy]\nepsilon = 1.0\n";
        let mut draft = SpecDraft::new(template);
        draft.answers = vec![Some(vec![3.0, 7.5]), Some(vec![2.25]), Some(vec![0.5])];
        let text = draft.text();
        let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
        assert_eq!(lines[1..3], ["low = 3.0", "high = 7.5"]);
        assert_eq!((lines[4], lines[6]), ("noise_variance = 2.25", "epsilon = 0.5"));
    }
}
