//! Probabilities of intervals under both distributions of a pair, with bounds on their rounding.

use super::pair::DominatingPair;
use dpgp_number::normal_cdf;

/// Masses of one set under both distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Masses {
    pub p: f64,
    pub q: f64,
    /// A bound on the rounding error of `p`.
    pub p_error: f64,
    /// A bound on that of `q`. It is relative to `q`, which may be far less than `p`.
    pub q_error: f64,
}

/// A point with the masses beyond it, on its side of zero: they keep their relative accuracy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub x: f64,
    pub beyond: Masses,
}

impl DominatingPair {
    /// The cut at a point.
    pub fn cut(&self, x: f64) -> Cut {
        let (p, q) = (mixture(self.p, 1.0, x, self.sd), mixture(self.q, -1.0, x, self.sd));
        let z = (x.abs() + 1.0) / self.sd;
        // A relative error of x becomes one of z^2 of the tail, whose logarithm falls as -z^2 / 2. At infinity nothing is
        // left, and nothing of it is wrong.
        let relative = if x.is_finite() { 4.0 * f64::EPSILON * (1.0 + z * z) } else { 0.0 };
        Cut { x, beyond: Masses { p, q, p_error: relative * p, q_error: relative * q } }
    }
}

/// The mass of `(1 - rate) N(0, sd^2) + rate N(mean, sd^2)` beyond `x`, away from zero.
fn mixture(rate: f64, mean: f64, x: f64, sd: f64) -> f64 {
    (1.0 - rate) * one_sided(x, 0.0, sd) + rate * one_sided(x, mean, sd)
}

/// The mass of `N(mean, sd^2)` beyond `x`, away from zero.
fn one_sided(x: f64, mean: f64, sd: f64) -> f64 {
    let z = (x - mean) / sd;
    normal_cdf(if x < 0.0 { z } else { -z })
}

impl Cut {
    /// The masses between this point and one above it.
    pub fn to(&self, above: &Self) -> Masses {
        let (a, b) = (self.beyond, above.beyond);
        // Tails on one side are subtracted on that side: their complements would all round to 1.
        let (p, q, error) = match (self.x < 0.0, above.x < 0.0) {
            (true, true) => (b.p - a.p, b.q - a.q, 0.0),
            (false, false) => (a.p - b.p, a.q - b.q, 0.0),
            _ => (1.0 - a.p - b.p, 1.0 - a.q - b.q, f64::EPSILON),
        };
        let (p_error, q_error) = (a.p_error + b.p_error + error, a.q_error + b.q_error + error);
        Masses { p: p.max(0.0), q: q.max(0.0), p_error, q_error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Relation, Sampling};

    fn pairs() -> Vec<DominatingPair> {
        let mut pairs = Vec::new();
        for rate in [0.1, 0.999, 1.0] {
            let event = Event { noise_multiplier: 0.8, sampling: Sampling::Poisson { rate }, steps: 1 };
            for relation in [Relation::AddRemove, Relation::ReplaceOne] {
                pairs.extend(DominatingPair::of(&event, relation).unwrap());
            }
        }
        pairs
    }

    #[test]
    fn masses_are_densities_integrated() {
        for pair in pairs() {
            for (low, high) in [(-1.3, -1.299), (-0.0004, 0.0006), (2.5, 2.501)] {
                let masses = pair.cut(low).to(&pair.cut(high));
                let middle = 0.5 * (low + high);
                let loss = (masses.p / masses.q).ln();
                assert!((loss - pair.loss(middle)).abs() < 1e-5, "{pair:?} {low}: {loss}");
                let (p, q) = (masses.p_error / masses.p, masses.q_error / masses.q);
                assert!(p.max(q) < 1e-10, "{masses:?}");
            }
            let all = pair.cut(f64::NEG_INFINITY).to(&pair.cut(f64::INFINITY));
            assert_eq!((all.p, all.q), (1.0, 1.0));
        }
    }

    fn relative_errors(Cut { beyond, .. }: &Cut) -> [f64; 2] {
        [beyond.p_error / beyond.p, beyond.q_error / beyond.q]
    }

    /// At x = 3 the tail is `(1 + 1)^2 = 4` and 1 more times four units in the last place wrong; errors of both ends add up, and one
    /// where their tails lie on different sides.
    #[test]
    fn errors_grow_with_the_tail() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        let (low, high) = (pair.cut(-1.0), pair.cut(3.0));
        for (cut, squares) in [(&low, 2.0), (&high, 5.0)] {
            assert!(
                relative_errors(cut)
                    .iter()
                    .all(|error| (error / (4.0 * squares * f64::EPSILON) - 1.0).abs() < 1e-12)
            );
        }
        let middle = low.to(&high);
        assert_eq!(middle.p_error, low.beyond.p_error + high.beyond.p_error + f64::EPSILON);
        assert_eq!(middle.q_error, low.beyond.q_error + high.beyond.q_error + f64::EPSILON);
        let tail = high.to(&pair.cut(5.0));
        assert_eq!(tail.q_error, high.beyond.q_error + pair.cut(5.0).beyond.q_error);
        // P is N(1, 4), Q is N(0, 4).
        assert!(
            (high.beyond.p - normal_cdf(-1.0)).abs() < 1e-15
                && (high.beyond.q - normal_cdf(-1.5)).abs() < 1e-15
        );
        assert!(
            (low.beyond.p - normal_cdf(-1.0)).abs() < 1e-15
                && (low.beyond.q - normal_cdf(-0.5)).abs() < 1e-15
        );
    }
}
