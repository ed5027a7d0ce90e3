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
pub use error::largest_or_nan;
pub use exponential::exponential;
pub use gram::for_each_piece;
pub use gram::{add_gram, add_gram_lower, add_outer_lower, gram, product, transposed_product, transposed_product_into};
pub use panels::{LANES, PanelColumn, add_outer_panels};
pub use panels::{largest_quadratic_norm, largest_solved_norm};
pub use pivoted::{low_rank_factor, pivoted_cholesky};
pub use projection::minimise_quadratic_on_simplex;
pub use projection::project_onto_simplex;
pub use qr::gram_factor;
pub use svd::leading_svd;
pub use svd::{RightSvd, ThinSvd, right_svd, thin_svd};
