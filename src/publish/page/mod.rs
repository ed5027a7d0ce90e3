//! The report: every table, figure, claim and deviation on one HTML page that needs nothing else.

mod entry;
mod errata;
mod rows;

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::results::{OutcomeCounts, PublishError, VerdictCounts};
use crate::task::Experiment;
use entry::PageEntry;

/// What the template is given.
#[derive(Debug, Serialize)]
struct ReportPage {
    css: &'static str,
    js: &'static str,
    version: &'static str,
    commit: Option<String>,
    totals: Totals,
    papers: Vec<Paper>,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    experiments: usize,
    counts: VerdictCounts,
    statements: OutcomeCounts,
}

#[derive(Debug, Serialize)]
struct Paper {
    key: String,
    experiments: Vec<PageEntry>,
}

/// The page, from the results that stand in a folder.
///
/// # Errors
/// [`PublishError`] if results there cannot be read, or the template is broken.
pub fn report_html(
    results: &Path,
    experiments: &[Experiment],
    commit: Option<&str>,
) -> Result<String, PublishError> {
    let mut papers: BTreeMap<&str, Vec<PageEntry>> = BTreeMap::new();
    let mut totals = Totals { experiments: experiments.len(), ..Totals::default() };
    for experiment in experiments {
        let entry = PageEntry::read(results, experiment)?;
        entry.add_to(&mut totals);
        papers.entry(experiment.meta.paper.as_deref().unwrap_or("beyond")).or_default().push(entry);
    }
    let page = ReportPage {
        css: include_str!("report.css"),
        js: include_str!("report.js"),
        version: env!("CARGO_PKG_VERSION"),
        commit: commit.map(|commit| commit.chars().take(12).collect()),
        totals,
        papers: papers
            .into_iter()
            .map(|(key, experiments)| Paper { key: key.to_owned(), experiments })
            .collect(),
    };
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    Ok(templates.render_str(include_str!("report.html"), Value::from(Serde(page)))?)
}

/// A text as part of an address on the page.
fn anchor(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}
