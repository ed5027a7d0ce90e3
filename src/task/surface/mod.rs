//! A surface over the inputs from the sums over all rows, with and without privacy.

mod measure;
mod model;

pub use model::{SumsGuarantee, SurfaceModel};
