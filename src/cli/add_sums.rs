//! Sums of the parts of some rows, added.

use std::path::{Path, PathBuf};

use super::CliError;
use super::summand::summand;
use crate::stream::{BLOCK, FileRecord, Forest, NodeRecord, Record, Sum};
use crate::task::Setting;

/// Adds the sums of shards, which must make the whole.
pub(super) fn added<S: Sum>(
    parts: &[PathBuf],
    setting: &Setting,
    zero: &S,
) -> Result<(Vec<FileRecord>, Forest<S>), CliError> {
    let read = |path: &PathBuf| Ok((path.clone(), read(path, zero)?));
    let parts: Result<Vec<(PathBuf, Record<S>)>, CliError> = parts.iter().map(read).collect();
    let parts = parts?;
    let Some((first, record)) = parts.first() else { return Ok((Vec::new(), Forest::default())) };
    if record.summand != summand(setting) {
        let cause = "they are of other columns, bounds, inducing inputs, classes or bins, or another kernel"
            .to_owned();
        return Err(CliError::NotSums { path: first.clone(), cause });
    }
    belong_together(first, record, &parts)?;
    let mut nodes: Vec<_> = parts.iter().flat_map(|(_, part)| &part.nodes).collect();
    nodes.sort_by_key(|node| node.first);
    whole(&nodes, record.blocks())?;
    let mut forest = Forest::default();
    nodes.iter().for_each(|node| forest.insert(node.node(), node.sums.clone()));
    Ok((record.files.clone(), forest))
}

/// All parts must be of the same sums over the same files.
fn belong_together<S>(
    first: &Path,
    record: &Record<S>,
    parts: &[(PathBuf, Record<S>)],
) -> Result<(), CliError> {
    for (path, other) in parts {
        let differs = |what| CliError::SumsDiffer { what, first: first.to_owned(), second: path.clone() };
        if other.summand != record.summand {
            return Err(differs("summands"));
        }
        if other.files != record.files {
            return Err(differs("files"));
        }
    }
    Ok(())
}

/// The nodes, in the order of their blocks, must be all blocks, each of them once.
fn whole<S>(nodes: &[&NodeRecord<S>], all: u64) -> Result<(), CliError> {
    if let Some(pair) = nodes.windows(2).find(|pair| pair[0].node().end() > pair[1].first) {
        return Err(CliError::SumsOverlap { row: pair[1].first * BLOCK as u64 + 1 });
    }
    let found = nodes.iter().map(|node| 1u64 << node.level).sum::<u64>();
    if found != all {
        return Err(CliError::SumsIncomplete { missing: all.saturating_sub(found), all });
    }
    Ok(())
}

fn read<S: Sum>(path: &Path, zero: &S) -> Result<Record<S>, CliError> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| CliError::Io { path: path.to_owned(), cause })?;
    let wrong = |cause: String| CliError::NotSums { path: path.to_owned(), cause };
    let record: Record<S> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if record.is_sound(zero) {
        return Ok(record);
    }
    Err(wrong(
        "they are of another number of inducing inputs, classes or bins, or of blocks of another size"
            .to_owned(),
    ))
}
