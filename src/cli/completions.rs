//! `dpgp completions`.

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;
use serde_json::json;

use super::CliError;
use super::options::{ASKED, OutputFormat};
use super::output::{CompletionsOutput, print, print_json};

const EXAMPLES: &str = "\
Examples:
  dpgp completions bash > ~/.local/share/bash-completion/completions/dpgp
  dpgp completions zsh > ~/.zfunc/_dpgp
  dpgp completions fish > ~/.config/fish/completions/dpgp.fish";

/// Arguments of `dpgp completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a script with which the shell asks the program for completions: subcommands, options, experiments and datasets.
pub fn completions(arguments: &CompletionsArguments, format: OutputFormat) -> Result<(), CliError> {
    let mut script = Vec::new();
    let shell = arguments.shell.to_string();
    if let Some(completer) = Shells::builtins().completer(&shell) {
        // Writing to memory cannot fail.
        let _ = completer.write_registration(ASKED, "dpgp", "dpgp", "dpgp", &mut script);
    }
    let script = String::from_utf8_lossy(&script);
    if format == OutputFormat::Json {
        print_json(&json!(CompletionsOutput { script: script.into_owned() }))
    } else {
        print(&script)
    }
}
