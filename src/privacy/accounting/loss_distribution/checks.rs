//! Enclosures of one and two steps against quadrature.

use super::pair::Pair;
use super::refine::{Target, enclose};
use crate::privacy::accounting::{Event, Relation, Sampling};

/// `P(loss > e) - e^e Q(loss > e)`.
fn one_step(pair: &Pair, epsilon: f64) -> f64 {
    let tail = pair.edge(pair.point(epsilon)).to(&pair.edge(f64::INFINITY));
    tail.p - epsilon.exp() * tail.q
}

/// `E_P one_step(epsilon - loss(x))`, by midpoints.
fn two_steps(pair: &Pair, epsilon: f64) -> f64 {
    let ends = |i: i32| -10.0 * pair.sd() + f64::from(i) * 2e-3;
    let cells = (0..).map(|i| (ends(i), ends(i + 1))).take_while(|(low, _)| *low < 1.0 + 10.0 * pair.sd());
    let mass = |low: f64, high: f64| pair.edge(low).to(&pair.edge(high)).p;
    cells.map(|(a, b)| mass(a, b) * one_step(pair, epsilon - pair.loss(0.5 * (a + b)))).sum()
}

#[test]
fn one_and_two_steps_are_enclosed() {
    for relation in [Relation::AddRemove, Relation::ReplaceOne] {
        for (noise_multiplier, rate, epsilon) in [(1.0, 0.2, 0.8), (0.6, 0.05, 1.5), (2.0, 1.0, 0.3)] {
            let sampling = Sampling::Poisson { rate };
            let event = Event { noise_multiplier, sampling, steps: 1 };
            for pair in Pair::of(&event, relation).unwrap() {
                for (steps, delta) in [(1, one_step(&pair, epsilon)), (2, two_steps(&pair, epsilon))] {
                    let (low, high) = enclose(&pair, steps, Target::Epsilon(epsilon), (1e-3, 0.0));
                    let what = format!("{pair:?}, {steps}: {delta} in [{low}, {high}]");
                    assert!(
                        low <= delta + 1e-9 && delta <= high + 1e-9 && high <= 1.006 * low + 1e-9,
                        "{what}"
                    );
                    if delta > 1e-9 {
                        let (low, high) = enclose(&pair, steps, Target::Delta(delta), (1e-3, 0.0));
                        assert!(low <= epsilon + 1e-6 && epsilon - 1e-6 <= high, "{what}: [{low}, {high}]");
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_is_claimed_without_noise() {
    let event = Event { noise_multiplier: 0.01, sampling: Sampling::Poisson { rate: 0.1 }, steps: 3 };
    for pair in Pair::of(&event, Relation::AddRemove).unwrap() {
        assert_eq!(enclose(&pair, 3, Target::Delta(1e-5), (1e-3, 0.0)), (0.0, f64::INFINITY));
        assert_eq!(enclose(&pair, 3, Target::Epsilon(1.0), (1e-3, 0.0)), (0.0, 1.0));
    }
}
