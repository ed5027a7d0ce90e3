//! A Gaussian process at two places, before or after the observations.

mod measure;
mod setting;

pub use setting::TutorialTask;
