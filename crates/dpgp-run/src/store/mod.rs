//! The store: every finished replicate of every cell, addressed by its inputs. The store is a folder of
//! append-only segments, one per process, without locks, so many processes on many machines can fill it. A
//! segment consists of text lines, each with a kind, a key, a checksum and a JSON value. Large segments have
//! an index, which anybody may delete.

mod folder;
mod record;
mod segment;
mod session;

pub use folder::{ResultStore, ResultWithRun};
pub(super) use record::compute_result_key;
pub use record::{NUMERICS, ResultKey, ResultMetadata, RunHeader, StoreError, StoredResult};
pub use session::{WriteSession, merge_stores};
