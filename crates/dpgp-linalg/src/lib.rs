#![doc = include_str!("../README.md")]

mod cholesky;
mod error;
mod exponential;
mod gram;
mod panels;
mod pivoted;
mod projection;
mod qr;
mod svd;

pub use cholesky::Cholesky;
pub use error::LinalgError;
pub use error::largest;
pub use exponential::exponential;
pub use gram::each_piece;
pub use gram::{
    add_gram, add_gram_lower, add_outer_lower, gram, product, transposed_product, transposed_product_into,
};
pub use panels::{LANES, Lanes, add_outer_panels};
pub use panels::{largest_quadratic_norm, largest_solved_norm};
pub use pivoted::{pivoted_cholesky, smooth_factor};
pub use projection::nearest_in_simplex;
pub use projection::onto_simplex;
pub use qr::gram_factor;
pub use svd::leading_svd;
pub use svd::{RightSvd, ThinSvd, right_svd, thin_svd};
