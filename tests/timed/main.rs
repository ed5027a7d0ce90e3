//! Tests that watch a clock: downloads that stall, runs that are killed, a job array, a browser. They run in a program
//! of their own, after the others, so that the load of a long computation makes none of them late.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod accessible;
mod browser;
mod fetch;
mod html;
mod map_page;
mod report_page;
mod resume;
mod slurm;
#[allow(dead_code, reason = "the tests without a clock use the rest")]
#[path = "../support/mod.rs"]
mod support;
