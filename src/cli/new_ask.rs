//! `dpgp new --ask`: questions for the numbers that only the user knows.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use super::CliError;
use super::new_data::{RowsOfPeople, ensure_column_exists};
use super::new_questions::{AnswerSource, BOUNDS, SpecQuestion, asking_order, questions};
use super::new_rules::{NewSpecAnswers, PERHAPS, round_to_four_digits};
use super::output::print_stderr;
use dpgp_data::{ColumnDescription, DatasetManifest};
use dpgp_report::format_exact;
use dpgp_run::RunError;
use dpgp_task::Experiment;

/// Says how to answer, and returns the source of the answers: standard input.
pub(super) fn begin_dialogue() -> UserInput<'static> {
    print_stderr(&format!(
        "type one answer per line, or nothing for the default in brackets; `{}` or `{}` returns to the previous question, `{QUIT}` \
         stops and writes nothing",
        BACK[0], BACK[1]
    ));
    UserInput::new(std::io::stdin().lock(), std::io::stdin().is_terminal())
}

/// The answer if no person has several rows.
const NOBODY: &str = "none";

/// Asks who the rows belong to: a guarantee about rows does not protect a person with many of them, so that nothing is assumed. Fails if the
/// input ends, the user quits, or an answer from a pipe is wrong.
pub(super) fn ask_people(
    said: &mut UserInput<'_>,
    columns: &[ColumnDescription],
) -> Result<Option<RowsOfPeople>, CliError> {
    let question = "if one person can have several rows, the column that identifies the person; else `none`";
    let column = said.ask_until_valid("data.person", question, |line| match line {
        NOBODY => Ok(None),
        "" => Err(format!("enter a column or `{NOBODY}`")),
        column => {
            ensure_column_exists(column, columns).map(|()| Some(column.to_owned())).map_err(|error| error.to_string())
        }
    })?;
    let Some(column) = column else { return Ok(None) };
    let question =
        "the most rows of one person that are used; further rows are left out, and the noise grows with this number";
    let most_rows = said.ask_until_valid("data.rows_per_person", question, |line| {
        line.parse().ok().filter(|most| *most > 0).ok_or_else(|| "enter an integer above 0".to_owned())
    })?;
    Ok(Some(RowsOfPeople { column, most_rows, rows: None }))
}

/// Asks about how many rows there are: where a person may have several, their number is private.
pub(super) fn ask_row_count(said: &mut UserInput<'_>) -> Result<u64, CliError> {
    let question = "the approximate number of rows, from public knowledge: the exact number is private";
    said.ask_until_valid("privacy.mechanism.moments.rows", question, |line| {
        line.parse().ok().filter(|rows| *rows > 0).ok_or_else(|| "enter an integer above 0".to_owned())
    })
}

/// Asks all questions but that for bounds that are known, and returns a valid spec. Fails if the input ends, the user quits, or an answer from
/// a pipe is wrong.
pub(super) fn ask_questions(
    template: &str,
    path: &Path,
    bounds: Option<[f64; 2]>,
    said: UserInput<'_>,
) -> Result<String, CliError> {
    let questions = questions(template);
    let mut order = asking_order(&questions);
    order.retain(|place| bounds.is_none() || questions[*place].key != BOUNDS);
    let is_terminal = said.is_terminal;
    let mut dialogue = Dialogue::new(&questions, said);
    dialogue.set_bounds(bounds);
    loop {
        dialogue.ask_all(&order)?;
        dialogue.derive_answers();
        dialogue.said.ensure_input_ended()?;
        let text = fill_template(template, &questions, &dialogue.answers);
        let (name, manifest) = (path.to_string_lossy(), DatasetManifest::load_shipped()?);
        let Err(wrong) = Experiment::parse(&name, path, text.clone(), &manifest) else {
            dialogue.print_derived_answers();
            return Ok(text);
        };
        if !is_terminal {
            return Err(RunError::from(Box::new(wrong)).into());
        }
        print_stderr(&wrong.to_string());
        dialogue.reopen_questions(&order, wrong.line);
    }
}

/// The template with bounds that are known, with what follows from them and with what is proposed for them. Everything else stays to be
/// filled in.
pub(super) fn fill_bounds(template: &str, bounds: [f64; 2]) -> String {
    let questions = questions(template);
    let mut dialogue = Dialogue::new(&questions, UserInput::new(std::io::empty(), false));
    dialogue.set_bounds(Some(bounds));
    for (place, question) in questions.iter().enumerate().filter(|(_, question)| question.about.contains(PERHAPS)) {
        if let AnswerSource::Proposed(proposal) = question.source {
            dialogue.answers[place] =
                proposal.value(&questions, &dialogue.answers).map(|root| question.to_spec_numbers(root));
        }
    }
    dialogue.derive_answers();
    let text = fill_template(template, &questions, &dialogue.answers);
    // Only what is still open asks to be filled in.
    let asks = template.lines().zip(text.lines()).map(|(before, after)| {
        let is_open = after.split('#').next().is_some_and(|code| code.contains("nan"));
        if is_open || before.starts_with('#') { before } else { after }
    });
    asks.map(|line| format!("{line}\n")).collect()
}

/// The answers that repeat the previous question.
const BACK: [&str; 2] = ["<", "back"];
/// The reply to those who go back from the first question.
const FIRST: &str = "there is no question to return to";
/// The answer that ends the questions.
const QUIT: &str = "quit";

/// A reply to a question.
enum QuestionReply {
    Numbers(Vec<f64>),
    Back,
}

/// Questions, and the answers so far.
struct Dialogue<'a> {
    questions: &'a [SpecQuestion],
    answers: Vec<Option<Vec<f64>>>,
    /// What the user typed, in the units of the question. It is the default of a question that is asked again.
    typed: Vec<Option<Vec<f64>>>,
    said: UserInput<'a>,
    /// The subject of the last question.
    last: &'a str,
}

impl<'a> Dialogue<'a> {
    fn new(questions: &'a [SpecQuestion], said: UserInput<'a>) -> Self {
        let none = vec![None; questions.len()];
        Self { questions, answers: none.clone(), typed: none, said, last: "" }
    }

    /// Takes bounds that are known as answered.
    fn set_bounds(&mut self, bounds: Option<[f64; 2]>) {
        if let Some(place) = self.questions.iter().position(|question| question.key == BOUNDS) {
            self.answers[place] = bounds.map(Vec::from);
        }
    }

    /// Opens the questions of a line of the spec that is wrong, or all if the line has none.
    fn reopen_questions(&mut self, order: &[usize], line: usize) {
        let of_line = |place: &&usize| self.questions[**place].lines.contains(&line);
        let again: Vec<usize> = order.iter().filter(of_line).copied().collect();
        let again = if again.is_empty() { order } else { again.as_slice() };
        again.iter().for_each(|place| self.answers[*place] = None);
    }

    /// Asks the open questions in this order, and repeats those that the user goes back to.
    fn ask_all(&mut self, order: &[usize]) -> Result<(), CliError> {
        let mut next = 0;
        while let Some(&place) = order.get(next) {
            if self.answers[place].is_some() {
                next += 1;
                continue;
            }
            match self.ask_question(place)? {
                QuestionReply::Numbers(numbers) => {
                    self.answers[place] = Some(self.questions[place].to_spec_numbers(numbers))
                }
                QuestionReply::Back => {
                    // Ask it in full.
                    self.last = "";
                    match next.checked_sub(1) {
                        Some(before) => {
                            next = before;
                            self.answers[order[next]] = None;
                        }
                        None => print_stderr(FIRST),
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks one question. On a terminal, repeats it until the answer is valid.
    fn ask_question(&mut self, place: usize) -> Result<QuestionReply, CliError> {
        let question = &self.questions[place];
        let proposed = match question.source {
            AnswerSource::Proposed(proposal) => proposal.value(self.questions, &self.answers),
            AnswerSource::Derived(_) => None,
        };
        // Nobody at a pipe sees the default and its note: a bound or an epsilon that was forgotten must not become a number.
        let needs_answer = !self.said.is_terminal && question.needs_answer();
        let default = self.typed[place].clone().or_else(|| proposed.clone().filter(|_| !needs_answer));
        let is_same = question.about == self.last;
        self.last = &question.about;
        print_stderr(&question.prompt_text(default.as_deref(), is_same));
        loop {
            let Some(line) = self.said.line() else {
                return Err(CliError::Unanswered(question.key.clone()));
            };
            if BACK.contains(&line.as_str()) {
                return Ok(QuestionReply::Back);
            }
            if line == QUIT {
                return Err(CliError::Left(question.key.clone()));
            }
            let read = match (line.is_empty(), &default) {
                (true, Some(default)) => Ok(default.clone()),
                _ => question.parse_answer(&line),
            };
            let needed = match read.and_then(|numbers| question.check_standard_deviation(self.bounds_width(), numbers))
            {
                Ok(numbers) => {
                    question
                        .answer_warning(&numbers, proposed.as_deref(), line.is_empty())
                        .iter()
                        .for_each(|note| print_stderr(note));
                    if !line.is_empty() {
                        self.typed[place] = Some(numbers.clone());
                    }
                    return Ok(QuestionReply::Numbers(numbers));
                }
                Err(needed) => needed,
            };
            if !self.said.is_terminal {
                let needed = match line.is_empty() {
                    true => format!("{needed}, since this question has no default without a terminal"),
                    false => needed,
                };
                return Err(CliError::WrongAnswer { key: question.key.clone(), said: line, needed });
            }
            print_stderr(&format!("{needed} (or `{}`, `{QUIT}`)", BACK[0]));
        }
    }

    /// Returns the width of the target's bounds, once they are known.
    fn bounds_width(&self) -> Option<f64> {
        let bounds = self.questions.iter().position(|question| question.key == BOUNDS)?;
        let [low, high] = self.answers[bounds].as_deref()? else { return None };
        Some(high - low)
    }

    /// Computes the numbers that follow from the answers.
    fn derive_answers(&mut self) {
        for (place, question) in self.questions.iter().enumerate() {
            if let AnswerSource::Derived(rule) = question.source {
                self.answers[place] = rule.numbers(&self.answers);
            }
        }
    }

    /// Prints the computed numbers.
    fn print_derived_answers(&self) {
        for (question, answer) in self.questions.iter().zip(&self.answers) {
            if let (AnswerSource::Derived(_), Some(numbers)) = (question.source, answer) {
                print_stderr(&format!("{}: {}, computed from your answers", question.key, range_text(numbers)));
            }
        }
    }
}

fn range_text(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format_exact(*number)).collect::<Vec<_>>().join(" to ")
}

impl SpecQuestion {
    /// Formats the question, with the value of an empty answer. Does not repeat the text of the question before.
    fn prompt_text(&self, default: Option<&[f64]>, is_same: bool) -> String {
        let (mut about, mut beside) = (self.about.as_str(), String::new());
        if let Some(numbers) = default {
            about = about.split_once(PERHAPS).map_or(about, |(about, _)| about.trim_end_matches("; "));
            let numbers: Vec<String> = numbers.iter().map(|number| format_exact(*number)).collect();
            let guess = if self.is_guess() { ", a guess" } else { "" };
            beside = format!(" [{}{guess}]", numbers.join(" "));
        }
        if is_same {
            return format!("{}: same as above{beside}", self.key);
        }
        let root = if self.is_squared { " (square root)" } else { "" };
        let many = if self.places.len() == 2 { "; two numbers, such as 0 40" } else { "" };
        format!("{}{root}: {about}{many}{beside}", self.key)
    }

    /// Refuses a standard deviation above half of the width of the bounds, which targets within them cannot have (Popoviciu 1935).
    fn check_standard_deviation(&self, width: Option<f64>, numbers: Vec<f64>) -> Result<Vec<f64>, String> {
        match (width, &numbers[..]) {
            (Some(width), [root]) if self.is_squared && *root > 0.5 * width => {
                Err(format!("enter at most {}, half of the width of the bounds", format_exact(0.5 * width)))
            }
            _ => Ok(numbers),
        }
    }

    /// Whether its default is no more than a guess, or the budget.
    fn needs_answer(&self) -> bool {
        self.is_guess() || self.key == "privacy.epsilon"
    }

    fn is_guess(&self) -> bool {
        matches!(self.source, AnswerSource::Proposed(proposal) if proposal.is_guess())
    }

    /// Warns about a guess that was taken, about a budget that protects next to nothing, and about a lengthscale far from the proposal.
    /// The user may keep them.
    fn answer_warning(&self, numbers: &[f64], proposed: Option<&[f64]>, is_default: bool) -> Option<String> {
        if self.is_guess() {
            let guess = range_text(numbers);
            return is_default.then(|| {
                format!(
                    "note: {guess} is a guess by this program, which read no value of the column; check it, because the error of the \
                     predictions depends on it"
                )
            });
        }
        let proposed = proposed.and_then(|numbers| numbers.first().copied());
        match (self.name(), numbers, proposed) {
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

    /// Converts answers to the numbers of the spec: squares of standard deviations.
    fn to_spec_numbers(&self, mut numbers: Vec<f64>) -> Vec<f64> {
        if self.is_squared {
            numbers.iter_mut().for_each(|number| *number = round_to_four_digits(*number * *number));
        }
        numbers
    }
}

impl SpecQuestion {
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
        let positive =
            ["epsilon", "delta", "noise_variance", "variance", "lengthscale", "lengthscales"].contains(&self.name());
        match numbers[..] {
            [low, high] if high <= low => Err(format!(
                "the second number must be above the first, but {} is not above {}",
                format_exact(high),
                format_exact(low)
            )),
            [value] if positive && value <= 0.0 => Err("enter a number above 0".to_owned()),
            [value] if self.name() == "delta" && value >= 1.0 => Err("enter a number below 1".to_owned()),
            _ => Ok(numbers),
        }
    }

    /// Returns the last part of the key.
    fn name(&self) -> &str {
        let key = self.key.split(',').next().unwrap_or(&self.key);
        key.rsplit('.').next().unwrap_or(key)
    }
}

/// The input of the user.
pub(super) struct UserInput<'a> {
    lines: BufReader<Box<dyn Read + 'a>>,
    /// Whether somebody sits there, who can answer again.
    is_terminal: bool,
}

impl<'a> UserInput<'a> {
    fn new(input: impl Read + 'a, is_terminal: bool) -> Self {
        Self { lines: BufReader::new(Box::new(input)), is_terminal }
    }

    /// Reads the next line, without surrounding blanks and whatever its end. `None` at the end of the input.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim().to_owned())
    }

    /// Asks a question without a default. On a terminal, repeats it until the answer is valid.
    fn ask_until_valid<T>(
        &mut self,
        key: &str,
        question: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, CliError> {
        print_stderr(&format!("{key}: {question}"));
        loop {
            let Some(line) = self.line() else { return Err(CliError::Unanswered(key.to_owned())) };
            if line == QUIT {
                return Err(CliError::Left(key.to_owned()));
            }
            if BACK.contains(&line.as_str()) {
                print_stderr(FIRST);
                continue;
            }
            match parse(&line) {
                Ok(answer) => return Ok(answer),
                Err(needed) if self.is_terminal => print_stderr(&format!("{needed} (or `{QUIT}`)")),
                Err(needed) => return Err(CliError::WrongAnswer { key: key.to_owned(), said: line, needed }),
            }
        }
    }

    /// Refuses answers after the last question: one extra line shifts all later answers. Checks only buffered input, and does not wait
    /// for more.
    fn ensure_input_ended(&self) -> Result<(), CliError> {
        let left = String::from_utf8_lossy(self.lines.buffer());
        let more = left.lines().find(|line| !line.trim().is_empty());
        match more.filter(|_| !self.is_terminal) {
            Some(line) => Err(CliError::MoreAnswers(line.trim().to_owned())),
            None => Ok(()),
        }
    }
}

/// The ratio to the proposal from which a lengthscale is unusual. A proposal is an eighth or a quarter of the range.
const LONG: f64 = 7.0;
/// The largest usual epsilon.
const USUAL_EPSILON: f64 = 10.0;
/// The line of the grid, with the epsilon of the release and no privacy.
const GRID: &str = "\"privacy.epsilon\" = [1.0, inf]";

/// Puts the answers into the template, and removes the words that ask for them.
fn fill_template(template: &str, questions: &[SpecQuestion], answers: &NewSpecAnswers) -> String {
    let mut parts = Vec::new();
    for (question, answer) in questions.iter().zip(answers) {
        parts.extend(question.places.iter().cloned().zip(answer.iter().flatten().copied()));
    }
    let mut text = template.to_owned();
    // From the end, so that earlier places do not move.
    for (place, number) in parts.into_iter().rev() {
        text.replace_range(place, &format!("{number:?}"));
    }
    // Cells take their epsilon from the grid, so the answer must go there too.
    let epsilon = questions.iter().zip(answers).find(|(question, _)| question.key == "privacy.epsilon");
    if let Some((_, Some(epsilon))) = epsilon {
        text = text.replace(GRID, &format!("\"privacy.epsilon\" = [{:?}, inf]", epsilon[0]));
    }
    text.replace("# fill in: ", "# ").replace("fill in every `nan` below, then ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"target = "kwh"
[normalise.bounds]
low = nan # l
high = nan # h
[model]
noise_variance = nan # square of n; perhaps ((high - low) / 8)^2
[privacy]
epsilon = 1.0
"#;

    /// The answers that somebody at a terminal ends with.
    fn at_terminal(lines: &str) -> Result<Vec<Option<Vec<f64>>>, CliError> {
        let questions = questions(TEMPLATE);
        let mut dialogue = Dialogue::new(&questions, UserInput::new(lines.as_bytes(), true));
        dialogue.ask_all(&asking_order(&questions))?;
        Ok(dialogue.answers)
    }

    #[test]
    fn a_wrong_answer_is_asked_again() {
        let expected = [Some(vec![0.0, 40.0]), Some(vec![9.0]), Some(vec![2.0])];
        for lines in [
            "0 40\n3\n2\n",
            "forty\n40 0\n0\n0 40\n21\n-1\n3\n\u{ff12}\n-2\n2\n",
            "0 40\r\n3\r\n2\r\n",
            // Back, by both words; what was typed before is the default.
            "back\n0 40\n3\n<\n<\n\n\n2\n",
            "0 4\n<\n0 40\nback\n\n3\n2\n",
        ] {
            assert_eq!(at_terminal(lines).unwrap(), expected, "{lines:?}");
        }
        assert!(matches!(at_terminal("0 40\nx\nquit\n"), Err(CliError::Left(_))));
        assert!(matches!(at_terminal("0 40\nx\n"), Err(CliError::Unanswered(_))));
    }

    /// Nothing is typed: a hundred, its eighth, whose square is kept, and one.
    #[test]
    fn every_question_has_a_default() {
        let [Some(bounds), Some(noise), Some(epsilon)] = &at_terminal("\n\n\n").unwrap()[..] else {
            panic!("three answers")
        };
        assert_eq!((&bounds[..], &epsilon[..]), (&[0.0, 100.0][..], &[1.0][..]));
        assert!((noise[0] / 12.5f64.powi(2) - 1.0).abs() < 1e-3, "{noise:?}");
    }

    /// What is wrong in a line without a question is asked for from the beginning.
    #[test]
    fn a_wrong_spec_is_no_dead_end() {
        let questions = questions(TEMPLATE);
        let order = asking_order(&questions);
        let mut dialogue = Dialogue::new(&questions, UserInput::new("0 40\n3\n2\n\n\n\n".as_bytes(), true));
        dialogue.ask_all(&order).unwrap();
        let before = dialogue.answers.clone();
        dialogue.reopen_questions(&order, 6);
        assert_eq!(dialogue.answers, [before[0].clone(), None, before[2].clone()]);
        dialogue.ask_all(&order).unwrap();
        dialogue.reopen_questions(&order, 1);
        assert_eq!(dialogue.answers, [None, None, None]);
        dialogue.ask_all(&order).unwrap_err();
    }

    #[test]
    fn answers_go_into_their_places() {
        let template = "[normalise.bounds]\nlow = nan # l\nhigh = nan # h\n[model]\nnoise_variance = nan # n\n[privacy]\nepsilon = 1.0\n";
        let questions = questions(template);
        let text = fill_template(template, &questions, &[Some(vec![3.0, 7.5]), Some(vec![2.25]), Some(vec![0.5])]);
        let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
        assert_eq!(lines[1..3], ["low = 3.0", "high = 7.5"]);
        assert_eq!((lines[4], lines[6]), ("noise_variance = 2.25", "epsilon = 0.5"));
    }
}
