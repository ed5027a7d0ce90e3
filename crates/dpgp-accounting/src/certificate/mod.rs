//! Certificates: what a result row claims about privacy, and what is true of it.

mod mechanism;
mod statement;
mod unit;

pub use mechanism::Caveat;
pub use mechanism::CertifiedMechanism;
pub use mechanism::GaussianEvent;
pub use statement::Certificate;
pub use statement::{Neighbours, Release};
pub use unit::Guarantee;
pub use unit::PrivacyUnit;
