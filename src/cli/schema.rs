//! `dpgp schema`.

use clap::{Args, ValueEnum};

use super::CliError;
use super::options::Format;
use super::output::{print, print_json};
use crate::publish::reference;
use crate::{data, spec};

const EXAMPLES: &str = "\
Examples:
  dpgp schema spec > spec.schema.json       for editors and validators of TOML
  dpgp schema spec --markdown > docs/spec.md          the same for people
  dpgp schema datasets";

/// `dpgp schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArguments {
    /// Of what
    #[arg(value_enum)]
    of: Language,
    /// Print the reference for people: each key path with its type, range, default and meaning
    #[arg(long)]
    markdown: bool,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// The spec of an experiment
    Spec,
    /// data/datasets.toml
    Datasets,
}

/// Prints a JSON Schema, which is JSON in either format, or the reference made of it.
pub fn schema(arguments: &SchemaArguments, format: Format) -> Result<(), CliError> {
    let schema = match arguments.of {
        Language::Spec => spec::schema::<crate::task::TaskSetting>(),
        Language::Datasets => data::schema(),
    };
    match (arguments.markdown, format) {
        (false, _) => print_json(&schema),
        (true, Format::Text) => print(&reference(&schema)),
        (true, Format::Json) => print_json(&reference(&schema).into()),
    }
}
