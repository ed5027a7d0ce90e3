//! Test accuracy of classification by regression on Dirichlet labels.

mod model;
mod setting;

pub use model::ClassModel;
pub use setting::{DirichletRelease, DirichletTask};
