#![doc = include_str!("../README.md")]

mod error;
mod lattice;
mod rounded;

pub use error::PrivacyError;
pub use error::RoundedNoise;
pub use lattice::{LatticeMap, LatticeRelease, TargetLattice};
pub use rounded::RoundedGaussian;
