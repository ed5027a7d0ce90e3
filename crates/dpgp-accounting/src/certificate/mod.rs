//! Certificates: what a result row claims about privacy, and what is true of it.

mod caveat;
mod covers;
mod event;
mod guarantee;
mod mechanism;
mod statement;
mod unit;

pub use caveat::Caveat;
pub use covers::{Neighbours, Release};
pub use event::GaussianEvent;
pub use guarantee::Guarantee;
pub use mechanism::CertifiedMechanism;
pub use statement::Certificate;
pub use unit::PrivacyUnit;
