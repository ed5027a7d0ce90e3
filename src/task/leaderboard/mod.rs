//! Predictive distributions of private regressions, scored on held-out rows.

mod bins;
mod chosen;
mod linear;
mod measure;
mod method;
mod setting;
mod sums;

pub use setting::{ChooseSetting, LeaderboardTask};
