//! The exact account of Gaussian noise on full batches.

use super::accountant::refuse;
use super::error::{check_delta, check_epsilon};
use super::root::Bracket;
use super::{Accountant, AccountingError, Event, Relation, Sampling, Spent};
use crate::privacy::gaussian_delta;

/// The exact accountant of full batches: `T` steps of noise multiplier `m` are one Gaussian mechanism with standard
/// deviation `m / (s sqrt(T))` per unit of sensitivity, `s = 1` for add-remove and 2 for replace-one neighbours.
/// Also when steps depend on earlier ones, since every pair of neighbours is dominated by the pair
/// `N(1, .), N(0, .)`. Source: Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8.
///
/// Both bounds are the value of [`gaussian_delta`], whose rounding errors are about 1e-14.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactGaussian;

impl ExactGaussian {
    fn deviation(&self, event: &Event, relation: Relation) -> Result<f64, AccountingError> {
        event.check()?;
        if event.sampling.simplest() != Sampling::FullBatch {
            return refuse(self, (event, relation), "it knows no sub-sampling", "full batches");
        }
        Ok(event.noise_multiplier / (relation.sensitivity() * f64::from(event.steps).sqrt()))
    }
}

impl Accountant for ExactGaussian {
    fn name(&self) -> &'static str {
        "exact Gaussian"
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        check_delta(delta)?;
        let sigma = self.deviation(event, relation)?;
        let excess = |epsilon: f64| Ok((gaussian_delta(sigma, epsilon) / delta).ln());
        if excess(0.0)? <= 0.0 {
            return Ok(Spent::at_most(0.0));
        }
        let stride = 1.0 / sigma;
        let Some(bracket) = Bracket::search(excess, (0.0, stride), (0.0, f64::MAX))? else {
            return Ok(Spent::at_most(f64::INFINITY));
        };
        let tight = bracket.narrow(excess, 1e-13 * bracket.high.0)?;
        Ok(Spent { lower: tight.low.0, ..Spent::at_most(tight.high.0) })
    }

    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        check_epsilon(epsilon)?;
        let delta = gaussian_delta(self.deviation(event, relation)?, epsilon);
        Ok(Spent { lower: delta, ..Spent::at_most(delta) })
    }
}
