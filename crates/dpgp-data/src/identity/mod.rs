//! Identifies data in any file: keyed digests of rows that can be added.
//!
//! A row is the multiset of its cells. Numbers count by value and text by its bytes ([`RowFingerprinter`]). The
//! digest of a row is its HMAC-SHA-256 under a key that only the holder of the data has ([`HmacKey`]). The
//! digest of several rows is the sum of their digests modulo 2^256 ([`RowDigestSum`]). So it does not depend on
//! the order of rows and columns, on names of files and columns, on the file format, or on the division into
//! parts. Nobody without the key can check a guess.
//!
//! The smallest digests of two files show the rows that they share ([`RowSketch`]). Columns are recognised by
//! their cells, not by their names ([`ColumnFingerprint`]). The frequencies of values ([`ValueCountSample`]) show that
//! two files hold different columns of the same rows, or that files of one call hold the same rows.

mod column;
mod fingerprint;
mod witness;

pub use column::{CellDigestSum, ColumnFingerprint, HmacKey};
pub use fingerprint::{
    ColumnSubsetRowSketch, RowDigestSum, RowSetDigest, RowSumParseError, RowsFingerprint, ValueCountSample,
};
pub use witness::{RowFingerprinter, RowSketch};
