//! From a guarantee back to the noise.

use super::error::{check_delta, check_epsilon};
use super::root::Bracket;
use super::{Accountant, AccountingError, Event, Relation, Sampling};

/// The range of noise multipliers searched.
const LIMITS: (f64, f64) = (1e-3, 1e9);
/// The relative precision of the multiplier.
const PRECISION: f64 = 1e-7;

/// The least noise multiplier at which `accountant` bounds `steps` steps by (`epsilon`, `delta`), found along
/// `ln multiplier` to a relative 1e-7. The multiplier returned is one at which the accountant's own bound on delta
/// was seen to be at most `delta`. The inverse is [`Accountant::epsilon`].
pub fn noise_multiplier(
    accountant: &dyn Accountant,
    (sampling, steps): (Sampling, u32),
    relation: Relation,
    (epsilon, delta): (f64, f64),
) -> Result<f64, AccountingError> {
    check_epsilon(epsilon)?;
    check_delta(delta)?;
    let excess = |log_noise: f64| {
        let event = Event { noise_multiplier: log_noise.exp(), sampling, steps };
        let spent = accountant.delta(&event, relation, epsilon)?;
        Ok((spent.upper / delta).ln())
    };
    let (low, high) = LIMITS;
    match Bracket::search(excess, (0.0, 0.5), (low.ln(), high.ln()))? {
        Some(bracket) => Ok(bracket.narrow(excess, PRECISION)?.high.0.exp()),
        None => Err(AccountingError::NoMultiplier { low, high, epsilon, delta }),
    }
}
