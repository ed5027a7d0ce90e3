//! What the state folder remembers of every ledger: where it is, how far it had come, and which rows it is about.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::book::{Ledger, is_about};
use super::chain::SealKey;
use super::error::LedgerError;
use super::file::{replace, text_of};
use dpgp_data::{Fingerprint, RowTotal};
use dpgp_fs::disk;
use dpgp_fs::folder_of;
use dpgp_run::StateFolder;

/// The folder of ledgers in the state folder.
const LEDGERS: &str = "ledgers";

/// The folder beside it that tells which ledgers are remembered, should what is remembered be gone: a file for each.
const MARKS: &str = "counted";

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
        for path in paths_in(&folder)? {
            if path.extension().is_some_and(|ending| ending == ENDING) {
                known.list.push(read_head(&path, &known.key)?);
            }
        }
        known.list.sort_by(|one, other| one.path.cmp(&other.path));
        known.ensure_complete()?;
        Ok(known)
    }

    /// Fails if a ledger that was remembered is not any more: by its mark, or by a ledger here that no process left after its first
    /// release, before it was remembered.
    fn ensure_complete(&self) -> Result<(), LedgerError> {
        for mark in paths_in(&folder_of(&self.folder).join(MARKS))? {
            let name = mark.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_name = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_name && !self.list.iter().any(|known| known.name == name) {
                return Err(LedgerError::Forgotten { head: self.head(&name), mark: Some(mark) });
            }
        }
        for path in paths_in(&self.folder)? {
            let is_known = self.list.iter().any(|known| known.path.file_name() == path.file_name());
            if is_known || path.extension().is_none_or(|ending| ending != "toml") {
                continue;
            }
            let ledger = text_of(&path)?.and_then(|text| Ledger::parse(&path, &text).ok());
            if ledger.is_some_and(|ledger| ledger.release.len() > 1) {
                return Err(LedgerError::Forgotten { head: path.with_extension(ENDING), mark: None });
            }
        }
        Ok(())
    }

    /// The file in which a ledger is remembered.
    fn head(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ENDING}"))
    }

    /// Marks that a ledger is remembered, once it is.
    fn mark(&self, name: &str, ledger: &Path) -> Result<(), LedgerError> {
        let folder = folder_of(&self.folder).join(MARKS);
        let mark = folder.join(name);
        if mark.exists() {
            return Ok(());
        }
        let text = format!("{} is remembered in {}\n", ledger.display(), self.head(name).display());
        disk::make_folder(&folder).and_then(|()| replace(&mark, &text)).map_err(LedgerError::io(&mark))
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
        let file = self.head(&name);
        let text =
            toml::to_string(&head).map_err(|error| LedgerError::malformed(&file, error.to_string()))?;
        replace(&file, &text).map_err(LedgerError::io(&file))?;
        self.mark(&name, path)
    }
}

/// The files in a folder; none where it is not there.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, LedgerError> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(LedgerError::io(folder))?,
    };
    entries.map(|entry| Ok(entry.map_err(LedgerError::io(folder))?.path())).collect()
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

    fn is_forgotten(trial: &Trial) -> bool {
        matches!(trial.charge("next"), Err(LedgerError::Forgotten { .. }))
    }

    /// What was remembered is missed, whatever else went with it; a ledger is forgotten where its mark is taken away, too.
    #[test]
    fn what_was_remembered_is_missed() {
        for with_ledger in [false, true] {
            let trial = Trial::new();
            trial.charge("a").unwrap();
            let [head, ledger] = [ENDING, "toml"].map(|ending| trial.files(ending).remove(0));
            fs::remove_file(head).unwrap();
            if with_ledger {
                fs::remove_file(ledger).unwrap();
            }
            assert!(is_forgotten(&trial), "{with_ledger}");
            fs::remove_dir_all(trial.place.state.path().join(MARKS)).unwrap();
            assert!(!is_forgotten(&trial), "{with_ledger}");
        }
        let trial = Trial::new();
        trial.charge("a").unwrap();
        fs::remove_dir_all(trial.place.state.path().join(LEDGERS)).unwrap();
        assert!(is_forgotten(&trial));
    }

    /// A state folder of a version without marks: a process that died before it remembered had made one release.
    #[test]
    fn a_ledger_of_several_releases_was_remembered() {
        let trial = Trial::new();
        for (id, forgotten) in [("a", false), ("b", true)] {
            trial.charge(id).unwrap();
            fs::remove_file(trial.files(ENDING).remove(0)).unwrap();
            fs::remove_dir_all(trial.place.state.path().join(MARKS)).unwrap();
            assert_eq!(KnownLedgers::read(&trial.place.state).is_err(), forgotten, "{id}");
        }
    }
}
