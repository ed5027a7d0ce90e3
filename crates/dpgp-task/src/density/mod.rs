//! Densities of records, from noisy histograms or as private functions.

mod measure;
mod setting;

pub use setting::{DensityEstimate, DensityProcessSetting, DensityTask};
