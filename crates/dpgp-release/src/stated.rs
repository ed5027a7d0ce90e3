//! Compares the fields beside a certificate with the certificate itself.

use serde_json::{Value, json};

use super::certificate_file::{
    ALWAYS_OPEN, ColumnsMeaning, INPUTS_PUBLIC, INTERVALS, NOT_COUNTED, ROWS_PUBLIC, SEVERAL_ROWS, describe_columns,
    larger_change_text, public_inputs_limit_ending, several_names_guarantee_limit, sums_guarantee_limits,
};
use super::certificate_json::{FIELD, content_digest};
use super::draw::{risk_in_words, risk_json};
use super::earlier_wording::in_current_wording;
use super::exceptions::{large_delta_warning, large_epsilon_warning, noise_design_warning};
use super::verify::CheckedFact;
use dpgp_accounting::{
    Certificate, CertifiedMechanism, NeighbourRelation, Neighbours, PrivacyBudget, PrivacyUnit, gaussian_epsilon_at_mu,
};
use dpgp_noise::RoundedNoiseParameters;

/// The relative tolerance for numbers that are computed again.
const PRECISION: f64 = 1e-6;

/// A published file beside the certificate in it.
pub(super) struct StatementChecker<'a> {
    whole: &'a Value,
    /// The certificate as it is written, whatever its wording.
    written: &'a Value,
    /// The object with the guarantee: the file itself for predictions, `guarantee` for sums and counts.
    spoken: &'a Value,
    certificate: &'a Certificate,
    /// The parameter of Gaussian differential privacy, from the noise.
    mu: f64,
    /// Fields that agree.
    same: Vec<String>,
    /// Missing fields.
    absent: Vec<String>,
    /// Contradictions.
    contradictions: Vec<String>,
}

/// The results.
pub(super) struct StatementChecks {
    pub checks: Vec<CheckedFact>,
    /// Fields that are missing because an earlier version wrote the file. They were not checked.
    pub skipped: Vec<String>,
}

impl<'a> StatementChecker<'a> {
    /// Checks all fields that follow from the certificate and its noise.
    pub fn check_statements(written: &'a Value, certificate: &'a Certificate, mu: f64) -> StatementChecks {
        let whole = in_current_wording(written);
        StatementChecker::check_statements_in_current_wording(&whole, written, certificate, mu)
    }

    fn check_statements_in_current_wording(
        whole: &'a Value,
        written: &'a Value,
        certificate: &'a Certificate,
        mu: f64,
    ) -> StatementChecks {
        let of_sums = whole.get("guarantee").is_some_and(Value::is_object);
        let spoken = if of_sums { &whole["guarantee"] } else { whole };
        let (same, absent, contradictions) = (Vec::new(), Vec::new(), Vec::new());
        let mut stated = Self { whole, written, spoken, certificate, mu, same, absent, contradictions };
        stated.check_guarantee_numbers();
        match of_sums {
            true => stated.check_sums_fields(),
            false => stated.check_prediction_fields(),
        }
        stated.check_ledger_account();
        stated.check_joint_guarantee();
        stated.check_digest();
        stated.into_checks()
    }

    fn into_checks(self) -> StatementChecks {
        let mut checks = Vec::new();
        if !self.same.is_empty() {
            let fact = format!("consistent with the embedded certificate: {}", self.same.join(", "));
            checks.push(CheckedFact::new(fact, true));
        }
        checks.extend(self.contradictions.into_iter().map(|fact| CheckedFact::new(fact, false)));
        StatementChecks { checks, skipped: self.absent }
    }

    /// Compares a field with its expected value, if it is present.
    fn compare_field(&mut self, name: &str, found: Option<&Value>, expected: &Value) {
        match found {
            None => self.absent.push(name.to_owned()),
            Some(found) if matches_expected(found, expected) => self.same.push(name.to_owned()),
            Some(found) => {
                let fact = format!("{name} is {found}, but the embedded certificate implies {expected}");
                self.contradictions.push(fact);
            }
        }
    }

    fn compare_guarantee_field(&mut self, name: &str, expected: &Value) {
        let spoken = self.spoken;
        self.compare_field(name, spoken.get(name), expected);
    }

    /// Records whether a condition on present fields holds.
    fn record_condition(&mut self, name: &str, holds: bool, why: &str) {
        match holds {
            true => self.same.push(name.to_owned()),
            false => self.contradictions.push(format!("{name}: {why}")),
        }
    }

    fn check_guarantee_numbers(&mut self) {
        let certificate = self.certificate;
        self.compare_guarantee_field("epsilon", &json!(certificate.guarantee.map(|claimed| claimed.epsilon)));
        self.compare_guarantee_field("delta", &json!(certificate.delta()));
        self.compare_guarantee_field("delta_exact", &json!(certificate.delta_exact));
        self.compare_guarantee_field("risk", &risk_json(certificate, self.mu));
        let made = self.spoken.pointer("/noise/made");
        self.compare_field("noise.made", made, &Value::from(RoundedNoiseParameters::NOISE_STATEMENT));
    }

    fn check_sums_fields(&mut self) {
        let certificate = self.certificate;
        self.compare_guarantee_field("text", &Value::from(certificate.to_string()));
        if self.whole.get("risk").is_some() {
            self.record_condition("risk", false, "in a file of sums, it belongs inside the guarantee");
        }
        // Files with a private number of rows may warn about a large delta. The certificate does not say whether it was
        // private.
        let [own, with_delta] = [false, true].map(|delta| json!(guarantee_warnings(certificate, delta)));
        let told = self.spoken.get("warnings") == Some(&with_delta);
        self.compare_guarantee_field("warnings", if told { &with_delta } else { &own });
        let whole = self.whole;
        // Intervals follow from the noise that a file of counts states beside them.
        if let (Some(sd), Some(noise)) = (whole.get("sd"), whole.pointer("/guarantee/noise/sd")) {
            self.compare_field("sd", Some(sd), noise);
        }
        // The limits depend on whether a ledger counts the release.
        let [counted, alone] = [true, false].map(|counted| json!(sums_guarantee_limits(&certificate.unit, counted)));
        // A file without an id does not say whether a ledger counts it, so both are true of it.
        let said = whole.get("not_covered");
        let unsaid = whole.get("release_id").is_none() && said == Some(&counted);
        let expected = if unsaid || !whole["release_id"].is_null() { counted } else { alone };
        self.compare_field("not_covered", said, &expected);
        // Only releases of waves have this field.
        if let Some(intervals) = self.whole.get("intervals").filter(|intervals| !intervals.is_null()) {
            self.compare_field("intervals", Some(intervals), &Value::from(INTERVALS));
        }
    }

    fn check_prediction_fields(&mut self) {
        let certificate = self.certificate;
        self.compare_guarantee_field("guarantee", &Value::from(certificate.to_string()));
        self.compare_guarantee_field("neighbours", &json!(certificate.describe_neighbours()));
        let caveats: Vec<String> = certificate.caveats.iter().map(ToString::to_string).collect();
        self.compare_guarantee_field("caveats", &json!(caveats));
        let hides_records = matches!(certificate.neighbours, Some(Neighbours::OneRecord(_)));
        // With public inputs the certificate does not say whether the release weighed hyperparameters.
        let from_release = describe_columns(ColumnsMeaning::FromNoisySums);
        let averaged = self.spoken.get("columns") == Some(&from_release);
        let own = match certificate.mechanism {
            CertifiedMechanism::Histogram(_) => describe_columns(ColumnsMeaning::Counts),
            _ if hides_records || averaged => from_release,
            _ => describe_columns(ColumnsMeaning::NoisyPredictions),
        };
        self.compare_guarantee_field("columns", &own);
        let moments = matches!(certificate.mechanism, CertifiedMechanism::NoisyMoments(_));
        self.compare_guarantee_field("intervals", &json!(moments.then_some(INTERVALS)));
        self.check_warnings();
        self.check_whole_width_guarantee();
        self.check_not_covered_field();
    }

    /// Checks the warnings of the guarantee. Others follow from the points.
    fn check_warnings(&mut self) {
        let Some(said) = text_list_field(self.whole, "warnings") else {
            return self.absent.push("warnings".to_owned());
        };
        let missing = guarantee_warnings(self.certificate, false).into_iter().find(|own| !said.contains(&own.as_str()));
        let why = format!("it lacks {:?}", missing.clone().unwrap_or_default());
        self.record_condition("warnings", missing.is_none(), &why);
    }

    fn check_whole_width_guarantee(&mut self) {
        let Some(wider) = self.whole.get("whole_width") else {
            return self.absent.push("whole_width".to_owned());
        };
        let Some(width) = wider.get("change").and_then(Value::as_f64) else {
            return self.record_condition("whole_width", wider.is_null(), "it lacks a change");
        };
        let Some(Neighbours::OneTargetChanges(change)) = self.certificate.neighbours else {
            return self.record_condition(
                "whole_width",
                false,
                "the embedded certificate does not protect against a change of one target",
            );
        };
        let Some(delta) = self.certificate.delta() else {
            return self.record_condition("whole_width", false, "the embedded certificate has no guarantee");
        };
        let mu = self.mu * (width / change);
        let expected =
            json!({ "change": width, "mu": mu, "epsilon": gaussian_epsilon_at_mu(mu, delta), "delta": delta });
        self.record_condition(
            "whole_width.change",
            width > change,
            "it does not exceed the change in the embedded certificate",
        );
        self.compare_field("whole_width", Some(wider), &expected);
    }

    fn check_not_covered_field(&mut self) {
        let Some(said) = text_list_field(self.whole, "not_covered") else {
            return self.absent.push("not_covered".to_owned());
        };
        let mut left = said;
        let missing = self.required_not_covered_lines().into_iter().find(|one| !one.remove_from(&mut left));
        let optional = self.certificate.neighbours.and_then(|neighbours| match neighbours {
            Neighbours::OneTargetChanges(change) => Some(larger_change_text(change, f64::INFINITY)),
            Neighbours::OneRecord(_) => None,
        });
        left.retain(|text| Some(*text) != optional.as_deref());
        if self.whole.get("release_id").is_none() {
            left.retain(|text| *text != NOT_COUNTED);
        }
        let why = match (&missing, left.first()) {
            (Some(missing), _) => format!("it lacks {:?}", missing.display_text()),
            (None, Some(more)) => {
                format!("it has {more:?}, which does not follow from the embedded certificate")
            }
            (None, None) => String::new(),
        };
        self.record_condition("not_covered", missing.is_none() && left.is_empty(), &why);
    }

    /// The limits that a certificate of predictions must state.
    fn required_not_covered_lines(&self) -> Vec<NotCoveredLinePattern> {
        let (certificate, mut lines) = (self.certificate, Vec::new());
        lines.extend(ALWAYS_OPEN.map(|text| NotCoveredLinePattern::OneOf(vec![text.to_owned()])));
        let person = match &certificate.unit {
            PrivacyUnit::Person { column, .. } => Some(several_names_guarantee_limit(column)),
            _ => None,
        };
        let is_person = person.is_some();
        lines.push(NotCoveredLinePattern::OneOf(vec![person.unwrap_or_else(|| SEVERAL_ROWS.to_owned())]));
        match certificate.neighbours {
            Some(Neighbours::OneTargetChanges(change)) => {
                let person = match &certificate.unit {
                    PrivacyUnit::Person { column, .. } => Some(column.as_str()),
                    PrivacyUnit::Record | PrivacyUnit::Row { .. } => None,
                };
                let ends = [false, true].map(|dropped| public_inputs_limit_ending(person, dropped));
                lines.push(NotCoveredLinePattern::Between(INPUTS_PUBLIC, ends));
                let width = self.whole.pointer("/whole_width/change").and_then(Value::as_f64);
                lines.extend(width.map(|width| NotCoveredLinePattern::OneOf(vec![larger_change_text(change, width)])));
            }
            Some(Neighbours::OneRecord(NeighbourRelation::ReplaceOne)) if !is_person => {
                lines.push(NotCoveredLinePattern::OneOf(ROWS_PUBLIC.map(str::to_owned).to_vec()));
            }
            _ => {}
        }
        // A file without an id does not say whether a ledger counts it.
        if self.whole.get("release_id").is_some_and(Value::is_null) {
            lines.push(NotCoveredLinePattern::OneOf(vec![NOT_COUNTED.to_owned()]));
        }
        lines
    }

    /// Checks the statement about all releases of a ledger.
    fn check_ledger_account(&mut self) {
        let [id, all] = ["release_id", "all_releases"].map(|name| self.whole.get(name));
        let (Some(id), Some(all)) = (id, all) else { return self.absent.push("all_releases".to_owned()) };
        if id.is_null() || all.is_null() {
            return self.record_condition(
                "all_releases",
                id.is_null() && all.is_null(),
                "either both it and release_id must be null, or neither",
            );
        }
        let [mu, delta] = ["mu", "delta"].map(|name| number_field(all, name).unwrap_or(f64::NAN));
        // If something is not counted, mu is not the total cost.
        let open = all.get("not_counted").is_some_and(|why| !why.is_null());
        self.record_condition(
            "all_releases.mu",
            open || mu >= self.mu * (1.0 - PRECISION),
            "it is less than the mu of this release alone",
        );
        self.compare_field("all_releases.delta", all.get("delta"), &json!(self.certificate.delta()));
        if mu.is_finite() && delta > 0.0 {
            self.compare_field("all_releases.epsilon", all.get("epsilon"), &json!(gaussian_epsilon_at_mu(mu, delta)));
        }
        if let (Some(epsilon), Some(delta)) = (number_field(all, "budget_epsilon"), number_field(all, "budget_delta")) {
            let exact = PrivacyBudget { epsilon, delta }.gaussian_delta_at_mu(mu);
            self.compare_field("all_releases.delta_exact", all.get("delta_exact"), &json!(exact));
        }
        let releases = all.get("releases").and_then(Value::as_u64).unwrap_or(0);
        let alone = open || releases > 1 || is_near(mu, self.mu);
        self.record_condition(
            "all_releases.releases",
            releases > 0 && alone,
            "it must be at least 1, and if it is 1, all_releases.mu must equal the mu of this release",
        );
    }

    /// Checks the statement about the releases of one charge. Most releases have none.
    fn check_joint_guarantee(&mut self) {
        let Some(joint) = self.whole.get("together") else { return };
        let [epsilon, delta, mu] = ["epsilon", "delta", "mu"].map(|name| number_field(joint, name).unwrap_or(f64::NAN));
        let answers = joint.get("answers").and_then(Value::as_array).map_or(0, Vec::len);
        let (own, several) = (self.mu * (1.0 - PRECISION), answers > 1 && mu.is_finite());
        self.record_condition("together.mu", several && mu >= own, "it is less than the mu of this release alone");
        let budget = PrivacyBudget { epsilon, delta };
        let kept = epsilon > 0.0 && delta > 0.0 && delta < 1.0 && several && budget.admits(mu * (1.0 - PRECISION));
        self.record_condition("together.epsilon", kept, "the joint mu does not imply this epsilon and delta");
        if !several {
            return;
        }
        // Releases that protect different things have no common sentence.
        if joint.get("in_words").is_some_and(|words| !words.is_null()) {
            self.compare_field("together.in_words", joint.get("in_words"), &json!(risk_in_words(self.certificate, mu)));
        }
    }

    fn check_digest(&mut self) {
        match self.written.get(FIELD) {
            None => self.absent.push(FIELD.to_owned()),
            Some(found) => {
                let holds = *found == content_digest(self.written);
                let why = "it does not match the file, which was edited or is damaged";
                self.record_condition(FIELD, holds, why);
            }
        }
    }
}

/// A line of a list.
enum NotCoveredLinePattern {
    OneOf(Vec<String>),
    /// A line with this start and one of these ends; between them stand names of columns.
    Between(&'static str, [String; 2]),
}

impl NotCoveredLinePattern {
    /// Removes the line from a list. Returns whether it was present.
    fn remove_from(&self, list: &mut Vec<&str>) -> bool {
        let found = list.iter().position(|text| match self {
            Self::OneOf(texts) => texts.iter().any(|one| one == text),
            Self::Between(start, ends) => {
                text.starts_with(start) && ends.iter().any(|end| text.ends_with(end.as_str()))
            }
        });
        found.map(|place| list.remove(place)).is_some()
    }

    fn display_text(&self) -> String {
        match self {
            Self::OneOf(texts) => texts.first().cloned().unwrap_or_default(),
            Self::Between(start, [end, _]) => format!("{start}...{end}"),
        }
    }
}

/// The warnings about the guarantee itself, with or without that about its delta.
fn guarantee_warnings(certificate: &Certificate, delta: bool) -> Vec<String> {
    let delta = large_delta_warning(certificate).filter(|_| delta);
    large_epsilon_warning(certificate).into_iter().chain(delta).chain(noise_design_warning(certificate)).collect()
}

/// Reads a list of texts, if it is present. Items that are not texts become empty, which matches nothing.
fn text_list_field<'v>(file: &'v Value, name: &str) -> Option<Vec<&'v str>> {
    let list = file.get(name)?.as_array().map_or(&[][..], Vec::as_slice);
    Some(list.iter().map(|text| text.as_str().unwrap_or_default()).collect())
}

fn number_field(object: &Value, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64)
}

/// Whether two JSON values are equal, with numbers to the precision of a recomputation.
fn matches_expected(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => {
            found.as_f64().zip(expected.as_f64()).is_some_and(|(found, expected)| is_near(found, expected))
        }
        (Value::Object(found), Value::Object(expected)) => {
            found.len() == expected.len()
                && expected.iter().all(|(name, value)| found.get(name).is_some_and(|one| matches_expected(one, value)))
        }
        (found, expected) => found == expected,
    }
}

fn is_near(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= PRECISION * one.abs().max(other.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_rows::{TWO_ROWS, with_request};

    /// The certificate of predictions that no ledger counts, with some of its fields edited: what is contradicted.
    fn contradicted(edit: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut file = with_request(TWO_ROWS, |request| {
            let charged = request
                .design_release(false)
                .unwrap()
                .charge(None, &request.release_spec(), None)
                .unwrap()
                .draw()
                .unwrap();
            charged.certificate_json(b"1,2,3")
        });
        edit(&mut file);
        let certificate: Certificate = serde_json::from_value(file["certificate"].clone()).unwrap();
        let mu = file["mu"].as_f64().unwrap();
        let found = StatementChecker::check_statements(&file, &certificate, mu);
        found.checks.into_iter().filter(|check| !check.holds).map(|check| check.fact).collect()
    }

    #[test]
    fn a_certificate_says_what_is_inside() {
        assert_eq!(contradicted(|_| {}), Vec::<String>::new());
    }

    /// With the digest written anew, as whoever edits a file may do.
    #[test]
    fn an_edited_field_is_named() {
        for (name, value) in [
            ("guarantee", json!("(0.01, 1e-9)-DP")),
            ("neighbours", json!("one record is added or removed")),
            ("epsilon", json!(0.01)),
            ("delta", json!(1e-9)),
            ("delta_exact", json!(null)),
            ("caveats", json!(["none"])),
            ("not_covered", json!([])),
            ("whole_width", json!(null)),
            ("columns", json!({})),
            ("intervals", json!("all is well")),
            ("all_releases", json!({ "releases": 1 })),
            ("release_id", json!("00")),
        ] {
            let found = contradicted(|file| {
                file[name] = value;
                file[FIELD] = json!(content_digest(file));
            });
            assert!(!found.is_empty(), "{name}");
            let said = if name == "release_id" { "all_releases" } else { name };
            assert!(found.iter().any(|fact| fact.starts_with(said) || name == "whole_width"), "{name}: {found:?}");
        }
        let made = contradicted(|file| {
            file["noise"]["made"] = json!("by hand");
            file[FIELD] = json!(content_digest(file));
        });
        assert!(made.len() == 1 && made[0].starts_with("noise.made"), "{made:?}");
    }

    /// What follows from nothing inside is known by the digest.
    #[test]
    fn the_digest_covers_the_rest() {
        for name in ["target", "points", "warnings", "program", "spec_sha256"] {
            let found = contradicted(|file| file[name] = json!(["edited"]));
            assert!(found.len() == 1 && found[0].starts_with(FIELD), "{name}: {found:?}");
        }
    }
}
