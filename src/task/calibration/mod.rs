//! How far predictions from noisy sums err, and how well they know it.

mod measure;
mod setting;

pub use setting::{CalibrationTask, PosteriorRule};
