//! Parsing of arguments and environment variables; an empty variable counts as unset.
//!
//! Also hints for options that a verb does not have, and how the program was started.

use std::ffi::OsString;
use std::io;
use std::process;
use std::sync::OnceLock;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches};
use clap_complete::CompleteEnv;

use super::options::ASKED;
use super::{Arguments, Verb};

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// How the program was started: as a process of its own, or within another program such as Python.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The arguments. The first is the name of the program.
    pub arguments: Vec<OsString>,
    /// The command that starts this program again: a program and its arguments. If none is given, the executable of this process is used.
    pub again: Option<(OsString, Vec<OsString>)>,
}

impl Invocation {
    /// Runs with the arguments of this process.
    pub fn from_process_arguments() -> Self {
        Self { arguments: std::env::args_os().collect(), again: None }
    }

    /// Remembers it for the rest of the process.
    pub(super) fn remember(self) -> &'static Self {
        INVOCATION.get_or_init(|| self)
    }

    /// Answers a shell that asks for completions. Returns whether it did.
    pub(super) fn answer_completions(&self) -> bool {
        if std::env::var_os(ASKED).is_none_or(|shell| shell.is_empty()) {
            return false;
        }
        let (complete, here) = (CompleteEnv::with_factory(Arguments::command).var(ASKED), std::env::current_dir().ok());
        complete.try_complete(self.arguments.clone(), here.as_deref()).unwrap_or_else(|error| error.exit())
    }

    /// Parses the arguments. Ends the process with the parser's message if they are wrong.
    pub(super) fn parse_arguments(&self) -> Arguments {
        let command = group_help_verbs(join_help_paragraphs(ignore_empty_variables(Arguments::command())));
        let matches = command.try_get_matches_from(&self.arguments);
        let matches = matches.unwrap_or_else(|error| add_option_hint(error).exit());
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Makes a command that starts this program again.
pub(super) fn this_program() -> io::Result<process::Command> {
    match INVOCATION.get().and_then(|invocation| invocation.again.as_ref()) {
        Some((program, arguments)) => {
            let mut command = process::Command::new(program);
            command.args(arguments);
            Ok(command)
        }
        None => std::env::current_exe().map(process::Command::new),
    }
}

/// Lists the verbs of the top-level help in groups, those of the last visible group by name alone.
fn group_help_verbs(command: Command) -> Command {
    let mut groups = Verb::GROUPS.iter().filter(|(heading, _)| !heading.is_empty()).collect::<Vec<_>>();
    let more = groups.pop();
    let about = |name: &str| {
        let verb = command.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<9} {}\n", verb.map(ToString::to_string).unwrap_or_default())
    };
    let names = |names: &[&str]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
    let mut list = String::new();
    for (heading, verbs) in groups {
        let lines: String = names(verbs).iter().map(|name| about(name)).collect();
        list.push_str(&format!("{heading}:\n{lines}\n"));
    }
    if let Some((heading, verbs)) = more {
        let lines: Vec<String> = names(verbs).chunks(8).map(|names| format!("  {}", names.join(", "))).collect();
        let names = lines.join(",\n");
        list.push_str(&format!("{heading} (`dpgp COMMAND --help` explains each command):\n{names}\n"));
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}{{after-help}}"
    ))
}

/// Joins the lines of paragraphs below the options of every verb, so that the parser can wrap them for the terminal.
fn join_help_paragraphs(command: Command) -> Command {
    // Keep ANSI codes: there are none, and removing them would take most of the start-up time.
    let below = command.get_after_help().map(|text| join_paragraph_lines(&text.ansi().to_string()));
    let command = if let Some(below) = below { command.after_help(below) } else { command };
    command.mut_subcommands(join_help_paragraphs)
}

/// Joins the lines of each paragraph. Indented lines stay as they are, and a line that ends in a colon ends its paragraph.
fn join_paragraph_lines(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let goes_on = !line.is_empty() && !line.starts_with(' ') && !joined.is_empty();
        // Search from the end, because every start of the program goes through the texts of all verbs.
        let ended = joined.strip_suffix('\n').unwrap_or(&joined);
        let last = ended.rsplit_once('\n').map_or(ended, |(_, last)| last);
        let open = !joined.ends_with("\n\n") && !last.is_empty() && !last.starts_with(' ') && !last.ends_with(':');
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

fn ignore_empty_variables(command: Command) -> Command {
    command.mut_args(ignore_empty_variable).mut_subcommands(ignore_empty_variables)
}

fn ignore_empty_variable(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(std::env::var_os);
    if value.is_some_and(|value| value.is_empty()) { argument.env(Resettable::Reset) } else { argument }
}

/// An option that people expect of a verb.
struct MissingOptionHint {
    verb: &'static str,
    option: &'static str,
    /// The way to do the same.
    elsewhere: &'static str,
}

const fn missing_option_hint(verb: &'static str, option: &'static str, elsewhere: &'static str) -> MissingOptionHint {
    MissingOptionHint { verb, option, elsewhere }
}

const EXPECTED: &[MissingOptionHint] = &[
    missing_option_hint(
        "predict",
        "--epsilon",
        "use `--set privacy.epsilon=1`, or `--cell epsilon=1` to choose one of several in the spec",
    ),
    missing_option_hint(
        "new",
        "--out",
        "give the name of the spec as the first argument: `dpgp new NAME --data FILE` writes NAME.toml",
    ),
    missing_option_hint("new", "--epsilon", "use `--ask`, or set privacy.epsilon in the spec"),
    missing_option_hint("run", "--cell", "`run` computes all cells; `--set epsilon=1` limits the run to one epsilon"),
    missing_option_hint(
        "run",
        "--epsilon",
        "use `--set epsilon=1` or, without an epsilon axis, `--set privacy.epsilon=1`",
    ),
];

/// Returns whether a word is one of the arguments. Arguments need not be valid text.
fn was_passed_as_argument(word: &str) -> bool {
    let said = INVOCATION.get().map_or_else(Vec::new, |invocation| invocation.arguments.clone());
    said.iter().skip(1).any(|argument| argument == word)
}

/// Adds a hint to a parser error for an expected option, and removes the tip to pass an option as a value, which nobody means.
pub(super) fn add_option_hint(mut error: Error) -> Error {
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => unknown.clone(),
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    if let Some(found) = EXPECTED.iter().find(|one| one.option == unknown && was_passed_as_argument(one.verb)) {
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
        assert_eq!(join_paragraph_lines(text), "One two.\n\nThree four:\n  a   b\n  c\nExamples:\n  d");
    }
}
