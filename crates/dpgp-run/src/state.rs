//! The folder for state about the user's own data, and its key.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rand::TryRng;
#[expect(clippy::disallowed_types, reason = "the one file that makes keys")]
use rand::rngs::SysRng;
use thiserror::Error;

use dpgp_data::HmacKey;
use dpgp_fs::{disk, parent_or_current_folder};

/// The file of the key in the folder.
const KEY: &str = "key";

/// Bytes of the key.
const BYTES: usize = 32;

/// A folder that its owner alone may read, with a key that never leaves it. Ledgers are kept there unless they are put
/// elsewhere.
///
/// ```
/// use dpgp_run::StateFolder;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("state");
/// let first = StateFolder::open_at(&path)?;
/// assert_eq!(StateFolder::open_at(&path)?.key().name(), first.key().name()); // the key is made once
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StateFolder {
    path: PathBuf,
    key: HmacKey,
}

/// Why there is no such folder.
#[derive(Debug, Error)]
pub enum StateError {
    /// The environment does not say where.
    #[error(
        "there is no folder for your data key and ledgers; set DPGP_STATE to a persistent folder, such as a \
         container volume (or set XDG_STATE_HOME or HOME)"
    )]
    NoFolder,
    /// The environment names a relative path.
    #[error(
        "the folder for your data key and ledgers, {}, is a relative path, so each working folder would have its own key \
         and budgets; set DPGP_STATE to an absolute path", .0.display()
    )]
    Relative(PathBuf),
    /// The folder or the key cannot be used.
    #[error("{}: {cause}; to use another folder for your data key and ledgers, set DPGP_STATE", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The file does not hold a key.
    #[error(
        "{} is not a 32-byte key. Restore the key from a backup: ledgers sealed with it cannot be used \
         without it", .0.display()
    )]
    BadKey(PathBuf),
    /// The operating system gives no randomness.
    #[error("the operating system provided no randomness for your data key: {0}")]
    Randomness(String),
}

impl StateFolder {
    /// The folder that the environment names: `DPGP_STATE`, else `dpgp` in `XDG_STATE_HOME`, else `.local/state/dpgp` in
    /// `HOME`. It is made with its key if it is not there.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn open() -> Result<Self, StateError> {
        Self::open_at(&state_folder_path()?.ok_or(StateError::NoFolder)?)
    }

    /// The folder that the environment names, if it is there with its key: nothing is written.
    ///
    /// # Errors
    /// [`StateError`] for a key that cannot be read.
    pub fn open_existing() -> Result<Option<Self>, StateError> {
        state_folder_path()?.filter(|path| path.join(KEY).exists()).map(|path| Self::open_at(&path)).transpose()
    }

    /// The same, where a path says which.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn open_at(path: &Path) -> Result<Self, StateError> {
        disk::make_private_folder(path).map_err(StateError::io(path))?;
        let file = path.join(KEY);
        if !file.exists() {
            make_key(&file)?;
        }
        let bytes = fs::read(&file).map_err(StateError::io(&file))?;
        if bytes.len() != BYTES {
            return Err(StateError::BadKey(file));
        }
        Ok(Self { path: path.to_path_buf(), key: HmacKey::new(&bytes) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key.
    pub fn key(&self) -> &HmacKey {
        &self.key
    }
}

/// A key for one call, which compares its files by it: nothing is kept, and nothing is written.
///
/// # Errors
/// [`StateError::Randomness`].
pub fn generate_unsaved_key() -> Result<HmacKey, StateError> {
    Ok(HmacKey::new(&random_bytes()?))
}

impl StateError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path, cause }
    }
}

fn state_folder_path() -> Result<Option<PathBuf>, StateError> {
    let dpgp = path_from_environment("DPGP_STATE");
    let state = path_from_environment("XDG_STATE_HOME").map(|state| state.join("dpgp"));
    let named = dpgp.or(state).or_else(|| path_from_environment("HOME").map(|home| home.join(".local/state/dpgp")));
    match named {
        Some(path) if path.is_relative() => Err(StateError::Relative(path)),
        named => Ok(named),
    }
}

fn path_from_environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn random_bytes() -> Result<[u8; BYTES], StateError> {
    let mut bytes = [0; BYTES];
    SysRng.try_fill_bytes(&mut bytes).map_err(|cause| StateError::Randomness(cause.to_string()))?;
    Ok(bytes)
}

/// Writes a new key, whole or not at all; of several processes one wins. Temporary files are private to their owner.
fn make_key(path: &Path) -> Result<(), StateError> {
    let key = random_bytes()?;
    let mut file = disk::create_temporary_file(parent_or_current_folder(path), 0o600).map_err(StateError::io(path))?;
    let written = disk::write(&mut file, &key).and_then(|()| disk::sync(&file));
    written.map_err(StateError::io(path))?;
    match disk::persist_new(file, path) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(StateError::io(path)(cause)),
        _ => Ok(()),
    }
}
