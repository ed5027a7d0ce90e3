//! Variables of the environment: one that is empty counts as unset.

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory, FromArgMatches};

use super::arguments::Arguments;

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
