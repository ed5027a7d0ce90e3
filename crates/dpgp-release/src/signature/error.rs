//! Why nothing was signed or checked.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use thiserror::Error;

/// What keeps a file from being signed, or its signature from being checked.
#[derive(Debug, Error)]
pub enum SignatureError {
    /// OpenSSH is not there.
    #[error(
        "ssh-keygen, which makes and checks signatures, cannot be run: {0}; install OpenSSH 8.3 or later"
    )]
    NoProgram(std::io::Error),
    /// The key is wrong, locked or not there, or its owner refused. `ssh-keygen` itself says why on standard error.
    #[error("ssh-keygen does not sign with the key {} ({status}; its own message stands above)", key.display())]
    NotSigned {
        /// The key.
        key: PathBuf,
        /// How it ended.
        status: ExitStatus,
    },
    /// A file could not be read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl SignatureError {
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }
}
