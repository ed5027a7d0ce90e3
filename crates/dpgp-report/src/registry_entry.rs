//! The entry of a release for a registry of deployments.

use serde::Serialize;
use serde_json::{Value, json};

use dpgp_release::CertificateSummary;

/// What a registry asks about a deployment, from the certificate of a release. What only the publisher knows is empty.
#[derive(Debug, Serialize)]
pub struct RegistryEntry {
    product: &'static str,
    publisher: &'static str,
    released: String,
    privacy_unit: Option<String>,
    epsilon: Option<f64>,
    delta: Option<f64>,
    mu: Option<Value>,
    all_releases_of_these_data: Option<Value>,
    mechanism: String,
    trust_model: &'static str,
    software: Value,
    not_covered: Vec<String>,
    justification: &'static str,
}

impl RegistryEntry {
    /// The entry of a certificate, from its summary and its whole JSON. None if a check of the certificate failed, so that nothing is claimed.
    pub fn from_certificate(summary: CertificateSummary, certificate: &Value) -> Option<Self> {
        let guarantee = summary.guarantee?;
        let found = |places: [&str; 2]| places.iter().find_map(|place| certificate.pointer(place).cloned());
        let what = if summary.counts { "counts" } else { "predictions" };
        let target = summary.target.map(|target| format!(" of {target}")).unwrap_or_default();
        Some(Self {
            product: "",
            publisher: "",
            released: format!("{what}{target}"),
            privacy_unit: summary.neighbours,
            epsilon: summary.epsilon,
            delta: summary.delta,
            mu: found(["/mu", "/guarantee/mu"]),
            all_releases_of_these_data: drop_null_fields(found(["/all_releases", "/guarantee/all_releases"])),
            mechanism: guarantee,
            trust_model: "central: the holder of the data adds the noise",
            software: found(["/program", "/guarantee/program"]).unwrap_or_else(|| json!(dpgp_run::PROGRAM)),
            not_covered: summary.not_covered,
            justification: "",
        })
    }

    /// Returns the entry as YAML. Every value is written as JSON, which is a subset of YAML.
    pub fn yaml(&self) -> String {
        let mut text =
            "# For a registry of deployments: fill in the empty fields, including the reason for this epsilon.\n"
                .to_owned();
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return text };
        for (name, value) in fields {
            match value {
                Value::Array(items) if !items.is_empty() => {
                    text.push_str(&format!("{name}:\n"));
                    items.iter().for_each(|item| text.push_str(&format!("  - {item}\n")));
                }
                value => text.push_str(&format!("{name}: {}\n", yaml_scalar(&value))),
            }
        }
        text
    }
}

/// The fields of an object that have a value.
fn drop_null_fields(value: Option<Value>) -> Option<Value> {
    match value? {
        Value::Object(fields) => Some(fields.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => Some(other),
    }
}

/// A value in the syntax of JSON. Some readers of YAML take 1e-5 for a word, and 1.0e-5 for a number.
fn yaml_scalar(value: &Value) -> String {
    let text = value.to_string();
    match text.split_once('e') {
        Some((mantissa, exponent)) if value.is_number() && !mantissa.contains('.') => {
            format!("{mantissa}.0e{exponent}")
        }
        _ => text,
    }
}
