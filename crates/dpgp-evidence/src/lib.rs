//! Audits: the guarantee of what was sampled, recomputed from the very numbers that noise was drawn with.
//!
//! A verdict is one of four ([`AuditVerdict`]): the claim holds for all neighbours, holds but for a caveat, is not known to
//! hold, or is broken by two data sets that were found.
//!
//! A cell is measured once more as an audited job, which keeps what was sampled beside each claim
//! ([`dpgp_task::Measured::evidence`]); it is then judged apart from the code that claims something about it.
//!
//! | mechanism | what is recomputed |
//! |---|---|
//! | cloaking, Newton steps | exact delta from the sampled factor, all columns and directions, in 106 bits |
//! | functions | exact delta from the norm of the worst column in the Hilbert space, in 106 bits |
//! | counts, statistics of bins | exact delta of the worst extreme targets |
//! | Laplace noise on bins | the greatest ratio of densities, by the worst extreme targets |
//! | noisy sums | bounds on delta: the greatest norm of features, and a search over pairs of records |
//! | noisy sums at midpoints or with noise in an ellipsoid | bounds on delta: all pairs of records on a grid, by a factor of the covariance, and the curvature between its places |
//! | noisy moments | bounds on delta: the weights that the noise stands for, squared anew, and a search over pairs of records |
//! | noisy gradients | the bounds of loss distributions for the noise used |
//! | exponential mechanism | exact ratios of its probabilities under adversarial targets, and the valid sensitivity |
//! | private selection | the budgets of its parts, and attacks on samples with bounds of Clopper and Pearson |

mod block;
mod exponential;
mod finding;
mod gaussian;
mod records;
mod sampled;
mod selection;
mod shaped;

pub use block::{AuditError, audit};
pub use finding::Attacks;
pub use finding::{AuditVerdict, Check, Finding, Found};
pub use sampled::{FirstLine, SampledOutputs, SampledProblem, read_sampled};
