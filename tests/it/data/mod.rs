//! Manifests and tables of data.

mod manifest;
mod parquet;
mod table;
