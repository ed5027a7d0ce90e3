//! `dpgp schema`.

use clap::{Args, ValueEnum};

use super::CliError;
use super::arguments::Format;
use super::output::print_json;
use crate::{data, spec};

const EXAMPLES: &str = "\
Examples:
  dpgp schema spec > spec.schema.json       for editors and validators of TOML
  dpgp schema datasets";

/// `dpgp schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArguments {
    /// Of what
    #[arg(value_enum)]
    of: Language,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// The spec of an experiment
    Spec,
    /// data/datasets.toml
    Datasets,
}

/// Prints a JSON Schema; it is JSON in either format.
///
/// # Errors
/// The I/O error of standard output.
pub fn schema(arguments: &SchemaArguments, _: Format) -> Result<(), CliError> {
    print_json(&match arguments.of {
        Language::Spec => spec::schema(),
        Language::Datasets => data::schema(),
    })
}
