#![doc = include_str!("../README.md")]

mod error;
mod lattice;
mod rounded;

pub use error::{PrivacyError, RoundedNoiseParameters};
pub use lattice::{FixedPointMap, LatticeRelease, TargetLattice};
pub use rounded::RoundedGaussian;
