//! The tests of the library and of the binary in one program, so that a change links one test binary, not forty.
//! A test that watches a clock stands in `tests/timed`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cli;
mod data;
mod documents;
mod errors;
mod fuzz;
mod language;
mod papers;
mod privacy;
#[path = "../support/mod.rs"]
mod support;
