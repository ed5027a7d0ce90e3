//! Variables of the environment: one that is empty counts as unset.
//!
//! What stands in the place of an option that a verb does not have.

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};
use clap_complete::CompleteEnv;

use super::arguments::Arguments;
use super::options::ASKED;

/// Answers a shell that asks what could follow, and ends the process then.
pub fn answer() {
    if std::env::var_os(ASKED).is_some_and(|shell| !shell.is_empty()) {
        CompleteEnv::with_factory(Arguments::command).var(ASKED).complete();
    }
}

/// The arguments of this process; a wrong one ends it with the message of the parser.
pub fn arguments() -> Arguments {
    let command = with_paragraphs(without_empty(Arguments::command()));
    let matches = command.try_get_matches().unwrap_or_else(|error| explained(error).exit());
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The sentences below the options of every verb as paragraphs, whose lines the parser breaks for the terminal that there is.
fn with_paragraphs(command: Command) -> Command {
    // As it was written: to take styles out, of which there are none, would be most of a start of the program.
    let below = command.get_after_help().map(|text| paragraphs(&text.ansi().to_string()));
    let command = if let Some(below) = below { command.after_help(below) } else { command };
    command.mut_subcommands(with_paragraphs)
}

/// A text without its line breaks within paragraphs; lines that are indented stay as they are, and so does what ends in a colon.
fn paragraphs(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let goes_on = !line.is_empty() && !line.starts_with(' ') && !joined.is_empty();
        // From the end: every start of the program goes through the texts of all verbs.
        let ended = joined.strip_suffix('\n').unwrap_or(&joined);
        let last = ended.rsplit_once('\n').map_or(ended, |(_, last)| last);
        let open =
            !joined.ends_with("\n\n") && !last.is_empty() && !last.starts_with(' ') && !last.ends_with(':');
        if goes_on && open {
            joined.truncate(joined.trim_end().len());
            joined.push(' ');
        }
        joined.push_str(line);
        joined.push('\n');
    }
    joined.truncate(joined.trim_end().len());
    joined
}

fn without_empty(command: Command) -> Command {
    command.mut_args(unless_empty).mut_subcommands(without_empty)
}

fn unless_empty(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(std::env::var_os);
    if value.is_some_and(|value| value.is_empty()) { argument.env(Resettable::Reset) } else { argument }
}

/// An option that people expect of a verb.
struct ExpectedVariable {
    verb: &'static str,
    option: &'static str,
    /// Where it is.
    elsewhere: &'static str,
}

const fn expected(verb: &'static str, option: &'static str, elsewhere: &'static str) -> ExpectedVariable {
    ExpectedVariable { verb, option, elsewhere }
}

const EXPECTED: &[ExpectedVariable] = &[
    expected(
        "predict",
        "--set",
        "a release has the settings of its spec, which its certificate is about: change them there",
    ),
    expected(
        "predict",
        "--epsilon",
        "a release has the epsilon of its spec; of several, `--cell epsilon=1` chooses one",
    ),
    expected(
        "new",
        "--out",
        "the name of the spec comes first: `dpgp new NAME --data FILE` writes NAME.toml",
    ),
    expected("new", "--epsilon", "`--ask` asks for it, and the spec holds it"),
    expected("run", "--cell", "`run` computes all cells; `--set epsilon=1` keeps those of one epsilon"),
    expected("run", "--epsilon", "`--set epsilon=1` keeps the cells of one epsilon, or sets it"),
    expected("run", "--dry-run", "`dpgp plan` says what would be computed"),
];

/// Whether a word is one of the arguments, which need be no text.
fn is_said(word: &str) -> bool {
    std::env::args_os().skip(1).any(|argument| argument == word)
}

/// The error of the parser with what was meant, and without its tip to pass an option as a value, which nobody means.
pub(super) fn explained(mut error: Error) -> Error {
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => unknown.clone(),
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    if let Some(found) = EXPECTED.iter().find(|one| one.option == unknown && is_said(one.verb)) {
        error.remove(ContextKind::SuggestedArg);
        let elsewhere = vec![found.elsewhere.to_owned().into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(elsewhere));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        let text = "One\ntwo.\n\nThree\nfour:\n  a   b\n  c\nExamples:\n  d";
        assert_eq!(paragraphs(text), "One two.\n\nThree four:\n  a   b\n  c\nExamples:\n  d");
    }
}
