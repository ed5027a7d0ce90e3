//! `dpgp verify`: checks of a published release.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::OutputFormat;
use super::output::{print, print_json};
use super::release_types::{VerifyCheckOutput, VerifyOutput};
use dpgp_fs::{AllowedSigners, append_suffix};
use dpgp_number::text::count_with_noun;
use dpgp_release::{CERTIFICATE_ENDING, CheckedFact, ReleaseVerification, verify_release};
use dpgp_run::create_watcher;

const EXAMPLES: &str = "\
The checks need neither the data nor the spec. They confirm that the certificate is about this file of predictions, byte for byte;
that mu is the sensitivity divided by the noise; that the exact delta at the claimed epsilon follows from mu and is at most the
claimed delta; that the guarantee has no exceptions; that the other fields (sentence, epsilon, delta, neighbours, what is not
covered, all releases) agree with the embedded certificate; and that content_sha256 is the digest of all fields, including released sums.
Fields that are missing because an earlier version wrote the file are listed but not checked.

A digest is not a signature: anyone who edits a file can compute a new digest. Nor can a file show that noise was drawn. For that you
must trust the person who made the release, so verify that person's signature.

With --signers, `ssh-keygen` also checks that one of the signers signed the certificate. To do the same without this program:
  ssh-keygen -Y verify -f allowed_signers -I me@example.org -n dpgp-release -s surface.json.sig < surface.json

Exit code 1 means that a check failed.

Examples:
  dpgp verify predictions.csv                        with predictions.csv.certificate.json beside it
  dpgp verify surface.json                           sums and counts carry their certificate
  dpgp verify surface.json --signers allowed_signers --signer me@example.org";

/// Arguments of `dpgp verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArguments {
    /// A certificate, or a file written by `dpgp sum --release`, which includes its certificate
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// The file of predictions that the certificate covers [default: the one beside it]
    #[arg(value_name = "PREDICTIONS")]
    predictions: Option<PathBuf>,
    /// Also check that CERTIFICATE.sig is the signature of a signer in this file (OpenSSH's `allowed_signers`)
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
    /// The required signer [default: any signer in the file of --signers]
    #[arg(long, value_name = "NAME", requires = "signers")]
    signer: Option<String>,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Checks a published release.
pub fn verify(arguments: &VerifyArguments, format: OutputFormat) -> Result<(), CliError> {
    let VerifyArguments { certificate, predictions, signers, signer, quiet } = arguments;
    let (certificate, predictions) = &match predictions {
        Some(_) => (certificate.clone(), predictions.clone()),
        None => find_other_file(certificate),
    };
    let signers = signers.clone().map(|file| AllowedSigners { file, signer: signer.clone() });
    let watcher = create_watcher(*quiet);
    let verified = verify_release(certificate, predictions.as_deref(), signers.as_ref(), watcher.download_progress())?;
    match format {
        OutputFormat::Text => print(&text(&verified))?,
        OutputFormat::Json => {
            let checks = verified.checks.iter();
            let checks = checks.map(|check| VerifyCheckOutput { fact: check.fact.clone(), holds: check.holds });
            print_json(&json!(VerifyOutput {
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

/// Returns a certificate and its predictions from the name of either, if the other is beside it.
fn find_other_file(named: &Path) -> (PathBuf, Option<PathBuf>) {
    let certificate = append_suffix(named, CERTIFICATE_ENDING);
    if certificate.is_file() {
        return (certificate, Some(named.to_path_buf()));
    }
    let predictions = named.to_str().and_then(|name| name.strip_suffix(CERTIFICATE_ENDING)).map(PathBuf::from);
    (named.to_path_buf(), predictions.filter(|path| path.is_file()))
}

fn text(verified: &ReleaseVerification) -> String {
    let mut text = format!("claimed: {}\n", verified.guarantee);
    let joint = verified.together.iter().chain(&verified.all_releases);
    text.extend(joint.map(|sentence| format!("{sentence}\n")));
    if let Some(program) = &verified.program {
        text.push_str(&format!("made by: {program}\n"));
    }
    for CheckedFact { fact, holds } in &verified.checks {
        text.push_str(&format!("{} {fact}\n", if *holds { "ok    " } else { "FAILED" }));
    }
    if !verified.skipped.is_empty() {
        text.push_str(&format!("missing, so not checked: {}\n", verified.skipped.join(", ")));
    }
    if let Some(signature) = &verified.unchecked {
        text.push_str(&format!(
            "not checked: {}; use --signers FILE to name the allowed signers\n",
            signature.display()
        ));
    }
    let all = count_with_noun(verified.checks.len(), "check holds", "checks hold");
    if verified.holds() {
        let unchanged = match verified.would_show_edits() {
            true => "the files are unchanged, and the numbers of the guarantee agree",
            false => {
                "the numbers of the guarantee agree, but without content_sha256 an edit of the certificate can go unnoticed"
            }
        };
        let who = if verified.signed { "" } else { "who made the release (a signature can), or " };
        text.push_str(&format!(
            "all {all}: {unchanged}. These checks cannot show {who}that the noise was really \
             drawn: only the holder of the data knows that.\n"
        ));
    }
    text
}
