//! The entry of a release for a registry of deployments.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::CliError;
use dpgp_data::read_limited_text;
use dpgp_release::CertificateSummary;

/// What a registry asks about a deployment, from the certificate of a release. What only the publisher knows is empty.
#[derive(Debug, Serialize)]
pub(super) struct RegistryEntry {
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
    /// Reads a certificate of predictions, or a release of sums, moments or counts.
    ///
    /// # Errors
    /// [`CliError`] if the file cannot be read, is not a certificate, or states a guarantee that does not hold.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let text = read_limited_text(path).map_err(CliError::io_error_at(path))?;
        let stated = CertificateSummary::parse(path, &text, None)?;
        let Some(guarantee) = stated.guarantee.clone() else {
            return Err(CliError::NothingToRegister { path: path.to_path_buf(), why: stated.said.join(" ") });
        };
        let whole: Value = serde_json::from_str(&text)
            .map_err(|error| CliError::NothingToRegister { path: path.to_path_buf(), why: error.to_string() })?;
        let found = |places: [&str; 2]| places.iter().find_map(|place| whole.pointer(place).cloned());
        let what = if stated.counts { "counts" } else { "predictions" };
        let target = stated.target.map(|target| format!(" of {target}")).unwrap_or_default();
        Ok(Self {
            product: "",
            publisher: "",
            released: format!("{what}{target}"),
            privacy_unit: stated.neighbours,
            epsilon: stated.epsilon,
            delta: stated.delta,
            mu: found(["/mu", "/guarantee/mu"]),
            all_releases_of_these_data: drop_null_fields(found(["/all_releases", "/guarantee/all_releases"])),
            mechanism: guarantee,
            trust_model: "central: the holder of the data adds the noise",
            software: found(["/program", "/guarantee/program"]).unwrap_or_else(|| json!(dpgp_run::PROGRAM)),
            not_covered: stated.not_covered,
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
