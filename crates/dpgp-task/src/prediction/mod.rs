//! Predictions of a regression on a grid, with their privacy noise.

mod measure;
mod setting;

pub use setting::PredictionTask;
