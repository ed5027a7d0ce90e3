//! Variables of the environment: one that is empty counts as unset.

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;

use super::arguments::Arguments;
use super::completed::ASKED;

/// Answers a shell that asks what could follow, and ends the process then.
pub fn answer() {
    if std::env::var_os(ASKED).is_some_and(|shell| !shell.is_empty()) {
        CompleteEnv::with_factory(Arguments::command).var(ASKED).complete();
    }
}

/// The arguments of this process; a wrong one ends it with the message of the parser.
pub fn arguments() -> Arguments {
    let command = without_empty(Arguments::command());
    Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

fn without_empty(command: Command) -> Command {
    command.mut_args(unless_empty).mut_subcommands(without_empty)
}

fn unless_empty(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(std::env::var_os);
    if value.is_some_and(|value| value.is_empty()) { argument.env(Resettable::Reset) } else { argument }
}
