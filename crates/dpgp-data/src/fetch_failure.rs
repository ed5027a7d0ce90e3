//! Why an address did not give a file.

use std::error::Error;
use std::fmt::Write as _;

use super::digest::Stamp;
use super::expected::Expected;

/// Why one address did not give the file.
#[derive(Debug, thiserror::Error)]
pub enum FetchFailure {
    /// The server answered with another status than "here it is".
    #[error("the server answered {0}")]
    Status(u16),
    /// The server was silent for too long.
    #[error("the server was silent for too long")]
    TimedOut,
    /// The connection failed.
    #[error("the connection failed: {}", chain(&**.0))]
    Transport(Box<dyn Error + Send + Sync>),
    /// The answer ended too early.
    #[error("the answer ended after {received} of {expected} bytes")]
    Truncated {
        /// Bytes that are there.
        received: u64,
        /// Bytes that should be.
        expected: u64,
    },
    /// The answer is larger than the file can be.
    #[error("the file is larger than the {0} bytes it may have")]
    TooLarge(u64),
    /// The server sends none of the file, or another part than the one asked for.
    #[error("the server did not send the part of the file that was asked for")]
    RangeRefused,
    /// The file that came is not the right one.
    #[error("another file came\n      expected {expected}\n      found    {found}")]
    Mismatch {
        /// The file that was wanted.
        expected: Expected,
        /// The file that came.
        found: Stamp,
    },
    /// The address, or one that it redirects to, is not safe.
    #[error("it leads to an address that does not begin with https://, or names a user")]
    Insecure,
    /// The address, or one that it redirects to, is not one of the internet.
    #[error(
        "it leads to this machine or to a network of its own, which a manifest may not have asked; if you trust the manifest, set DPGP_LOCAL_URLS=1"
    )]
    OwnNetwork,
}

/// The failure of one address.
#[derive(Debug)]
pub struct UrlFailure {
    /// The address.
    pub url: String,
    /// How the last try failed.
    pub failure: FetchFailure,
}

impl FetchFailure {
    /// Whether the same address may do better in a moment.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Status(status) => *status >= 500 || matches!(status, 408 | 425 | 429),
            Self::TimedOut | Self::Transport(_) | Self::Truncated { .. } | Self::RangeRefused => true,
            Self::TooLarge(_) | Self::Mismatch { .. } | Self::Insecure | Self::OwnNetwork => false,
        }
    }

    /// Whether the bytes of an earlier download may be what is wrong.
    pub(super) fn may_be_left_over(&self) -> bool {
        matches!(self, Self::RangeRefused | Self::TooLarge(_) | Self::Mismatch { .. })
    }
}

/// The failures, one to a line.
pub(super) fn list_failures(failures: &[UrlFailure]) -> String {
    let mut text = String::new();
    for UrlFailure { url, failure } in failures {
        let _ = write!(text, "\n  {url}\n    {failure}");
    }
    text
}

/// What the user can do but name a mirror.
pub(super) fn failure_advice(failures: &[UrlFailure]) -> &'static str {
    let other =
        |f: &UrlFailure| matches!(f.failure, FetchFailure::TooLarge(_) | FetchFailure::Mismatch { .. });
    if failures.iter().any(other) {
        "If the file has changed, correct what is expected of it in the manifest or in datasets.lock.toml"
    } else {
        "Check the network and try again"
    }
}

/// An error with its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
