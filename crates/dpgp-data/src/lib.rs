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
pub use cache::Lock;
pub use cache::hour_of_week;
pub use cache::{Bars, Progress, Silent};
pub use cache::{Cache, FileCheck, Outcome, Status};
pub use digest::{Digest, Stamp, watched_stamp};
pub use error::Expected;
pub use error::{DataError, Place, Stamps};
pub use error::{csv_cell, is_hidden, shown_line, shown_text};
pub use fetch::{FetchFailure, UrlFailure};
pub use fetch::{FetchOptions, fetch};
pub use format::{CsvFormat, Format, Separator};
pub use identity::{
    CellTotal, ColumnMark, CountedSample, DataKey, FilePart, Fingerprint, RowSketch, RowTotal, RowWitness,
    SketchedColumns,
};
pub use idx::Downscale;
pub use idx::IdxArray;
pub use manifest::ManifestProblem;
pub use manifest::toml_schema;
pub use manifest::{DataFile, Dataset, Manifest, schema};
pub use missing::CellRules;
pub use missing::{Comparison, Filter, FilterValue};
pub use missing::{ExpectedCell, Missing};
pub use no_number::{NumberError, is_number_for_name};
pub use outside::tell_outside;
pub use own::{
    ColumnKind, ColumnNames, ColumnType, OwnColumns, column_types, is_parquet, named_layout, own_columns,
    own_layout, read_own,
};
pub use parquet_table::{WrittenCells, WrittenColumn, parquet_table};
pub use person::{KeptRows, PersonId, PersonRows};
pub use shipped::{shipped_below, shipped_text};
pub use table::Table;
pub use table_error::{CellProblem, RowUnit, TableError};
pub use text::TextLayout;
pub use trips::Trips;
pub use whole_file::whole_text;
