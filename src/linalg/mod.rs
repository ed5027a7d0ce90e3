//! The only door to the factorisations of faer: everything above speaks nalgebra.
//!
//! Matrices are dense, of doubles and column by column, in nalgebra and faer alike, so that one is a view of the other.
//! Every factorisation refuses matrices that hold NaN or infinity ([`LinalgError::NotFinite`]), names the matrix that it
//! failed on, and runs on one thread, but for factorisations of 5000 columns and more: cells are computed side by side already,
//! and the last bit of a result must not depend on the number of cores.
//!
//! Accuracy is that of backward stable algorithms, `|A - L L'| <= c n u |A|` with u = 1.1e-16 and a small c. Source:
//! Higham, Accuracy and Stability of Numerical Algorithms (2002), Sections 10.1, 19.3 and 20.

mod cholesky;
mod error;
mod exponential;
mod gram;
mod large_cholesky;
mod largest;
mod leading;
mod panels;
mod pieces;
mod pivoted;
mod projection;
mod qr;
mod simplex;
mod special;
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
pub use special::{normal_cdf, normal_pdf};
pub use svd::{RightSvd, ThinSvd, right_svd, thin_svd};
pub use wide::{largest_quadratic_norm, largest_solved_norm};
