//! Predictive distributions of private regressions, scored on held-out rows.

mod cells;
mod measure;
mod method;
mod moments;
mod setting;

pub use setting::{BaselineSetting, LeaderboardTask, LengthscaleChoiceSetting};
