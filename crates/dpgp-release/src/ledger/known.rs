//! The records of ledgers in the state folder: path, state and rows of each.
//!
//! Also checks that the numbers of a release agree, and refuses a public column that earlier releases protect before it
//! is read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LedgerOptions;
use super::book::{Ledger, SealKey, has_common_rows};
use super::entry::LedgerEntry;
use super::error::LedgerError;
use super::file::{read_ledger_text, replace_file_atomically};
use dpgp_accounting::{gaussian_delta, gaussian_delta_upper_bound};
use dpgp_data::{RowDigestSum, RowsFingerprint};
use dpgp_fs::{disk, parent_or_current_folder};
use dpgp_run::StateFolder;

/// The folder of ledgers in the state folder.
const LEDGERS: &str = "ledgers";

/// The folder of marks beside it: one file for each recorded ledger, so that a missing record is noticed.
const MARKS: &str = "counted";

/// The ending of the record of a ledger.
const ENDING: &str = "head";

/// Digits of the name of a ledger, from the sum of digests of its rows.
const DIGITS: usize = 16;

/// The state of a ledger when it was last written here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisteredLedger {
    /// Its name, from the rows of its first release.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// The number of its releases.
    pub releases: u64,
    /// The link of the last release.
    pub link: String,
    /// Its seal.
    pub seal: String,
    /// The tag of all other fields under the key of the state folder. Empty in records of earlier versions.
    #[serde(default)]
    pub tag: String,
    /// The rows that it is about.
    pub data: Vec<RowsFingerprint>,
}

/// All ledgers that the state folder knows.
#[derive(Debug)]
pub(super) struct LedgerRegistry {
    folder: PathBuf,
    key: SealKey,
    pub list: Vec<RegisteredLedger>,
}

impl LedgerRegistry {
    /// Reads all records.
    ///
    /// Obligation: each record is as it was written, under the present key. Otherwise counted rows would not be
    /// recognised, and a second ledger would start for them.
    pub fn read(state: &StateFolder) -> Result<Self, LedgerError> {
        let folder = state.path().join(LEDGERS);
        let key = SealKey::new(state.key());
        let mut known = Self { folder: folder.clone(), key, list: Vec::new() };
        for path in paths_in(&folder)? {
            if path.extension().is_some_and(|ending| ending == ENDING) {
                known.list.push(read_registration(&path, &known.key)?);
            }
        }
        known.list.sort_by(|one, other| one.path.cmp(&other.path));
        known.ensure_complete()?;
        Ok(known)
    }

    /// Fails if the record of a ledger is missing: a mark without a record, or a ledger in this folder with several
    /// releases and no record. (A process may die after the first release and before the record.)
    fn ensure_complete(&self) -> Result<(), LedgerError> {
        for mark in paths_in(&parent_or_current_folder(&self.folder).join(MARKS))? {
            let name = mark.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_name = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_name && !self.list.iter().any(|known| known.name == name) {
                return Err(LedgerError::Forgotten { head: self.registration_path(&name), mark: Some(mark) });
            }
        }
        for path in paths_in(&self.folder)? {
            let is_known = self.list.iter().any(|known| known.path.file_name() == path.file_name());
            if is_known || path.extension().is_none_or(|ending| ending != "toml") {
                continue;
            }
            let ledger = read_ledger_text(&path)?.and_then(|text| Ledger::parse(&path, &text).ok());
            if ledger.is_some_and(|ledger| ledger.release.len() > 1) {
                return Err(LedgerError::Forgotten { head: path.with_extension(ENDING), mark: None });
            }
        }
        Ok(())
    }

    /// The file of the record of a ledger.
    fn registration_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ENDING}"))
    }

    /// Marks that a ledger has a record.
    fn write_marker(&self, name: &str, ledger: &Path) -> Result<(), LedgerError> {
        let folder = parent_or_current_folder(&self.folder).join(MARKS);
        let mark = folder.join(name);
        if mark.exists() {
            return Ok(());
        }
        let text = format!("{} is remembered in {}\n", ledger.display(), self.registration_path(name).display());
        disk::make_private_folder(&folder)
            .and_then(|()| replace_file_atomically(&mark, &text))
            .map_err(LedgerError::io(&mark))
    }

    /// Ledgers about some of the rows. Without `alike`, only those about exactly these rows.
    pub fn ledgers_about(&self, rows: &RowsFingerprint, alike: bool) -> Vec<&RegisteredLedger> {
        self.list.iter().filter(|known| has_common_rows(&known.data, rows, alike)).collect()
    }

    /// The record of the ledger at a path.
    pub fn ledger_at_path(&self, path: &Path) -> Option<&RegisteredLedger> {
        self.list.iter().find(|known| known.path == path)
    }

    /// Finds the record of a ledger that began with the same release, even at another path.
    pub fn find_by_first_release(&self, ledger: &Ledger) -> Option<&RegisteredLedger> {
        let name = first_release_name(ledger)?;
        self.list.iter().find(|known| known.name == name)
    }

    /// The default path of a ledger about these rows.
    pub fn default_ledger_path(&self, rows: &RowsFingerprint) -> PathBuf {
        self.folder.join(format!("{}.toml", ledger_name_from_rows(&rows.all_rows_digest().total)))
    }

    /// Makes the folder. It and the key beside it are on the disk when this returns: a release that outlives them would
    /// be forgotten.
    pub fn ensure_folder(&self) -> Result<(), LedgerError> {
        let made = disk::make_private_folder(&self.folder)
            .and_then(|()| disk::sync_folder(parent_or_current_folder(&self.folder)));
        made.map_err(LedgerError::io(&self.folder))
    }

    /// Records a ledger as it was just written.
    pub fn register_ledger(&self, path: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
        let (Some(name), Some(last)) = (first_release_name(ledger), ledger.release.last()) else { return Ok(()) };
        let head = RegisteredLedger {
            name: name.clone(),
            path: path.to_path_buf(),
            releases: last.number,
            link: last.link.clone(),
            seal: ledger.seal.clone(),
            tag: String::new(),
            data: ledger.data.clone(),
        };
        let tag = self.key.registration_tag(&head).map_err(|reason| LedgerError::malformed(path, reason))?;
        let head = RegisteredLedger { tag, ..head };
        let file = self.registration_path(&name);
        let text = toml::to_string(&head).map_err(|error| LedgerError::malformed(&file, error.to_string()))?;
        replace_file_atomically(&file, &text).map_err(LedgerError::io(&file))?;
        self.write_marker(&name, path)
    }
}

/// The files in a folder. None if the folder does not exist.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, LedgerError> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(LedgerError::io(folder))?,
    };
    entries.map(|entry| Ok(entry.map_err(LedgerError::io(folder))?.path())).collect()
}

/// Reads the record of one ledger.
fn read_registration(path: &Path, key: &SealKey) -> Result<RegisteredLedger, LedgerError> {
    let Some(text) = read_ledger_text(path)? else {
        return Err(LedgerError::malformed(path, "it disappeared while being read"));
    };
    parse_registration(path, &text, key)
}

/// Parses the record of a ledger and checks that it is as it was written.
pub(super) fn parse_registration(path: &Path, text: &str, key: &SealKey) -> Result<RegisteredLedger, LedgerError> {
    let head: RegisteredLedger =
        toml::from_str(text).map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
    match head.tampering_reason(path, key) {
        Some(reason) => Err(LedgerError::malformed(path, reason)),
        None => Ok(head),
    }
}

impl RegisteredLedger {
    /// Returns the reason why a record is not as it was written, if there is one.
    fn tampering_reason(&self, path: &Path, key: &SealKey) -> Option<&'static str> {
        if self.data.iter().any(|rows| rows.key != key.name()) {
            return Some("it was written with a key other than the current key of its state folder");
        }
        let sound = if self.tag.is_empty() {
            // A record without a tag, of an earlier version: the ledger must hold all of it.
            let named = path.file_stem().is_some_and(|stem| *stem == *self.name);
            let text = read_ledger_text(&self.path).ok().flatten();
            let ledger = text.and_then(|text| Ledger::parse(&self.path, &text).ok());
            named && ledger.is_none_or(|ledger| self.is_prefix_of(&ledger))
        } else {
            key.registration_tag(self).is_ok_and(|tag| tag == self.tag)
        };
        (!sound).then_some("it was edited")
    }

    /// Whether a ledger holds all of the record. It may have further releases.
    fn is_prefix_of(&self, ledger: &Ledger) -> bool {
        let rows_stand = self.data.iter().all(|rows| has_common_rows(&ledger.data, rows, false));
        let same = self.data == ledger.data || ledger.release.len() as u64 != self.releases;
        let named = first_release_name(ledger).as_ref() == Some(&self.name);
        rows_stand && same && named && self.mismatch_reason(ledger).is_none()
    }

    /// Returns the reason why a ledger is neither the recorded one nor a continuation of it.
    pub fn mismatch_reason(&self, ledger: &Ledger) -> Option<String> {
        let (found, known) = (ledger.release.len() as u64, self.releases);
        let there = usize::try_from(known).ok().and_then(|known| ledger.release.get(known.checked_sub(1)?));
        match there {
            None => {
                Some(format!("it holds {found} releases, but {known} were charged to it: an earlier copy was restored"))
            }
            Some(entry) if entry.link != self.link || (found == known && ledger.seal != self.seal) => {
                Some(format!("its first {known} releases are not the ones that were charged to it"))
            }
            Some(_) => None,
        }
    }
}

fn ledger_name_from_rows(total: &RowDigestSum) -> String {
    total.to_string().chars().take(DIGITS).collect()
}

fn first_release_name(ledger: &Ledger) -> Option<String> {
    ledger.data.first().map(|rows| ledger_name_from_rows(&rows.all_rows_digest().total))
}

/// The relative tolerance of `mu` and delta, which were computed from calibrations in doubles.
const PRECISION: f64 = 1e-6;

impl LedgerEntry {
    /// Returns the contradiction between numbers, if there is one. The exact delta at epsilon follows from `mu`, and is
    /// at most the claimed delta.
    ///
    /// Obligation: in an entry without exceptions, a `mu` with an error above 1e-6 does not agree with the epsilon and
    /// the exact delta beside it, unless both deltas are 0 or 1 in doubles. The exact delta rises with `mu` (Balle and
    /// Wang 2018, Theorem 8).
    pub(super) fn find_contradiction(&self) -> Option<String> {
        let Self { mu, epsilon, delta, delta_exact, caveats, .. } = self;
        if !caveats.is_empty() {
            return None;
        }
        let least = gaussian_delta(1.0 / (mu * (1.0 - PRECISION)), *epsilon);
        let most = gaussian_delta_upper_bound(1.0 / (mu * (1.0 + PRECISION)), *epsilon);
        if *delta_exact < least * (1.0 - PRECISION) || *delta_exact > most * (1.0 + PRECISION) {
            return Some(format!("mu = {mu:?} and delta_exact = {delta_exact:?} contradict each other"));
        }
        (*delta_exact > delta * (1.0 + PRECISION))
            .then(|| format!("delta_exact = {delta_exact:?} is above delta = {delta:?}"))
    }
}

/// Refuses a release that treats columns as public that a ledger with a budget protects.
///
/// Obligation: this uses only keyed digests of the cells, and comes before anything is parsed, filtered or fitted.
/// Otherwise a read error, a preview or a matrix that cannot be inverted would show a protected column without a
/// charge.
///
/// # Errors
/// [`LedgerError::OtherGuarantee`], and those of ledgers that cannot be read.
pub(crate) fn refuse_protected_columns(
    place: &LedgerOptions,
    rows: &RowsFingerprint,
    public: &[String],
) -> Result<(), LedgerError> {
    if public.is_empty() {
        return Ok(());
    }
    for known in LedgerRegistry::read(&place.state)?.ledgers_about(rows, !place.other_people) {
        // One that went away is told of by the charge.
        let Some(text) = read_ledger_text(&known.path)? else { continue };
        let ledger = Ledger::parse(&known.path, &text)?;
        let exposed = ledger.releases_with_rows().find_map(|earlier| earlier.exposure_reason(public, rows));
        if let Some(reason) = exposed.filter(|_| ledger.budget.is_some()) {
            return Err(LedgerError::OtherGuarantee { path: known.path.clone(), reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use super::*;

    /// Without a folder no ledger is known; where it cannot be read, ledgers would be forgotten.
    #[test]
    fn a_folder_that_cannot_be_read_is_an_error() {
        let trial = Trial::new();
        assert!(LedgerRegistry::read(&trial.place.state).unwrap().list.is_empty());
        fs::write(trial.place.state.path().join(LEDGERS), "no folder").unwrap();
        assert!(matches!(LedgerRegistry::read(&trial.place.state), Err(LedgerError::Io { .. })));
    }

    fn is_forgotten(trial: &Trial) -> bool {
        matches!(trial.charge("next"), Err(LedgerError::Forgotten { .. }))
    }

    /// What was remembered is missed, whatever else went with it; a ledger is forgotten where its mark is taken away,
    /// too.
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
            assert_eq!(LedgerRegistry::read(&trial.place.state).is_err(), forgotten, "{id}");
        }
    }
}

#[cfg(test)]
mod agreement_tests {
    use crate::ledger::Ledger;

    /// One release with these numbers. Exact deltas at epsilon 1 of mpmath: 2.924272104856407e-6 at mu = 0.25.
    fn error(numbers: &str) -> String {
        let text = format!(
            "version = 2\nkey = \"\"\nseal = \"\"\n[[release]]\ntime = \"\"\nspec = \"\"\nspec_sha256 = \"\"\ntarget = \
             \"\"\npublic = []\nneighbours = {{ one-target-changes = 1.0 }}\n{numbers}"
        );
        Ledger::parse("l.toml".as_ref(), &text).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        let sound = "mu = 0.25\nepsilon = 1.0\ndelta_exact = 2.924272104856407e-6\ndelta = 3e-6\n";
        assert_eq!(error(sound), "");
        for (number, other, says) in [
            ("mu = 0.25", "mu = 0.24999", "contradict each other"),
            ("mu = 0.25", "mu = 0.25001", "contradict each other"),
            ("epsilon = 1.0", "epsilon = 1.0001", "contradict each other"),
            ("delta_exact = 2.9", "delta_exact = 2.8", "contradict each other"),
            ("delta = 3e-6", "delta = 2e-6", "is above delta"),
        ] {
            assert!(sound.contains(number));
            let told = error(&sound.replace(number, other));
            assert!(told.contains("release 1") && told.contains(says), "{other}: {told}");
        }
        // What has exceptions is not told by its mu, and says so.
        assert_eq!(error(&sound.replace("delta = 3e-6", "delta = 2e-6\ncaveats = [\"one\"]")), "");
    }

    /// Exact deltas of mpmath at a mu that is one part in a million smaller or greater, and a part in a million beyond.
    #[test]
    fn a_part_in_a_million_is_allowed() {
        let with = |delta: &str| error(&format!("mu = 0.25\nepsilon = 1.0\ndelta_exact = {delta}\ndelta = 3e-6\n"));
        for (within, beyond) in
            [("2.9242150330099172e-6", "2.924213863324138e-6"), ("2.9243291776641718e-6", "2.9243303473960768e-6")]
        {
            assert_eq!(with(within), "");
            assert!(with(beyond).contains("contradict each other"), "{beyond}");
        }
    }

    /// A mu of a thousandth has no delta at epsilon 1 in doubles: the exponent of its density is below -500,000.
    #[test]
    fn a_delta_of_nothing_agrees() {
        assert_eq!(error("mu = 0.001\nepsilon = 1.0\ndelta_exact = 0.0\ndelta = 1e-6\n"), "");
    }
}
