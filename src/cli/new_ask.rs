//! `dpgp new --ask`: questions for the numbers that only the user knows.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use super::CliError;
use super::output::print_stderr;
use dpgp_data::{ColumnDescription, DatasetManifest};
use dpgp_release::draft::{PersonColumnAndLimit, SpecDraft, ensure_column_exists, range_text};
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
pub(super) fn ask_person_column_and_limit(
    said: &mut UserInput<'_>,
    columns: &[ColumnDescription],
) -> Result<Option<PersonColumnAndLimit>, CliError> {
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
        "the maximum number of rows used per person; further rows are left out, and the noise grows with this number";
    let most_rows = said.ask_until_valid("data.rows_per_person", question, |line| {
        line.parse().ok().filter(|most| *most > 0).ok_or_else(|| "enter an integer above 0".to_owned())
    })?;
    Ok(Some(PersonColumnAndLimit { column, most_rows, rows: None }))
}

/// Asks about how many rows there are: where a person may have several, their number is private.
pub(super) fn ask_row_count(said: &mut UserInput<'_>) -> Result<u64, CliError> {
    let question = "an estimate, from public knowledge, of the number of rows used under the limit per person; the exact number is private";
    said.ask_until_valid("privacy.mechanism.moments.rows", question, |line| {
        line.parse().ok().filter(|rows| *rows > 0).ok_or_else(|| "enter an integer above 0".to_owned())
    })
}

/// Asks all questions of a draft, and returns a valid spec. Fails if the input ends, the user quits, or an answer from a pipe is wrong.
pub(super) fn ask_questions(draft: SpecDraft, path: &Path, said: UserInput<'_>) -> Result<String, CliError> {
    let is_terminal = said.is_terminal;
    let mut dialogue = Dialogue::new(draft, said);
    loop {
        dialogue.ask_all()?;
        dialogue.draft.derive_answers();
        dialogue.said.ensure_input_ended()?;
        let text = dialogue.draft.text();
        let (name, manifest) = (path.to_string_lossy(), DatasetManifest::load_shipped()?);
        let Err(wrong) = Experiment::parse(&name, path, text.clone(), &manifest) else {
            for (key, numbers) in dialogue.draft.derived_answers() {
                print_stderr(&format!("{key}: {}, computed from your answers", range_text(numbers)));
            }
            return Ok(text);
        };
        if !is_terminal {
            return Err(RunError::from(Box::new(wrong)).into());
        }
        print_stderr(&wrong.to_string());
        dialogue.draft.forget_answers_in_line(wrong.line);
    }
}

/// The answers that repeat the previous question.
const BACK: [&str; 2] = ["<", "back"];
/// The reply to those who go back from the first question.
const FIRST: &str = "there is no question to return to";
/// The answer that ends the questions.
const QUIT: &str = "quit";

/// A draft, and the user who completes it.
struct Dialogue<'a> {
    draft: SpecDraft,
    /// What the user typed for each question, in its units. It is the default of a question that is asked again.
    typed: BTreeMap<usize, Vec<f64>>,
    said: UserInput<'a>,
    /// The subject of the last question.
    last: String,
}

impl<'a> Dialogue<'a> {
    fn new(draft: SpecDraft, said: UserInput<'a>) -> Self {
        Self { draft, typed: BTreeMap::new(), said, last: String::new() }
    }

    /// Asks the open questions, and repeats those that the user goes back to.
    fn ask_all(&mut self) -> Result<(), CliError> {
        let order = self.draft.asking_order();
        let mut next = 0;
        while let Some(&place) = order.get(next) {
            if self.draft.answer(place).is_some() {
                next += 1;
                continue;
            }
            if let Some(numbers) = self.ask_question(place)? {
                self.draft.set_answer(place, numbers);
                continue;
            }
            // Ask it in full.
            self.last.clear();
            match next.checked_sub(1) {
                Some(before) => {
                    next = before;
                    self.draft.forget_answer(order[next]);
                }
                None => print_stderr(FIRST),
            }
        }
        Ok(())
    }

    /// Asks one question. On a terminal, repeats it until the answer is valid. `None` if the user goes back.
    fn ask_question(&mut self, place: usize) -> Result<Option<Vec<f64>>, CliError> {
        let question = self.draft.question(place);
        let proposed = self.draft.proposed_answer(place);
        // Nobody at a pipe sees the default and its note: a bound or an epsilon that was forgotten must not become a number.
        let needs_answer = !self.said.is_terminal && question.needs_answer();
        let default = self.typed.get(&place).cloned().or_else(|| proposed.clone().filter(|_| !needs_answer));
        let is_same = question.about == self.last;
        self.last.clone_from(&question.about);
        print_stderr(&question.prompt_text(default.as_deref(), is_same));
        loop {
            let Some(line) = self.said.read_line() else {
                return Err(CliError::Unanswered(question.key.clone()));
            };
            if BACK.contains(&line.as_str()) {
                return Ok(None);
            }
            if line == QUIT {
                return Err(CliError::Left(question.key.clone()));
            }
            let read = match (line.is_empty(), &default) {
                (true, Some(default)) => self.draft.check_answer_against_bounds(place, default.clone()),
                _ => self.draft.parse_answer(place, &line),
            };
            let needed = match read {
                Ok(numbers) => {
                    let warning = question.answer_warning(&numbers, proposed.as_deref(), line.is_empty());
                    warning.iter().for_each(|note| print_stderr(note));
                    if !line.is_empty() {
                        self.typed.insert(place, numbers.clone());
                    }
                    return Ok(Some(numbers));
                }
                Err(needed) => needed,
            };
            if !self.said.is_terminal {
                let needed = match line.is_empty() {
                    true => format!("{needed}, because this question has a default only on a terminal"),
                    false => needed,
                };
                return Err(CliError::WrongAnswer { key: question.key.clone(), said: line, needed });
            }
            print_stderr(&format!("{needed} (or `{}`, `{QUIT}`)", BACK[0]));
        }
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
    fn read_line(&mut self) -> Option<String> {
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
            let Some(line) = self.read_line() else { return Err(CliError::Unanswered(key.to_owned())) };
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"target = "kwh"
[normalise.bounds]
low = nan # l
high = nan # h
[model]
noise_variance = nan # square of n; for example ((high - low) / 8)^2
[privacy]
epsilon = 1.0
"#;

    fn answers(draft: &SpecDraft) -> Vec<Option<Vec<f64>>> {
        (0..3).map(|place| draft.answer(place).map(<[f64]>::to_vec)).collect()
    }

    /// The answers that somebody at a terminal ends with.
    fn at_terminal(lines: &str) -> Result<Vec<Option<Vec<f64>>>, CliError> {
        let mut dialogue = Dialogue::new(SpecDraft::new(TEMPLATE), UserInput::new(lines.as_bytes(), true));
        dialogue.ask_all()?;
        Ok(answers(&dialogue.draft))
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
        let input = UserInput::new("0 40\n3\n2\n\n\n\n".as_bytes(), true);
        let mut dialogue = Dialogue::new(SpecDraft::new(TEMPLATE), input);
        dialogue.ask_all().unwrap();
        let before = answers(&dialogue.draft);
        dialogue.draft.forget_answers_in_line(6);
        assert_eq!(answers(&dialogue.draft), [before[0].clone(), None, before[2].clone()]);
        dialogue.ask_all().unwrap();
        dialogue.draft.forget_answers_in_line(1);
        assert_eq!(answers(&dialogue.draft), [None, None, None]);
        dialogue.ask_all().unwrap_err();
    }
}
