//! The JSON Schema of what verbs print.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::audit_types::{AttackedRelease, AttackedSamples, AuditedExperiment};
use super::output_types::{
    CheckedExperiment, CollectedExperiment, ComparedRow, CompletionScript, EmittedText, ExplainedExperiment,
    FetchedDataset, GeneratedRows, GradedExperiment, ListedDataset, ListedExperiment, ManualPage, NewSpec,
    PlannedExperiment, PrintedTables, RunExperiment, RunShard, ShownExperiment, VerifiedFile, WrittenReport,
};
use super::release_types::{
    CertificateFile, DrawnFile, LedgerOutput, LookedForOutput, PreviewOutput, PriceOutput, ReleasedHere,
    ReleasedToFile, SummedRows, VerifiedCertificate,
};
use dpgp_report::{BibliographyEntry, Ranking};

/// The schema of an object with a property for each verb, whose schema is that of what the verb prints with `--format json`, and
/// one for the certificate that `predict --out` writes. A value may get more keys in later versions; none is
/// taken away.
pub(super) fn output_schema() -> Value {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let properties = json!({
        "audit": all.subschema_for::<Vec<AuditedExperiment>>(),
        "audit --end-to-end": all.subschema_for::<AttackedRelease>(),
        "audit --samples": all.subschema_for::<AttackedSamples>(),
        "best": all.subschema_for::<Vec<Ranking>>(),
        "check": all.subschema_for::<Vec<CheckedExperiment>>(),
        "cite": all.subschema_for::<Vec<BibliographyEntry>>(),
        "collect": all.subschema_for::<Vec<CollectedExperiment>>(),
        "completions": all.subschema_for::<CompletionScript>(),
        "data fetch": all.subschema_for::<Vec<FetchedDataset>>(),
        "data list": all.subschema_for::<Vec<ListedDataset>>(),
        "data verify": all.subschema_for::<Vec<VerifiedFile>>(),
        "diff": all.subschema_for::<Vec<ComparedRow>>(),
        "emit": all.subschema_for::<EmittedText>(),
        "explain": all.subschema_for::<Vec<ExplainedExperiment>>(),
        "generate": all.subschema_for::<GeneratedRows>(),
        "grade": all.subschema_for::<GradedExperiment>(),
        "ledger show": all.subschema_for::<Vec<LedgerOutput>>(),
        "ledger verify": {
            "type": "array",
            "items": { "anyOf": [all.subschema_for::<LedgerOutput>(), all.subschema_for::<LookedForOutput>()] },
        },
        "list": all.subschema_for::<Vec<ListedExperiment>>(),
        "man": all.subschema_for::<ManualPage>(),
        "map": all.subschema_for::<DrawnFile>(),
        "new": all.subschema_for::<NewSpec>(),
        "plan": all.subschema_for::<Vec<PlannedExperiment>>(),
        "predict": { "anyOf": [all.subschema_for::<ReleasedHere>(), all.subschema_for::<ReleasedToFile>()] },
        "predict: FILE.certificate.json": all.subschema_for::<CertificateFile>(),
        "predict --preview": all.subschema_for::<PreviewOutput>(),
        "price": all.subschema_for::<PriceOutput>(),
        "report": all.subschema_for::<WrittenReport>(),
        "run": { "anyOf": [all.subschema_for::<RunExperiment>(), all.subschema_for::<Vec<RunExperiment>>()] },
        "run --shard": { "anyOf": [all.subschema_for::<RunShard>(), all.subschema_for::<Vec<RunShard>>()] },
        "show": all.subschema_for::<ShownExperiment>(),
        "stats": all.subschema_for::<SummedRows>(),
        "table": all.subschema_for::<PrintedTables>(),
        "verify": all.subschema_for::<VerifiedCertificate>(),
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What dpgp prints with --format json, by verb",
        "type": "object",
        "properties": properties,
        "$defs": all.take_definitions(true),
    })
}
