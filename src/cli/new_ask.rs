//! `dpgp new --ask`: a question for what only the user can know.

use std::io::{BufRead, BufReader, IsTerminal, StdinLock};
use std::path::Path;

use super::CliError;
use super::new_questions::{BOUNDS, Question, SCALE, Source, asking_order, questions};
use super::new_rules::Answers;
use super::output::complain;
use crate::data::Manifest;
use crate::publish::exact;
use crate::run::RunError;
use crate::task::Experiment;

/// The spec with an answer in each place, which is a valid one.
pub(super) fn asked(template: &str, path: &Path) -> Result<String, CliError> {
    let questions = questions(template);
    let order = asking_order(&questions);
    let mut said = Said(BufReader::new(std::io::stdin().lock()));
    let mut answers: Vec<Option<Vec<f64>>> = vec![None; questions.len()];
    loop {
        for &place in &order {
            if answers[place].is_none() {
                answers[place] = Some(answer(&questions, &answers, place, &mut said)?);
            }
        }
        for (place, question) in questions.iter().enumerate() {
            if let Source::Derived(rule) = question.source {
                answers[place] = rule.numbers(&answers);
            }
        }
        said.all()?;
        let text = filled(template, &questions, &answers);
        let (name, manifest) = (path.to_string_lossy(), Manifest::shipped()?);
        let Err(wrong) = Experiment::parse(&name, path, text.clone(), &manifest) else {
            say_derived(&questions, &answers);
            return Ok(text);
        };
        let again: Vec<usize> = (0..questions.len())
            .filter(|place| questions[*place].lines.contains(&wrong.line))
            .filter(|place| !matches!(questions[*place].source, Source::Derived(_)))
            .collect();
        if again.is_empty() || !std::io::stdin().is_terminal() {
            return Err(RunError::from(Box::new(wrong)).into());
        }
        complain(&wrong.to_string());
        again.into_iter().for_each(|place| answers[place] = None);
    }
}

/// What nobody was asked.
fn say_derived(questions: &[Question], answers: &Answers) {
    for (question, answer) in questions.iter().zip(answers) {
        if let (Source::Derived(_), Some(numbers)) = (question.source, answer) {
            complain(&format!("{}: {}, by the answers above", question.key, listed(numbers)));
        }
    }
}

fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|number| exact(*number)).collect::<Vec<_>>().join(" to ")
}

/// The answer to one question; on a terminal it is asked until it is one.
fn answer(
    questions: &[Question],
    answers: &Answers,
    place: usize,
    said: &mut Said,
) -> Result<Vec<f64>, CliError> {
    let question = &questions[place];
    let proposed = match question.source {
        Source::Proposed(proposal) => proposal.value(questions, answers),
        Source::Asked | Source::Derived(_) => None,
    };
    let beside = proposed.map(|value| format!(" [{}]", exact(value))).unwrap_or_default();
    let many = if question.places.len() == 2 { "; two numbers, such as 0 40" } else { "" };
    complain(&format!("{}: {}{many}{beside}", question.key, question.about));
    loop {
        let Some(line) = said.line() else { return Err(CliError::Unanswered(question.key.clone())) };
        if let (true, Some(value)) = (line.is_empty(), proposed) {
            return Ok(vec![value]);
        }
        let needed = match question.read(&line).and_then(|numbers| most(questions, answers, place, numbers)) {
            Ok(numbers) => return Ok(numbers),
            Err(needed) => needed,
        };
        if !std::io::stdin().is_terminal() {
            return Err(CliError::WrongAnswer { key: question.key.clone(), said: line, needed });
        }
        complain(&needed);
    }
}

/// Refuses a variance that targets within their bounds cannot have: at most the square of half of their width (Popoviciu 1935).
fn most(
    questions: &[Question],
    answers: &Answers,
    place: usize,
    numbers: Vec<f64>,
) -> Result<Vec<f64>, String> {
    if !["noise_variance", "variance"].contains(&questions[place].name()) {
        return Ok(numbers);
    }
    // Where a scale is derived, variances are in its square.
    let of_scale = questions.iter().any(|question| question.key == SCALE);
    let bounds = questions.iter().position(|question| question.key == BOUNDS);
    let (limit, unit) = match bounds.and_then(|bounds| answers[bounds].as_deref()) {
        _ if of_scale => (1.0, "half of the width of the bounds is 1 here"),
        Some([low, high]) => {
            (0.25 * (high - low) * (high - low), "the square of half of the width of the bounds")
        }
        _ => return Ok(numbers),
    };
    match numbers[..] {
        [variance] if variance > limit => {
            Err(format!("a variance of at most {} is needed: {unit}", exact(limit)))
        }
        _ => Ok(numbers),
    }
}

impl Question {
    /// The numbers of a line, with spaces or `..` between; otherwise what is needed. What depends on several answers is checked by the whole
    /// spec.
    fn read(&self, line: &str) -> Result<Vec<f64>, String> {
        let apart = line.replace("..", " ");
        let words: Vec<&str> = apart.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
        let finite = words.iter().map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()));
        let numbers = finite.collect::<Option<Vec<f64>>>().unwrap_or_default();
        if numbers.len() == self.places.len() {
            return self.checked(numbers);
        }
        let comma = if line.contains(',') { ", with a point before decimals" } else { "" };
        Err(match self.places.len() {
            1 => format!("a finite number is needed{comma}"),
            _ => format!("two finite numbers are needed, the least and the greatest, such as 0 40{comma}"),
        })
    }

    fn checked(&self, numbers: Vec<f64>) -> Result<Vec<f64>, String> {
        let positive = ["epsilon", "delta", "noise_variance", "variance", "lengthscale", "lengthscales"]
            .contains(&self.name());
        match numbers[..] {
            [low, high] if high <= low => Err(format!(
                "the second number must be above the first, and {} is not above {}",
                exact(high),
                exact(low)
            )),
            [value] if positive && value <= 0.0 => Err("a number above 0 is needed".to_owned()),
            [value] if self.name() == "delta" && value >= 1.0 => Err("a number below 1 is needed".to_owned()),
            _ => Ok(numbers),
        }
    }

    /// The last part of the key.
    fn name(&self) -> &str {
        let key = self.key.split(',').next().unwrap_or(&self.key);
        key.rsplit('.').next().unwrap_or(key)
    }
}

/// What the user says.
struct Said(BufReader<StdinLock<'static>>);

impl Said {
    /// The next line, without its end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim().to_owned())
    }

    /// Refuses answers that no question asks for: one line too many has moved all that follow it. Only what was said already counts; nobody
    /// is waited for.
    fn all(&self) -> Result<(), CliError> {
        let left = String::from_utf8_lossy(self.0.buffer());
        let more = left.lines().find(|line| !line.trim().is_empty());
        match more.filter(|_| !std::io::stdin().is_terminal()) {
            Some(line) => Err(CliError::MoreAnswers(line.trim().to_owned())),
            None => Ok(()),
        }
    }
}

/// The line of the grid, which has the same budget beside none.
const GRID: &str = "\"privacy.epsilon\" = [1.0, inf]";

/// The spec with the answers, and without the words that ask for them.
fn filled(template: &str, questions: &[Question], answers: &Answers) -> String {
    let mut parts = Vec::new();
    for (question, answer) in questions.iter().zip(answers) {
        parts.extend(question.places.iter().cloned().zip(answer.iter().flatten().copied()));
    }
    let mut text = template.to_owned();
    // From the end, so that places before stay where they are.
    for (place, number) in parts.into_iter().rev() {
        text.replace_range(place, &format!("{number:?}"));
    }
    // Cells take the epsilon of the grid, and so that must be the answer, too.
    let epsilon = questions.iter().zip(answers).find(|(question, _)| question.key == "privacy.epsilon");
    if let Some((_, Some(epsilon))) = epsilon {
        text = text.replace(GRID, &format!("\"privacy.epsilon\" = [{:?}, inf]", epsilon[0]));
    }
    text.replace("# fill in: ", "# ").replace("fill in every `nan` below, then ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_into_their_places() {
        let template =
            "[normalise.bounds]\nlow = nan # l\nhigh = nan # h\nscale = nan # s\n[privacy]\nepsilon = 1.0\n";
        let questions = questions(template);
        let text = filled(template, &questions, &[Some(vec![3.0, 7.5]), Some(vec![2.25]), Some(vec![0.5])]);
        let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
        assert_eq!(lines[1..4], ["low = 3.0", "high = 7.5", "scale = 2.25"]);
        assert_eq!(lines[5], "epsilon = 0.5");
    }
}
