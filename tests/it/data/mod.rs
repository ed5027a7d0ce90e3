//! Manifests and tables of data.

mod damage;
mod manifest;
mod parquet;
mod table;
