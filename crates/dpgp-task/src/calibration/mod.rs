//! How far predictions from noisy sums err, and how well they know it.

mod measure;
mod moments;
mod setting;
mod sites;
mod test_rows;

pub use setting::{CalibrationTask, PosteriorRule};
