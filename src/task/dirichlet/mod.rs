//! Test accuracy of classification by regression on Dirichlet labels.

mod measure;
mod model;

pub use model::ClassModel;
