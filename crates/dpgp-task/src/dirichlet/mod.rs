//! Test accuracy of classification by regression on Dirichlet labels.

mod measure;
mod model;
mod setting;

pub use model::ClassModel;
pub use setting::{DirichletRelease, DirichletTask};
