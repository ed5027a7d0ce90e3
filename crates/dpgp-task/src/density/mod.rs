//! Densities of records, from noisy histograms and as private functions.

mod estimate;
mod function;
mod measure;
mod setting;

pub use setting::{DensityEstimate, DensityTask, ProcessSetting};
