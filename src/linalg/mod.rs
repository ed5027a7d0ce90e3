//! The only door to the factorisations of faer: everything above speaks nalgebra.

mod cholesky;
mod error;
mod gram;
mod largest;
mod qr;
mod special;
mod svd;
mod view;

pub use cholesky::Cholesky;
pub use error::LinalgError;
pub use gram::{add_gram, gram};
pub use largest::largest;
pub use qr::gram_factor;
pub use special::{normal_cdf, normal_pdf};
pub use svd::{ThinSvd, thin_svd};
