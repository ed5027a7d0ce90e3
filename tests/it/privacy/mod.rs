//! Noise and guarantees against independent values, wide arithmetic and the audit.

mod accounting;
mod audit;
mod calibration;
mod cloaking;
mod cloaking_properties;
mod concentrated;
mod safety;
mod selection_sensitivity;
