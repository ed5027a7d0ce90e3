//! What verbs about releases print with `--format json`. Of most of it the schema alone is used: the release itself writes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use dpgp_release::SumsFacts;
use dpgp_task::Preview;

/// What `dpgp predict` prints of a release without `--out`.
#[expect(dead_code, reason = "the schema of what the release writes")]
#[derive(Debug, JsonSchema)]
pub(super) struct ReleasedHere {
    /// What is guaranteed and what is not, as FILE.certificate.json has it.
    certificate: CertificateFile,
    /// A record for each point: its inputs, private_mean, gp_sd, noise_sd, low and high.
    predictions: Vec<BTreeMap<String, Value>>,
}

/// The same with `--out`.
#[expect(dead_code, reason = "the schema of what the release writes")]
#[derive(Debug, JsonSchema)]
pub(super) struct ReleasedToFile {
    /// The file.
    written: PathBuf,
    /// What is guaranteed and what is not, as FILE.certificate.json has it.
    certificate: CertificateFile,
}

/// FILE.certificate.json beside released predictions.
#[expect(dead_code, reason = "the schema of what the release writes")]
#[derive(Debug, JsonSchema)]
pub(super) struct CertificateFile {
    /// What is guaranteed, in words.
    guarantee: String,
    /// Which data sets are told apart no better.
    neighbours: String,
    /// The epsilon that is claimed.
    epsilon: Option<f64>,
    /// The delta that is claimed.
    delta: Option<f64>,
    /// The exact delta at that epsilon.
    delta_exact: Option<f64>,
    /// The parameter of Gaussian differential privacy.
    mu: Option<f64>,
    /// How the noise was made.
    noise: Value,
    /// Exceptions to the guarantee.
    caveats: Vec<String>,
    /// What the guarantee does not speak of.
    not_covered: Vec<String>,
    /// What the ledger calls the release; none without a ledger.
    release_id: Option<String>,
    /// What all releases of the ledger spent together; none without a ledger.
    all_releases: Option<Value>,
    /// What a reader should know.
    warnings: Vec<String>,
    /// What holds for a target that changes by more.
    whole_width: Option<Value>,
    /// The guarantee as the program computes with it.
    certificate: Value,
    /// What each column of the file is.
    columns: BTreeMap<String, String>,
    /// What intervals of a release by moments cannot know; none of other mechanisms.
    intervals: Option<String>,
    /// The number of points.
    points: usize,
    /// The column that is predicted.
    target: String,
    /// The digest of the file of predictions.
    predictions_sha256: String,
    /// The digest of the spec; none where rows stand in it.
    spec_sha256: Option<String>,
    /// The program and its version.
    program: String,
    /// The digest of all other fields.
    content_sha256: String,
}

/// What `dpgp verify` says of a release.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifiedCertificate {
    /// The claim.
    pub guarantee: String,
    /// The program that made it.
    pub program: Option<String>,
    /// What was checked, in order.
    pub checks: Vec<VerifiedCheck>,
    /// Fields that are not there, so that they could not be checked.
    pub skipped: Vec<String>,
    /// The signature, if there is one and no signers were named.
    pub unchecked_signature: Option<PathBuf>,
    /// Whether all of it holds.
    pub holds: bool,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifiedCheck {
    /// What was compared.
    pub fact: String,
    /// Whether it holds.
    pub holds: bool,
}

/// What `dpgp stats` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SummedRows {
    /// Numbers of the sums.
    #[serde(flatten)]
    pub facts: SumsFacts,
    /// The file of exact sums.
    pub out: Option<PathBuf>,
    /// The file of the release.
    pub release: Option<PathBuf>,
    /// How long the sums took; `--timings` alone has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// What `dpgp map` drew.
#[expect(dead_code, reason = "the schema of what the map says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct DrawnFile {
    /// The file.
    written: PathBuf,
    /// What it shows.
    map: DrawnPicture,
}

/// What a map shows.
#[expect(dead_code, reason = "the schema of what the map says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct DrawnPicture {
    /// How many points.
    points: usize,
    /// How many of them are hatched.
    masked: usize,
    /// Its caption, in sentences.
    caption: Vec<String>,
}

/// A ledger of `dpgp ledger show` or `verify`. What a ledger holds is left out where it cannot be trusted.
#[expect(dead_code, reason = "the schema of what the ledger says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct LedgerOutput {
    /// Its file.
    ledger: PathBuf,
    /// `sound`, `version-1` or `broken`.
    state: String,
    /// Why it cannot be trusted.
    problem: Option<String>,
    /// What its releases spent together.
    #[schemars(skip_serializing_if = "Option::is_none")]
    account: Option<AccountOutput>,
    /// What is left of its budget at this delta; none without a budget.
    #[schemars(skip_serializing_if = "Option::is_none")]
    epsilon_left: Option<f64>,
    /// Its releases; `show` alone has them.
    #[schemars(skip_serializing_if = "Option::is_none")]
    releases: Option<Vec<EntryOutput>>,
}

/// What releases spent together.
#[expect(dead_code, reason = "the schema of what the ledger says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct AccountOutput {
    /// How many.
    releases: usize,
    /// The parameter of Gaussian differential privacy of all of them.
    mu: Option<f64>,
    /// Their epsilon at `delta`.
    epsilon: Option<f64>,
    /// The delta at which epsilon is told.
    delta: f64,
    /// The epsilon of the budget.
    budget_epsilon: Option<f64>,
    /// The delta of the budget.
    budget_delta: Option<f64>,
    /// The exact delta at the epsilon of the budget.
    delta_exact: Option<f64>,
    /// Why nothing composes them.
    not_counted: Option<String>,
}

/// A release of a ledger.
#[expect(dead_code, reason = "the schema of what the ledger says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct EntryOutput {
    /// Its number, from 1.
    number: u64,
    /// When it was made.
    time: String,
    /// The spec that it is of.
    spec: String,
    /// The column that was released.
    target: String,
    /// The epsilon that is claimed.
    epsilon: f64,
    /// The delta that is claimed.
    delta: f64,
    /// The exact delta at that epsilon.
    delta_exact: f64,
    /// The parameter of Gaussian differential privacy.
    mu: f64,
    /// What it protects against.
    protects_against: String,
    /// Exceptions to the guarantee.
    caveats: Vec<String>,
}

/// A release that `dpgp ledger verify --released` looked for.
#[expect(dead_code, reason = "the schema of what the ledger says of itself")]
#[derive(Debug, JsonSchema)]
pub(super) struct LookedForOutput {
    /// Its file.
    release: PathBuf,
    /// `entered`, `not-entered` or `without-id`.
    state: String,
    /// The ledger that it stands in.
    ledger: Option<PathBuf>,
    /// Its number there.
    number: Option<u64>,
}

/// What `dpgp ledger verify` prints of a ledger or of a release that was looked for.
#[expect(dead_code, reason = "the schema of what the ledger says of itself")]
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline, description = "")]
pub(super) enum VerifiedLedgerOutput {
    Ledger(LedgerOutput),
    LookedFor(LookedForOutput),
}

/// What `dpgp predict --preview` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PreviewOutput {
    /// What is expected.
    pub preview: Preview,
    /// The error that was wanted.
    pub wanted: Option<f64>,
    /// The least epsilon that reaches it.
    pub epsilon: Option<f64>,
    /// The figure that was drawn.
    pub figure: Option<PathBuf>,
}

/// What `dpgp price` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PriceOutput {
    /// Each setting.
    pub settings: Vec<PricedSetting>,
}

/// What one setting is worth.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PricedSetting {
    /// Its values of the axes in which settings differ.
    pub labels: BTreeMap<String, String>,
    /// What is expected.
    pub preview: Preview,
}
