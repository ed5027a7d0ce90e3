//! Gaussian process and linear models. Every model here is linear in the targets and exposes its map.

mod exact;
mod fitc;
mod kmeans;
#[cfg(test)]
mod laws;
mod linear_map;
mod polynomial;
mod variance;

pub use exact::{exact, exact_variance};
pub use fitc::{fitc, fitc_variance};
pub use kmeans::{KMeans, kmeans};
pub use linear_map::LinearMap;
pub use polynomial::polynomial;
