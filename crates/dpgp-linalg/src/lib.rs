#![doc = include_str!("../README.md")]

mod cholesky;
mod error;
mod exponential;
mod gram;
mod largest;
mod leading;
mod panels;
mod pieces;
mod pivoted;
mod projection;
mod qr;
mod simplex;
mod svd;
mod view;
mod wide;

pub use cholesky::Cholesky;
pub use error::LinalgError;
pub use exponential::exponential;
pub use gram::{
    add_gram, add_gram_lower, add_outer_lower, gram, product, transposed_product, transposed_product_into,
};
pub use largest::largest;
pub use leading::leading_svd;
pub use panels::{LANES, Lanes, add_outer_panels};
pub use pieces::each_piece;
pub use pivoted::{pivoted_cholesky, smooth_factor};
pub use projection::onto_simplex;
pub use qr::gram_factor;
pub use simplex::nearest_in_simplex;
pub use svd::{RightSvd, ThinSvd, right_svd, thin_svd};
pub use wide::{largest_quadratic_norm, largest_solved_norm};
