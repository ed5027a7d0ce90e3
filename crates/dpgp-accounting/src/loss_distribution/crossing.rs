//! The epsilon at which a bound on delta passes a given one.

use std::convert::Infallible;

use super::composed::Composed;
use crate::root::{Bracket, Search, ValueAt};

/// An epsilon where the upper bound on delta is at most `delta`; infinite if there is none in the window.
pub(super) fn least_epsilon(above: &Composed, delta: f64) -> f64 {
    // Logarithms: delta falls by powers of ten along epsilon.
    let mut excess = |epsilon: f64| Ok::<f64, Infallible>((above.upper(epsilon) / delta).ln());
    let (Ok(low), Ok(high)) = (ValueAt::at(0.0, &mut excess), ValueAt::at(above.top(), &mut excess));
    if low.value <= 0.0 {
        return 0.0;
    }
    if high.value > 0.0 {
        return f64::INFINITY;
    }
    let Ok(tight) = Bracket { low, high }.narrow(excess, 1e-10 * above.top());
    tight.high.x
}

/// An epsilon up to `upper` where the lower bound on delta exceeds `delta`; zero if none is seen. Far below the centre
/// of the window the bound is void, so it is approached from above.
pub(super) fn greatest_epsilon(below: &Composed, delta: f64, upper: f64) -> f64 {
    if !(upper > 0.0 && upper.is_finite()) {
        return 0.0;
    }
    let excess = |epsilon: f64| Ok::<f64, Infallible>((below.lower(epsilon) / delta).ln());
    let search = Search { start: upper, stride: 1e-5 * upper, least: 0.0, greatest: upper };
    let Ok(found) = Bracket::search(excess, search);
    match found.map(|bracket| bracket.narrow(excess, 1e-10 * upper)) {
        // The lower end, where the bound was seen to exceed delta.
        Some(Ok(bracket)) => bracket.low.x,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::discrete::Discrete;
    use super::super::loss_sum::LossSum;
    use super::*;

    /// One answer of randomised response, whose delta at epsilon is `(3 - e^epsilon) / 4`.
    fn answer(infinite: f64) -> Composed {
        let step = Discrete { first: -1, width: 3f64.ln(), masses: vec![0.25, 0.0, 0.75], infinite };
        Composed::new(&LossSum::new(&step, 1), 1.0, 1 << 12).unwrap()
    }

    #[test]
    fn the_epsilon_of_a_delta_is_enclosed() {
        let answer = answer(0.0);
        for (delta, exact) in [(0.25, 2f64.ln()), (0.4, 1.4f64.ln()), (0.05, 2.8f64.ln())] {
            let least = least_epsilon(&answer, delta);
            assert!((0.0..1e-8).contains(&(least - exact)), "{delta}: {least}");
            let greatest = greatest_epsilon(&answer, delta, least + 0.25);
            assert!((0.0..1e-8).contains(&(exact - greatest)), "{delta}: {greatest}");
        }
    }

    #[test]
    fn some_deltas_have_no_epsilon() {
        assert_eq!(least_epsilon(&answer(0.0), 0.6), 0.0);
        assert_eq!(least_epsilon(&answer(0.01), 0.005), f64::INFINITY);
        assert_eq!(greatest_epsilon(&answer(0.0), 0.25, f64::INFINITY), 0.0);
        assert_eq!(greatest_epsilon(&answer(0.0), 0.6, 1.0), 0.0);
    }
}
