//! What is believed before anything is released.

use crate::kernel::BoxKernel;

/// A public belief about the data, in units of the box and of the targets: what a release is designed for, and what
/// hyperparameters are averaged around. It moves errors, never the guarantee.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteReference {
    /// The number of rows n, which is public.
    pub rows: usize,
    /// The bound R on targets, on either side of zero.
    pub bound: f64,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// The kernel of the process about its mean.
    pub kernel: BoxKernel,
    /// The variance of targets about the process.
    pub noise_variance: f64,
    /// How close the density of inputs is to the uniform one: that of a Dirichlet process.
    pub concentration: f64,
}
