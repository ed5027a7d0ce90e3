//! The only door to the factorisations of faer: everything above speaks nalgebra.

mod cholesky;
mod error;
mod exponential;
mod gram;
mod largest;
mod panels;
mod pivoted;
mod qr;
mod simplex;
mod special;
mod svd;
mod view;
mod wide;

pub use cholesky::Cholesky;
pub use error::LinalgError;
pub use exponential::exponential;
pub use gram::{add_gram, add_gram_lower, add_outer_lower, gram, transposed_product};
pub use largest::largest;
pub use panels::{LANES, Lanes, add_outer_panels};
pub use pivoted::pivoted_cholesky;
pub use qr::gram_factor;
pub use simplex::nearest_in_simplex;
pub use special::{normal_cdf, normal_pdf};
pub use svd::{ThinSvd, thin_svd};
pub use wide::{largest_quadratic_norm, largest_solved_norm};
