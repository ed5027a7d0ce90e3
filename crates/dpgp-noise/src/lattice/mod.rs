//! Releases in whole numbers: nothing else ever meets a private target.
//!
//! Floats round, and what they round depends on what is private. Here a target becomes a whole number before anything else is
//! done with it ([`TargetLattice`]); what is released of the targets is a product with whole numbers that depend on public
//! things alone ([`LatticeMap`]), which has no rounding; and its noise is rounded exactly ([`crate::RoundedGaussian`]). The
//! sensitivity is that of these very whole numbers, computed in whole numbers, so that no condition number and no solve
//! enters the proof. What follows from the release afterwards may be any arithmetic.

mod map;
mod targets;

pub use map::{LatticeMap, LatticeRelease};
pub use targets::TargetLattice;
