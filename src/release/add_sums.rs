//! Sums of the parts of some rows, added.

use std::path::{Path, PathBuf};

use super::ReleaseError;
use super::sum_rows::{SummedRows, distinct_files};
use crate::data::{Fingerprint, whole_text};
use crate::stream::{BLOCK, PartSums, Record, Sum};

/// What sums differ in whose rows are known by other keys.
pub(super) const OTHER_KEYS: &str = "keys: set DPGP_STATE to one folder wherever parts are summed";

/// The sums of one file.
struct SumsRecordFile<'p, S> {
    path: &'p PathBuf,
    record: Record<S>,
}

/// Adds the sums of shards, which must be of this identity and make the whole.
///
/// # Errors
/// [`ReleaseError`] if a file holds no such sums, or they do not make the whole.
pub(super) fn added<S: Sum>(
    paths: &[PathBuf],
    identity: &str,
    zero: &S,
) -> Result<SummedRows<S>, ReleaseError> {
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        parts.push(SumsRecordFile { path, record: read(path, zero)? });
    }
    let Some(first) = parts.first() else {
        let part = PartSums { blocks: 0..0, sums: zero.clone() };
        return Ok(SummedRows { files: Vec::new(), identity: None, part });
    };
    if first.record.summand != identity {
        return Err(other_summand(first.path));
    }
    parts.iter().try_for_each(|part| part.belongs_to(first))?;
    let mut found: Vec<&PartSums<S>> = parts.iter().map(|part| &part.record.part).collect();
    found.sort_by_key(|part| (part.blocks.start, part.blocks.end));
    let part = whole(&found, first.record.blocks().unwrap_or(u64::MAX), zero)?;
    let (files, identity) = (first.record.files.clone(), identity_of(&parts));
    distinct_files(&files, identity.as_ref())?;
    Ok(SummedRows { files, identity, part })
}

/// That of all rows; none if some part was summed without a key.
fn identity_of<S>(parts: &[SumsRecordFile<'_, S>]) -> Option<Fingerprint> {
    let (first, others) = parts.split_first()?;
    let mut whole = first.record.identity.clone()?;
    for part in others {
        whole.add(part.record.identity.as_ref()?);
    }
    Some(whole)
}

impl<S> SumsRecordFile<'_, S> {
    /// The name of the key that its rows are known by.
    fn key(&self) -> Option<&str> {
        self.record.identity.as_ref().map(|identity| identity.key.as_str())
    }

    /// Both must be of the same sums over the same files.
    fn belongs_to(&self, first: &Self) -> Result<(), ReleaseError> {
        let what = if self.record.summand != first.record.summand {
            "summands"
        } else if self.record.files != first.record.files {
            "files"
        } else if self.key().is_some() && first.key().is_some() && self.key() != first.key() {
            OTHER_KEYS
        } else {
            return Ok(());
        };
        Err(ReleaseError::SumsDiffer { what, first: first.path.clone(), second: self.path.clone() })
    }
}

/// The sum of parts, in the order of their blocks, which must be all blocks from the first on, each of them once.
fn whole<S: Sum>(parts: &[&PartSums<S>], all: u64, zero: &S) -> Result<PartSums<S>, ReleaseError> {
    let mut whole = PartSums { blocks: 0..0, sums: zero.clone() };
    for part in parts {
        if whole.add(part) {
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

fn read<S: Sum>(path: &Path, zero: &S) -> Result<Record<S>, ReleaseError> {
    parsed(path, &whole_text(path).map_err(ReleaseError::io(path))?, zero)
}

/// Sums that were made by another spec.
pub(super) fn other_summand(path: &Path) -> ReleaseError {
    let other = "they are of other columns, bounds, inducing inputs, classes or bins, or another kernel";
    ReleaseError::NotSums { path: path.to_owned(), cause: other.to_owned() }
}

/// The record in the text of a file of sums.
pub(super) fn parsed<S: Sum>(path: &Path, text: &str, zero: &S) -> Result<Record<S>, ReleaseError> {
    let cause = match serde_json::from_str::<Record<S>>(text) {
        Ok(record) if record.is_sound(zero) => return Ok(record),
        Ok(_) => {
            "they are of another number of inducing inputs, classes or bins, or of blocks of another size"
                .to_owned()
        }
        Err(error) => error.to_string(),
    };
    Err(ReleaseError::NotSums { path: path.to_owned(), cause })
}
