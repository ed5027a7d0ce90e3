#![doc = include_str!("../README.md")]

mod error;
mod lattice;
mod rounded;
mod rounded_noise;

pub use error::PrivacyError;
pub use lattice::{LatticeMap, LatticeRelease, TargetLattice};
pub use rounded::RoundedGaussian;
pub use rounded_noise::RoundedNoise;
