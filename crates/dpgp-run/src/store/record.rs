//! What the lines of a segment say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use dpgp_spec::Identity;
use dpgp_task::{Frame, Measurement};

/// The run that results belong to: what must be equal before results are put together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The experiment, as it was named.
    pub experiment: String,
    /// Whether its reduced settings were used.
    pub quick: bool,
    /// The path of its spec, as it was read.
    pub spec: String,
    /// SHA-256 of its text.
    pub spec_sha256: Identity,
    /// The names of its axes.
    pub axes: Vec<String>,
    /// The seed.
    pub seed: u32,
    /// The version of the numerics.
    pub numerics: u32,
    /// Each data file and its SHA-256.
    pub data: Vec<(String, String)>,
}

impl RunHeader {
    /// The first thing that keeps the results of two runs from being put together.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        let same = [
            ("spec", self.spec_sha256 == other.spec_sha256),
            ("data", self.data == other.data),
            ("seed", self.seed == other.seed),
            ("numerics version", self.numerics == other.numerics),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
    }
}

/// What a stored result is about; none of it changes the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultAbout {
    /// The labels of the cell.
    pub labels: Vec<String>,
    /// The replicate, from 0.
    pub replicate: u32,
    /// The digest of each section of the cell.
    pub sections: BTreeMap<String, Identity>,
    /// The data files of the cell and their SHA-256.
    pub data: Vec<(String, String)>,
    /// Seconds that it took.
    pub seconds: f64,
    /// When it was finished, in seconds since 1970.
    pub finished: u64,
}

/// A stored result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredResult {
    /// What it is about.
    pub about: ResultAbout,
    /// What was measured.
    pub measured: Vec<Measurement>,
    /// What its figure shows beyond that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
}

/// Largest relative difference of two numbers that count as the same result: rounding differs between CPUs.
const SAME: f64 = 1e-9;

/// The tolerance of what a figure shows, on the scale of its column.
const SAME_SHOWN: f64 = 1e-6;

/// The absolute tolerance of certificates' gaps, which are bounds near rounding.
const SAME_GAP: f64 = 1e-8;

impl StoredResult {
    /// Whether two results of the same key agree.
    pub fn agrees(&self, other: &Self) -> bool {
        self.measured.len() == other.measured.len()
            && self.measured.iter().zip(&other.measured).all(|(a, b)| same_measurement(a, b))
            && self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(|(a, b)| same_frame(a, b))
    }
}

/// Numbers of a frame are compared on the scale of their column, as a figure shows them.
fn same_frame(a: &Frame, b: &Frame) -> bool {
    a.name == b.name
        && a.columns.len() == b.columns.len()
        && a.columns.iter().zip(&b.columns).all(|((name, x), (other, y))| name == other && same_column(x, y))
}

fn same_column(x: &[f64], y: &[f64]) -> bool {
    let scale = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= SAME_SHOWN * scale)
}

fn same_measurement(a: &Measurement, b: &Measurement) -> bool {
    a.metric == b.metric
        && a.values.len() == b.values.len()
        && a.values.iter().zip(&b.values).all(|(a, b)| close(*a, *b))
        && both(a.certificate.delta_exact, b.certificate.delta_exact, close)
        && both(a.certificate.gap, b.certificate.gap, |a, b| (a - b).abs() <= SAME_GAP)
        && a.certificate.to_string() == b.certificate.to_string()
}

/// Whether two numbers are close, or neither is there.
fn both(a: Option<f64>, b: Option<f64>, close: fn(f64, f64) -> bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => close(a, b),
        (a, b) => a == b,
    }
}

fn close(a: f64, b: f64) -> bool {
    // What is undefined is not a number.
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= SAME * a.abs().max(b.abs())
}
