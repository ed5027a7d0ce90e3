//! What several integration tests share.

pub mod cli;
pub mod coverage;
pub mod energy;
pub mod exact_certificate;
pub mod golden;
#[allow(dead_code, reason = "what a server was asked for matters to the tests of downloads alone")]
pub mod http_server;
pub mod kung;
pub mod mersenne;
pub mod parquet_file;
pub mod report;
pub mod rows;
pub mod shipped;
pub mod study;
pub mod sums;
