//! Densities of records, from noisy histograms and as private functions.

mod estimate;
mod function;
mod histogram;
mod measure;

pub use histogram::{CountsGuarantee, HistogramModel};
