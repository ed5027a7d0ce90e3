//! The store: every finished replicate of every cell, addressed by what determines it.
//!
//! A folder of append-only segments, one per process, without locks: many processes on many machines can fill
//! one folder. A segment is lines of text; each says what it is, its key, a checksum and a JSON value. Beside a large segment stands an
//! index of its lines, which anybody may delete.

mod digest_map;
mod error;
mod folder;
mod index;
mod key;
mod line;
mod merge;
mod record;
mod session;

pub use error::StoreError;
pub use folder::{Store, Stored};
pub(super) use key::key;
pub use key::{Key, NUMERICS};
pub use merge::merge;
pub use record::{ResultAbout, RunHeader, StoredResult};
pub use session::Session;
