//! `dpgp verify`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::Format;
use super::output::{print, print_json};
use super::release_types::{VerifiedCertificate, VerifiedCheck};
use dpgp_release::{Signers, VerifiedFact, VerifiedRelease, verify as verify_release};
use dpgp_run::watcher;

const EXAMPLES: &str = "\
What is checked needs neither the data nor the spec: that the certificate is about this file of predictions, byte for byte; that mu
is the sensitivity over the noise; that the exact delta at the claimed epsilon follows from it and is at most the delta claimed;
that the guarantee has no exceptions; that the fields beside the certificate (the sentence, epsilon, delta, who differs, what is not
covered, all releases) say what it says; and that content_sha256 is the digest of all fields, which covers released sums as well.
Fields that a file of an earlier version does not have are named, and not checked.

A digest is no signature: whoever edits a file can compute it anew. That noise was drawn at all cannot be seen in a file either:
trust who made it, and verify a signature.

With --signers it is checked, too, that one of them signed the certificate, by `ssh-keygen`. The same without this program:
  ssh-keygen -Y verify -f allowed_signers -I me@example.org -n dpgp-release -s surface.json.sig < surface.json

Exit code 1 says that something does not hold.

Examples:
  dpgp verify predictions.csv.certificate.json predictions.csv
  dpgp verify surface.json                           sums and counts carry their certificate
  dpgp verify surface.json --signers allowed_signers --signer me@example.org";

/// `dpgp verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArguments {
    /// A certificate, or a file of `dpgp stats --release`, which carries its own
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// The predictions that the certificate is about
    #[arg(value_name = "PREDICTIONS")]
    predictions: Option<PathBuf>,
    /// Check the signature CERTIFICATE.sig, too, which must be of somebody in this file (`allowed_signers` of OpenSSH)
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
    /// Who must have signed [default: anybody in that file]
    #[arg(long, value_name = "NAME", requires = "signers")]
    signer: Option<String>,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Checks a published release.
pub fn verify(arguments: &VerifyArguments, format: Format) -> Result<(), CliError> {
    let VerifyArguments { certificate, predictions, signers, signer, quiet } = arguments;
    let signers = signers.clone().map(|file| Signers { file, signer: signer.clone() });
    let watcher = watcher(*quiet);
    let verified =
        verify_release(certificate, predictions.as_deref(), signers.as_ref(), watcher.downloads())?;
    match format {
        Format::Text => print(&text(&verified))?,
        Format::Json => {
            let checks = verified.checks.iter();
            let checks = checks.map(|check| VerifiedCheck { fact: check.fact.clone(), holds: check.holds });
            print_json(&json!(VerifiedCertificate {
                guarantee: verified.guarantee.clone(),
                program: verified.program.clone(),
                checks: checks.collect(),
                skipped: verified.skipped.clone(),
                unchecked_signature: verified.unchecked.clone(),
                holds: verified.holds(),
            }))?;
        }
    }
    let failed = verified.checks.iter().filter(|check| !check.holds).count();
    if failed == 0 { Ok(()) } else { Err(CliError::CheckFailed { failed, all: verified.checks.len() }) }
}

fn text(verified: &VerifiedRelease) -> String {
    let mut text = format!("claimed: {}\n", verified.guarantee);
    if let Some(program) = &verified.program {
        text.push_str(&format!("made by: {program}\n"));
    }
    for VerifiedFact { fact, holds } in &verified.checks {
        text.push_str(&format!("{} {fact}\n", if *holds { "ok    " } else { "FAILED" }));
    }
    if !verified.skipped.is_empty() {
        text.push_str(&format!("not there, and not checked: {}\n", verified.skipped.join(", ")));
    }
    if let Some(signature) = &verified.unchecked {
        text.push_str(&format!(
            "not checked: {}; --signers FILE says whose signature it may be\n",
            signature.display()
        ));
    }
    text
}
