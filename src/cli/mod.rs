//! The command line: one file per verb. Each parses, calls the rooms below and prints.

mod arguments;
mod check;
mod data;
mod error;
mod list;
mod output;
mod run;
mod workspace;

pub use arguments::Arguments;

use std::process::ExitCode;

use arguments::Verb;
use clap::Parser;
use error::CliError;

/// Parses the arguments, runs the verb and maps its outcome to an exit code.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match std::panic::catch_unwind(|| dispatch(&arguments)) {
        Ok(outcome) => report(outcome),
        Err(_) => {
            eprintln!(
                "error: this is a bug in dpgp; please report it with the command and the message above"
            );
            ExitCode::from(BUG)
        }
    }
}

/// The exit code of a bug.
const BUG: u8 = 70;

fn dispatch(arguments: &Arguments) -> Result<(), CliError> {
    match &arguments.verb {
        Verb::List(list) => list::list(list),
        Verb::Run(run) => run::run(run),
        Verb::Check(check) => check::check(check),
        Verb::Data(data) => data::data(data),
    }
}

fn report(outcome: Result<(), CliError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
