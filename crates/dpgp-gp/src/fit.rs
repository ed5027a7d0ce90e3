//! Maximum-likelihood hyperparameters: L-BFGS on the logarithms of the parameters, which keeps them positive
//! and gives them comparable scales.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Executor, Gradient, IterState};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use nalgebra::DVector;

use super::{CovarianceFamily, negative_log_likelihood};
use dpgp_linalg::LinalgError;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 8;
/// Most steps from one start.
const STEPS: u64 = 200;
/// The norm of the gradient (nats per unit of a logarithm) below which a fit has converged.
const STATIONARY: f64 = 1e-4;
/// The change of the likelihood in a step (nats) at which the search stops.
const LITTLE: f64 = 1e-12;
/// Starts whose likelihoods differ by less (nats) have found the same: the earlier one counts, so that rounding does not
/// choose among parameters that the targets cannot tell apart.
const TIE: f64 = 1e-7;
/// Cost of a point without a likelihood: far more than any other, but finite, since the line search interpolates costs.
const REFUSED: f64 = 1e100;

/// The best parameters of all starts.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelihoodFit {
    /// Logarithms of the parameters.
    pub logs: Vec<f64>,
    /// The log marginal likelihood there, in nats.
    pub log_likelihood: f64,
    /// The norm of its gradient there, in nats per unit of a logarithm.
    pub gradient: f64,
}

impl LikelihoodFit {
    /// Whether the gradient vanishes; if not, the numbers are those of the best point seen.
    pub fn converged(&self) -> bool {
        self.gradient < STATIONARY
    }
}

/// Maximises the marginal likelihood by L-BFGS from each start (logarithms of the parameters), and keeps the best. A
/// search that fails counts with the best point that it saw.
///
/// Targets are private, and so are the parameters found: no guarantee here accounts for them.
///
/// # Errors
/// [`LinalgError`] if the likelihood can be computed at none of the starts.
pub fn maximise_marginal_likelihood(
    family: &dyn CovarianceFamily,
    targets: &DVector<f64>,
    starts: &[Vec<f64>],
) -> Result<LikelihoodFit, LinalgError> {
    let mut best: Option<LikelihoodFit> = None;
    let mut failure = None;
    for start in starts {
        match fit_from_start(family, targets, start) {
            Ok(fit) if best.as_ref().is_none_or(|b| fit.log_likelihood > b.log_likelihood + TIE) => best = Some(fit),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
    }
    let none = LinalgError::NotFinite { matrix: "K + sigma^2 I", rows: targets.len(), columns: targets.len() };
    best.ok_or(failure.unwrap_or(none))
}

fn fit_from_start(
    family: &dyn CovarianceFamily,
    targets: &DVector<f64>,
    start: &[f64],
) -> Result<LikelihoodFit, LinalgError> {
    let (cost, gradient) = negative_log_likelihood(family, start, targets)?;
    let point = LikelihoodPoint { logs: start.to_vec(), cost, gradient };
    let problem =
        NegativeLogLikelihood { family, targets, last: RefCell::new(point.clone()), best: RefCell::new(point) };
    // A search that stops with an error has still left the best point that it saw.
    let _ = run_lbfgs(&problem, start);
    let best = problem.best.into_inner();
    let norm = best.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    Ok(LikelihoodFit { logs: best.logs, log_likelihood: -best.cost, gradient: norm })
}

fn run_lbfgs(problem: &NegativeLogLikelihood<'_>, start: &[f64]) -> Result<(), Error> {
    let lines: MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64> = MoreThuenteLineSearch::new();
    // A hundred times stricter than what counts as converged: a search that this tolerance stops is far inside.
    let solver = LBFGS::new(lines, MEMORY).with_tolerance_grad(0.01 * STATIONARY)?;
    let solver = solver.with_tolerance_cost(LITTLE)?;
    let configure =
        |state: IterState<Vec<f64>, Vec<f64>, (), (), (), f64>| state.param(start.to_vec()).max_iters(STEPS);
    Executor::new(problem, solver).configure(configure).run()?;
    Ok(())
}

/// A point with its cost and gradient.
#[derive(Debug, Clone)]
struct LikelihoodPoint {
    logs: Vec<f64>,
    cost: f64,
    gradient: Vec<f64>,
}

/// The negative log likelihood. The last point is kept, because the solver asks for cost and gradient apart.
struct NegativeLogLikelihood<'a> {
    family: &'a dyn CovarianceFamily,
    targets: &'a DVector<f64>,
    last: RefCell<LikelihoodPoint>,
    best: RefCell<LikelihoodPoint>,
}

impl NegativeLogLikelihood<'_> {
    fn evaluate(&self, logs: &[f64]) -> LikelihoodPoint {
        if self.last.borrow().logs == logs {
            return self.last.borrow().clone();
        }
        let found = negative_log_likelihood(self.family, logs, self.targets).ok();
        let finite = found.filter(|(cost, gradient)| cost.is_finite() && gradient.iter().all(|g| g.is_finite()));
        let (cost, gradient) = finite.unwrap_or_else(|| (REFUSED, vec![0.0; logs.len()]));
        let point = LikelihoodPoint { logs: logs.to_vec(), cost, gradient };
        if point.cost < self.best.borrow().cost {
            self.best.replace(point.clone());
        }
        self.last.replace(point.clone());
        point
    }
}

impl CostFunction for &NegativeLogLikelihood<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, logs: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(logs).cost)
    }
}

impl Gradient for &NegativeLogLikelihood<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, logs: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.evaluate(logs).gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BinnedCovarianceFamily;
    use crate::kernel::{BinObservation, Bins};

    fn family() -> BinnedCovarianceFamily {
        BinnedCovarianceFamily::new(Bins::grid(&[(0.0, 12.0, 12)]), BinObservation::Average, None)
    }

    fn targets() -> DVector<f64> {
        DVector::from_fn(12, |i, _| (0.7 * i as f64).sin() + 0.2 * ((i * i) as f64).cos())
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (family, y) = (family(), targets());
        let logs = [0.3, -1.0, 0.8];
        let (_, gradient) = negative_log_likelihood(&family, &logs, &y).unwrap();
        for k in 0..3 {
            let at = |h: f64| {
                let mut moved = logs;
                moved[k] += h;
                negative_log_likelihood(&family, &moved, &y).unwrap().0
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient[k] - difference).abs() < 1e-7, "{k}: {} {difference}", gradient[k]);
        }
    }

    /// The maximum found is one: it beats a grid around it, and the gradient vanishes.
    #[test]
    fn a_fit_is_a_maximum() {
        let (family, y) = (family(), targets());
        let fit = maximise_marginal_likelihood(&family, &y, &[vec![0.0, -2.0, 0.5], vec![1.0, 0.0, 2.0]]).unwrap();
        assert!(fit.converged(), "gradient {}", fit.gradient);
        for step in [-0.3, 0.3] {
            for k in 0..3 {
                let mut moved = fit.logs.clone();
                moved[k] += step;
                let (cost, _) = negative_log_likelihood(&family, &moved, &y).unwrap();
                assert!(-cost < fit.log_likelihood);
            }
        }
    }

    #[test]
    fn nothing_to_start_from_is_an_error() {
        let refused = maximise_marginal_likelihood(&family(), &targets(), &[vec![f64::NAN, 0.0, 0.0]]);
        assert!(refused.is_err());
    }
}
