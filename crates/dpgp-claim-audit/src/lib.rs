//! Audits: guarantees, recomputed from the numbers that the noise was drawn with.
//!
//! There are four verdicts ([`AuditVerdict`]): the claim holds for all neighbours, holds except for a caveat, is not known
//! to hold, or is broken by two datasets that were found.
//!
//! A cell is measured once more as an audited job, which keeps the samples beside each claim
//! ([`dpgp_task::CellMeasurements::audited_mechanisms`]). It is then judged independently of the code that makes the claim.
//!
//! | mechanism | what is recomputed |
//! |---|---|
//! | cloaking, Newton steps | exact delta from the sampled factor, all columns and directions, in 106 bits |
//! | functions | exact delta from the norm of the worst column in the Hilbert space, in 106 bits |
//! | counts, statistics of bins | exact delta of the worst extreme targets |
//! | Laplace noise on bins | the greatest ratio of densities, by the worst extreme targets |
//! | noisy sums | bounds on delta: the greatest norm of features, and a search over pairs of records |
//! | noisy sums at midpoints or with noise in an ellipsoid | bounds on delta: all pairs of records on a grid, by a factor of the covariance, and the curvature between grid points |
//! | noisy moments | bounds on delta: the weights implied by the noise, squared again, and a search over pairs of records |
//! | noisy gradients | the bounds of loss distributions for the noise used |
//! | exponential mechanism | exact ratios of its probabilities under adversarial targets, and the valid sensitivity |
//! | private selection | the budgets of its parts, and attacks on samples with Clopper-Pearson bounds |

mod block;
mod finding;
mod gaussian;
mod records;
mod sampled;
mod selection;
mod shaped;

pub use block::{AuditError, audit_block};
pub use finding::{AttackContext, AuditCheck, AuditFinding, AuditVerdict, RecomputedBound};
pub use sampled::{CsvFirstLineKind, SampledFilesError, SampledOutputs, read_sampled_outputs};
