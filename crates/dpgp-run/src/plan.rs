//! The blocks of a run, the stored ones among them, and shards for several machines.

use std::fmt;
use std::str::FromStr;

use super::DataDigests;
use super::store::{ResultKey, ResultStore, RunHeader, key};
use dpgp_spec::TextDigest;
use dpgp_task::Experiment;

/// All replicates of all cells of an experiment, each with its key.
///
/// ```
/// use dpgp_run::{DataLocations, Project, Study};
///
/// # const SPEC: &str = r#"
/// # experiment = { title = "planned", replicates = 3 }
/// # data = { source.inline = { x = [0, 1, 2, 3], y = [1, 3, 2, 5] }, inputs = ["x"], target = "y" }
/// # model = { noise_variance = 1.0, kernel.eq = { variance = 9.0, lengthscale = 5.0 } }
/// # task.regression = { split.contiguous = 2, draws = 5 }
/// # privacy = { epsilon = 1.0, delta = 0.01, change = 4.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
/// # "#;
/// let folder = tempfile::tempdir()?;
/// let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default())?;
/// let experiment = project.parse("planned", SPEC)?; // one cell, three replicates
/// let study = Study::open(&project, folder.path())?;
/// let plan = study.plan(&experiment, None)?;
/// assert_eq!((plan.replicate_count(), plan.stored_count()), (3, 0));
/// // Two shards share out the work.
/// assert_eq!(plan.units("1/2".parse()?).len() + plan.units("2/2".parse()?).len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Plan<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The seed.
    pub seed: u32,
    /// The digests of the data.
    pub digests: DataDigests,
    /// By cell and replicate; none while the data's digests are not known.
    keys: Vec<Option<ResultKey>>,
    stored: Vec<bool>,
}

/// One replicate of one block: the piece of work that is computed at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkUnit {
    /// Index of the block.
    pub block: usize,
    /// The replicate, from 0.
    pub replicate: u32,
    /// The cells of the block that are not stored.
    pub missing: Vec<usize>,
}

impl WorkUnit {
    /// The first replicate of all cells of a block.
    pub(super) fn from_block(experiment: &Experiment, block: usize) -> Self {
        Self { block, replicate: 0, missing: experiment.blocks[block].cells.clone() }
    }
}

impl<'a> Plan<'a> {
    /// Looks up which results a store holds.
    pub fn new(experiment: &'a Experiment, seed: u32, digests: DataDigests, store: &ResultStore) -> Self {
        let mut keys = Vec::with_capacity(experiment.cells.len() * experiment.meta.replicates as usize);
        for cell in &experiment.cells {
            let data = digests.cell_files(cell);
            for replicate in 0..experiment.meta.replicates {
                keys.push(data.as_ref().map(|data| key(cell.id(), seed, replicate, data)));
            }
        }
        let stored = keys.iter().map(|key| key.as_ref().is_some_and(|key| store.has_result(key))).collect();
        Self { experiment, seed, digests, keys, stored }
    }

    /// The key of a replicate of a cell.
    pub fn key(&self, cell: usize, replicate: u32) -> Option<ResultKey> {
        self.keys[self.index(cell, replicate)]
    }

    /// Whether a replicate of a cell is stored.
    pub fn is_stored(&self, cell: usize, replicate: u32) -> bool {
        self.stored[self.index(cell, replicate)]
    }

    /// Replicates of cells in all.
    pub fn replicate_count(&self) -> usize {
        self.stored.len()
    }

    /// Replicates of cells that are stored.
    pub fn stored_count(&self) -> usize {
        self.stored.iter().filter(|stored| **stored).count()
    }

    /// The cells with every replicate stored.
    pub fn complete_cells(&self) -> Vec<usize> {
        let replicates = self.experiment.meta.replicates;
        let cells = 0..self.experiment.cells.len();
        cells.filter(|cell| (0..replicates).all(|replicate| self.is_stored(*cell, replicate))).collect()
    }

    /// The keys of all replicates of some cells.
    pub fn keys_of(&self, cells: &[usize]) -> Vec<ResultKey> {
        let replicates = 0..self.experiment.meta.replicates;
        let all = cells.iter().flat_map(|cell| replicates.clone().map(|replicate| self.key(*cell, replicate)));
        all.flatten().collect()
    }

    /// The keys of what is stored.
    pub fn stored_keys(&self) -> Vec<ResultKey> {
        let stored = self.keys.iter().zip(&self.stored).filter(|(_, stored)| **stored);
        stored.filter_map(|(key, _)| *key).collect()
    }

    /// The units of a shard that have something left to compute. Shards deal out all units round-robin in the order
    /// of their block's identity, whatever is stored, so that a shard is the same set at every resume.
    pub fn units(&self, shard: Shard) -> Vec<WorkUnit> {
        let mut all: Vec<(TextDigest, u32, usize)> = Vec::new();
        for (number, block) in self.experiment.blocks.iter().enumerate() {
            let id = self.experiment.cells[block.cells[0]].block_id();
            all.extend((0..self.experiment.meta.replicates).map(|replicate| (id, replicate, number)));
        }
        if shard != Shard::WHOLE {
            all.sort_unstable();
        }
        let mut units = Vec::new();
        for (rank, (_, replicate, block)) in all.into_iter().enumerate() {
            if shard.owns(rank) {
                let mut unit = WorkUnit { replicate, ..WorkUnit::from_block(self.experiment, block) };
                unit.missing.retain(|&cell| !self.is_stored(cell, replicate));
                units.push(unit);
            }
        }
        units.retain(|unit| !unit.missing.is_empty());
        units
    }

    /// Header of this run in the store.
    pub fn header(&self) -> RunHeader {
        let experiment = self.experiment;
        RunHeader {
            experiment: experiment.name.clone(),
            quick: experiment.quick,
            spec: experiment.source.file().to_string_lossy().into_owned(),
            spec_sha256: TextDigest::of_text(experiment.source.text()),
            axes: experiment.axes.iter().map(|axis| axis.name.clone()).collect(),
            seed: self.seed,
            numerics: super::store::NUMERICS,
            data: self.digests.files(),
        }
    }

    fn index(&self, cell: usize, replicate: u32) -> usize {
        cell * self.experiment.meta.replicates as usize + replicate as usize
    }
}

/// Part `number` (from 1) of `count`.
///
/// ```
/// let shard: dpgp_run::Shard = "2/3".parse()?;
/// assert!(shard.owns(1) && !shard.owns(2));
/// assert_eq!(shard.contiguous_range(10), 3..6);
/// assert!("4/3".parse::<dpgp_run::Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// The part of `total` things that it takes where each takes a run of them.
    pub fn contiguous_range(self, total: u64) -> std::ops::Range<u64> {
        self.start_of_part(self.number - 1, total)..self.start_of_part(self.number, total)
    }

    /// The first of `total` things after so many parts.
    fn start_of_part(self, parts: usize, total: u64) -> u64 {
        (u128::from(total) * parts as u128 / self.count as u128) as u64
    }

    /// Whether the piece of work of this rank (from 0) belongs to it.
    pub fn owns(self, rank: usize) -> bool {
        rank % self.count == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').map(|(number, count)| (number.parse(), count.parse()));
        match numbers {
            Some((Ok(number), Ok(count))) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err(format!("{text:?} is not a valid shard; use i/n with i from 1 to n, for example 1/4")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_out_everything_once() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for rank in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.owns(rank)).count(), 1);
        }
        let runs: Vec<_> = shards.iter().map(|shard| shard.contiguous_range(10)).collect();
        assert_eq!(runs, [0..3, 3..6, 6..10]);
        assert_eq!(shards[1].to_string(), "2/3");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/b", "1.0/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
