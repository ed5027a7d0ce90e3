//! Accountants of the Gaussian mechanism on sub-samples, behind one interface.
//!
//! | accountant | covers | bounds |
//! |---|---|---|
//! | [`ExactGaussian`] | full batches | exact |
//! | [`LossDistribution`] | full batches, Poisson sampling | from both sides, to a tolerance |
//! | [`Renyi`] | full batches; Poisson sampling for add-remove neighbours | from above |
//! | [`AdvancedComposition`] | anything, as published in 2016, with caveats | from above |
//!
//! [`AssumePoisson`] and [`DoubledSensitivity`] widen what one of them takes, at the price of a caveat.
//!
//! ```
//! use dpgp::privacy::accounting::{Accountant, Event, LossDistribution, Relation, Sampling};
//! let sampling = Sampling::Poisson { rate: 0.01 };
//! let event = Event { noise_multiplier: 1.0, sampling, steps: 1000 };
//! let spent = LossDistribution::default().epsilon(&event, Relation::AddRemove, 1e-5)?;
//! assert!(spent.lower > 1.827 && spent.upper < 1.829);
//! let refused = Event { sampling: Sampling::WithReplacement { rate: 0.01 }, ..event };
//! assert!(LossDistribution::default().epsilon(&refused, Relation::AddRemove, 1e-5).is_err());
//! # Ok::<(), dpgp::privacy::accounting::AccountingError>(())
//! ```

mod accountant;
mod advanced_composition;
mod assumed;
mod calibrate;
mod error;
mod event;
mod gaussian;
mod kind;
mod loss_distribution;
mod moment;
mod renyi;
mod root;

pub use accountant::{Accountant, AccountingCaveat, Given, Spent};
pub use advanced_composition::AdvancedComposition;
pub use assumed::{AssumePoisson, DoubledSensitivity};
pub use calibrate::noise_multiplier;
pub use error::AccountingError;
pub use event::{Event, Relation, Sampling, Schedule};
pub use gaussian::ExactGaussian;
pub use kind::AccountantKind;
pub use loss_distribution::LossDistribution;
pub use renyi::Renyi;
