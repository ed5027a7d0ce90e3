//! A Gaussian process on a public box, observed through noisy sums and counts of rows in nested cells.
//!
//! The noise on the cells of level k has the precision `a_k / s^2`. So all that is known of the sums S of the finest cells
//! is `h = V S + s V^(1/2) z` with `V = sum_k a_k A_k' A_k`, where `A_k` adds up finest cells. The same holds for the
//! counts N, with noise of another size.
//!
//! 1. Counts are the nonnegative ones of least squares, which add up to the number of rows. Cells with few rows are left
//!    out, and the sums and counts of the others are refitted: `S = V^-1 h` with noise of covariance `s^2 V^-1`.
//! 2. The mean m of all targets is taken out: `r = S - m N`.
//! 3. A target is the process f, with its cell's own mean, plus noise of variance `t^2`. So for each choice of
//!    hyperparameters
//!
//! ```text
//! r ~ N(0, n (v K + w I + b) n + t^2 n + (s^2 + c^2 (m^2 + v + w')) V^-1),
//! ```
//!
//! where n is the diagonal matrix of counts, K holds covariances of means over cells, w is the variance of a cell's own
//! mean, b that of the mean of the process, and c the noise on counts. Its density weighs a grid of choices, equally
//! likely a priori. Only noisy numbers and public ones enter, so all of this is post-processing.

mod counts;
mod posterior;
mod tree;

pub use posterior::{CellLevel, CellPosterior, CellPrior, CellSums};
pub use tree::CellTree;
