//! Densities of records, from noisy histograms and as private functions.

mod measure;
mod setting;

pub use setting::{DensityEstimate, DensityTask, ProcessSetting};
