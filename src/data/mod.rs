//! Datasets: the manifest, the cache, downloads with verified digests, and the reading of tables.
//!
//! Only [`table`] touches polars and only `http` touches reqwest.

pub mod cache;
pub mod digest;
pub mod error;
pub mod fetch;
pub mod format;
mod http;
mod lines;
pub mod lock;
pub mod manifest;
mod part;
pub mod progress;
pub mod suggest;
pub mod table;

pub use cache::{Cache, FileCheck, Outcome, Status};
pub use digest::{Digest, Stamp};
pub use error::DataError;
pub use fetch::{FetchOptions, fetch};
pub use format::{CsvFormat, Format, Separator};
pub use lock::Lock;
pub use manifest::{DataFile, Dataset, Expected, Manifest};
pub use progress::{Bars, Progress, Silent};
pub use table::{Comparison, Filter, FilterValue, Table};
