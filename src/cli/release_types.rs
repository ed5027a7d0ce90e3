//! Output of verbs about releases with `--format json`. Most of these types are used only for their schema, because the release itself
//! writes the output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use dpgp_number::Epsilon;
use dpgp_release::SumsFacts;
use dpgp_task::ReleasePreview;

/// The output of `dpgp predict` for a release without `--out`.
#[expect(dead_code, reason = "used only for its schema; the release writes its own JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct PredictOutput {
    /// The certificate, as in FILE.certificate.json.
    certificate: CertificateFileContents,
    /// A record for each point: its inputs, private_mean, gp_sd, noise_sd, low and high.
    predictions: Vec<BTreeMap<String, Value>>,
}

/// The output of `dpgp predict` for a release with `--out`.
#[expect(dead_code, reason = "used only for its schema; the release writes its own JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct PredictToFileOutput {
    /// The file.
    written: PathBuf,
    /// The certificate, as in FILE.certificate.json.
    certificate: CertificateFileContents,
}

/// FILE.certificate.json beside released predictions.
#[expect(dead_code, reason = "used only for its schema; the release writes its own JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct CertificateFileContents {
    /// The guarantee, in words.
    guarantee: String,
    /// Which datasets are neighbours under the guarantee.
    neighbours: String,
    /// The claimed epsilon.
    epsilon: Option<f64>,
    /// The claimed delta.
    delta: Option<f64>,
    /// The exact delta at this epsilon.
    delta_exact: Option<f64>,
    /// The parameter of Gaussian differential privacy.
    mu: Option<f64>,
    /// The most that an attacker gains, in numbers and in a sentence.
    risk: Value,
    /// The origin of the noise.
    noise: Value,
    /// Exceptions to the guarantee.
    caveats: Vec<String>,
    /// Risks that the guarantee does not cover.
    not_covered: Vec<String>,
    /// The id of the release in the ledger; null without a ledger.
    release_id: Option<String>,
    /// The joint privacy loss of all releases in the ledger; null without a ledger.
    all_releases: Option<Value>,
    /// The joint guarantee of all answers in one charge (`predict --together`); missing for a single answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    together: Option<Value>,
    /// Warnings for readers.
    warnings: Vec<String>,
    /// The guarantee for a target that changes by the whole width of its bounds, if the protected change is smaller; else null.
    whole_width: Option<Value>,
    /// The guarantee in the form that the program computes with.
    certificate: Value,
    /// The meaning of each column of the file.
    columns: BTreeMap<String, String>,
    /// What the intervals of a release of moments rely on; null for other mechanisms.
    intervals: Option<String>,
    /// The lower and the upper bound to which targets were clipped; missing if targets were not clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped_to: Option<[f64; 2]>,
    /// The number of points.
    points: usize,
    /// The predicted column.
    target: String,
    /// The digest of the file of predictions.
    predictions_sha256: String,
    /// The digest of the combinations of targets from which the predictions are computed; missing unless the model is averaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    combinations_sha256: Option<String>,
    /// The digest of the spec; null if it contains rows.
    spec_sha256: Option<String>,
    /// The settings of the spec that `--set` changed; missing if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    /// The program and its version.
    program: String,
    /// The digest of all other fields.
    content_sha256: String,
}

/// The output of `dpgp verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyOutput {
    /// The claimed guarantee.
    pub guarantee: String,
    /// The program that made the release.
    pub program: Option<String>,
    /// The checks, in order.
    pub checks: Vec<VerifyCheckOutput>,
    /// Missing fields, which could not be checked.
    pub skipped: Vec<String>,
    /// The signature that was not checked, because no signers were named.
    pub unchecked_signature: Option<PathBuf>,
    /// True if all checks hold.
    pub holds: bool,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyCheckOutput {
    /// The compared fact.
    pub fact: String,
    /// True if it holds.
    pub holds: bool,
}

/// The output of `dpgp sum`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SumOutput {
    /// Facts about the sums.
    #[serde(flatten)]
    pub facts: SumsFacts,
    /// The file of exact sums.
    pub out: Option<PathBuf>,
    /// The file of the release.
    pub release: Option<PathBuf>,
    /// The time taken to compute the sums, in seconds; only with `--timings`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The output of `dpgp map`.
#[expect(dead_code, reason = "used only for its schema; the map writes its own JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct MapOutput {
    /// The file.
    written: PathBuf,
    /// A description of the map.
    map: MapFacts,
}

/// A map.
#[expect(dead_code, reason = "used only for its schema; the map writes its own JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct MapFacts {
    /// The number of points.
    points: usize,
    /// The number of hatched points.
    masked: usize,
    /// Its caption, in sentences.
    caption: Vec<String>,
}

/// A ledger, as `dpgp ledger show` or `verify` reports it. The contents of a ledger that cannot be trusted are left out.
#[expect(dead_code, reason = "used only for its schema; src/cli/ledger.rs writes the JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct LedgerOutput {
    /// Its file.
    ledger: PathBuf,
    /// `sound`, `version-1` or `broken`.
    state: String,
    /// The reason why it cannot be trusted.
    problem: Option<String>,
    /// The joint privacy loss of its releases.
    #[schemars(skip_serializing_if = "Option::is_none")]
    account: Option<AccountOutput>,
    /// The epsilon left in its budget at the delta of `account`; null without a budget.
    #[schemars(skip_serializing_if = "Option::is_none")]
    epsilon_left: Option<f64>,
    /// Its releases; only for `show`.
    #[schemars(skip_serializing_if = "Option::is_none")]
    releases: Option<Vec<LedgerEntryOutput>>,
}

/// The joint privacy loss of releases.
#[expect(dead_code, reason = "used only for its schema; src/cli/ledger.rs writes the JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct AccountOutput {
    /// The number of releases.
    releases: usize,
    /// The joint parameter of Gaussian differential privacy.
    mu: Option<f64>,
    /// Their epsilon at `delta`.
    epsilon: Option<f64>,
    /// The delta at which epsilon is reported.
    delta: f64,
    /// The epsilon of the budget.
    budget_epsilon: Option<f64>,
    /// The delta of the budget.
    budget_delta: Option<f64>,
    /// The exact delta at the epsilon of the budget.
    delta_exact: Option<f64>,
    /// The reason why the releases cannot be composed.
    not_counted: Option<String>,
}

/// A release in a ledger.
#[expect(dead_code, reason = "used only for its schema; src/cli/ledger.rs writes the JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct LedgerEntryOutput {
    /// Its number, counted from 1.
    number: u64,
    /// When it was made.
    time: String,
    /// Its spec.
    spec: String,
    /// The column that was released.
    target: String,
    /// The claimed epsilon.
    epsilon: f64,
    /// The claimed delta.
    delta: f64,
    /// The exact delta at this epsilon.
    delta_exact: f64,
    /// The parameter of Gaussian differential privacy.
    mu: f64,
    /// The change that it protects against.
    protects_against: String,
    /// Exceptions to the guarantee.
    caveats: Vec<String>,
}

/// A release that `dpgp ledger verify --released` looked for.
#[expect(dead_code, reason = "used only for its schema; src/cli/ledger.rs writes the JSON")]
#[derive(Debug, JsonSchema)]
pub(super) struct ReleaseLookupOutput {
    /// Its file.
    release: PathBuf,
    /// `entered`, `not-entered` or `without-id`.
    state: String,
    /// The ledger that contains it.
    ledger: Option<PathBuf>,
    /// Its number in that ledger.
    number: Option<u64>,
}

/// An entry of `dpgp ledger verify`: a ledger, or a release that was looked for.
#[expect(dead_code, reason = "used only for its schema; src/cli/ledger.rs writes the JSON")]
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline, description = "")]
pub(super) enum LedgerVerifyOutput {
    Ledger(LedgerOutput),
    LookedFor(ReleaseLookupOutput),
}

/// The output of `dpgp predict --preview`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PreviewOutput {
    /// The expected errors; null for counts.
    pub preview: Option<ReleasePreview>,
    /// The noise of each count at each epsilon; missing unless counts are released.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub count_noise: Vec<CountNoise>,
    /// The wanted error, in units of the target.
    pub wanted: Option<f64>,
    /// The smallest epsilon that reaches the wanted error.
    pub epsilon: Option<f64>,
    /// The path of the figure; null if none was drawn.
    pub figure: Option<PathBuf>,
}

/// The noise of counts at an epsilon.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CountNoise {
    /// Epsilon.
    pub epsilon: Epsilon,
    /// The standard deviation of the noise of each count.
    pub sd: f64,
}

/// The output of `dpgp tradeoff`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TradeoffOutput {
    /// The settings.
    pub settings: Vec<SettingTradeoff>,
}

/// The expected errors of one setting.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SettingTradeoff {
    /// Its label on each axis on which the settings differ.
    pub labels: BTreeMap<String, String>,
    /// The expected errors.
    pub preview: ReleasePreview,
}
