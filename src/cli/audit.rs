//! `dpgp audit`.

use std::sync::atomic::Ordering;

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, Selection, Work};
use super::data::progress;
use super::interrupt::watch_signals;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::audit::{Attacks, AuditVerdict, Check, Finding, Found, audit as audit_block};
use crate::privacy::Guarantee;
use crate::publish::plain_table;
use crate::run::{RunError, Unit, load};
use crate::setting::PrivacySetting;
use crate::spec::Block;
use crate::task::{Cell, Experiment, Prices, Sample, Streams};

const EXAMPLES: &str = "\
Each cell that claims privacy is measured once more, in one replicate, and what it sampled is judged apart from the code
that makes the claim: the exact delta of Gaussian noise from the very factor that was sampled with, over all columns and
directions, in higher precision; bounds of accountants; pairs of data sets that are made to tell a mechanism apart. All
folds are audited; cells that differ in epsilon share one design, which is audited at each epsilon.

Verdicts:
  holds         what was found is within what is claimed, for all neighbours
  caveat        it holds but for what the note says, such as targets normalised by private statistics
  not audited   nothing is known against it, but nothing that proves it was recomputed
  broken        two neighbours are told apart better than claimed; the true delta or epsilon is printed

Exit code 1 says that a cell is broken and its spec does not announce that in a [[broken]] entry, or that an announced
break was not found. Announced breaks print `broken, as the spec says` and do not fail.

Examples:
  dpgp audit smith2021/table1
  dpgp audit --all --format json
  dpgp audit my.toml --seed 7 --confidence 0.99";

/// `dpgp audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AuditArguments {
    #[command(flatten)]
    selection: Selection,
    /// Use this seed instead of the spec's, for what is measured and for attacks
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    /// Confidence of the bounds that attacks on samples give
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// A probability between 0 and 1.
fn confidence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}

/// What was found of one cell.
struct Audited<'e> {
    cell: &'e Cell,
    finding: Finding,
    /// What the spec says of a break.
    announced: Option<&'e str>,
}

/// Audits what experiments guarantee.
///
/// # Errors
/// [`CliError::AuditFailed`] after everything has been printed, or the error of what could not be audited.
pub fn audit(arguments: &AuditArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiments = workspace.selected(&arguments.selection)?;
    let stop = watch_signals()?;
    let (mut failed, mut all, mut printed) = (0, 0, Vec::new());
    for experiment in &experiments {
        let audited = experiment_audited(experiment, &workspace, arguments, &stop)?;
        failed += audited.iter().filter(|cell| cell.fails()).count();
        all += audited.len();
        match format {
            Format::Text => print(&text(experiment, &audited))?,
            Format::Json => printed.push(as_json(experiment, &audited)),
        }
    }
    if format == Format::Json {
        print_json(&Value::Array(printed))?;
    }
    if failed == 0 { Ok(()) } else { Err(CliError::AuditFailed { failed, all }) }
}

/// The cells of an experiment that claim privacy, in grid order.
fn experiment_audited<'e>(
    experiment: &'e Experiment,
    workspace: &Workspace,
    arguments: &AuditArguments,
    stop: &std::sync::atomic::AtomicBool,
) -> Result<Vec<Audited<'e>>, CliError> {
    let unit = |(block, cells): (usize, &Block)| Unit { block, replicate: 0, missing: cells.cells.clone() };
    let units: Vec<Unit> = experiment.blocks.iter().enumerate().map(unit).collect();
    let notes = progress(arguments.work.quiet);
    let samples = load(experiment, &units, &workspace.manifest, &workspace.cache, notes.as_ref())?;
    let jobs = arguments.work.jobs();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|cause| RunError::Threads { jobs, cause })?;
    let (empty, prices) = (Sample::new(&[], Vec::new()), Prices::default());
    let of_unit = |unit: &Unit| {
        if stop.load(Ordering::Relaxed) {
            return Err(CliError::CheckInterrupted { done: 0, all: units.len() });
        }
        let data = experiment.cells[unit.missing[0]].data_id();
        unit_audited(experiment, unit, samples.get(&data).unwrap_or(&empty), &prices, arguments)
    };
    let audited: Result<Vec<Vec<_>>, CliError> =
        pool.install(|| units.par_iter().with_max_len(1).map(of_unit).collect());
    let mut audited: Vec<(usize, Finding)> = audited?.concat();
    audited.sort_by_key(|(cell, _)| *cell);
    let of = |(cell, finding): (usize, Finding)| {
        let cell = &experiment.cells[cell];
        let announced = experiment.broken.iter().find(|broken| broken.cells.selects(cell.labels()));
        Audited { cell, finding, announced: announced.map(|broken| broken.note.as_str()) }
    };
    Ok(audited.into_iter().map(of).collect())
}

/// The private cells of one block.
fn unit_audited(
    experiment: &Experiment,
    unit: &Unit,
    sample: &Sample,
    prices: &Prices,
    arguments: &AuditArguments,
) -> Result<Vec<(usize, Finding)>, CliError> {
    let private = |cell: &&usize| claims(experiment.cells[**cell].setting());
    let cells: Vec<usize> = unit.missing.iter().filter(private).copied().collect();
    let Some(first) = cells.first().map(|&cell| &experiment.cells[cell]) else { return Ok(Vec::new()) };
    let streams = Streams {
        seed: arguments.seed.unwrap_or(experiment.meta.seed),
        data: first.data_id().to_string(),
        block: first.block_id().to_string(),
        replicate: unit.replicate,
    };
    let settings: Vec<&PrivacySetting> =
        cells.iter().map(|&cell| &*experiment.cells[cell].setting().privacy).collect();
    let attacks = Attacks { streams, prices, confidence: arguments.confidence };
    let findings =
        audit_block(first.setting(), &settings, sample, &attacks).map_err(|cause| CliError::NotAudited {
            experiment: experiment.name.clone(),
            cell: first.place(),
            cause: Box::new(cause),
        })?;
    Ok(cells.into_iter().zip(findings).filter_map(|(cell, finding)| Some((cell, finding?))).collect())
}

/// Whether a cell may claim privacy: without noise there is nothing to measure. A selection has an epsilon of its own.
fn claims(setting: &crate::task::Setting) -> bool {
    let selects =
        matches!(&*setting.task, crate::task::TaskSetting::Selection(task) if task.epsilon.is_finite());
    setting.privacy.epsilon.is_finite() || selects
}

impl Audited<'_> {
    fn is_broken(&self) -> bool {
        self.finding.verdict == AuditVerdict::Broken
    }

    /// A break that is not announced, or an announcement without a break.
    fn fails(&self) -> bool {
        self.is_broken() != self.announced.is_some()
    }

    fn verdict(&self) -> String {
        match (self.is_broken(), self.announced) {
            (true, Some(_)) => "broken, as the spec says".to_owned(),
            (true, None) => "BROKEN".to_owned(),
            (false, Some(_)) => format!("{}, BUT THE SPEC SAYS BROKEN", self.finding.verdict.name()),
            (false, None) => self.finding.verdict.name().to_owned(),
        }
    }

    fn claim(&self) -> String {
        let Guarantee { epsilon, delta } = self.finding.guarantee;
        format!("({epsilon:?}, {delta:?})")
    }

    /// The largest epsilon that an attack on samples proves.
    fn attacks(&self) -> String {
        let proved = |check: &Check| match check.found {
            Found::EpsilonAtLeast(epsilon) => Some(epsilon),
            _ => None,
        };
        let most = self.finding.checks.iter().skip(1).filter_map(proved).reduce(f64::max);
        most.map_or_else(String::new, |epsilon| {
            format!("; attacks: {}", Found::EpsilonAtLeast(epsilon).text())
        })
    }

    /// The decisive check: what was found, and how.
    fn found(&self) -> (String, String) {
        let reasons = self.finding.reasons.join("; ");
        match self.finding.checks.first() {
            None => (String::new(), reasons),
            Some(check) if reasons.is_empty() => (check.found.text(), check.note.clone() + &self.attacks()),
            Some(check) => (check.found.text(), reasons + &self.attacks()),
        }
    }
}

fn text(experiment: &Experiment, audited: &[Audited<'_>]) -> String {
    let name = experiment.folder();
    if audited.is_empty() {
        return format!("{name}: no cell claims privacy\n\n");
    }
    let row = |cell: &Audited<'_>| {
        let (found, note) = cell.found();
        vec![cell.cell.place(), cell.claim(), found, cell.verdict(), note]
    };
    let table = plain_table(
        &["cell", "claimed", "found", "verdict", "how, and what is excepted"],
        audited.iter().map(row),
    );
    let count = |verdict| audited.iter().filter(|cell| cell.finding.verdict == verdict).count();
    let counts = [AuditVerdict::Holds, AuditVerdict::Caveat, AuditVerdict::NotAudited, AuditVerdict::Broken]
        .map(|verdict| (count(verdict), verdict.name()));
    let counts: Vec<String> =
        counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    format!("{name}: {}\n{table}\n", counts.join(", "))
}

fn as_json(experiment: &Experiment, audited: &[Audited<'_>]) -> Value {
    let cell = |one: &Audited<'_>| {
        let Finding { claim, guarantee, checks, verdict, reasons } = &one.finding;
        json!({
            "cell": one.cell.id().short(), "labels": one.cell.labels(), "epsilon": guarantee.epsilon, "delta": guarantee.delta,
            "guarantee": claim.to_string(), "delta_exact": claim.delta_exact, "verdict": verdict, "checks": checks,
            "reasons": reasons, "announced": one.announced, "fails": one.fails(),
        })
    };
    json!({ "experiment": experiment.folder(), "cells": audited.iter().map(cell).collect::<Vec<Value>>() })
}
