//! Noise and guarantees against independent values, wide arithmetic and the audit.

mod accountants;
mod accounting;
mod attacks;
mod audit;
mod calibration;
mod cloaking;
mod cloaking_properties;
mod concentrated;
mod moments;
mod moments_ends;
mod moments_posterior;
mod moments_weights;
mod order;
mod persons;
mod rounded_gaussian;
mod safety;
mod selection_sensitivity;
mod sensitivities;
mod streams;
mod sums;
