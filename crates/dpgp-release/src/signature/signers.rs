//! Whose signature a file has.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use super::error::SignatureError;
use super::ssh_keygen::{NAMESPACE, ssh_keygen};

/// Those whose signatures are accepted: a file in the format `allowed_signers` of OpenSSH.
#[derive(Debug, Clone)]
pub struct Signers {
    /// The file.
    pub file: PathBuf,
    /// Who must have signed; anybody of the file without it.
    pub signer: Option<String>,
}

/// What `ssh-keygen` said of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignatureFound {
    /// In its words.
    pub said: String,
    /// Whether it is good, of this text, in our namespace, and of a signer that is accepted.
    pub good: bool,
}

impl Signers {
    /// Checks the signature in a file, of a text.
    ///
    /// # Errors
    /// [`SignatureError`] if `ssh-keygen` cannot be run or a file cannot be read.
    pub(crate) fn check(&self, text: &str, signature: &Path) -> Result<SignatureFound, SignatureError> {
        for file in [&self.file, signature] {
            std::fs::metadata(file).map_err(SignatureError::io(file))?;
        }
        let signer = match &self.signer {
            Some(signer) => signer.clone(),
            None => match self.owner(signature)? {
                Ok(signer) => signer,
                Err(said) => return Ok(SignatureFound { said, good: false }),
            },
        };
        let mut command = ssh_keygen("verify");
        command.args(["-n", NAMESPACE, "-I", &signer, "-f"]).arg(&self.file).arg("-s").arg(signature);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = fed(command.spawn().map_err(SignatureError::NoProgram)?, text)
            .map_err(SignatureError::io(signature))?;
        Ok(SignatureFound { said: said(&output), good: output.status.success() })
    }

    /// Whose key it is, or what `ssh-keygen` says if it is nobody's.
    fn owner(&self, signature: &Path) -> Result<Result<String, String>, SignatureError> {
        let mut command = ssh_keygen("find-principals");
        command.arg("-f").arg(&self.file).arg("-s").arg(signature).stdin(Stdio::null());
        let output = command.output().map_err(SignatureError::NoProgram)?;
        let found = String::from_utf8_lossy(&output.stdout);
        // One key may stand under several names, any of which will do.
        let first = found.split(['\n', ',']).find(|name| !name.trim().is_empty());
        Ok(match first.filter(|_| output.status.success()) {
            Some(name) => Ok(name.trim().to_owned()),
            None => Err(said(&output)),
        })
    }
}

/// The output of a program that is given a text.
fn fed(mut child: Child, text: &str) -> std::io::Result<Output> {
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // It has seen enough; its exit code says what it thinks.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    child.wait_with_output()
}

/// All that a program said, on one line.
fn said(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let text = text.concat();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
