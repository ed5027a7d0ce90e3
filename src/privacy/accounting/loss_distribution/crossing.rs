//! The epsilon at which a bound on delta passes a target.

use std::convert::Infallible;

use super::composed::Composed;
use crate::privacy::accounting::root::Bracket;

/// An epsilon where the upper bound on delta is at most `delta`; infinite if there is none in the window.
pub(super) fn least_epsilon(above: &Composed, delta: f64) -> f64 {
    let excess = |epsilon: f64| Ok::<f64, Infallible>((above.upper(epsilon) / delta).ln());
    let (Ok(start), Ok(end)) = (excess(0.0), excess(above.top()));
    if start <= 0.0 {
        return 0.0;
    }
    if end > 0.0 {
        return f64::INFINITY;
    }
    let Ok(tight) =
        Bracket { low: (0.0, start), high: (above.top(), end) }.narrow(excess, 1e-10 * above.top());
    tight.high.0
}

/// An epsilon up to `upper` where the lower bound on delta exceeds `delta`; zero if none is seen. Far below the centre
/// of the window the bound is void, so it is approached from above.
pub(super) fn greatest_epsilon(below: &Composed, delta: f64, upper: f64) -> f64 {
    let excess = |epsilon: f64| Ok::<f64, Infallible>((below.lower(epsilon) / delta).ln());
    if !(upper > 0.0 && upper.is_finite()) {
        return 0.0;
    }
    let Ok(found) = Bracket::search(excess, (upper, 1e-5 * upper), (0.0, upper));
    let tight = found.map(|bracket| bracket.narrow(excess, 1e-10 * upper));
    match tight {
        Some(Ok(bracket)) => bracket.low.0,
        None => 0.0,
    }
}
