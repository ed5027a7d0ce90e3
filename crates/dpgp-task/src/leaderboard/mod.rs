//! Predictive distributions of private regressions, scored on held-out rows.

mod baseline;
mod bins;
mod calibrate;
mod chosen;
mod linear;
mod measure;
mod method;
mod moments;
mod planned_moments;
mod predicted;
mod scores;
mod setting;
mod site_sums;
mod sums;

pub use setting::{BaselineSetting, ChooseSetting, LeaderboardTask};
