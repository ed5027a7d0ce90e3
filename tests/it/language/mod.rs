//! The spec language: its schema, and the identities of cells.

mod identity;
mod schema;
