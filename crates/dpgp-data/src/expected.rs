//! What a file must be.

use std::fmt;

use super::digest::Stamp;

/// What is known of a file before it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Its digest and its size.
    Known(Stamp),
    /// Nobody has published a digest; the file may have at most so many bytes.
    Unknown {
        /// The bound on the size.
        max_bytes: u64,
    },
}

impl Expected {
    /// The most bytes that the file may have.
    #[must_use]
    pub fn bound(&self) -> u64 {
        match self {
            Self::Known(stamp) => stamp.bytes,
            Self::Unknown { max_bytes } => *max_bytes,
        }
    }

    /// Whether a file with this stamp may be the one.
    #[must_use]
    pub fn admits(&self, found: &Stamp) -> bool {
        match self {
            Self::Known(stamp) => stamp == found,
            Self::Unknown { max_bytes } => found.bytes <= *max_bytes,
        }
    }

    /// Whether a file of this size may be the one.
    #[must_use]
    pub fn admits_size(&self, bytes: u64) -> bool {
        match self {
            Self::Known(stamp) => stamp.bytes == bytes,
            Self::Unknown { max_bytes } => bytes <= *max_bytes,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(stamp) => stamp.fmt(f),
            Self::Unknown { max_bytes } => write!(f, "any SHA-256 (at most {max_bytes} bytes)"),
        }
    }
}
