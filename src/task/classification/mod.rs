//! Binary classification by the Laplace approximation, with or without privacy.

mod measure;
mod problem;
mod setting;
mod steps;

pub(super) use problem::Problem;
pub(super) use steps::Steps;

pub use setting::ClassificationTask;
