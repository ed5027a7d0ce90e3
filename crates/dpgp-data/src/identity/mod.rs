//! Which data these are, whatever file they stand in: keyed digests of rows that add up.
//!
//! A row is the multiset of its cells, each in one form: numbers by their value, text by its bytes ([`RowWitness`]). The
//! digest of a row is its HMAC-SHA-256 under a key that only the holder of the data has ([`DataKey`]); that of some rows is
//! the sum of theirs modulo 2^256 ([`RowTotal`]). So the order of rows and columns, the names of files and columns, the form
//! of the file and the way it is cut into parts do not matter, and nobody without the key can check a guess.
//!
//! Rows that two files share are found by the least digests of each ([`RowSketch`]). Columns are known by their cells, whatever
//! they are called ([`ColumnMark`]), and so are rows of which two files hold different columns, and files of one call that hold
//! the same rows, by how often the same values stand in both ([`CountedSample`]).

mod column;
mod fingerprint;
mod witness;

pub use column::DataKey;
pub use column::{CellTotal, ColumnMark};
pub use fingerprint::CountedSample;
pub use fingerprint::{FilePart, Fingerprint, SketchedColumns};
pub use fingerprint::{NotATotal, RowTotal};
pub use witness::RowSketch;
pub use witness::RowWitness;
