//! A surface over the inputs from the sums over all rows, with and without privacy.

mod model;
mod setting;

pub use model::{SumsGuarantee, SurfaceModel};
pub use setting::SurfaceTask;
