//! Root mean squared error of held-out targets under privacy noise.

mod measure;
mod setting;

pub use setting::{RegressionTask, ScoreSetting};
