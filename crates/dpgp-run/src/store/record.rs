//! Contents of the lines of a segment, addresses of stored results, values by digest, and errors of the
//! store.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use dpgp_spec::TextDigest;
use dpgp_task::{FigureTable, MetricMeasurement};

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
    pub spec_sha256: TextDigest,
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
    pub(super) fn first_difference(&self, other: &Self) -> Option<&'static str> {
        let same = [
            ("spec", self.spec_sha256 == other.spec_sha256),
            ("data", self.data == other.data),
            ("seed", self.seed == other.seed),
            ("numerics version", self.numerics == other.numerics),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
    }
}

/// Subject of a stored result; none of it changes the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultMetadata {
    /// The labels of the cell.
    pub labels: Vec<String>,
    /// The replicate, from 0.
    pub replicate: u32,
    /// The digest of each section of the cell.
    pub sections: BTreeMap<String, TextDigest>,
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
    /// Its subject.
    pub about: ResultMetadata,
    /// The measured numbers.
    pub measured: Vec<MetricMeasurement>,
    /// Data of its figure beyond that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FigureTable>,
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
            && self.measured.iter().zip(&other.measured).all(|(a, b)| measurements_nearly_equal(a, b))
            && self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(|(a, b)| frames_nearly_equal(a, b))
    }
}

/// Numbers of a frame are compared on the scale of their column, as a figure shows them.
fn frames_nearly_equal(a: &FigureTable, b: &FigureTable) -> bool {
    a.name == b.name
        && a.columns.len() == b.columns.len()
        && a.columns.iter().zip(&b.columns).all(|((name, x), (other, y))| name == other && columns_nearly_equal(x, y))
}

fn columns_nearly_equal(x: &[f64], y: &[f64]) -> bool {
    let scale = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= SAME_SHOWN * scale)
}

fn measurements_nearly_equal(a: &MetricMeasurement, b: &MetricMeasurement) -> bool {
    a.metric == b.metric
        && a.values.len() == b.values.len()
        && a.values.iter().zip(&b.values).all(|(a, b)| are_close_or_both_nan(*a, *b))
        && are_close_or_absent(a.certificate.delta_exact, b.certificate.delta_exact, are_close_or_both_nan)
        && are_close_or_absent(a.certificate.gap, b.certificate.gap, |a, b| (a - b).abs() <= SAME_GAP)
        && a.certificate.to_string() == b.certificate.to_string()
}

/// Whether two numbers are close, or neither is there.
fn are_close_or_absent(a: Option<f64>, b: Option<f64>, close: fn(f64, f64) -> bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => close(a, b),
        (a, b) => a == b,
    }
}

fn are_close_or_both_nan(a: f64, b: f64) -> bool {
    // What is undefined is not a number.
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// The version of the numerics. Raise it with every change that adds a metric or moves a number by more than `dpgp check` tolerates, a part in
/// 10^9, which is more than rounding on another processor does: what was stored before is then computed again, and `dpgp explain` says
/// why.
pub const NUMERICS: u32 = 22;

/// SHA-256 of everything that determines a result.
pub type ResultKey = TextDigest;

/// The key of one replicate of one cell: `sha256("dpgp 1" | numerics | seed | replicate | cell | data digests)`.
pub(crate) fn compute_result_key(cell: TextDigest, seed: u32, replicate: u32, data: &[(String, String)]) -> ResultKey {
    let digests: Vec<&str> = data.iter().map(|(_, digest)| digest.as_str()).collect();
    TextDigest::of_text(&format!("dpgp 1|{NUMERICS}|{seed}|{replicate}|{cell}|{}", digests.join("|")))
}

/// A map from digests, which are their own hashes.
#[allow(clippy::disallowed_types, reason = "without random state its order is the same in every run")]
pub(super) type DigestMap<V> = std::collections::HashMap<TextDigest, V, BuildHasherDefault<DigestHasher>>;

/// Takes the first bytes of SHA-256 as they are: they are spread evenly already.
#[derive(Debug, Default)]
pub(super) struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // The length of the digest comes before it, the same for all.
        self.0 ^= bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    }
}

/// A failure of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder could not be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The same cell, replicate, data and numerics gave two results.
    #[error(
        "{place} of {experiment} was computed twice with different results: {} and {}; one is wrong, or the result \
         depends on more than its spec, data and seed", first.display(), second.display()
    )]
    Disagree {
        /// The experiment.
        experiment: String,
        /// The labels of the cell and the replicate.
        place: String,
        /// The segment that was read first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Runs of one experiment that do not belong together.
    #[error(
        "the stores {} and {} hold runs of {experiment} that differ in their {what}; nothing was merged",
        first.display(), second.display()
    )]
    RunsDiffer {
        /// The experiment.
        experiment: String,
        /// In what they differ.
        what: &'static str,
        /// One store.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A record was changed or removed while it was read.
    #[error("{path}: a record has disappeared; is another program changing the store?")]
    Gone {
        /// The segment.
        path: PathBuf,
    },
}

impl StoreError {
    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path: path.clone(), cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_determines_a_result_is_in_its_key() {
        let cell = TextDigest::of_text("cell");
        let data = [("a.csv".to_owned(), "00ff".to_owned())];
        let all = [
            compute_result_key(cell, 1, 0, &data),
            compute_result_key(TextDigest::of_text("other"), 1, 0, &data),
            compute_result_key(cell, 2, 0, &data),
            compute_result_key(cell, 1, 1, &data),
            compute_result_key(cell, 1, 0, &[]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        assert_eq!(all[0], TextDigest::of_text(&format!("dpgp 1|{NUMERICS}|1|0|{cell}|00ff")));
    }
}

#[cfg(test)]
mod digest_map_tests {
    use std::hash::BuildHasher;

    use super::*;

    fn hash(text: &str) -> u64 {
        BuildHasherDefault::<DigestHasher>::default().hash_one(TextDigest::of_text(text))
    }

    /// SHA-256 of the empty text begins with e3b0c44298fc1c14, that of "abc" with ba7816bf8f01cfea. What both have in common cancels.
    #[test]
    fn digests_differ_by_their_first_bytes() {
        let both = 0xe3b0_c442_98fc_1c14_u64 ^ 0xba78_16bf_8f01_cfea;
        assert_eq!(hash("") ^ hash("abc"), both.swap_bytes());
        assert_eq!(hash("a"), hash("a"));
    }
}
