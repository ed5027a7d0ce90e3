//! From an experiment to its report: what is stored is read, the rest is computed and stored.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::CliError;
use super::arguments::Work;
use super::data::progress;
use super::workspace::Workspace;
use crate::publish::{Provenance, Report};
use crate::run::store::{NUMERICS, Store};
use crate::run::{
    Bars, Clipped, DataDigests, Lines, Options, Plan, Quiet, Results, RunError, Shard, Watcher,
    clipped_in_own_files, execute, load, results,
};
use crate::task::Experiment;

/// How experiments are computed.
pub(super) struct Bench<'a> {
    pub workspace: &'a Workspace,
    pub work: &'a Work,
    pub seed: Option<u32>,
    pub shard: Shard,
    pub fail_fast: bool,
    pub stop: Arc<AtomicBool>,
}

/// What came out.
pub(super) struct Computed {
    /// Replicates of cells that were stored before.
    pub stored: usize,
    /// Replicates of cells in all.
    pub total: usize,
    /// Blocks that were computed now.
    pub computed: usize,
    /// The results, unless a shard leaves some to others.
    pub results: Option<Results>,
    pub provenance: Provenance,
}

impl Bench<'_> {
    /// The plan of an experiment against a store; nothing is computed.
    pub fn plan<'e>(&self, experiment: &'e Experiment, store: &Store) -> Result<Plan<'e>, CliError> {
        let Workspace { manifest, cache, .. } = self.workspace;
        let digests = DataDigests::fetched(experiment, manifest, cache, progress(self.work.quiet).as_ref())?;
        Ok(Plan::new(experiment, self.seed.unwrap_or(experiment.meta.seed), digests, store))
    }

    /// Computes what is missing and reads the results.
    pub fn compute(&self, experiment: &Experiment, store: &mut Store) -> Result<Computed, CliError> {
        let plan = self.plan(experiment, store)?;
        let computed = self.complete(&plan, store)?;
        let after = Plan::new(experiment, plan.seed, plan.digests.clone(), store);
        let results = results(&after, store)?;
        let (seconds, finished) = results.as_ref().map_or((0.0, 0), |r| (r.seconds, r.finished));
        let provenance = Provenance {
            data: plan.digests.files(),
            project: self.workspace.root().to_path_buf(),
            seed: plan.seed,
            numerics: NUMERICS,
            seconds,
            finished,
            clipped: self.clipped(experiment)?,
        };
        Ok(Computed { stored: plan.done(), total: plan.total(), computed, results, provenance })
    }

    fn clipped(&self, experiment: &Experiment) -> Result<Vec<Clipped>, CliError> {
        let Workspace { manifest, cache, .. } = self.workspace;
        Ok(clipped_in_own_files(experiment, manifest, cache, progress(self.work.quiet).as_ref())?)
    }

    fn complete(&self, plan: &Plan<'_>, store: &mut Store) -> Result<usize, CliError> {
        let Workspace { manifest, cache, .. } = self.workspace;
        let units = plan.units(self.shard);
        if units.is_empty() && self.shard == Shard::WHOLE {
            return Ok(0);
        }
        let samples = load(plan.experiment, &units, manifest, cache, progress(self.work.quiet).as_ref())?;
        let options = Options {
            jobs: self.work.jobs(),
            shard: self.shard,
            fail_fast: self.fail_fast,
            stop: &self.stop,
        };
        let session = store.session(plan.header());
        let outcome = session.begin().map_err(RunError::from).and_then(|()| {
            execute(plan, &samples, &session, options, self.watcher(&plan.experiment.name).as_ref())
        });
        store.end(session).map_err(RunError::from)?;
        Ok(outcome?)
    }

    fn watcher(&self, name: &str) -> Box<dyn Watcher> {
        if self.work.quiet {
            Box::new(Quiet)
        } else if std::io::stderr().is_terminal() {
            Box::new(Bars::new(name))
        } else {
            Box::new(Lines::new(name))
        }
    }
}

impl Computed {
    /// The results beside the published values; none if some are missing, or have been taken before.
    pub fn report<'e>(&mut self, experiment: &'e Experiment) -> Option<Report<'e>> {
        self.results.take().map(|results| Report::new(experiment, results.rows, results.frames))
    }

    /// One line on what was done.
    pub fn summary(&self) -> String {
        let Self { stored, total, computed, .. } = self;
        let blocks = if *computed == 1 { "block" } else { "blocks" };
        match (stored, computed) {
            (_, 0) => format!("nothing computed: all {total} results were stored"),
            (0, _) => format!("{computed} {blocks} computed"),
            _ => format!("{computed} {blocks} computed; {stored} of {total} results were stored"),
        }
    }
}
