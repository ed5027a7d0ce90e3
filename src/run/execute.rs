//! The parallel part of a run.

use std::collections::BTreeMap;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::{Journal, RunError, Watcher};
use crate::spec::{Block, Experiment, PrivacySetting};
use crate::task::{Measurement, Row, Sample, Streams, measure, summarise};

/// How an experiment is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Threads.
    pub jobs: usize,
    /// Overrides the spec's seed.
    pub seed: Option<u32>,
}

/// One block in one replicate.
struct Unit<'a> {
    block: &'a Block,
    replicate: u32,
}

/// Runs all blocks and replicates in parallel, each serial inside, and collects the rows in grid order. A
/// row depends on the spec, the data and the seed alone, not on the threads.
///
/// Every finished unit is appended to the journal at once.
///
/// # Errors
/// The first failure in grid order, with its cell.
pub fn execute(
    experiment: &Experiment,
    samples: &BTreeMap<String, Sample>,
    options: Options,
    journal: Option<&Journal>,
    watcher: &dyn Watcher,
) -> Result<Vec<Row>, RunError> {
    let jobs = options.jobs;
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|cause| RunError::Threads { jobs, cause })?;
    let replicates = experiment.meta.replicates;
    let units: Vec<Unit<'_>> = experiment
        .blocks
        .iter()
        .flat_map(|block| (0..replicates).map(move |replicate| Unit { block, replicate }))
        .collect();
    let seed = options.seed.unwrap_or(experiment.meta.seed);
    let done: Vec<Result<Vec<Vec<Measurement>>, RunError>> = pool.install(|| {
        let work = units.par_iter().with_max_len(1).map(|unit| {
            let measured = run_unit(experiment, samples, unit, seed)?;
            record(experiment, unit, &measured, journal)?;
            watcher.finished(units.len());
            Ok(measured)
        });
        work.collect()
    });
    let done: Result<Vec<_>, RunError> = done.into_iter().collect();
    Ok(rows(experiment, &done?))
}

/// Writes a finished unit to the journal, if there is one.
fn record(
    experiment: &Experiment,
    unit: &Unit<'_>,
    measured: &[Vec<Measurement>],
    journal: Option<&Journal>,
) -> Result<(), RunError> {
    let Some(journal) = journal else { return Ok(()) };
    let cells: Vec<String> = unit.block.cells.iter().map(|&cell| experiment.cells[cell].id()).collect();
    let io = |cause| RunError::Io { path: journal.path().to_path_buf(), cause };
    journal.append(&cells, unit.replicate, measured).map_err(io)
}

fn run_unit(
    experiment: &Experiment,
    samples: &BTreeMap<String, Sample>,
    unit: &Unit<'_>,
    seed: u32,
) -> Result<Vec<Vec<Measurement>>, RunError> {
    let first = &experiment.cells[unit.block.cells[0]];
    let streams =
        Streams { seed, data: first.data_id(), block: unit.block.id.clone(), replicate: unit.replicate };
    let cells: Vec<&PrivacySetting> =
        unit.block.cells.iter().map(|&cell| &experiment.cells[cell].setting().privacy).collect();
    let empty = Sample::new(&[], Vec::new());
    let sample = samples.get(&streams.data).unwrap_or(&empty);
    measure(first.setting(), &cells, sample, &streams).map_err(|cause| RunError::Cell {
        experiment: experiment.name.clone(),
        cell: if first.labels().is_empty() { "the only one".to_owned() } else { first.labels().join(", ") },
        replicate: unit.replicate,
        cause,
    })
}

/// Regroups measurements by cell and summarises them over replicates, in grid order.
fn rows(experiment: &Experiment, done: &[Vec<Vec<Measurement>>]) -> Vec<Row> {
    let replicates = experiment.meta.replicates as usize;
    let mut by_cell: Vec<Vec<Row>> = vec![Vec::new(); experiment.cells.len()];
    for (block, units) in experiment.blocks.iter().zip(done.chunks(replicates)) {
        for (position, &cell) in block.cells.iter().enumerate() {
            let of_cell: Vec<Vec<Measurement>> = units.iter().map(|unit| unit[position].clone()).collect();
            by_cell[cell] = summarise(cell, &of_cell);
        }
    }
    by_cell.concat()
}
