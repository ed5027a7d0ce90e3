//! The `dpgp` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dpgp::cli::main()
}
