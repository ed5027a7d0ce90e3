//! The key that signs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::error::SignatureError;
use super::ssh_keygen::{NAMESPACE, ssh_keygen};

/// A key that has signed before anything was drawn or charged, so that a wrong one is found while it costs nothing.
///
/// ```no_run
/// use dpgp_release::SigningKey;
/// let key = SigningKey::tried("/home/me/.ssh/id_ed25519".as_ref())?;
/// assert!(key.sign("a text")?.starts_with("-----BEGIN SSH SIGNATURE-----"));
/// # Ok::<(), dpgp_release::SignatureError>(())
/// ```
#[derive(Debug)]
pub struct SigningKey {
    path: PathBuf,
}

impl SigningKey {
    /// The key of this file: a private one, or a public one whose private key an agent holds.
    ///
    /// # Errors
    /// [`SignatureError`] if it does not sign.
    pub fn tried(path: &Path) -> Result<Self, SignatureError> {
        let key = Self { path: path.to_path_buf() };
        key.sign("whether this key can sign\n")?;
        Ok(key)
    }

    /// The signature of a text, armoured.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn sign(&self, text: &str) -> Result<String, SignatureError> {
        // A folder that its owner alone may enter. A file leaves standard input to the question for a passphrase.
        let folder = tempfile::tempdir().map_err(SignatureError::io(&std::env::temp_dir()))?;
        let (file, signature) = (folder.path().join("release"), folder.path().join("release.sig"));
        std::fs::write(&file, text).map_err(SignatureError::io(&file))?;
        let mut command = ssh_keygen("sign");
        command.args(["-q", "-n", NAMESPACE, "-f"]).arg(&self.path).arg(&file);
        // Standard output may be that of a release; what there is to say or ask goes to standard error or the terminal.
        let status = command.stdout(Stdio::null()).status().map_err(SignatureError::NoProgram)?;
        if !status.success() {
            return Err(SignatureError::NotSigned { key: self.path.clone(), status });
        }
        std::fs::read_to_string(&signature).map_err(SignatureError::io(&signature))
    }
}
