//! The system's noise, without a charge.

pub use dpgp::release::draw::SystemRandomness;
