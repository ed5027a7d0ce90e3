//! The private linear prediction of least expected error: map and noise designed together.
//!
//! Latent values `f*` at t points with prior covariance `K**`, group sums `y` of n groups with covariance `A`, and `K*`
//! (t x n) between them. The mechanism releases `C y + s z`, `z ~ N(0, M)`, where `c_u' M^-1 c_u <= 1` hides a change
//! of one target and s is the noise multiplier times that change. All expectations are over the prior and the noise. We minimise
//!
//! `J(C, M) = tr K** - 2 tr(C K*') + tr(C A C') + s^2 tr M` subject to `c_u' M^-1 c_u <= 1` for all u,
//!
//! which is jointly convex (`c' M^-1 c` is). Every map is allowed: the prior mean is `C = 0`, the mean of the Gaussian
//! process `C = K* A^-1`, and post-processing B of a release `(C, M)` is `(B C, B M B')`. So the optimum is
//! never worse than any of these. With `M = L L'` and `C = L W` the constraint says that the columns of the
//! strategy W (r x n) are at most 1 long: the mechanism releases `W y` with independent noise. For a given W the
//! best L is the posterior mean, `L = K* W' S^-1` with `S = W A W' + s^2 I`, and what it explains,
//! `F = tr(K* W' S^-1 W K*')`, is a concave function of `W' W`: `s^2 (W'W)^-1 + A` is inverted, a parallel sum.
//!
//! Theorem (certificate). For any C let `E = K* - C A`. For any `lambda > 0`, with `kappa` the largest eigenvalue of
//! `Lambda^-1/2 E' E Lambda^-1/2 / s^2`, every feasible `(C', M')` has `J(C', M') >= tr K** - tr(C A C') - kappa sum lambda`.
//!
//! Proof. `tr(C' A C'') >= 2 tr(C' A C^T) - tr(C A C^T)`, since A is positive semidefinite. So with `M' = L' L'^T` and
//! `C' = L' W'`, `J(C', M') >= tr K** - tr(C A C^T) - [2 <E, L' W'> - s^2 |L'|^2]`. The bracket is at most
//! `|E W'^T|^2 / s^2 = tr(W' E^T E W'^T) / s^2`, where L' is best, and that is at most `kappa sum_u lambda_u |w'_u|^2`, of
//! which no `|w'_u|` exceeds 1. QED
//!
//! The distance of a design `(L, W)` from the optimum is thus at most `kappa sum lambda + s^2 |L|^2 - 2 <E, L W>`, which
//! is zero at the optimum for its multipliers `lambda_u = <e_u, L w_u>`. The solver is the method of Newton with
//! trust regions on the columns of W, in few rows, to which the eigenvectors that the certificate finds wanting are added.
//!
//! Sources: Degue and Le Ny 2017 (arXiv 1707.08919), the same design for signals as a semidefinite program; Li et al. 2010 (the
//! matrix mechanism), strategies without a prior; Balle and Wang 2018, denoising of a release that is given.

mod certificate;
mod design;
mod newton;
mod reduced;
#[cfg(test)]
mod tests;

pub use design::{MinimumRiskDesign, design_minimum_risk};
pub use reduced::RiskProblem;
