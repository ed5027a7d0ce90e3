//! `dpgp explain`.

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, ExperimentSelection, OutputFormat, StoreArguments};
use super::output::{ExperimentExplainOutput, print, print_json};
use dpgp_run::{ExperimentRunner, RecomputeReason, RunPlan, StaleResults};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Compares each result that is not stored with the latest stored result of the same experiment, labels and replicate.

Examples:
  dpgp explain smith2021/table1
  dpgp explain my.toml --format json";

/// Arguments of `dpgp explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArguments {
    #[command(flatten)]
    selection: ExperimentSelection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// The most cells listed under one reason.
const MOST_PLACES: usize = 8;

/// Prints why a run would compute each result.
pub fn explain(arguments: &ExplainArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiments = arguments.selection.experiments(&project)?;
    print_recompute_reasons(&experiments, &arguments.store.study(&project)?, arguments.seed, format)
}

/// Prints, for each result that a run would compute, what changed since it was last computed.
pub(super) fn print_recompute_reasons(
    experiments: &[Experiment],
    study: &ExperimentRunner<'_>,
    seed: Option<u32>,
    format: OutputFormat,
) -> Result<(), CliError> {
    let mut all = Vec::new();
    for experiment in experiments {
        let plan = study.plan(experiment, seed)?;
        let stale = study.explain_missing_results(&plan)?;
        if format == OutputFormat::Text {
            print(&text(&experiment.relative_results_folder(), &plan, &stale))?;
        }
        all.push(ExperimentExplainOutput { experiment: experiment.relative_results_folder(), stale });
    }
    if format == OutputFormat::Json { print_json(&json!(all)) } else { Ok(()) }
}

fn text(name: &str, plan: &RunPlan<'_>, stale: &[StaleResults]) -> String {
    if stale.is_empty() {
        return format!("{name}: everything is stored ({} results)\n", plan.replicate_count());
    }
    let mut text = format!("{name}: {} of {} results are stored\n", plan.stored_count(), plan.replicate_count());
    for StaleResults { reasons, places } in stale {
        let reasons: Vec<String> = reasons.iter().map(recompute_reason_sentence).collect();
        text.push_str(&format!("  {} to compute: {}\n", places.len(), reasons.join("; ")));
        for place in places.iter().take(MOST_PLACES) {
            text.push_str(&format!("    {place}\n"));
        }
        if places.len() > MOST_PLACES {
            text.push_str(&format!("    ... and {} more\n", places.len() - MOST_PLACES));
        }
    }
    text
}

fn recompute_reason_sentence(reason: &RecomputeReason) -> String {
    match reason {
        RecomputeReason::NeverComputed => "never computed".to_owned(),
        RecomputeReason::Spec { path, from, to } => {
            let [from, to] = [from, to].map(|value| value.as_deref().unwrap_or("nothing"));
            format!("{path} changed from {from} to {to}")
        }
        RecomputeReason::Data { file, from, to } => {
            // The first digits are enough to distinguish digests.
            let short = |digest: &String| digest.rsplit(':').next().unwrap_or_default().chars().take(12).collect();
            match [from, to].map(|digest| digest.as_ref().map(short)) {
                [Some(from), Some::<String>(to)] => format!("{file} changed from {from} to {to}"),
                [Some(from), None] => format!("{file} is no longer used (was {from})"),
                [None, Some(to)] => format!("{file} is now used ({to})"),
                [None, None] => format!("{file} is not used"),
            }
        }
        RecomputeReason::Numerics { from, to } => format!("the numerics changed from version {from} to {to}"),
        RecomputeReason::Seed { from, to } => format!("the seed changed from {from} to {to}"),
        RecomputeReason::DataUnknown => "the data have not been fetched yet".to_owned(),
    }
}
