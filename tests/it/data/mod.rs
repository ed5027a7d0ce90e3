//! Manifests and tables of data.

mod manifest;
mod table;
