//! Densities of records, from noisy histograms and as private functions.

mod estimate;
mod function;
mod histogram;
mod measure;
mod setting;

pub use histogram::{CountsGuarantee, HistogramModel};
pub use setting::{DensityEstimate, DensityTask, ProcessSetting};
