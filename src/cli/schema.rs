//! `dpgp schema`.

use clap::{Args, ValueEnum};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{Schema, schema_for};
use serde_json::{Map, Value, json};

use super::options::OutputFormat;
use super::output::{print, print_json};
use super::{CliError, Verb};
use dpgp_report::schema_markdown;
use dpgp_task::{ProgramRequest, ProgramResponse};

const EXAMPLES: &str = "\
Examples:
  dpgp schema spec > spec.schema.json       for TOML editors and validators
  dpgp schema spec --markdown > docs/spec.md          a reference page
  dpgp schema datasets
  dpgp schema command                       what a program of task.command reads and writes
  dpgp schema outputs | jq '.properties.run'          the output of `dpgp run --format json`";

/// Arguments of `dpgp schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArguments {
    /// The format to describe
    #[arg(value_enum)]
    of: SchemaSubject,
    /// Print a reference in Markdown: each key path with its type, range, default and meaning
    #[arg(long)]
    markdown: bool,
}

/// Formats with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaSubject {
    /// The spec of an experiment
    Spec,
    /// data/datasets.toml
    Datasets,
    /// What a program of task.command reads and writes
    Command,
    /// JSON output: one property for each subcommand, and one for certificates
    Outputs,
}

/// What a program reads from standard input, and what it writes as the last line of standard output.
fn program_protocol_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "task.command",
        "$defs": { "input": schema_for!(ProgramRequest<'_>), "output": schema_for!(ProgramResponse) },
    })
}

/// Prints a JSON Schema, which is JSON in either output format, or the reference made from it.
pub fn schema(arguments: &SchemaArguments, format: OutputFormat) -> Result<(), CliError> {
    let schema = match arguments.of {
        SchemaSubject::Spec => dpgp_spec::schema::<dpgp_task::TaskSetting>(),
        SchemaSubject::Datasets => dpgp_data::manifest_schema(),
        SchemaSubject::Command => program_protocol_schema(),
        SchemaSubject::Outputs => output_schema(),
    };
    match (arguments.markdown, format) {
        (false, _) => print_json(&schema),
        (true, OutputFormat::Text) => print(&schema_markdown(&schema)),
        (true, OutputFormat::Json) => print_json(&schema_markdown(&schema).into()),
    }
}

/// An output of a verb: its name, and the schemas of its possible types.
pub(super) type VerbOutputSchemas = (&'static str, fn(&mut SchemaGenerator) -> Vec<Schema>);

/// Makes the schema of an object with a property for each verb, which describes its output with `--format json`, and one for the
/// certificate of `predict --out`. Later versions may add keys to a value, but remove none.
fn output_schema() -> Value {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut outputs = Verb::json_outputs();
    // By verb, the outputs of each in the order of its entry.
    outputs.sort_by_key(|(name, _)| name.split([' ', ':']).next());
    let properties: Map<String, Value> =
        outputs.into_iter().map(|(name, schemas)| (name.to_owned(), any_of_schemas(schemas(&mut all)))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Output of dpgp with --format json, by subcommand",
        "type": "object",
        "properties": properties,
        "$defs": all.take_definitions(true),
    })
}

fn any_of_schemas(mut types: Vec<Schema>) -> Value {
    if types.len() == 1 { types.remove(0).to_value() } else { json!({ "anyOf": types }) }
}
