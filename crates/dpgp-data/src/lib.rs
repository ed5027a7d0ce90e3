//! Datasets: the manifest, the cache, downloads with verified digests, and the reading of tables.
//!
//! Tables are polars frames, read by one reader of text and one of Parquet, which streams of rows use too. Only `http`
//! touches reqwest, and only `rows::cloud` object_store and tokio.

mod archive;
pub mod cache;
pub mod digest;
pub mod error;
pub mod fetch;
pub mod format;
mod http;
pub mod identity;
pub mod idx;
pub mod manifest;
mod missing;
mod no_number;
mod outside;
pub mod own;
mod parquet;
mod parquet_notes;
mod parquet_source;
mod parquet_table;
mod parquet_type;
pub mod person;
pub mod rows;
mod shipped;
pub mod suggest;
pub mod synthetic;
pub mod table;
pub mod table_error;
mod text;
mod trips;
mod whole_file;

pub use archive::is_decoding;
pub use cache::DatasetLockFile;
pub use cache::hour_of_week;
pub use cache::{DatasetCache, DatasetStatus, FileCheck, FileCheckOutcome};
pub use cache::{Progress, ProgressBars, SilentProgress};
pub use digest::{Digest, FileStamp, compute_stamp_with_progress};
pub use error::ExpectedContents;
pub use error::{DataError, FileOrigin, StampMismatch};
pub use error::{csv_cell, escape_hidden_line, escape_hidden_text, is_hidden_char};
pub use fetch::{FetchError, UrlFailure};
pub use fetch::{FetchOptions, fetch};
pub use format::{CsvFormat, DatasetFormat, Separator};
pub use identity::{
    CellDigestSum, ColumnFingerprint, ColumnSetSketch, DataKey, Fingerprint, RowDigestSum, RowFingerprinter,
    RowSetDigest, RowSketch, ValueCountSample,
};
pub use idx::IdxArray;
pub use idx::ImageDownscaler;
pub use manifest::ManifestError;
pub use manifest::toml_schema;
pub use manifest::{DataFile, Dataset, DatasetManifest, manifest_schema};
pub use missing::CellParsingRules;
pub use missing::{Comparison, FilterValue, RowFilter};
pub use missing::{ExpectedCell, MissingCellPolicy};
pub use no_number::{NumberError, is_numeric_name};
pub use outside::report_outside_file;
pub use own::{
    ColumnDescription, ColumnKind, ColumnNameSource, TableDescription, build_csv_layout, describe_columns,
    describe_table, detect_csv_layout, is_parquet, read_user_table,
};
pub use parquet_table::{OutputCells, OutputColumn, encode_parquet_table};
pub use person::{KeptRows, PersonId, PersonRowSampler};
pub use shipped::{shipped_paths_below, shipped_text};
pub use table::Table;
pub use table_error::{RowUnit, TableCellError, TableError};
pub use text::CsvLayout;
pub use trips::TripTable;
pub use whole_file::read_limited_text;
