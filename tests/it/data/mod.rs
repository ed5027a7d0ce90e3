//! Manifests and tables of data.

mod checksums;
mod damage;
mod manifest;
mod parquet;
mod table;
