//! Adds the sums of the parts of some rows.

use std::path::{Path, PathBuf};

use super::ReleaseError;
use super::sum_rows::{IdentifiedSums, refuse_equal_files};
use dpgp_data::{RowsFingerprint, read_limited_text};
use dpgp_stream::{BLOCK, MergeableSum, PartialSums, StoredPartialSums};

/// What differs, in the words of [`ReleaseError::SumsDiffer`]: the keys that identify the rows.
pub(super) const OTHER_KEYS: &str = "keys (set DPGP_STATE to the same folder for all parts)";

/// The sums of one file.
struct LoadedSumsFile<'p, S> {
    path: &'p PathBuf,
    record: StoredPartialSums<S>,
}

/// Adds the sums of shards. They must have this identity and cover all blocks.
///
/// # Errors
/// [`ReleaseError`] if a file holds no such sums, or a block is missing.
pub(super) fn add_shard_sums<S: MergeableSum>(
    paths: &[PathBuf],
    identity: &str,
    zero: &S,
) -> Result<IdentifiedSums<S>, ReleaseError> {
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        parts.push(LoadedSumsFile { path, record: read_sums_file(path, zero)? });
    }
    let Some(first) = parts.first() else {
        let part = PartialSums { blocks: 0..0, sums: zero.clone() };
        return Ok(IdentifiedSums { files: Vec::new(), identity: None, part, unchecked: Vec::new() });
    };
    if first.record.summand != identity {
        return Err(mismatched_sums_error(first.path));
    }
    parts.iter().try_for_each(|part| part.ensure_same_sums(first))?;
    let mut found: Vec<&PartialSums<S>> = parts.iter().map(|part| &part.record.part).collect();
    found.sort_by_key(|part| (part.blocks.start, part.blocks.end));
    let part = join_block_sums(&found, first.record.total_block_count().unwrap_or(u64::MAX), zero)?;
    let (files, identity) = (first.record.files.clone(), combine_fingerprints(&parts));
    refuse_equal_files(&files, identity.as_ref())?;
    let unchecked = parts.iter().filter(|part| part.record.checksum.is_none());
    let unchecked = unchecked.map(|part| part.path.clone()).collect();
    Ok(IdentifiedSums { files, identity, part, unchecked })
}

/// Combines the fingerprints of all parts. Returns `None` if a part was summed without a key.
fn combine_fingerprints<S>(parts: &[LoadedSumsFile<'_, S>]) -> Option<RowsFingerprint> {
    let (first, others) = parts.split_first()?;
    let mut whole = first.record.identity.clone()?;
    for part in others {
        whole.add_rows(part.record.identity.as_ref()?);
    }
    Some(whole)
}

impl<S> LoadedSumsFile<'_, S> {
    /// The name of the key that its rows are known by.
    fn key_name(&self) -> Option<&str> {
        self.record.identity.as_ref().map(|identity| identity.key.as_str())
    }

    /// Both must hold the same sums over the same files.
    fn ensure_same_sums(&self, first: &Self) -> Result<(), ReleaseError> {
        let what = if self.record.summand != first.record.summand {
            "summands"
        } else if self.record.files != first.record.files {
            "files"
        } else if self.key_name().is_some() && first.key_name().is_some() && self.key_name() != first.key_name() {
            OTHER_KEYS
        } else {
            return Ok(());
        };
        Err(ReleaseError::SumsDiffer { what, first: first.path.clone(), second: self.path.clone() })
    }
}

/// Adds parts in the order of their blocks. Together they must have every block once.
fn join_block_sums<S: MergeableSum>(
    parts: &[&PartialSums<S>],
    all: u64,
    zero: &S,
) -> Result<PartialSums<S>, ReleaseError> {
    let mut whole = PartialSums { blocks: 0..0, sums: zero.clone() };
    for part in parts {
        if whole.append_if_adjacent(part) {
            continue;
        }
        let start = part.blocks.start;
        if start < whole.blocks.end {
            return Err(ReleaseError::SumsOverlap(start.saturating_mul(BLOCK as u64).saturating_add(1)));
        }
        break;
    }
    if whole.blocks.end != all {
        let found: u64 = parts.iter().map(|part| part.blocks.end - part.blocks.start).sum();
        return Err(ReleaseError::SumsIncomplete { missing: all.saturating_sub(found), all });
    }
    Ok(whole)
}

fn read_sums_file<S: MergeableSum>(path: &Path, zero: &S) -> Result<StoredPartialSums<S>, ReleaseError> {
    parse_sums_text(path, &read_limited_text(path).map_err(ReleaseError::io(path))?, zero)
}

/// The error for sums of another spec.
pub(super) fn mismatched_sums_error(path: &Path) -> ReleaseError {
    let other = "the columns, bounds, kernel, inducing inputs, classes or bins differ, or an earlier version wrote it";
    ReleaseError::NotSums { path: path.to_owned(), cause: other.to_owned() }
}

/// Parses the text of a file of sums.
pub(super) fn parse_sums_text<S: MergeableSum>(
    path: &Path,
    text: &str,
    zero: &S,
) -> Result<StoredPartialSums<S>, ReleaseError> {
    let cause = match serde_json::from_str::<StoredPartialSums<S>>(text) {
        Ok(record) if !record.has_valid_checksum() => {
            "the checksum does not match: the file was edited or is damaged".to_owned()
        }
        Ok(record) if record.is_valid_and_compatible_with(zero) => return Ok(record),
        Ok(_) => "the block size or the number of inducing inputs, classes or bins differs".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(ReleaseError::NotSums { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use serde_json::json;

    use super::*;
    use crate::AnyPlannedSumsRelease;
    use dpgp_data::HmacKey;
    use dpgp_data::rows::InMemoryRows;
    use dpgp_run::{DataLocations, Project, WorkerPool};
    use dpgp_stream::BinCounts;

    const SPEC: &str = r#"experiment.title = "a histogram"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "trips" }
task.density = { bins = [{ from = 0.0, to = 2.0, bins = 2 }], test = [{ from = 0.0, to = 2.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram = { relation = "add-remove" } }
"#;

    /// The sums of some blocks of a file of three, whose rows are known by this key.
    struct Shard {
        blocks: Range<u64>,
        key: Option<HmacKey>,
    }

    impl Shard {
        fn text(&self) -> (String, String) {
            let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
            let experiment = project.parse("histogram", SPEC).unwrap();
            let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
            else {
                panic!("counts")
            };
            let row = [self.blocks.start as f64 / 2.0];
            let mut rows = InMemoryRows::new(vec![&row[..], &[1.0]]);
            let pool = WorkerPool::new(1).unwrap();
            let total = streamed.sum_rows_in_memory("rows", &mut rows, &pool, self.key.as_ref()).unwrap();
            let mut record: serde_json::Value = serde_json::from_str(&total.to_json().unwrap()).unwrap();
            record["files"][0]["rows"] = json!(3 * BLOCK);
            record["part"]["blocks"] = json!(self.blocks);
            record.as_object_mut().unwrap().remove("checksum");
            (record.to_string(), streamed.settings_identity())
        }
    }

    /// The rows of the sum of some shards, and whether it knows which they are.
    fn sum_of(shards: &[Shard]) -> Result<(u64, bool), ReleaseError> {
        let folder = tempfile::tempdir().unwrap();
        let (mut paths, mut identity) = (Vec::new(), String::new());
        for (place, shard) in shards.iter().enumerate() {
            let (text, of) = shard.text();
            identity = of;
            paths.push(folder.path().join(format!("{place}.json")));
            std::fs::write(&paths[place], text).unwrap();
        }
        let zero = BinCounts { rows: 0, outside: 0, bins: vec![0; 2], clipped: 0 };
        add_shard_sums(&paths, &identity, &zero).map(|sum| (sum.part.sums.rows, sum.identity.is_some()))
    }

    fn shard(blocks: Range<u64>, key: Option<u8>) -> Shard {
        Shard { blocks, key: key.map(|byte| HmacKey::new(&[byte; 32])) }
    }

    /// A part that was summed without a key makes the whole one without; two keys make none.
    #[test]
    fn keys_are_the_same_or_missing() {
        assert_eq!(sum_of(&[shard(1..3, Some(1)), shard(0..1, Some(1))]).unwrap(), (2, true));
        for keys in [[Some(1), None], [None, Some(1)], [None, None]] {
            let shards = [shard(0..1, keys[0]), shard(1..3, keys[1])];
            assert_eq!(sum_of(&shards).unwrap(), (2, false), "{keys:?}");
        }
        let other = sum_of(&[shard(0..1, Some(1)), shard(1..3, Some(2))]);
        assert!(matches!(other, Err(ReleaseError::SumsDiffer { what: OTHER_KEYS, .. })));
    }

    #[test]
    fn blocks_that_are_missing_are_counted() {
        for (blocks, expected) in [(1..2, 2), (0..2, 1), (2..3, 2)] {
            let missing = sum_of(&[shard(blocks.clone(), None)]);
            let found = match missing {
                Err(ReleaseError::SumsIncomplete { missing, all: 3 }) => missing,
                _ => panic!("{blocks:?}"),
            };
            assert_eq!(found, expected, "{blocks:?}");
        }
        let twice = sum_of(&[shard(0..2, None), shard(1..3, None)]);
        assert!(matches!(twice, Err(ReleaseError::SumsOverlap(row)) if row == BLOCK as u64 + 1));
    }
}
