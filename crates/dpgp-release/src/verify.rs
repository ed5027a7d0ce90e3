//! Checks a published certificate without the data: its file, and its guarantee from its own numbers.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::ReleaseError;
use super::certificate_json::{FIELD, parse_json_with_unique_keys};
use super::combinations_file::TargetCombinationsFile;
use super::new_file::signature_path;
use super::stated::{StatementChecker, StatementChecks};
use super::statement::{describe_joint_guarantee, describe_total_privacy_loss};
use dpgp_accounting::{Certificate, gaussian_delta};
use dpgp_data::{Digest, Progress, compute_checksum_with_progress, read_limited_text};
use dpgp_fs::AllowedSigners;
use dpgp_noise::RoundedNoiseParameters;

/// The relative tolerance for numbers of a certificate, which were computed from calibrations in doubles.
const PRECISION: f64 = 1e-9;

/// The certificate of a file of predictions, or inside a file of sums or counts.
#[derive(Debug, Deserialize)]
struct ParsedCertificate {
    certificate: Certificate,
    mu: f64,
    noise: RoundedNoiseParameters,
    #[serde(default)]
    predictions_sha256: Option<String>,
    #[serde(default)]
    program: Option<String>,
}

/// The checks of a published release.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseVerification {
    /// The claim.
    pub guarantee: String,
    /// The guarantee of all answers of its charge together, if there are several.
    pub together: Option<String>,
    /// What all releases from the same rows had spent by then, if there are earlier ones.
    pub all_releases: Option<String>,
    /// The program that made it.
    pub program: Option<String>,
    /// The checks, in order.
    pub checks: Vec<CheckedFact>,
    /// Missing fields, which could not be checked. Earlier versions wrote fewer fields.
    pub skipped: Vec<String>,
    /// Whether a signature was checked.
    pub signed: bool,
    /// The signature, if there is one and no signers were named.
    pub unchecked: Option<PathBuf>,
}

/// One check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFact {
    /// The statement.
    pub fact: String,
    /// Whether it holds.
    pub holds: bool,
}

impl CheckedFact {
    pub(super) fn new(fact: String, holds: bool) -> Self {
        Self { fact, holds }
    }
}

impl ReleaseVerification {
    /// Whether all checks hold.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }

    /// Whether the certificate has the digest that shows an edit.
    pub fn would_show_edits(&self) -> bool {
        !self.skipped.iter().any(|field| field == FIELD)
    }
}

/// Checks a certificate, and the file of predictions that it speaks of, if there is one: that the digest is that of the
/// file, that mu is the sensitivity over the noise, that the exact delta at the claimed epsilon follows from it, that
/// it is at most what is claimed, and that the fields beside the certificate and the digest of all of them say the
/// same. It cannot be checked without the data that noise was drawn at all; that is what a signature vouches for.
///
/// With signers, the signature beside the certificate is checked, too.
///
/// # Errors
/// [`ReleaseError::Io`], or [`ReleaseError::NoCertificate`] for a file that holds none; [`ReleaseError::CannotVerify`].
pub fn verify_release(
    path: &Path,
    predictions: Option<&Path>,
    signers: Option<&AllowedSigners>,
    progress: &dyn Progress,
) -> Result<ReleaseVerification, ReleaseError> {
    let text = read_limited_text(path).map_err(ReleaseError::io(path))?;
    let combinations = TargetCombinationsFile::parse(path, &text)?;
    let within = combinations.as_ref().map(|file| file.certificate().to_string());
    let PublishedFile { whole, published } = parse_published_file(path, within.as_deref().unwrap_or(&text))?;
    let mut checks = Vec::new();
    if let Some(signers) = signers {
        // The signature of the text that was read, not of a second read.
        let found = signers.check(&text, &signature_path(path)).map_err(ReleaseError::CannotVerify)?;
        checks.push(CheckedFact::new(format!("the signature: {}", found.said), found.good));
    }
    if let Some(file) = &combinations {
        let digest = Some(Digest::of_bytes(file.certified_predictions_text().as_bytes()).to_string());
        checks.push(digest_fact("the combinations", file.has_matching_digest()));
        checks.push(digest_fact("the predictions", published.predictions_sha256 == digest));
    }
    match (published.predictions_sha256.as_ref().filter(|_| combinations.is_none()), predictions) {
        (Some(claimed), Some(file)) => {
            let found = compute_checksum_with_progress(file, progress).map_err(ReleaseError::io(file))?;
            let holds = found.digest.to_string() == *claimed;
            checks.push(digest_fact(&file.display().to_string(), holds));
        }
        (Some(_), None) => return Err(no_certificate_error(path, "pass its file of predictions as well")),
        (None, Some(_)) => {
            return Err(no_certificate_error(path, "it does not refer to another file; pass it alone"));
        }
        (None, None) => {}
    }
    checks.extend(check_certificate_numbers(&published));
    let StatementChecks { checks: stated, skipped } =
        StatementChecker::check_statements(&whole, &published.certificate, published.noise.gdp_mu());
    checks.extend(stated);
    let ParsedCertificate { certificate, program, noise, .. } = published;
    let unchecked = Some(signature_path(path)).filter(|file| signers.is_none() && file.exists());
    let together = whole.get("together").and_then(describe_joint_guarantee);
    let all_releases = describe_total_privacy_loss(&whole, noise.gdp_mu());
    Ok(ReleaseVerification {
        guarantee: certificate.to_string(),
        together,
        all_releases,
        program,
        checks,
        skipped,
        signed: signers.is_some(),
        unchecked,
    })
}

/// A certificate and the results of its checks, some of which may fail.
pub(super) struct CertificateWithCheckResults {
    /// The certificate.
    pub certificate: Certificate,
    /// The sensitivity over the standard deviation of its noise.
    pub mu: f64,
    /// The checks.
    pub checks: Vec<CheckedFact>,
}

/// Checks the text of a certificate about the very text of the predictions; without them, of a file that carries its
/// own.
///
/// # Errors
/// [`ReleaseError::NoCertificate`] if it is none.
pub(super) fn verify_certificate_text(
    path: &Path,
    text: &str,
    predictions: Option<&str>,
) -> Result<CertificateWithCheckResults, ReleaseError> {
    let PublishedFile { whole, published } = parse_published_file(path, text)?;
    let mut checks = Vec::new();
    if let Some(csv) = predictions {
        let found = Some(Digest::of_bytes(csv.as_bytes()).to_string());
        let holds = published.predictions_sha256 == found;
        checks.push(digest_fact("the predictions", holds));
    }
    checks.extend(check_certificate_numbers(&published));
    checks.extend(StatementChecker::check_statements(&whole, &published.certificate, published.noise.gdp_mu()).checks);
    Ok(CertificateWithCheckResults { certificate: published.certificate, mu: published.noise.gdp_mu(), checks })
}

/// A file that was published, and the certificate in it.
struct PublishedFile {
    whole: Value,
    published: ParsedCertificate,
}

fn parse_published_file(path: &Path, text: &str) -> Result<PublishedFile, ReleaseError> {
    let whole = parse_json_with_unique_keys(text).map_err(|error| {
        let order = "name the certificate first: dpgp verify FILE.certificate.json FILE";
        no_certificate_error(path, &format!("not a JSON certificate ({error}); {order}"))
    })?;
    // The certificate of predictions is a file. Files of sums and counts hold theirs.
    let value = match whole.get("guarantee") {
        Some(inner) if inner.is_object() => inner.clone(),
        _ => whole.clone(),
    };
    let published = serde_json::from_value(value).map_err(|error| no_certificate_error(path, &error.to_string()))?;
    Ok(PublishedFile { whole, published })
}

/// Says whether the digest in a certificate matches a file.
fn digest_fact(file: &str, holds: bool) -> CheckedFact {
    let verb = if holds { "matches" } else { "does not match" };
    CheckedFact::new(format!("the digest {verb} {file}"), holds)
}

fn no_certificate_error(path: &Path, cause: &str) -> ReleaseError {
    ReleaseError::NoCertificate { path: PathBuf::from(path), cause: cause.to_owned() }
}

/// Recomputes mu and the exact delta from the certificate and checks what it claims. Needs no other file.
fn check_certificate_numbers(published: &ParsedCertificate) -> Vec<CheckedFact> {
    let ParsedCertificate { certificate, mu, noise, .. } = published;
    let RoundedNoiseParameters { sensitivity, sd } = *noise;
    let sound = noise.is_valid_for_release() && is_close(*mu, noise.gdp_mu());
    let is = if sound { "is" } else { "is not" };
    let fact = format!("mu = {mu:?} {is} the sensitivity {sensitivity:?} divided by the noise {sd:?}");
    let mut checks = vec![CheckedFact::new(fact, sound)];
    let Some(claimed) = certificate.guarantee else {
        checks.push(CheckedFact::new("no guarantee is claimed".to_owned(), false));
        return checks;
    };
    let exact = gaussian_delta(1.0 / noise.gdp_mu(), claimed.epsilon);
    let shown = certificate.delta_exact;
    let stated = shown.is_some_and(|shown| exact <= shown * (1.0 + PRECISION));
    let beside = match (stated, shown) {
        (true, Some(shown)) => format!("at most the stated {shown:e}"),
        (true, None) => "as stated".to_owned(),
        (false, Some(shown)) => format!("not the stated {shown:e}"),
        (false, None) => "which the file does not state".to_owned(),
    };
    let fact = format!("the exact delta at epsilon = {:?} is {exact:e}, {beside}", claimed.epsilon);
    checks.push(CheckedFact::new(fact, stated));
    let within = exact <= claimed.delta * (1.0 + PRECISION);
    let is = if within { "is at most" } else { "exceeds" };
    checks.push(CheckedFact::new(format!("it {is} the claimed delta, {:?}", claimed.delta), within));
    let exceptions = certificate.caveats.iter();
    checks.extend(exceptions.map(|one| CheckedFact::new(format!("the guarantee has an exception: {one}"), false)));
    checks
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= PRECISION * one.abs().max(other.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_is_relative() {
        for scale in [1e-30, 1.0, 1e30] {
            assert!(is_close(scale, scale * (1.0 + 0.5 * PRECISION)));
            assert!(!is_close(scale, scale * (1.0 + 2.0 * PRECISION)));
            assert!(!is_close(scale, -scale) && !is_close(scale, 0.0));
        }
    }

    /// A certificate of predictions that is about no file, with these checks.
    fn of_checks(holds: &[bool]) -> ReleaseVerification {
        let checks = holds.iter().map(|holds| CheckedFact::new(String::new(), *holds)).collect();
        ReleaseVerification {
            guarantee: String::new(),
            together: None,
            all_releases: None,
            program: None,
            checks,
            skipped: Vec::new(),
            signed: false,
            unchecked: None,
        }
    }

    #[test]
    fn one_check_that_fails_is_enough() {
        assert!(of_checks(&[true, true]).holds());
        assert!(!of_checks(&[true, false]).holds() && !of_checks(&[false]).holds());
    }
}
