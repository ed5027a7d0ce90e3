//! Signatures of released files in the OpenSSH format (SSHSIG), made and checked by the user's own `ssh-
//! keygen`.
//!
//! `ssh-keygen` supports agents, passphrases and hardware keys, and no secret key enters the memory of this
//! program. Anyone can check a signature without this program: `ssh-keygen -Y verify -f allowed_signers -I
//! WHO -n dpgp-release -s FILE.sig < FILE`.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use thiserror::Error;

/// Errors of signing a file or checking its signature.
#[derive(Debug, Error)]
pub enum SignatureError {
    /// OpenSSH is missing.
    #[error("cannot run ssh-keygen, which signatures need: {0}; install OpenSSH 8.3 or later")]
    NoProgram(std::io::Error),
    /// The key is wrong, locked or missing, or its owner refused. `ssh-keygen` prints the reason on standard error.
    #[error("ssh-keygen could not sign with the key {} ({status}; see its message above)", key.display())]
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
    fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }
}

/// A key that signed a test text before anything was drawn or charged, so that a wrong key costs nothing.
///
/// ```no_run
/// use dpgp_fs::SigningKey;
/// let key = SigningKey::from_tested_file("/home/me/.ssh/id_ed25519".as_ref())?;
/// assert!(key.sign("a text")?.starts_with("-----BEGIN SSH SIGNATURE-----"));
/// # Ok::<(), dpgp_fs::SignatureError>(())
/// ```
#[derive(Debug)]
pub struct SigningKey {
    path: PathBuf,
}

impl SigningKey {
    /// Tries the key of this file: a private key, or a public key whose private key an SSH agent holds.
    ///
    /// # Errors
    /// [`SignatureError`] if it does not sign.
    pub fn from_tested_file(path: &Path) -> Result<Self, SignatureError> {
        let key = Self { path: path.to_path_buf() };
        key.sign("whether this key can sign\n")?;
        Ok(key)
    }

    /// The signature of a text, armoured.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn sign(&self, text: &str) -> Result<String, SignatureError> {
        // Only its owner may enter the folder. A file keeps standard input free for the passphrase.
        let folder = tempfile::tempdir().map_err(SignatureError::io(&std::env::temp_dir()))?;
        let (file, signature) = (folder.path().join("release"), folder.path().join("release.sig"));
        std::fs::write(&file, text).map_err(SignatureError::io(&file))?;
        let mut command = ssh_keygen("sign");
        command.args(["-q", "-n", NAMESPACE, "-f"]).arg(&self.path).arg(&file);
        // Standard output may hold a release. Messages and questions go to standard error or the terminal.
        let status = command.stdout(Stdio::null()).status().map_err(SignatureError::NoProgram)?;
        if !status.success() {
            return Err(SignatureError::NotSigned { key: self.path.clone(), status });
        }
        std::fs::read_to_string(&signature).map_err(SignatureError::io(&signature))
    }
}

/// The signers whose signatures are accepted: a file in the OpenSSH format `allowed_signers`.
#[derive(Debug, Clone)]
pub struct AllowedSigners {
    /// The file.
    pub file: PathBuf,
    /// The required signer. Without one, any signer in the file.
    pub signer: Option<String>,
}

/// The verdict of `ssh-keygen` on a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureVerdict {
    /// In its words.
    pub said: String,
    /// Whether it is good, of this text, in our namespace, and of a signer that is accepted.
    pub good: bool,
}

impl AllowedSigners {
    /// Checks the signature in a file, of a text.
    ///
    /// # Errors
    /// [`SignatureError`] if `ssh-keygen` cannot be run or a file cannot be read.
    pub fn check(&self, text: &str, signature: &Path) -> Result<SignatureVerdict, SignatureError> {
        for file in [&self.file, signature] {
            std::fs::metadata(file).map_err(SignatureError::io(file))?;
        }
        let signer = match &self.signer {
            Some(signer) => signer.clone(),
            None => match self.find_signer(signature)? {
                Ok(signer) => signer,
                Err(said) => return Ok(SignatureVerdict { said, good: false }),
            },
        };
        let mut command = ssh_keygen("verify");
        command.args(["-n", NAMESPACE, "-I", &signer, "-f"]).arg(&self.file).arg("-s").arg(signature);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = run_with_input(command.spawn().map_err(SignatureError::NoProgram)?, text)
            .map_err(SignatureError::io(signature))?;
        let (good, said) = (output.status.success(), output_on_one_line(&output));
        // Of both causes, `ssh-keygen` names neither.
        let why = if good {
            String::new()
        } else {
            format!(" The file was altered, or {signer:?} is not listed for this key.")
        };
        Ok(SignatureVerdict { said: format!("{said}{why}"), good })
    }

    /// Finds the accepted signer whose key made the signature. The inner error holds the message of `ssh-keygen` if there is none.
    fn find_signer(&self, signature: &Path) -> Result<Result<String, String>, SignatureError> {
        let mut command = ssh_keygen("find-principals");
        command.arg("-f").arg(&self.file).arg("-s").arg(signature).stdin(Stdio::null());
        let output = command.output().map_err(SignatureError::NoProgram)?;
        let found = String::from_utf8_lossy(&output.stdout);
        // One key may stand under several names, any of which will do.
        let first = found.split(['\n', ',']).find(|name| !name.trim().is_empty());
        Ok(match first.filter(|_| output.status.success()) {
            Some(name) => Ok(name.trim().to_owned()),
            None => Err(output_on_one_line(&output)),
        })
    }
}

/// Feeds a text to a program and returns its output.
fn run_with_input(mut child: Child, text: &str) -> std::io::Result<Output> {
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // The program has read enough. Its exit code is the result.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    child.wait_with_output()
}

/// Joins the output of a program on one line.
fn output_on_one_line(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let text = text.concat();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// The namespace of signatures, so that none can pass as one of another program.
pub const NAMESPACE: &str = "dpgp-release";

/// `ssh-keygen -Y` with one of its actions for signatures.
fn ssh_keygen(action: &str) -> Command {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", action]);
    command
}
