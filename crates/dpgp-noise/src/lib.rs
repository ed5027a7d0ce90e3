#![doc = include_str!("../README.md")]

mod error;
mod lattice;
mod rounded;

pub use error::{PrivacyError, RoundedNoise};
pub use lattice::{LatticeMap, LatticeRelease, TargetLattice};
pub use rounded::RoundedGaussian;
