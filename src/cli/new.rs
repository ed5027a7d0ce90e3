//! `dpgp new`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::arguments::Format;
use super::emit::shell;
use super::output::{print, print_json};

const EXAMPLES: &str = "\
The spec runs as it is, on a few rows that stand in it; comments say what to change.

Examples:
  dpgp new my-study && dpgp run my-study.toml";

/// The spec that users start from.
const TEMPLATE: &str = include_str!("new.toml");

/// `dpgp new`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NewArguments {
    /// The name of the experiment; its spec is NAME.toml
    #[arg(value_name = "NAME")]
    name: String,
}

/// Writes a spec to start from; never over a file that is there.
///
/// # Errors
/// [`CliError::Io`], also if the file is there.
pub fn new(arguments: &NewArguments, format: Format) -> Result<(), CliError> {
    let name = arguments.name.strip_suffix(".toml").unwrap_or(&arguments.name);
    if name.is_empty() || name.ends_with('/') {
        return Err(CliError::NoName { name: arguments.name.clone() });
    }
    let path = PathBuf::from(format!("{name}.toml"));
    let io = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => CliError::Exists { path: path.clone() },
        _ => CliError::Io { path: path.clone(), cause },
    };
    let mut file = std::fs::File::create_new(&path).map_err(io)?;
    std::io::Write::write_all(&mut file, TEMPLATE.as_bytes()).map_err(io)?;
    if format == Format::Json {
        return print_json(&json!({ "written": path }));
    }
    print(&format!("{} is written; try: dpgp run {}\n", path.display(), shell(&path.to_string_lossy())))
}
