//! Lower bounds on epsilon and delta from outputs of a mechanism under two neighbouring inputs.
//!
//! The attack does not use the code or the proof of the mechanism, so it finds mistakes that both share. Sources: Ding et al.
//! 2018, "Detecting violations of differential privacy"; Bichsel et al. 2021, "DP-Sniper".
//!
//! A [`OutputScore`](basis::Score) turns an output into a number, and a half-line of that number is a set of outputs. Scores and
//! half-lines are chosen on some outputs and judged on others, by Clopper-Pearson bounds.
//!
//! | score | what it finds |
//! |---|---|
//! | a column | noise of too small a scale, tails, ends of the support |
//! | the difference of two columns | noise that is used twice |
//! | a table of whole outputs | symbols, sequences of symbols, numbers that only one input can give |
//! | a table of the frequent values of all columns | symbols among numbers |
//! | a table of the size of a number and the place of its last bit | numbers that floating-point arithmetic cannot give |
//! | a logistic regression on curves of all columns | leaks that only many columns together show |

mod basis;
mod contest;
mod half_line;
mod lower_bounds;
mod word;

pub use basis::MechanismOutputs;
pub use contest::AttackSets;
pub use lower_bounds::provable_epsilon;
pub use lower_bounds::{LowerBounds, attack};
