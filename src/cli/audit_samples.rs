//! `dpgp audit --samples`: attacks on a mechanism through its outputs.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::CliError;
use super::audit::SampleAuditOutput;
use super::options::OutputFormat;
use super::output::{print, print_json};
use dpgp_accounting::Guarantee;
use dpgp_audit::{PrivacyLowerBounds, attack};
use dpgp_claim_audit::{CsvFirstLineKind, SampledOutputs, read_sampled_outputs};
use dpgp_number::Delta;
use dpgp_report::format_four_digits;

/// Options for outputs of the user's own mechanism.
#[derive(Debug, Args)]
pub struct SampleAuditArguments {
    /// Attack a mechanism through its outputs on two neighbouring inputs, with one row per output
    #[arg(
        long, num_args = 2, value_names = ["A", "B"], requires_all = ["epsilon", "delta"],
        conflicts_with_all = ["names", "all", "quick"]
    )]
    samples: Vec<PathBuf>,
    /// The epsilon that the mechanism claims
    #[arg(long, value_name = "E", requires = "samples", value_parser = epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// What the first line of the CSV files is; needed if it has only numbers, or words that also appear in later lines
    #[arg(long, value_name = "WHAT", requires = "samples")]
    first_line: Option<FirstLineChoice>,
    /// The delta that the mechanism claims; 0 for pure differential privacy
    #[arg(long, value_name = "D", requires = "samples", value_parser = delta, allow_negative_numbers = true)]
    delta: Option<f64>,
}

fn epsilon(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a finite number, at least 0".to_owned()),
    }
}

fn delta(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(0.0),
        Ok(x) if Delta::new(x).is_ok() => Ok(x),
        _ => Err("must be 0, or at least 2.2250738585072014e-308 and less than 1".to_owned()),
    }
}

/// The cause of a leak through last bits, and its cure.
const FLOATING_POINT_LEAK: &str = "the last bits of the outputs reveal which input they come from, even if the noise is large enough: \
    round the outputs to multiples of a power of two, or add integer noise to integers\n";

/// Two files and a claim.
pub struct SampleAuditRequest<'a> {
    files: [&'a Path; 2],
    first: Option<FirstLineChoice>,
    claim: Guarantee,
}

/// The meaning of the first line of the files.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FirstLineChoice {
    /// The names of the columns
    Names,
    /// An output, like the other lines
    Row,
}

impl From<FirstLineChoice> for CsvFirstLineKind {
    fn from(word: FirstLineChoice) -> Self {
        match word {
            FirstLineChoice::Names => Self::Names,
            FirstLineChoice::Row => Self::Row,
        }
    }
}

impl SampleAuditArguments {
    /// Returns the files and the claim to attack, if they are given.
    pub fn audit_request(&self) -> Option<SampleAuditRequest<'_>> {
        match (self.samples.as_slice(), self.epsilon, self.delta) {
            ([one, other], Some(epsilon), Some(delta)) => Some(SampleAuditRequest {
                files: [one, other],
                first: self.first_line,
                claim: Guarantee { epsilon, delta },
            }),
            _ => None,
        }
    }
}

/// Attacks a mechanism through its outputs. Fails if the samples refute the claim.
pub fn audit_samples(
    sampled: &SampleAuditRequest<'_>,
    seed: u32,
    confidence: f64,
    format: OutputFormat,
) -> Result<(), CliError> {
    let SampleAuditRequest { files: [one, other], claim, .. } = *sampled;
    let read = read_sampled_outputs(one, other, sampled.first.map(CsvFirstLineKind::from), seed)?;
    let bounds = attack(read.outputs.each_ref(), claim, confidence);
    let found = SampleAuditReport { sampled, read: &read, bounds: &bounds, confidence };
    match format {
        OutputFormat::Text => print(&found.text())?,
        OutputFormat::Json => print_json(&json!(found.to_output()))?,
    }
    let Guarantee { epsilon, delta } = claim;
    if bounds.refute(claim) { Err(CliError::Refuted { epsilon, delta }) } else { Ok(()) }
}

/// The facts to print.
struct SampleAuditReport<'a> {
    sampled: &'a SampleAuditRequest<'a>,
    read: &'a SampledOutputs,
    bounds: &'a PrivacyLowerBounds,
    confidence: f64,
}

impl SampleAuditReport<'_> {
    fn text(&self) -> String {
        let (Guarantee { epsilon, delta }, PrivacyLowerBounds { set, .. }) = (self.sampled.claim, self.bounds);
        let mut text = format!("columns: {}\n", self.read.columns.join(", "));
        for (file, outputs) in self.sampled.files.iter().zip(&self.read.outputs) {
            text += &format!("{}: {} outputs\n", file.display(), outputs.len());
        }
        for column in &self.read.cut {
            text += &format!("{column}: numbers that differ only beyond double precision are read as equal\n");
        }
        let (found, most) = (format_four_digits(self.bounds.epsilon), format_four_digits(self.max_provable_epsilon()));
        let from = if set.is_empty() { String::new() } else { format!(", from the outputs with {set}") };
        text += &format!("epsilon >= {found} at delta = {delta:?}{from}; this many outputs can prove at most {most}\n");
        text += &format!("delta >= {} at epsilon = {epsilon:?}\n", format_four_digits(self.bounds.delta));
        if self.bounds.shows_floating_point_leak() {
            text += FLOATING_POINT_LEAK;
        }
        let verdict = verdict_name(self.bounds.refute(self.sampled.claim));
        text + &format!("({epsilon:?}, {delta:?}): {verdict}, with confidence {}\n", self.confidence)
    }

    /// Returns the largest epsilon that this number of outputs can prove.
    fn max_provable_epsilon(&self) -> f64 {
        self.read.max_provable_epsilon(self.sampled.claim, self.confidence)
    }

    fn to_output(&self) -> SampleAuditOutput {
        let Guarantee { epsilon, delta } = self.sampled.claim;
        SampleAuditOutput {
            files: self.sampled.files.map(Path::to_path_buf),
            columns: self.read.columns.clone(),
            cut: self.read.cut.clone(),
            rows: self.read.outputs.each_ref().map(|outputs| outputs.len()),
            epsilon,
            delta,
            confidence: self.confidence,
            epsilon_at_least: self.bounds.epsilon,
            epsilon_provable: self.max_provable_epsilon(),
            delta_at_least: self.bounds.delta,
            set: self.bounds.set.clone(),
            verdict: verdict_name(self.bounds.refute(self.sampled.claim)),
        }
    }
}

/// Names the verdict on a claim.
fn verdict_name(violated: bool) -> &'static str {
    if violated { "violated" } else { "nothing found" }
}
