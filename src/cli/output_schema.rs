//! The JSON Schema of what verbs print.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::output_types::{
    CertificateFile, CheckedExperiment, GradedExperiment, ListedDataset, ListedExperiment, NewSpec,
    PlannedExperiment, PrintedTables, ReleasedHere, ReleasedToFile, RunExperiment, RunShard, ShownExperiment,
};
use crate::publish::{BibliographyEntry, Ranking};

/// The schema of an object with a property for each verb, whose schema is that of what the verb prints with `--format json`, and
/// one for the certificate that `predict --out` writes. A value may get more keys in later versions; none is taken away.
pub(super) fn output_schema() -> Value {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let properties = json!({
        "best": all.subschema_for::<Vec<Ranking>>(),
        "check": all.subschema_for::<Vec<CheckedExperiment>>(),
        "cite": all.subschema_for::<Vec<BibliographyEntry>>(),
        "data list": all.subschema_for::<Vec<ListedDataset>>(),
        "grade": all.subschema_for::<GradedExperiment>(),
        "list": all.subschema_for::<Vec<ListedExperiment>>(),
        "new": all.subschema_for::<NewSpec>(),
        "plan": all.subschema_for::<Vec<PlannedExperiment>>(),
        "predict": { "anyOf": [all.subschema_for::<ReleasedHere>(), all.subschema_for::<ReleasedToFile>()] },
        "predict: FILE.certificate.json": all.subschema_for::<CertificateFile>(),
        "run": { "anyOf": [all.subschema_for::<RunExperiment>(), all.subschema_for::<Vec<RunExperiment>>()] },
        "run --shard": { "anyOf": [all.subschema_for::<RunShard>(), all.subschema_for::<Vec<RunShard>>()] },
        "show": all.subschema_for::<ShownExperiment>(),
        "table": all.subschema_for::<PrintedTables>(),
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What dpgp prints with --format json, by verb",
        "type": "object",
        "properties": properties,
        "$defs": all.take_definitions(true),
    })
}
