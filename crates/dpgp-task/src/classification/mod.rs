//! Binary classification by the Laplace approximation, with or without privacy.

mod classifier;
mod measure;
mod setting;
mod steps;

pub(super) use classifier::Classifier;
pub(super) use steps::Steps;

pub use setting::ClassificationTask;
