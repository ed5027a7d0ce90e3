//! Enclosures of one and two steps against quadrature.

use super::enclosure::Enclosure;
use super::pair::DominatingPair;
use super::refine::Refinement;
use crate::privacy::accounting::{Event, Given, Relation, Sampling};

/// `P(loss > e) - e^e Q(loss > e)`.
fn one_step(pair: &DominatingPair, epsilon: f64) -> f64 {
    let tail = pair.cut(pair.point(epsilon)).to(&pair.cut(f64::INFINITY));
    tail.p - epsilon.exp() * tail.q
}

/// `E_P one_step(epsilon - loss(x))`, by midpoints.
fn two_steps(pair: &DominatingPair, epsilon: f64) -> f64 {
    let ends = (0..).map(|i| -10.0 * pair.sd + f64::from(i) * 2e-3);
    let cells = ends.take_while(|low| *low < 1.0 + 10.0 * pair.sd).map(|low| (low, low + 2e-3));
    cells
        .map(|(a, b)| pair.cut(a).to(&pair.cut(b)).p * one_step(pair, epsilon - pair.loss(0.5 * (a + b))))
        .sum()
}

fn enclose(pair: &DominatingPair, steps: u32, given: Given) -> Enclosure {
    Refinement { tolerance: 1e-3, enough: 0.0 }.enclose(pair, steps, given)
}

#[test]
fn one_and_two_steps_are_enclosed() {
    for relation in [Relation::AddRemove, Relation::ReplaceOne] {
        for (noise_multiplier, rate, epsilon) in [(1.0, 0.2, 0.8), (0.6, 0.05, 1.5), (2.0, 1.0, 0.3)] {
            let sampling = Sampling::Poisson { rate };
            let event = Event { noise_multiplier, sampling, steps: 1 };
            for pair in DominatingPair::of(&event, relation).unwrap() {
                for (steps, delta) in [(1, one_step(&pair, epsilon)), (2, two_steps(&pair, epsilon))] {
                    let Enclosure { lower, upper } = enclose(&pair, steps, Given::Epsilon(epsilon));
                    let what = format!("{pair:?}, {steps}: {delta} in [{lower}, {upper}]");
                    let close = upper <= 1.006 * lower + 1e-9;
                    assert!(lower <= delta + 1e-9 && delta <= upper + 1e-9 && close, "{what}");
                    if delta > 1e-9 {
                        let found = enclose(&pair, steps, Given::Delta(delta));
                        let holds = found.lower <= epsilon + 1e-6 && epsilon - 1e-6 <= found.upper;
                        assert!(holds, "{what}: {found:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_is_claimed_without_noise() {
    let event = Event { noise_multiplier: 0.01, sampling: Sampling::Poisson { rate: 0.1 }, steps: 3 };
    for pair in DominatingPair::of(&event, Relation::AddRemove).unwrap() {
        let epsilon = enclose(&pair, 3, Given::Delta(1e-5));
        assert_eq!(epsilon, Enclosure { lower: 0.0, upper: f64::INFINITY });
        assert_eq!(enclose(&pair, 3, Given::Epsilon(1.0)), Enclosure { lower: 0.0, upper: 1.0 });
    }
}
