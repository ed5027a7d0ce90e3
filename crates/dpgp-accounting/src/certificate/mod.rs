//! Certificates: the privacy that a result row claims, and the privacy that is proved.

mod mechanism;
mod statement;
mod unit;

pub use mechanism::Caveat;
pub use mechanism::CertifiedMechanism;
pub use mechanism::GaussianEvent;
pub use statement::{Certificate, UncheckedClaim};
pub use statement::{Neighbours, ReleaseKind};
pub use unit::Guarantee;
pub use unit::PrivacyUnit;
