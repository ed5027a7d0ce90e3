//! `dpgp new --ask`: a question for what only the user can know.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use super::CliError;
use super::new_questions::{Answers, Question, Source, questions};
use super::output::complain;
use crate::data::Manifest;
use crate::publish::exact;
use crate::run::RunError;
use crate::task::Experiment;

/// The spec with an answer in each place, which is a valid one.
pub(super) fn asked(template: &str, path: &Path) -> Result<String, CliError> {
    let questions = questions(template);
    let mut lines = std::io::stdin().lock().lines();
    let mut answers: Vec<Option<Vec<f64>>> = vec![None; questions.len()];
    loop {
        for place in 0..questions.len() {
            let derived = matches!(questions[place].source, Source::Derived(_));
            if !derived && answers[place].is_none() {
                answers[place] = Some(answer(&questions, &answers, place, &mut lines)?);
            }
        }
        for (place, question) in questions.iter().enumerate() {
            if let Source::Derived(rule) = question.source {
                answers[place] = rule.numbers(&answers);
            }
        }
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
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> Result<Vec<f64>, CliError> {
    let question = &questions[place];
    let proposed = match question.source {
        Source::Proposed(proposal) => proposal.value(questions, answers),
        Source::Asked | Source::Derived(_) => None,
    };
    let beside = proposed.map(|value| format!(" [{}]", exact(value))).unwrap_or_default();
    let many = if question.places.len() == 2 { "; two numbers" } else { "" };
    complain(&format!("{}: {}{many}{beside}", question.key, question.about));
    let mut said = String::new();
    loop {
        let Some(Ok(line)) = lines.next() else { return Err(CliError::Unanswered(question.key.clone())) };
        if let (true, Some(value)) = (line.trim().is_empty(), proposed) {
            return Ok(vec![value]);
        }
        said = format!("{said} {}", line.trim());
        let needed = match question.read(&said) {
            Reading::Numbers(numbers) => return Ok(numbers),
            // Both ends may stand on lines of their own.
            Reading::More if !line.trim().is_empty() => continue,
            Reading::More => "a finite number".to_owned(),
            Reading::Wrong(needed) => needed,
        };
        if !std::io::stdin().is_terminal() {
            let (key, said) = (question.key.clone(), said.trim().to_owned());
            return Err(CliError::WrongAnswer { key, said, needed });
        }
        complain(&format!("{needed} is needed"));
        said.clear();
    }
}

/// What a user said.
enum Reading {
    Numbers(Vec<f64>),
    /// The beginning of an answer.
    More,
    /// With what is needed.
    Wrong(String),
}

impl Question {
    /// The numbers, with spaces or commas between. What depends on several answers is checked by the whole spec.
    fn read(&self, said: &str) -> Reading {
        let words: Vec<&str> = said.split([' ', ',', '\t']).filter(|word| !word.is_empty()).collect();
        let finite = words.iter().map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()));
        let Some(numbers) = finite.collect::<Option<Vec<f64>>>() else {
            return Reading::Wrong("a finite number".to_owned());
        };
        match (numbers.len(), self.places.len()) {
            (said, needed) if said < needed => Reading::More,
            (said, needed) if said > needed => Reading::Wrong(if needed == 1 {
                "one number".to_owned()
            } else {
                format!("{needed} numbers")
            }),
            _ => self.checked(numbers),
        }
    }

    fn checked(&self, numbers: Vec<f64>) -> Reading {
        let name = self.key.split(',').next().unwrap_or(&self.key);
        let last = name.rsplit('.').next().unwrap_or(name);
        let positive =
            ["epsilon", "delta", "noise_variance", "variance", "lengthscale", "lengthscales"].contains(&last);
        match numbers[..] {
            [low, high] if high <= low => {
                Reading::Wrong(format!("a range: {} is not above {}", exact(high), exact(low)))
            }
            [value] if positive && value <= 0.0 => Reading::Wrong("a number above 0".to_owned()),
            [value] if last == "delta" && value >= 1.0 => Reading::Wrong("a number below 1".to_owned()),
            _ => Reading::Numbers(numbers),
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
