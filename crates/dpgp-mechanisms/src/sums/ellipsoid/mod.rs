//! Gaussian noise in the shape of an ellipsoid that covers every change by one record.
//!
//! One record (x, y) adds `(y phi(x), e(x))` to the sums `(b, T)`, for features phi and e that are known ([`SumFeatureMaps`]) and `|y| <= R`. Noise of the
//! covariance `sigma^2 S` is a Gaussian mechanism with `mu = 1 / sigma` if the *difference* of any two records of the public box has
//!
//! ```text
//! D' S^-1 D <= 1.
//! ```
//!
//! Spherical noise takes for S a multiple of the identity, the ball around all differences. They are thin: features of one input lie on a curve, of
//! two on a surface. The S of least trace is the least ellipsoid around them:
//!
//! 1. *Blocks*. With (x, y) and (x', y') also (x, -y) and (x', -y') are records, so that with `(D_b, D_T)` also `(-D_b, D_T)` is a difference.
//!    The mean of S and its mirror image has the same trace and holds both, as `D' S^-1 D` is convex in S: the best S has no covariance between b and T.
//! 2. *Duality*. For weights w on differences, `M(w) = sum w_i D_i D_i'` with `sum w_i = 1`, and any S that holds them,
//!    `tr(S^-1 M) <= 1`, and `(tr M^(1/2))^2 <= tr S tr(S^-1 M) <= tr S` by Cauchy and Schwarz: a lower bound for every w. It is reached by
//!    `S = tr(M^(1/2)) M^(1/2)` for the best w. For any w the S so made holds all differences when it is scaled by `g = max D' S^-1 D`,
//!    so that g - 1 is the gap: what its trace is above the least ([`least_trace`]).
//! 3. *All of the box*. g is a supremum over pairs of inputs, of which a grid sees some; the features between them are within a margin of
//!    their interpolation ([`reach`]).
//!
//! Source: Pukelsheim, Optimal Design of Experiments (1993), Chapters 6 and 7, for the duality; Edmonds, Nikolov and Ullman 2020 for
//! noise in the shape of an ellipsoid.

mod least_trace;
mod shape;

pub use least_trace::NoiseAxes;
pub use shape::{NoiseEllipsoid, SumFeatureMaps};
