//! `dpgp man`.

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;

use super::options::OutputFormat;
use super::output::{ManOutput, print, print_json};
use super::{Arguments, CliError};

const EXAMPLES: &str = "\
Examples:
  dpgp man > ~/.local/share/man/man1/dpgp.1
  dpgp man predict | man -l -";

/// Arguments of `dpgp man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArguments {
    /// The subcommand whose page to print [default: the page of dpgp itself]
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

/// Prints a manual page.
pub fn man(arguments: &ManArguments, format: OutputFormat) -> Result<(), CliError> {
    let mut command = Arguments::command();
    command.build();
    let page = match &arguments.verb {
        None => render_manual_page(command),
        Some(verb) => render_manual_page(find_verb_command(&command, verb)?),
    };
    if format == OutputFormat::Json { print_json(&json!(ManOutput { page })) } else { print(&page) }
}

fn find_verb_command(command: &Command, verb: &str) -> Result<Command, CliError> {
    command.find_subcommand(verb).cloned().ok_or_else(|| CliError::NoVerb(verb.to_owned()))
}

/// Renders a page. The page of a verb has a name such as `dpgp-run`.
fn render_manual_page(command: Command) -> String {
    let title = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(command).title(title).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}
