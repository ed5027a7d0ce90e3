//! Statements about released numbers, from their certificate.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::ReleaseError;
use super::certificate_json::FIELD;
use super::draw::risk_in_words;
use super::verify::{CertificateWithCheckResults, verify_certificate_text};
use dpgp_accounting::{AttackRisk, CertifiedMechanism};
use dpgp_number::text::{format_exact, format_four_digits_trimmed};

/// The statement of a certificate that holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateSummary {
    /// The guarantee. None if nothing is claimed.
    pub guarantee: Option<String>,
    /// Its epsilon.
    pub epsilon: Option<f64>,
    /// Its delta.
    pub delta: Option<f64>,
    /// The neighbouring datasets.
    pub neighbours: Option<String>,
    /// Its limits.
    pub not_covered: Vec<String>,
    /// The statement in sentences.
    pub said: Vec<String>,
    /// The name of the target.
    #[serde(skip)]
    pub target: Option<String>,
    /// Whether the numbers are counts of records.
    #[serde(skip)]
    pub counts: bool,
    /// The epsilon and delta of all answers together, if this is one of several.
    #[serde(skip)]
    pub of_all_answers: Option<(f64, f64)>,
}

impl CertificateSummary {
    /// The statement for numbers without a certificate.
    pub fn without_certificate() -> Self {
        Self::without_claim("No certificate beside the file: nothing is claimed.".to_owned())
    }

    /// The statement for estimates from numbers that others published with noise.
    pub fn from_published_numbers(target: &str) -> Self {
        let said = "Computed only from published numbers with noise; their publisher's guarantee covers the result.";
        Self { target: Some(target.to_owned()), ..Self::without_claim(said.to_owned()) }
    }

    /// The statement for a certificate that fails.
    pub(super) fn from_failed_checks(checks: &str) -> Self {
        Self::without_claim(format!("Nothing is claimed, because these checks of the certificate fail: {checks}."))
    }

    fn without_claim(said: String) -> Self {
        Self {
            guarantee: None,
            epsilon: None,
            delta: None,
            neighbours: None,
            not_covered: Vec::new(),
            said: vec![said],
            target: None,
            counts: false,
            of_all_answers: None,
        }
    }

    /// Checks the certificate of a file of released sums or counts, before anything is computed from it. Returns a warning if the file
    /// lacks the digest that would show an edit.
    ///
    /// # Errors
    /// [`ReleaseError::AlteredRelease`] with the checks that fail.
    pub fn ensure_certificate_holds(path: &Path, text: &str) -> Result<Option<String>, ReleaseError> {
        let Self { guarantee, said, .. } = Self::parse(path, text, None)?;
        match guarantee {
            Some(_) => {
                let has_digest = serde_json::from_str::<Value>(text).is_ok_and(|whole| whole.get(FIELD).is_some());
                let warning = || format!("{} has no {FIELD}, so an edit of it can go unnoticed", path.display());
                Ok((!has_digest).then(warning))
            }
            None => Err(ReleaseError::AlteredRelease { path: path.to_path_buf(), said: said.join(" ") }),
        }
    }

    /// Reads the text of a certificate of `predictions`, or of a file of released sums. Nothing is claimed unless the
    /// certificate holds.
    ///
    /// # Errors
    /// [`ReleaseError::NoCertificate`] if the text is not a certificate.
    pub fn parse(path: &Path, text: &str, predictions: Option<&str>) -> Result<Self, ReleaseError> {
        let CertificateWithCheckResults { certificate, mu, checks } = verify_certificate_text(path, text, predictions)?;
        let whole: Value = serde_json::from_str(text).unwrap_or_default();
        let counts = matches!(certificate.mechanism, CertifiedMechanism::Histogram(_));
        let target =
            ["/target", "/model/target", "/histogram/records"].iter().find_map(|place| whole.pointer(place)?.as_str());
        let target = target.map(str::to_owned);
        let failed: Vec<&str> = checks.iter().filter(|check| !check.holds).map(|check| check.fact.as_str()).collect();
        if !failed.is_empty() {
            return Ok(Self { target, counts, ..Self::from_failed_checks(&failed.join("; ")) });
        }
        let guarantee = certificate.to_string();
        let not_covered: Vec<String> = text_list(whole.get("not_covered"));
        let made = ["/noise/made", "/guarantee/noise/made"].iter().find_map(|place| whole.pointer(place)?.as_str());
        // Of the numbers that were checked, not of what the file says.
        let joint = whole.get("together");
        let mut said: Vec<String> = match joint {
            Some(joint) => describe_joint_guarantee(joint).into_iter().collect(),
            None => risk_in_words(&certificate, mu).into_iter().collect(),
        };
        // A reader of one file sees what the rows have spent in all.
        if let (Some(first), Some(all)) = (said.first_mut(), describe_total_privacy_loss(&whole, mu)) {
            first.push_str(&format!(" {all}"));
        }
        let guarantee_of = if joint.is_some() { "Guarantee of this answer alone" } else { "Guarantee" };
        said.extend([format!("{guarantee_of}: {guarantee}."), noise_source_sentence(made)]);
        if !not_covered.is_empty() {
            said.push(format!("Not covered: {}.", not_covered.join("; ")));
        }
        said.extend(describe_clipping(&whole));
        said.extend(whole.get("intervals").and_then(Value::as_str).map(|intervals| format!("{intervals}.")));
        Ok(Self {
            epsilon: certificate.guarantee.map(|claimed| claimed.epsilon),
            delta: certificate.delta(),
            neighbours: certificate.describe_neighbours(),
            guarantee: Some(guarantee),
            not_covered,
            said,
            target,
            counts,
            of_all_answers: joint
                .and_then(|joint| Some((joint.get("epsilon")?.as_f64()?, joint.get("delta")?.as_f64()?))),
        })
    }
}

/// States the guarantee of all answers of a charge, of a certificate that holds.
pub(super) fn describe_joint_guarantee(joint: &Value) -> Option<String> {
    let names = text_list(joint.get("answers"));
    let [epsilon, delta] = ["epsilon", "delta"].map(|name| joint.get(name).and_then(Value::as_f64));
    let (epsilon, delta, risk) = (epsilon?, delta?, joint.get("in_words").and_then(Value::as_str));
    let (count, names, neighbours) =
        (names.len(), names.join(", "), text_list(joint.get("neighbours")).join("; for other answers, "));
    let risk = risk.map(|risk| format!(" Given all of these answers, {}", lower_first(risk))).unwrap_or_default();
    Some(format!(
        "One of {count} answers released together ({names}), which jointly have epsilon = {epsilon:?} and delta = {delta:?} \
         ({neighbours}).{risk}"
    ))
}

/// States what all releases from the same rows have spent so far, if there are others than those charged with this one, whose mu is
/// `own_mu`. Says nothing where the ledger does not count all of them.
pub(super) fn describe_total_privacy_loss(whole: &Value, own_mu: f64) -> Option<String> {
    let all =
        ["/all_releases", "/guarantee/all_releases"].iter().find_map(|place| whole.pointer(place)?.as_object())?;
    let number = |name: &str| all.get(name).and_then(Value::as_f64);
    let (mu, epsilon, delta, releases) = (number("mu")?, number("epsilon")?, number("delta")?, number("releases")?);
    let charged = whole.pointer("/together/mu").and_then(Value::as_f64).unwrap_or(own_mu);
    if mu <= charged * (1.0 + MU_ROUNDING) || all.get("not_counted").is_some_and(|open| !open.is_null()) {
        return None;
    }
    let share = AttackRisk::of_gaussian(mu).max_right_guess_percent();
    Some(format!(
        "From all {releases} releases of these rows, it is at most {share:.1} % for data sets that are neighbours for each of them: epsilon = \
         {epsilon:.4} at delta = {}.",
        format_exact(delta)
    ))
}

/// The relative rounding of a mu that was added up.
const MU_ROUNDING: f64 = 1e-9;

/// States the bounds that targets were clipped to, if the certificate names them.
fn describe_clipping(whole: &Value) -> Option<String> {
    let [low, high] = [0, 1].map(|end| whole.pointer(&format!("/clipped_to/{end}"))?.as_f64());
    let (low, high, target) =
        (format_four_digits_trimmed(low?), format_four_digits_trimmed(high?), whole.get("target")?.as_str()?);
    Some(format!("Values of {target} were clipped to {low} to {high}, so these are means of clipped values."))
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn text_list(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// States the source of the noise. The certificate holds, so `made` is the text of this program if it is present.
fn noise_source_sentence(made: Option<&str>) -> String {
    let said = match made {
        Some(_) => "The certificate says that the noise came from the operating system.",
        None => "The certificate does not say where the noise came from.",
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_those_of_a_list() {
        assert_eq!(text_list(Some(&json!(["one", 2, "three"]))), ["one", "three"]);
        assert!(text_list(Some(&json!("one"))).is_empty() && text_list(None).is_empty());
    }
}
