//! The blocks of a run, the stored ones among them, and shards for several machines. Also the reasons why a cell must be
//! computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DataDigests;
use super::store::{NUMERICS, ResultKey, ResultStore, ResultWithRun, RunHeader, StoreError, compute_result_key};
use dpgp_spec::{CellBlock, TextDigest};
use dpgp_task::{Cell, Experiment};

/// All replicates of all cells of an experiment, each with its key.
///
/// ```
/// use dpgp_run::{DataLocations, Project, ExperimentRunner};
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
/// let study = ExperimentRunner::open(&project, folder.path())?;
/// let plan = study.plan(&experiment, None)?;
/// assert_eq!((plan.replicate_count(), plan.stored_count()), (3, 0));
/// // Two shards share out the work.
/// assert_eq!(plan.pending_block_replicates("1/2".parse()?).len() + plan.pending_block_replicates("2/2".parse()?).len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunPlan<'a> {
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
pub struct BlockReplicate {
    /// Index of the block.
    pub block: usize,
    /// The replicate, from 0.
    pub replicate: u32,
    /// The cells of the block that are not stored.
    pub missing: Vec<usize>,
}

impl BlockReplicate {
    /// The first replicate of all cells of a block.
    pub(super) fn first_of_block(experiment: &Experiment, block: usize) -> Self {
        Self { block, replicate: 0, missing: experiment.blocks[block].cells.clone() }
    }
}

impl<'a> RunPlan<'a> {
    /// Looks up which results a store holds.
    pub fn new(experiment: &'a Experiment, seed: u32, digests: DataDigests, store: &ResultStore) -> Self {
        let mut keys = Vec::with_capacity(experiment.cells.len() * experiment.meta.replicates as usize);
        for cell in &experiment.cells {
            let data = digests.cell_files(cell);
            for replicate in 0..experiment.meta.replicates {
                keys.push(data.as_ref().map(|data| compute_result_key(cell.id(), seed, replicate, data)));
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

    /// The number of replicates of all cells together.
    pub fn replicate_count(&self) -> usize {
        self.stored.len()
    }

    /// The number of these replicates that are stored.
    pub fn stored_count(&self) -> usize {
        self.stored.iter().filter(|stored| **stored).count()
    }

    /// The cells whose replicates are all stored.
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

    /// The keys of the stored results.
    pub fn stored_keys(&self) -> Vec<ResultKey> {
        let stored = self.keys.iter().zip(&self.stored).filter(|(_, stored)| **stored);
        stored.filter_map(|(key, _)| *key).collect()
    }

    /// The units of a shard that have something left to compute. All units, stored or not, are dealt to the shards
    /// round-robin, in the order of their blocks' identities. A shard is therefore the same set at every resume.
    ///
    /// Units that share a data set and a model follow each other, because a thread keeps the rows that it generated and the
    /// prediction map that it computed until it meets others.
    pub fn pending_block_replicates(&self, shard: Shard) -> Vec<BlockReplicate> {
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
                let mut unit = BlockReplicate { replicate, ..BlockReplicate::first_of_block(self.experiment, block) };
                unit.missing.retain(|&cell| !self.is_stored(cell, replicate));
                units.push(unit);
            }
        }
        units.retain(|unit| !unit.missing.is_empty());
        let groups = self.first_blocks_with_same_data_and_model();
        units.sort_unstable_by_key(|unit| (groups[unit.block], unit.replicate, unit.block));
        units
    }

    /// For each block, the first one with the same data and model.
    fn first_blocks_with_same_data_and_model(&self) -> Vec<usize> {
        let mut first = BTreeMap::new();
        let of_block = |(number, block): (usize, &CellBlock)| {
            let cell = &self.experiment.cells[block.cells[0]];
            *first.entry((cell.data_id(), cell.model_id())).or_insert(number)
        };
        self.experiment.blocks.iter().enumerate().map(of_block).collect()
    }

    /// The header of this run in the store.
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

    /// The range of `total` things that this shard takes, if each shard takes consecutive things.
    pub fn contiguous_range(self, total: u64) -> std::ops::Range<u64> {
        self.start_of_part(self.number - 1, total)..self.start_of_part(self.number, total)
    }

    /// The first of `total` things after so many parts.
    fn start_of_part(self, parts: usize, total: u64) -> u64 {
        (u128::from(total) * parts as u128 / self.count as u128) as u64
    }

    /// Whether the piece of work with this rank (from 0) belongs to this shard.
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

/// One thing that changed since a cell was last computed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecomputeReason {
    /// No earlier run has a cell with these labels.
    NeverComputed,
    /// A value of the spec.
    Spec {
        /// The dotted path.
        path: String,
        /// What it was; none if it was not there.
        from: Option<String>,
        /// What it is.
        to: Option<String>,
    },
    /// The contents of a data file.
    Data {
        /// The file.
        file: String,
        /// The digest that it had; none if it was not used.
        from: Option<String>,
        /// The digest that it has.
        to: Option<String>,
    },
    /// The version of the numerics.
    Numerics {
        /// What it was.
        from: u32,
        /// What it is.
        to: u32,
    },
    /// The seed.
    Seed {
        /// What it was.
        from: u32,
        /// What it is.
        to: u32,
    },
    /// The data have not been fetched yet, so their digest is not known.
    DataUnknown,
}

/// Replicates of cells whose results are missing from the store, all for the same reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleResults {
    /// What changed.
    pub reasons: Vec<RecomputeReason>,
    /// The cells and replicates.
    pub places: Vec<String>,
}

/// Compares every result that is missing with the latest one of the same experiment, labels and replicate.
///
/// # Errors
/// [`StoreError`].
pub(super) fn explain_missing_results(
    plan: &RunPlan<'_>,
    store: &ResultStore,
) -> Result<Vec<StaleResults>, StoreError> {
    let earlier = store.experiment_results(&plan.experiment.name)?;
    let mut latest: BTreeMap<(&[String], u32), &ResultWithRun> = BTreeMap::new();
    for stored in &earlier {
        latest.insert((&stored.record.about.labels, stored.record.about.replicate), stored);
    }
    // Groups stand in the order of their first cell.
    let (mut stale, mut places): (Vec<StaleResults>, BTreeMap<Vec<RecomputeReason>, usize>) =
        (Vec::new(), BTreeMap::new());
    for (number, cell) in plan.experiment.cells.iter().enumerate() {
        for replicate in 0..plan.experiment.meta.replicates {
            if plan.is_stored(number, replicate) {
                continue;
            }
            let reasons = match latest.get(&(cell.labels(), replicate)) {
                None => vec![RecomputeReason::NeverComputed],
                Some(stored) => compare_with_stored(plan, cell, stored, store)?,
            };
            let group = *places.entry(reasons).or_insert_with_key(|reasons| {
                stale.push(StaleResults { reasons: reasons.clone(), places: Vec::new() });
                stale.len() - 1
            });
            let place = match plan.experiment.meta.replicates {
                1 => cell.joined_labels(),
                _ => format!("{}, replicate {replicate}", cell.joined_labels()),
            };
            stale[group].places.push(place);
        }
    }
    Ok(stale)
}

fn compare_with_stored(
    plan: &RunPlan<'_>,
    cell: &Cell,
    stored: &ResultWithRun,
    store: &ResultStore,
) -> Result<Vec<RecomputeReason>, StoreError> {
    let ResultWithRun { run, record } = stored;
    let mut reasons = Vec::new();
    if run.seed != plan.seed {
        reasons.push(RecomputeReason::Seed { from: run.seed, to: plan.seed });
    }
    if run.numerics != NUMERICS {
        reasons.push(RecomputeReason::Numerics { from: run.numerics, to: NUMERICS });
    }
    let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
    for (name, id) in &record.about.sections {
        if let Some(text) = store.section_text(id)? {
            collect_leaves(name.clone(), &text, &mut before);
        }
    }
    for (name, text) in cell.sections() {
        collect_leaves(name.to_owned(), &text.canonical, &mut now);
    }
    for ValueChange { key: path, from, to } in changes(before, now) {
        reasons.push(RecomputeReason::Spec { path, from, to });
    }
    match plan.digests.cell_files(cell) {
        None => reasons.push(RecomputeReason::DataUnknown),
        Some(now) => {
            let before = record.about.data.iter().cloned().collect();
            for ValueChange { key: file, from, to } in changes(before, now.iter().cloned().collect()) {
                reasons.push(RecomputeReason::Data { file, from, to });
            }
        }
    }
    Ok(reasons)
}

/// A key whose value is another than it was.
struct ValueChange {
    key: String,
    from: Option<String>,
    to: Option<String>,
}

/// The changes from one set of values to another, by key.
fn changes(mut before: BTreeMap<String, String>, mut now: BTreeMap<String, String>) -> Vec<ValueChange> {
    let keys: BTreeSet<String> = before.keys().chain(now.keys()).cloned().collect();
    let mut changes = Vec::new();
    for key in keys {
        let (from, to) = (before.remove(&key), now.remove(&key));
        if from != to {
            changes.push(ValueChange { key, from, to });
        }
    }
    changes
}

/// Collects the values of a canonical text by dotted path. The text is JSON except for bare infinities.
fn collect_leaves(path: String, text: &str, found: &mut BTreeMap<String, String>) {
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        Some(inside) if !inside.is_empty() => {
            for entry in split_top_level(inside) {
                // Keys are names, so that no quote stands in them.
                let entry = entry.strip_prefix('"').and_then(|entry| entry.split_once("\":"));
                if let Some((key, value)) = entry {
                    collect_leaves(format!("{path}.{key}"), value, found);
                }
            }
        }
        _ => {
            found.insert(path, text.to_owned());
        }
    }
}

/// Cuts at the commas outside brackets and strings.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start, mut parts) = (0usize, false, false, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataLocations, ExperimentRunner, Project};

    const SPEC: &str = r#"
experiment = { title = "planned", replicates = 2 }
data = { source.inline = { x = [0, 1, 2, 3], y = [1, 3, 2, 5] }, inputs = ["x"], target = "y" }
model = { noise_variance = 1.0, kernel.eq = { variance = 9.0, lengthscale = 5.0 } }
task.regression = { split.contiguous = 2, draws = 5 }
privacy = { epsilon = 1.0, delta = 0.01, change = 4.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
[grid]
"privacy.mechanism.cloaking.objective" = ["trace", "log-det"]
"model.kernel.eq.lengthscale" = [5.0, 2.0]
"#;

    #[test]
    fn units_with_the_same_data_and_model_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default()).unwrap();
        let experiment = project.parse("planned", SPEC).unwrap();
        let plan = ExperimentRunner::open(&project, folder.path()).unwrap().plan(&experiment, None).unwrap();
        let place = |unit: &BlockReplicate| {
            format!("{} {}", experiment.cells[unit.missing[0]].labels().join(" "), unit.replicate)
        };
        let order: Vec<String> = plan.pending_block_replicates(Shard::WHOLE).iter().map(place).collect();
        let long = ["trace 5 0", "log-det 5 0", "trace 5 1", "log-det 5 1"];
        let short = ["trace 2 0", "log-det 2 0", "trace 2 1", "log-det 2 1"];
        assert_eq!(order, [long, short].concat());
    }

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

#[cfg(test)]
mod explain_tests {
    use super::*;

    #[test]
    fn only_the_paths_that_differ_are_named() {
        let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
        let text = r#"{"kernel":{"eq":{"lengthscale":15.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,inf]}"#;
        collect_leaves("model".to_owned(), text, &mut before);
        let text =
            r#"{"kernel":{"eq":{"lengthscale":16.0,"variance":10.0}},"note":"a,\"{b","list":[1.0,2.0],"new":{}}"#;
        collect_leaves("model".to_owned(), text, &mut now);
        let found: Vec<_> = changes(before, now).into_iter().map(|c| (c.key, c.from, c.to)).collect();
        let change =
            |path: &str, from: Option<&str>, to: &str| (path.to_owned(), from.map(str::to_owned), Some(to.to_owned()));
        let expected = [
            change("model.kernel.eq.lengthscale", Some("15.0"), "16.0"),
            change("model.list", Some("[1.0,inf]"), "[1.0,2.0]"),
            change("model.new", None, "{}"),
        ];
        assert_eq!(found, expected);
    }
}
