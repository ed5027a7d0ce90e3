//! Datasets: the manifest, the cache, downloads with verified digests, and the reading of tables.
//!
//! Tables are polars frames, read by one reader of text and one of Parquet, which streams of rows use too. Only `http`
//! touches reqwest, and only `rows::cloud` object_store and tokio.

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
pub mod own;
mod parquet;
mod parquet_schema;
pub mod person;
pub mod rows;
mod shipped;
pub mod suggest;
pub mod synthetic;
pub mod table;
pub mod table_error;
mod text;
mod trips;
mod write;

pub use cache::{
    DatasetCache, DatasetLockFile, DatasetStatus, FileCheck, FileCheckOutcome, Progress, ProgressBars, SilentProgress,
    hour_of_week,
};
pub use digest::{Digest, FileChecksum, compute_checksum_with_progress, read_limited_text};
pub use error::{
    ChecksumMismatch, DataError, ExpectedContents, FileLocation, escape_csv_formula, escape_hidden_line,
    escape_hidden_text, is_hidden_char, report_outside_file,
};
pub use fetch::{FetchError, FetchOptions, UrlFailure, fetch};
pub use format::{CsvFormat, DatasetFormat, Separator};
pub use identity::{
    CellDigestSum, ColumnFingerprint, ColumnSubsetRowSketch, HmacKey, RowDigestSum, RowFingerprinter, RowSetDigest,
    RowSketch, RowsFingerprint, ValueCountSample,
};
pub use idx::{IdxArray, ImageDownscaler};
pub use manifest::{DataFile, Dataset, DatasetManifest, ManifestError, manifest_schema, toml_schema};
pub use missing::{CellParsingRules, Comparison, ExpectedCell, FilterValue, MissingCellPolicy, RowFilter};
pub use no_number::{NumberError, is_numeric_name};
pub use own::{
    ColumnDescription, ColumnKind, ColumnNameSource, TableDescription, build_csv_layout, describe_columns,
    describe_table, detect_csv_layout, is_parquet, read_points_table, read_user_table,
};
pub use parquet::is_thread_decoding_parquet;
pub use person::{KeptRows, PersonId, PersonRowSampler};
pub use shipped::{shipped_paths_below, shipped_text};
pub use table::Table;
pub use table_error::{LineOrRow, TableCellError, TableError};
pub use text::CsvLayout;
pub use trips::TripTable;
pub use write::{OutputCells, OutputColumn, encode_parquet_table};
