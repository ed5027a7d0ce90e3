//! What several integration tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod cli;
pub mod coverage;
pub mod exact_certificate;
pub mod golden;
pub mod http_server;
pub mod kung;
pub mod mersenne;
pub mod parquet_file;
pub mod rows;
pub mod study;
