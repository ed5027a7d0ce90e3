//! `dpgp completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use super::CliError;
use super::arguments::Arguments;
use super::options::Format;
use super::output::{print, print_json};

const EXAMPLES: &str = "\
Examples:
  dpgp completions bash > ~/.local/share/bash-completion/completions/dpgp
  dpgp completions zsh > ~/.zfunc/_dpgp
  dpgp completions fish > ~/.config/fish/completions/dpgp.fish";

/// `dpgp completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script.
pub fn completions(arguments: &CompletionsArguments, format: Format) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "dpgp", &mut script);
    let script = String::from_utf8_lossy(&script);
    if format == Format::Json { print_json(&json!({ "script": script })) } else { print(&script) }
}
