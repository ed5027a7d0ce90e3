//! `dpgp new --ask`: a question for each number that only the user can know.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use super::CliError;
use super::output::complain;
use crate::data::Manifest;
use crate::publish::exact;
use crate::run::RunError;
use crate::task::Experiment;

/// A number that is left to fill in.
#[derive(Debug, Clone, PartialEq)]
struct Question {
    /// Its place in the text.
    from: usize,
    to: usize,
    /// Its line, from 1.
    line: usize,
    /// The key, with a word for which end of a range it is.
    key: String,
    /// What the comment beside it says.
    about: String,
    proposal: Option<Proposal>,
}

/// What an empty answer stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Proposal {
    Number(f64),
    /// A multiple of the distance of the bounds of the target.
    OfWidth(f64),
    /// A multiple of the square of that.
    OfSquare(f64),
}

/// The spec with an answer in each place, which is a valid one.
pub(super) fn asked(template: &str, path: &Path) -> Result<String, CliError> {
    let questions = questions(template);
    let mut lines = std::io::stdin().lock().lines();
    let mut answers: Vec<Option<f64>> = vec![None; questions.len()];
    loop {
        for place in 0..questions.len() {
            if answers[place].is_none() {
                answers[place] = Some(answer(&questions, &answers, place, &mut lines)?);
            }
        }
        // Each place has its answer now.
        let given: Vec<f64> = answers.iter().copied().flatten().collect();
        let text = filled(template, &questions, &given);
        let (name, manifest) = (path.to_string_lossy(), Manifest::shipped()?);
        let Err(wrong) = Experiment::parse(&name, path, text.clone(), &manifest) else { return Ok(text) };
        let again: Vec<usize> =
            (0..questions.len()).filter(|place| questions[*place].line == wrong.line).collect();
        if again.is_empty() || !std::io::stdin().is_terminal() {
            return Err(RunError::from(Box::new(wrong)).into());
        }
        complain(&wrong.to_string());
        again.into_iter().for_each(|place| answers[place] = None);
    }
}

/// The answer to one question; on a terminal it is asked until it is a number.
fn answer(
    questions: &[Question],
    answers: &[Option<f64>],
    place: usize,
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> Result<f64, CliError> {
    let question = &questions[place];
    let proposed = match question.proposal {
        Some(proposal) => proposal.value(width(questions, answers)),
        None => end_of_box(questions, answers, place),
    };
    loop {
        let beside = proposed.map(|value| format!(" [{}]", exact(value))).unwrap_or_default();
        complain(&format!("{}: {}{beside}", question.key, question.about));
        let Some(Ok(line)) = lines.next() else { return Err(CliError::Unanswered(question.key.clone())) };
        let read = match (line.trim(), proposed) {
            ("", Some(value)) => Ok(value),
            (said, _) => {
                said.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or("a finite number".to_owned())
            }
        };
        let needed = match read.and_then(|value| needed(questions, answers, place, value)) {
            Ok(value) => return Ok(value),
            Err(needed) => needed,
        };
        if !std::io::stdin().is_terminal() {
            let (key, said) = (question.key.clone(), line.trim().to_owned());
            return Err(CliError::WrongAnswer { key, said, needed });
        }
        complain(&format!("{needed} is needed"));
    }
}

/// The answer, if it may be one; otherwise what is needed. What depends on several answers is checked by the whole spec.
fn needed(questions: &[Question], answers: &[Option<f64>], place: usize, value: f64) -> Result<f64, String> {
    let key = questions[place].key.as_str();
    let last = key.rsplit('.').next().unwrap_or(key);
    let above = match last {
        "high" | "map, to" | "domain, greatest" => place.checked_sub(1).and_then(|before| answers[before]),
        "epsilon" | "delta" | "noise_variance" | "variance" | "lengthscale" | "lengthscales" | "scale"
        | "change" => Some(0.0),
        _ => None,
    };
    match above {
        Some(least) if value <= least => Err(format!("a number above {}", exact(least))),
        _ if last == "delta" && value >= 1.0 => Err("a number below 1".to_owned()),
        _ => Ok(value),
    }
}

impl Proposal {
    /// With the distance of the bounds, if that is known; without the digits that come of products.
    fn value(self, width: Option<f64>) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::OfWidth(factor) => Some(factor * width?),
            Self::OfSquare(factor) => format!("{:.3e}", factor * width? * width?).parse().ok(),
        }
    }

    /// By the comment beside the place: its last words, `perhaps ((high - low) / 8)^2`, or a number in the place of that.
    fn said(about: &str) -> Option<Self> {
        let (_, said) = about.rsplit_once("perhaps ")?;
        let divisor = said.strip_prefix("((high - low) / ").and_then(|rest| rest.strip_suffix(")^2"));
        match divisor {
            Some(divisor) => {
                divisor.parse::<f64>().ok().map(|divisor| Self::OfSquare(1.0 / (divisor * divisor)))
            }
            None => said.parse().ok().map(Self::Number),
        }
    }
}

/// The distance of the bounds of the target, once both are known.
fn width(questions: &[Question], answers: &[Option<f64>]) -> Option<f64> {
    let [low, high] = ["normalise.bounds.low", "normalise.bounds.high"].map(|key| {
        questions.iter().position(|question| question.key == key).and_then(|place| answers[place])
    });
    Some(high? - low?)
}

/// How far a box reaches beyond the map, as a part of its width: rows from outside of the box count at its edge, where they should not be
/// mixed with those of the map.
const MARGIN: f64 = 0.1;

/// For an end of the box, that of the map along the same input with a margin.
fn end_of_box(questions: &[Question], answers: &[Option<f64>], place: usize) -> Option<f64> {
    let (key, asked) = (&questions[place].key, &questions[..place]);
    let input = asked.iter().filter(|question| question.key == *key).count();
    let [from, to] = ["task.surface.map, from", "task.surface.map, to"].map(|key| {
        let mut ends = asked.iter().enumerate().filter(|(_, question)| question.key == key);
        ends.nth(input).and_then(|(place, _)| answers[place])
    });
    let (from, to) = (from?, to?);
    let end = match key.as_str() {
        "privacy.mechanism.moments.domain, least" => from - MARGIN * (to - from),
        "privacy.mechanism.moments.domain, greatest" => to + MARGIN * (to - from),
        _ => return None,
    };
    // Without the digits that come of the product.
    let unit = 10f64.powf((to - from).abs().log10().floor() - 6.0);
    let rounded = format!("{:.*}", (-unit.log10()).round().max(0.0) as usize, end).parse().ok();
    rounded.filter(|end: &f64| end.is_finite())
}

/// The spec with the answers, and without the words that ask for them.
fn filled(template: &str, questions: &[Question], answers: &[f64]) -> String {
    let mut text = template.to_owned();
    // From the end, so that places before stay where they are.
    for (question, answer) in questions.iter().zip(answers).rev() {
        text.replace_range(question.from..question.to, &format!("{answer:?}"));
    }
    // Cells take the epsilon of the grid, and so that must be the answer, too.
    let epsilon = questions.iter().zip(answers).find(|(question, _)| question.key == "privacy.epsilon");
    if let Some((_, epsilon)) = epsilon {
        text = text.replace(GRID, &format!("\"privacy.epsilon\" = [{epsilon:?}, inf]"));
    }
    text.replace("# fill in: ", "# ").replace("fill in every `nan` below, then ", "")
}

const OPEN: &str = "nan";
/// The line of the budget, which nobody else should choose.
const EPSILON: &str = "epsilon = 1.0";
/// The line of the grid, which has the same budget beside none.
const GRID: &str = "\"privacy.epsilon\" = [1.0, inf]";
/// How the line begins that says how often the guarantee may fail.
const DELTA: &str = "delta = ";

/// The questions of a template, in the order of its lines.
fn questions(template: &str) -> Vec<Question> {
    let (mut found, mut section, mut list, mut from) = (Vec::new(), "", ("", ""), 0);
    for (number, line) in template.split_inclusive('\n').enumerate() {
        let start = from;
        from += line.len();
        let (code, about) = line.split_once('#').unwrap_or((line, ""));
        let key = code.split('=').next().unwrap_or_default().trim();
        let heading = code.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = heading.filter(|name| !name.contains(OPEN)) {
            section = name;
        }
        if code.trim_end().ends_with("= [") {
            list = (key, about);
        }
        if code.trim_end() == EPSILON {
            let at = start + EPSILON.len() - "1.0".len();
            let about = "how private: what somebody believes of a person may become e^epsilon times as likely; perhaps 1";
            found.push(Question {
                proposal: None,
                ..question("privacy.epsilon".to_owned(), about, at..at + 3, number)
            });
            continue;
        }
        if let Some(delta) = code.trim_end().strip_prefix(DELTA) {
            let place = start + DELTA.len()..start + DELTA.len() + delta.len();
            let about = "the chance that this bound does not hold; far below 1 / number of rows";
            let proposal = delta.parse().ok().map(Proposal::Number);
            found.push(Question { proposal, ..question("privacy.delta".to_owned(), about, place, number) });
            continue;
        }
        let places: Vec<usize> = code.match_indices(OPEN).map(|(at, _)| at).collect();
        for (turn, at) in places.iter().enumerate() {
            let (within, end) = (code.starts_with(' '), end(&code[..*at], turn, places.len()));
            let (key, about) = match within {
                true => (list.0, format!("{}: {}", about.trim(), list.1)),
                false => (key, about.to_owned()),
            };
            let at = start + at;
            let key = format!("{section}.{key}{end}");
            found.push(question(key, &about, at..at + OPEN.len(), number));
        }
    }
    found
}

fn question(key: String, about: &str, place: std::ops::Range<usize>, line: usize) -> Question {
    let words = about.replace("fill in:", " ");
    let about = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let proposal = match key.as_str() {
        "normalise.bounds.scale" => Some(Proposal::OfWidth(0.5)),
        "privacy.change" => Some(Proposal::OfWidth(1.0)),
        _ => Proposal::said(&about),
    };
    Question { from: place.start, to: place.end, line: line + 1, key, about, proposal }
}

/// Which end of a range a place is: by the word before it, or by its turn.
fn end(before: &str, turn: usize, places: usize) -> &'static str {
    let before = before.trim_end().trim_end_matches('=').trim_end();
    match (before, places, turn) {
        (named, _, _) if named.ends_with("from") => ", from",
        (named, _, _) if named.ends_with("to") => ", to",
        (_, 2, 0) => ", least",
        (_, 2, _) => ", greatest",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_question() {
        let template = include_str!("new_data_records.toml")
            .replace(
                "@LENGTHSCALES@",
                "lengthscales = [   # fill in: how far\n    nan,   # \"a\"\n    nan,   # \"b\"\n]",
            )
            .replace(
                "@MAP@",
                "map = [   # fill in: the ends\n    { from = nan, to = nan, points = 25 },   # \"a\"\n]",
            )
            .replace("@DELTA@", "1e-7")
            .replace("@ENDS@", "    [nan, nan],   # \"a\"\n")
            .replace("@TARGET@", "\"y\"");
        let found = questions(&template);
        let keys: Vec<&str> = found.iter().map(|question| question.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "normalise.bounds.low",
                "normalise.bounds.high",
                "normalise.bounds.scale",
                "model.noise_variance",
                "model.kernel.@KERNEL@.lengthscales",
                "model.kernel.@KERNEL@.lengthscales",
                "task.surface.map, from",
                "task.surface.map, to",
                "privacy.epsilon",
                "privacy.delta",
                "privacy.mechanism.moments.domain, least",
                "privacy.mechanism.moments.domain, greatest",
            ]
        );
        assert_eq!(found[5].about, "\"b\": how far");
        assert!(found.iter().all(|one| ["nan", "1.0", "1e-7"].contains(&&template[one.from..one.to])));
        let answers: Vec<f64> = (0..found.len()).map(|k| k as f64).collect();
        let said: Vec<Option<f64>> = answers.iter().copied().map(Some).collect();
        assert_eq!(width(&found, &said), Some(1.0));
        let text = filled(&template, &found, &answers);
        assert!(
            text.contains("low = 0.0 ") && text.contains("[10.0, 11.0],") && text.contains("epsilon = 8.0")
        );
    }
}
