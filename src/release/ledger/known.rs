//! What the state folder remembers of every ledger: where it is, how far it had come, and which rows it is about.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::book::{Ledger, is_about};
use super::chain::SealKey;
use super::error::LedgerError;
use super::file::{replace, text_of};
use crate::data::{Fingerprint, RowTotal};
use crate::run::{StateFolder, disk, folder_of};

/// The folder of ledgers in the state folder.
const LEDGERS: &str = "ledgers";

/// The ending of what is remembered of a ledger.
const ENDING: &str = "head";

/// Digits of the sum of digests by which a ledger is named.
const DIGITS: usize = 16;

/// A ledger as it was when it was last written here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownLedger {
    /// Its name, from the rows that it began with.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How many releases it held.
    pub releases: u64,
    /// The link of the last.
    pub link: String,
    /// Its seal.
    pub seal: String,
    /// The tag of all else under the key of the state folder; nothing where it was written before there were tags.
    #[serde(default)]
    pub tag: String,
    /// The rows that it is about.
    pub data: Vec<Fingerprint>,
}

/// All ledgers that the state folder knows.
#[derive(Debug)]
pub(super) struct KnownLedgers {
    folder: PathBuf,
    key: SealKey,
    pub list: Vec<KnownLedger>,
}

impl KnownLedgers {
    /// Reads what is there.
    ///
    /// Obligation: each is as it was written, under the key that is there now; otherwise rows that are counted would not be known,
    /// and a second ledger would begin for them.
    pub fn read(state: &StateFolder) -> Result<Self, LedgerError> {
        let folder = state.path().join(LEDGERS);
        let key = SealKey::new(state.key());
        let mut known = Self { folder: folder.clone(), key, list: Vec::new() };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(known),
            Err(cause) => return Err(LedgerError::io(&folder)(cause)),
        };
        for entry in entries {
            let path = entry.map_err(LedgerError::io(&folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                known.list.push(read_head(&path, &known.key)?);
            }
        }
        known.list.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(known)
    }

    /// Those with some of the rows; without `alike`, only those with exactly these.
    pub fn about(&self, rows: &Fingerprint, alike: bool) -> Vec<&KnownLedger> {
        self.list.iter().filter(|known| is_about(&known.data, rows, alike)).collect()
    }

    /// What is known of the ledger at a path.
    pub fn at(&self, path: &Path) -> Option<&KnownLedger> {
        self.list.iter().find(|known| known.path == path)
    }

    /// What is known of a ledger that began with the same release, wherever it was then.
    pub fn same_beginning(&self, ledger: &Ledger) -> Option<&KnownLedger> {
        let name = name_of(ledger)?;
        self.list.iter().find(|known| known.name == name)
    }

    /// Where a ledger of these rows is kept if nothing else is said.
    pub fn place_for(&self, rows: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.toml", name_for(&rows.whole().total)))
    }

    /// Makes the folder. It and the key beside it are on the disk when this returns: a release that outlives them would be forgotten.
    pub fn ensure_folder(&self) -> Result<(), LedgerError> {
        let made = disk::make_folder(&self.folder).and_then(|()| disk::sync_folder(folder_of(&self.folder)));
        made.map_err(LedgerError::io(&self.folder))
    }

    /// Remembers a ledger as it was just written.
    pub fn remember(&self, path: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
        let (Some(name), Some(last)) = (name_of(ledger), ledger.release.last()) else { return Ok(()) };
        let head = KnownLedger {
            name: name.clone(),
            path: path.to_path_buf(),
            releases: last.number,
            link: last.link.clone(),
            seal: ledger.seal.clone(),
            tag: String::new(),
            data: ledger.data.clone(),
        };
        let tag = self.key.tag_of(&head).map_err(|reason| LedgerError::malformed(path, reason))?;
        let head = KnownLedger { tag, ..head };
        let file = self.folder.join(format!("{name}.{ENDING}"));
        let text =
            toml::to_string(&head).map_err(|error| LedgerError::malformed(&file, error.to_string()))?;
        replace(&file, &text).map_err(LedgerError::io(&file))
    }
}

/// Reads what is remembered of one ledger.
fn read_head(path: &Path, key: &SealKey) -> Result<KnownLedger, LedgerError> {
    let Some(text) = text_of(path)? else {
        return Err(LedgerError::malformed(path, "it went away while it was read"));
    };
    head_of(path, &text, key)
}

/// What a text remembers of a ledger, if it is as it was written.
pub(super) fn head_of(path: &Path, text: &str, key: &SealKey) -> Result<KnownLedger, LedgerError> {
    let head: KnownLedger =
        toml::from_str(text).map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
    match head.edited(path, key) {
        Some(reason) => Err(LedgerError::malformed(path, reason)),
        None => Ok(head),
    }
}

impl KnownLedger {
    /// Why what is remembered is not as it was written.
    fn edited(&self, path: &Path, key: &SealKey) -> Option<&'static str> {
        if self.data.iter().any(|rows| rows.key != key.name()) {
            return Some("it was written with another key than that of its state folder now");
        }
        let sound = if self.tag.is_empty() {
            // Before there were tags: all of it stands in the ledger, too.
            let named = path.file_stem().is_some_and(|stem| *stem == *self.name);
            let text = text_of(&self.path).ok().flatten();
            let ledger = text.and_then(|text| Ledger::parse(&self.path, &text).ok());
            named && ledger.is_none_or(|ledger| self.is_of(&ledger))
        } else {
            key.tag_of(self).is_ok_and(|tag| tag == self.tag)
        };
        (!sound).then_some("it was edited")
    }

    /// Whether all that is remembered stands in a ledger, which may have gone on.
    fn is_of(&self, ledger: &Ledger) -> bool {
        let rows_stand = self.data.iter().all(|rows| is_about(&ledger.data, rows, false));
        let same = self.data == ledger.data || ledger.release.len() as u64 != self.releases;
        rows_stand && same && name_of(ledger).as_ref() == Some(&self.name) && self.fault(ledger).is_none()
    }

    /// Why a ledger is not the one that was written here, or one that goes on from it.
    pub fn fault(&self, ledger: &Ledger) -> Option<String> {
        let (found, known) = (ledger.release.len() as u64, self.releases);
        let there = usize::try_from(known).ok().and_then(|known| ledger.release.get(known.checked_sub(1)?));
        match there {
            None => Some(format!(
                "it holds {found} releases, but {known} were charged to it: an earlier copy was put back"
            )),
            Some(entry) if entry.link != self.link || (found == known && ledger.seal != self.seal) => {
                Some(format!("its first {known} releases are not those that were charged to it"))
            }
            Some(_) => None,
        }
    }
}

fn name_for(total: &RowTotal) -> String {
    total.to_string().chars().take(DIGITS).collect()
}

fn name_of(ledger: &Ledger) -> Option<String> {
    ledger.data.first().map(|rows| name_for(&rows.whole().total))
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use super::*;

    /// Without a folder no ledger is known; where it cannot be read, ledgers would be forgotten.
    #[test]
    fn a_folder_that_cannot_be_read_is_an_error() {
        let trial = Trial::new();
        assert!(KnownLedgers::read(&trial.place.state).unwrap().list.is_empty());
        fs::write(trial.place.state.path().join(LEDGERS), "no folder").unwrap();
        assert!(matches!(KnownLedgers::read(&trial.place.state), Err(LedgerError::Io { .. })));
    }
}
