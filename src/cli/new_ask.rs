//! `dpgp new --ask`: a question for what only the user can know.

use std::io::{BufRead, BufReader, IsTerminal, StdinLock};
use std::path::Path;

use super::CliError;
use super::new_questions::{BOUNDS, Question, Source, asking_order, questions};
use super::new_rules::{NewSpecAnswers, PERHAPS, four_digits};
use super::output::complain;
use dpgp_data::Manifest;
use dpgp_report::exact;
use dpgp_run::RunError;
use dpgp_task::Experiment;

/// The spec with an answer in each place, which is a valid one.
pub(super) fn asked(template: &str, path: &Path) -> Result<String, CliError> {
    let questions = questions(template);
    let order = asking_order(&questions);
    let mut dialogue = Dialogue::about(&questions);
    complain(&format!(
        "an answer a line; `{BACK}` asks the question before again, `{QUIT}` ends and writes nothing"
    ));
    loop {
        dialogue.ask_all(&order)?;
        dialogue.derive();
        dialogue.said.all()?;
        let text = filled(template, &questions, &dialogue.answers);
        let (name, manifest) = (path.to_string_lossy(), Manifest::shipped()?);
        let Err(wrong) = Experiment::parse(&name, path, text.clone(), &manifest) else {
            dialogue.say_derived();
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
        again.into_iter().for_each(|place| dialogue.answers[place] = None);
    }
}

/// What asks the question before again.
const BACK: &str = "back";
/// What ends the questions.
const QUIT: &str = "quit";

/// What was said to a question.
enum Reply {
    Numbers(Vec<f64>),
    Back,
}

/// Questions, and what was answered so far.
struct Dialogue<'a> {
    questions: &'a [Question],
    answers: Vec<Option<Vec<f64>>>,
    said: Said,
    /// What the last question was about.
    last: &'a str,
}

impl<'a> Dialogue<'a> {
    fn about(questions: &'a [Question]) -> Self {
        let said = Said(BufReader::new(std::io::stdin().lock()));
        Self { questions, answers: vec![None; questions.len()], said, last: "" }
    }

    /// Asks what is not answered, in this order, and what the user goes back to.
    fn ask_all(&mut self, order: &[usize]) -> Result<(), CliError> {
        let mut next = 0;
        while let Some(&place) = order.get(next) {
            if self.answers[place].is_some() {
                next += 1;
                continue;
            }
            match self.answer(place)? {
                Reply::Numbers(numbers) => self.answers[place] = Some(numbers),
                Reply::Back if next == 0 => complain("this is the first question"),
                Reply::Back => {
                    next -= 1;
                    self.answers[order[next]] = None;
                    // It is asked in full.
                    self.last = "";
                }
            }
        }
        Ok(())
    }

    /// The answer to one question; on a terminal it is asked until it is one.
    fn answer(&mut self, place: usize) -> Result<Reply, CliError> {
        let question = &self.questions[place];
        let proposed = match question.source {
            Source::Proposed(proposal) => proposal.value(self.questions, &self.answers),
            Source::Asked | Source::Derived(_) => None,
        };
        let is_same = question.about == self.last;
        self.last = &question.about;
        complain(&question.asked(proposed, is_same));
        loop {
            let Some(line) = self.said.line() else {
                return Err(CliError::Unanswered(question.key.clone()));
            };
            match line.as_str() {
                BACK => return Ok(Reply::Back),
                QUIT => return Err(CliError::Left(question.key.clone())),
                _ => {}
            }
            let read = match (line.is_empty(), proposed) {
                (true, Some(value)) => Ok(vec![value]),
                _ => question.read(&line).and_then(|numbers| question.at_most_half(self.width(), numbers)),
            };
            let needed = match read {
                Ok(numbers) => {
                    question.caution(&numbers, proposed).iter().for_each(|caution| complain(caution));
                    return Ok(Reply::Numbers(question.in_spec(numbers)));
                }
                Err(needed) => needed,
            };
            if !std::io::stdin().is_terminal() {
                return Err(CliError::WrongAnswer { key: question.key.clone(), said: line, needed });
            }
            complain(&format!("{needed} (or `{BACK}`, `{QUIT}`)"));
        }
    }

    /// Between the bounds of the target, once they are known.
    fn width(&self) -> Option<f64> {
        let bounds = self.questions.iter().position(|question| question.key == BOUNDS)?;
        let [low, high] = self.answers[bounds].as_deref()? else { return None };
        Some(high - low)
    }

    /// What follows from the answers.
    fn derive(&mut self) {
        for (place, question) in self.questions.iter().enumerate() {
            if let Source::Derived(rule) = question.source {
                self.answers[place] = rule.numbers(&self.answers);
            }
        }
    }

    /// What nobody was asked.
    fn say_derived(&self) {
        for (question, answer) in self.questions.iter().zip(&self.answers) {
            if let (Source::Derived(_), Some(numbers)) = (question.source, answer) {
                complain(&format!("{}: {}, by the answers above", question.key, listed(numbers)));
            }
        }
    }
}

fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|number| exact(*number)).collect::<Vec<_>>().join(" to ")
}

impl Question {
    /// What is asked, with what an empty line stands for; the same words are not said twice in a row.
    fn asked(&self, proposed: Option<f64>, is_same: bool) -> String {
        let (mut about, mut beside) = (self.about.as_str(), String::new());
        if let Some(value) = proposed {
            about = about.split_once(PERHAPS).map_or(about, |(about, _)| about.trim_end_matches("; "));
            beside = format!(" [{}]", exact(value));
        }
        if is_same {
            return format!("{}: the same{beside}", self.key);
        }
        let root = if self.is_squared { " (its root)" } else { "" };
        let many = if self.places.len() == 2 { "; two numbers, such as 0 40" } else { "" };
        format!("{}{root}: {about}{many}{beside}", self.key)
    }

    /// Refuses the root of a variance that targets within their bounds cannot have: at most half of their width (Popoviciu 1935).
    fn at_most_half(&self, width: Option<f64>, numbers: Vec<f64>) -> Result<Vec<f64>, String> {
        match (width, &numbers[..]) {
            (Some(width), [root]) if self.is_squared && *root > 0.5 * width => {
                Err(format!("at most {} is needed, half of the width of the bounds", exact(0.5 * width)))
            }
            _ => Ok(numbers),
        }
    }

    /// What is said of a budget that protects next to nothing, and of a lengthscale far from what is proposed; they are the user's to choose.
    fn caution(&self, numbers: &[f64], proposed: Option<f64>) -> Option<String> {
        match (self.name(), numbers, proposed) {
            ("epsilon", [epsilon], _) if *epsilon > USUAL_EPSILON => {
                let epsilon = exact(*epsilon);
                Some(format!(
                    "note: epsilon = {epsilon} protects next to nothing: what somebody believes of a row may become e^{epsilon} times as \
                     likely"
                ))
            }
            ("delta", [delta], Some(proposed)) if *delta > 10.0 * proposed => Some(format!(
                "note: delta = {} is far above what is proposed: so often a row may be told as it is",
                exact(*delta)
            )),
            ("lengthscales", [lengthscale], Some(proposed)) if *lengthscale > LONG * proposed => {
                Some(format!(
                    "note: a lengthscale of {} lets the function hardly change over the map, and intervals believe that whatever the rows say",
                    exact(*lengthscale)
                ))
            }
            ("lengthscales", [lengthscale], Some(proposed)) if LONG * lengthscale < proposed => {
                Some(format!(
                    "note: of a function with a lengthscale of {} each place must be told by its own rows, and noise may hide them all",
                    exact(*lengthscale)
                ))
            }
            _ => None,
        }
    }

    /// The numbers of the spec.
    fn in_spec(&self, mut numbers: Vec<f64>) -> Vec<f64> {
        if self.is_squared {
            numbers.iter_mut().for_each(|number| *number = four_digits(*number * *number));
        }
        numbers
    }
}

impl Question {
    /// The numbers of a line, with spaces or `..` between; otherwise what is needed. What depends on several answers is checked by the whole
    /// spec.
    fn read(&self, line: &str) -> Result<Vec<f64>, String> {
        // A comma between two numbers with points divides them; without points it may be a decimal one.
        let comma = line.split_once(',').filter(|(low, high)| low.contains('.') && high.contains('.'));
        let apart = comma.map_or(line.to_owned(), |(low, high)| format!("{low} {high}")).replace("..", " ");
        let words = apart.split_whitespace().map(|word| word.trim_end_matches(','));
        let words: Vec<&str> = words.filter(|word| *word != "to").collect();
        let finite =
            words.iter().map_while(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()));
        let numbers: Vec<f64> = finite.collect();
        let is_all = numbers.len() == self.places.len();
        if is_all && words.len() == numbers.len() {
            return self.checked(numbers);
        }
        let hint = match is_all {
            _ if line.contains(',') => ", with a point before decimals",
            true if words.len() == numbers.len() + 1 => ", without a unit",
            _ => "",
        };
        Err(match self.places.len() {
            1 => format!("a finite number is needed{hint}"),
            _ => format!("two finite numbers are needed, the least and the greatest, such as 0 40{hint}"),
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

/// So many times what is proposed, an eighth or a quarter of a range, is the range or more.
const LONG: f64 = 7.0;
/// Larger ones are chosen by nobody who knows what they mean.
const USUAL_EPSILON: f64 = 10.0;
/// The line of the grid, which has the same budget beside none.
const GRID: &str = "\"privacy.epsilon\" = [1.0, inf]";

/// The spec with the answers, and without the words that ask for them.
fn filled(template: &str, questions: &[Question], answers: &NewSpecAnswers) -> String {
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
        let template = "[normalise.bounds]\nlow = nan # l\nhigh = nan # h\n[model]\nnoise_variance = nan # n\n[privacy]\nepsilon = 1.0\n";
        let questions = questions(template);
        let text = filled(template, &questions, &[Some(vec![3.0, 7.5]), Some(vec![2.25]), Some(vec![0.5])]);
        let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
        assert_eq!(lines[1..3], ["low = 3.0", "high = 7.5"]);
        assert_eq!((lines[4], lines[6]), ("noise_variance = 2.25", "epsilon = 0.5"));
    }
}
