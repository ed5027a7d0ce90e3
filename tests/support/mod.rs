//! What several integration tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod cli;
pub mod exact_certificate;
pub mod golden;
pub mod kung;
pub mod study;
