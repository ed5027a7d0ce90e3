//! The way of the Laplace approximation to its mode, step by step.

mod measure;
mod setting;

pub use setting::ConvergenceTask;
