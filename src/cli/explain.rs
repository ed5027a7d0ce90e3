//! `dpgp explain`.

use clap::Args;
use serde_json::json;

use super::CliError;
use super::arguments::{Format, Places, Selection, StorePlace};
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::run::{DataDigests, Plan, Reason, RunError, Stale, explain as explain_plan};

const EXAMPLES: &str = "\
Each result that is not stored is compared with the latest one of the same experiment, labels and replicate.

Examples:
  dpgp explain smith2021/table1
  dpgp explain my.toml --format json";

/// `dpgp explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArguments {
    #[command(flatten)]
    selection: Selection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    #[command(flatten)]
    store: StorePlace,
    #[command(flatten)]
    places: Places,
}

/// Cells that are listed under one reason in a terminal.
const MOST_PLACES: usize = 8;

/// Says for each result that a run would compute what changed since it was last computed.
///
/// # Errors
/// [`CliError`] if a spec, the store or a file of the user's own cannot be read.
pub fn explain(arguments: &ExplainArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let store = workspace.store(&arguments.store)?;
    let mut all = Vec::new();
    for experiment in &workspace.selected(&arguments.selection)? {
        let digests = DataDigests::known(experiment, &workspace.manifest, &workspace.cache)?;
        let plan = Plan::new(experiment, arguments.seed.unwrap_or(experiment.meta.seed), digests, &store);
        let stale = explain_plan(&plan, &store).map_err(RunError::from)?;
        if format == Format::Text {
            print(&text(&experiment.folder(), &plan, &stale))?;
        }
        all.push(json!({ "experiment": experiment.folder(), "stale": stale }));
    }
    if format == Format::Json { print_json(&all.into()) } else { Ok(()) }
}

fn text(name: &str, plan: &Plan<'_>, stale: &[Stale]) -> String {
    if stale.is_empty() {
        return format!("{name}: everything is stored ({} results)\n", plan.total());
    }
    let mut text = format!("{name}: {} of {} results are stored\n", plan.done(), plan.total());
    for group in stale {
        let reasons: Vec<String> = group.reasons.iter().map(sentence).collect();
        text.push_str(&format!("  {} to compute: {}\n", group.places.len(), reasons.join("; ")));
        for place in group.places.iter().take(MOST_PLACES) {
            text.push_str(&format!("    {place}\n"));
        }
        if let Some(more) = group.places.len().checked_sub(MOST_PLACES).filter(|more| *more > 0) {
            text.push_str(&format!("    ... and {more} more\n"));
        }
    }
    text
}

fn sentence(reason: &Reason) -> String {
    let side = |value: &Option<String>, absent: &str| value.clone().unwrap_or_else(|| absent.to_owned());
    let short = |digest: &Option<String>, absent: &str| match digest {
        Some(digest) => digest.chars().take(12).collect(),
        None => absent.to_owned(),
    };
    match reason {
        Reason::NeverComputed => "never computed".to_owned(),
        Reason::Spec { path, from, to } => {
            format!("{path} changed from {} to {}", side(from, "nothing"), side(to, "nothing"))
        }
        Reason::Data { file, from, to } => {
            format!("{file} changed from {} to {}", short(from, "not used"), short(to, "not used"))
        }
        Reason::Numerics { from, to } => format!("the numerics changed from version {from} to {to}"),
        Reason::Seed { from, to } => format!("the seed changed from {from} to {to}"),
        Reason::DataUnknown => "the data have not been fetched yet".to_owned(),
    }
}
