//! Predictive distributions of private regressions, scored on held-out rows.

mod linear;
mod measure;
mod method;
mod moments;
mod predicted;
mod scores;
mod setting;

pub use setting::{BaselineSetting, ChooseSetting, LeaderboardTask};
