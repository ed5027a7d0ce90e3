//! What the state folder remembers of every ledger: where it is, how far it had come, and which rows it is about.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::book::{Ledger, is_about};
use super::error::LedgerError;
use super::file::replace;
use crate::data::{Fingerprint, RowTotal};
use crate::run::StateFolder;

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
    /// The rows that it is about.
    pub data: Vec<Fingerprint>,
}

/// All ledgers that the state folder knows.
#[derive(Debug)]
pub(super) struct KnownLedgers {
    folder: PathBuf,
    pub list: Vec<KnownLedger>,
}

impl KnownLedgers {
    /// Reads what is there.
    pub fn read(state: &StateFolder) -> Result<Self, LedgerError> {
        let folder = state.path().join(LEDGERS);
        let mut known = Self { folder: folder.clone(), list: Vec::new() };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(known),
            Err(cause) => return Err(LedgerError::io(&folder)(cause)),
        };
        for entry in entries {
            let path = entry.map_err(LedgerError::io(&folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                let text = fs::read_to_string(&path).map_err(LedgerError::io(&path))?;
                let head = toml::from_str(&text);
                known.list.push(head.map_err(|error| LedgerError::malformed(&path, error.to_string()))?);
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

    /// Makes the folder.
    pub fn ensure_folder(&self) -> Result<(), LedgerError> {
        fs::create_dir_all(&self.folder).map_err(LedgerError::io(&self.folder))
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
            data: ledger.data.clone(),
        };
        let file = self.folder.join(format!("{name}.{ENDING}"));
        let text =
            toml::to_string(&head).map_err(|error| LedgerError::malformed(&file, error.to_string()))?;
        replace(&file, &text).map_err(LedgerError::io(&file))
    }
}

impl KnownLedger {
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

/// One process at a time charges ledgers of a state folder; the lock goes with the file that is returned.
pub(super) fn lock(path: &Path) -> Result<File, LedgerError> {
    let mut name = path.to_path_buf().into_os_string();
    name.push(".lock");
    let path = PathBuf::from(name);
    let lock = File::options().create(true).append(true).open(&path).map_err(LedgerError::io(&path))?;
    lock.lock().map_err(LedgerError::io(&path))?;
    Ok(lock)
}
