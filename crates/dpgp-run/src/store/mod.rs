//! The store: every finished replicate of every cell, addressed by what determines it.
//!
//! A folder of append-only segments, one per process, without locks: many processes on many machines can fill
//! one folder. A segment is lines of text; each says what it is, its key, a checksum and a JSON value. Beside a large segment stands an
//! index of its lines, which anybody may delete.

mod folder;
mod index;
mod line;
mod record;
mod session;

pub use folder::{Store, Stored};
pub use record::StoreError;
pub(super) use record::key;
pub use record::{Key, NUMERICS};
pub use record::{ResultAbout, RunHeader, StoredResult};
pub use session::Session;
pub use session::merge;
