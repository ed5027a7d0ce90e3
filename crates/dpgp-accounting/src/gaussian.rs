//! The exact account of Gaussian noise on full batches.

use super::root::{Bracket, Search};
use super::{Accountant, AccountingError, Event, Given, Relation, Sampling, Spent};
use crate::{gaussian_delta, gaussian_delta_at_most};

/// The exact accountant of full batches: `T` steps of noise multiplier `m` are one Gaussian mechanism with standard
/// deviation `m / (s sqrt(T))` per unit of sensitivity, `s = 1` for add-remove and 2 for replace-one neighbours.
/// Also when steps depend on earlier ones, since every pair of neighbours is dominated by the pair
/// `N(1, .), N(0, .)`. Source: Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8.
///
/// Of delta, the upper bound is [`gaussian_delta_at_most`] and the lower one [`gaussian_delta`]; of epsilon, where the first of them
/// passes delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactGaussian;

impl Accountant for ExactGaussian {
    fn name(&self) -> &'static str {
        "exact Gaussian"
    }

    fn spent(&self, event: &Event, relation: Relation, given: Given) -> Result<Spent, AccountingError> {
        if event.sampling.simplest() != Sampling::FullBatch {
            return Err(self.refusal(event, relation, "it knows no sub-sampling", "full batches"));
        }
        let sigma = event.noise_multiplier / (relation.sensitivity() * f64::from(event.steps).sqrt());
        match given {
            Given::Delta(delta) => epsilon(sigma, delta),
            Given::Epsilon(epsilon) => {
                let lower = gaussian_delta(sigma, epsilon);
                Ok(Spent { lower, ..Spent::at_most(gaussian_delta_at_most(sigma, epsilon)) })
            }
        }
    }
}

/// The epsilon at which the exact delta, which falls along it, passes `delta`; bounds are the ends of the last bracket.
fn epsilon(sigma: f64, delta: f64) -> Result<Spent, AccountingError> {
    if excess(sigma, delta, 0.0) <= 0.0 {
        return Ok(Spent::at_most(0.0));
    }
    let search = Search { start: 0.0, stride: 1.0 / sigma, least: 0.0, greatest: f64::MAX };
    let Some(bracket) = Bracket::search(|epsilon| Ok(excess(sigma, delta, epsilon)), search)? else {
        return Ok(Spent::at_most(f64::INFINITY));
    };
    let tight = bracket.narrow(|epsilon| Ok(excess(sigma, delta, epsilon)), 1e-13 * bracket.high.x)?;
    Ok(Spent { lower: tight.low.x, ..Spent::at_most(tight.high.x) })
}

/// The logarithm of the exact delta at epsilon over `delta`.
fn excess(sigma: f64, delta: f64, epsilon: f64) -> f64 {
    (gaussian_delta_at_most(sigma, epsilon) / delta).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine steps of noise 12 on replaced records are one Gaussian of standard deviation `12 / (2 * 3) = 2`.
    #[test]
    fn steps_and_relations_scale_the_noise() {
        let event = Event { noise_multiplier: 12.0, sampling: Sampling::FullBatch, steps: 9 };
        let found = ExactGaussian.spent(&event, Relation::ReplaceOne, Given::Epsilon(0.7)).unwrap();
        assert_eq!((found.lower, found.upper), (gaussian_delta(2.0, 0.7), gaussian_delta_at_most(2.0, 0.7)));
        assert_eq!(excess(2.0, gaussian_delta_at_most(2.0, 0.7), 0.7), 0.0);
        assert!((excess(2.0, 0.5 * gaussian_delta_at_most(2.0, 0.7), 0.7) - 2f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn epsilons_have_their_delta() {
        for (sigma, delta) in [(2.0, 1e-5), (0.1, 1e-9), (40.0, 1e-3)] {
            let Spent { lower, upper, .. } = epsilon(sigma, delta).unwrap();
            assert!(lower < upper && upper - lower < 1e-10 * upper, "{lower} {upper}");
            assert!((gaussian_delta(sigma, upper) / delta - 1.0).abs() < 1e-8, "{sigma} {upper}");
        }
        // At epsilon zero `2 Phi(1 / 8) - 1 = 0.0995` is enough.
        assert_eq!(epsilon(4.0, 0.1).unwrap(), Spent::at_most(0.0));
        assert!(epsilon(4.0, 0.099).unwrap().upper > 0.0);
    }
}
