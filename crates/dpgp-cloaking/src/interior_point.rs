//! A primal-dual interior-point method for weight problems. The linear system of a Newton step is exact for
//! weights that move together and diagonal elsewhere.

use nalgebra::{DMatrix, DVector};

use super::options::{LeverageEvaluation, WeightProblem};
use dpgp_linalg::{
    Cholesky, LinalgError, for_each_piece_in_parallel, transposed_product, transposed_product_of_last_rows,
};

/// Multiplicative steps before the Newton steps: they are cheap and find the region of the optimum.
const WARM_STEPS: usize = 3;
/// Where the warm start stops shrinking a weight, relative to the mean.
const LEAST_WEIGHT: f64 = 1e-4;
/// The least slack to begin with.
const LEAST_SLACK: f64 = 0.02;
/// Most Newton steps.
const NEWTON_STEPS: usize = 150;
/// The share of the way to the boundary that a step leaves. Less of it saves a step in ten, and leaves steep maps with weights so small that
/// they do not come back.
const AWAY_FROM_BOUNDARY: f64 = 0.01;
/// Newton steps without a better gap before the method gives up. On steeply graded maps the gap rises again when
/// the weights of the smallest directions come into play, and falls fast after that.
const PATIENCE: usize = 40;
/// The same once the gap is below [`GOOD_GAP`], where only rounding can be in the way.
const LITTLE_PATIENCE: usize = 3;
/// A gap far below that of any use.
const GOOD_GAP: f64 = 1e-9;
/// The gap at which the method stops; the certificate prints what was reached.
pub(super) const TARGET_GAP: f64 = 1e-11;

/// The best weights found and their gap.
pub(super) struct WeightSolution {
    pub weights: Vec<f64>,
    pub gap: f64,
    pub steps: usize,
}

/// Minimises `sum v - phi(v)` over `v >= 0` on the optimality conditions `1 - g(v) - s = 0`, `v_i s_i = mu`, `mu -> 0`.
///
/// Eliminating the slacks s, a Newton step solves `(H + diag(s/v)) dv = g - 1 + (mu - e) / v` with
/// `ds = (mu - e - v s - s dv) / v`. Each system is solved twice: for `mu = 0`, which tells how far mu may fall, and for that mu
/// with the second-order error `e = dv ds` of the first. The best iterate by the certified gap is returned, so a step that
/// overshoots, or one that rounding makes impossible near the optimum, costs nothing.
///
/// It begins at the given weights, or at those of a few multiplicative steps, and stops at the gap `target`.
/// Source: Mehrotra 1992, "On the implementation of a primal-dual interior point method".
///
/// # Errors
/// [`LinalgError`] if the covariance is singular at the start.
pub(super) fn solve_by_interior_point(
    problem: &dyn WeightProblem,
    start: Option<Vec<f64>>,
    target: f64,
) -> Result<WeightSolution, LinalgError> {
    let weights = match start {
        Some(weights) => weights,
        None => multiplicative_start_weights(problem)?,
    };
    let at = problem.evaluate(&weights)?;
    // The residual of `1 - g - s = 0` need not vanish at the start: full steps remove it.
    let slacks = at.leverages.iter().map(|g| (1.0 - g).max(LEAST_SLACK)).collect();
    let gap = problem.gap(&weights, &at);
    let mut best = WeightSolution { weights: weights.clone(), gap, steps: 0 };
    let mut iterate = InteriorPointIterate { weights, slacks, at };
    for steps in 1..=NEWTON_STEPS {
        let patience = if best.gap <= GOOD_GAP { LITTLE_PATIENCE } else { PATIENCE };
        if best.gap <= target || steps > best.steps + patience || iterate.step(problem).is_err() {
            break;
        }
        let gap = problem.gap(&iterate.weights, &iterate.at);
        if gap < best.gap {
            best = WeightSolution { weights: iterate.weights.clone(), gap, steps };
        }
    }
    Ok(best)
}

/// A point on the way to the optimum.
struct InteriorPointIterate {
    weights: Vec<f64>,
    slacks: Vec<f64>,
    at: LeverageEvaluation,
}

impl InteriorPointIterate {
    /// One step, as long as positivity allows.
    fn step(&mut self, problem: &dyn WeightProblem) -> Result<(), LinalgError> {
        let ratios: Vec<f64> = self.slacks.iter().zip(&self.weights).map(|(s, v)| s / v).collect();
        let system = NewtonSystem::new(problem, &self.at, &ratios)?;
        let complementarity: Vec<f64> = self.weights.iter().zip(&self.slacks).map(|(v, s)| v * s).collect();
        let predicted = self.direction(&system, &complementarity, 0.0);
        let mu = self.next_barrier_parameter(&complementarity, &predicted);
        let error = predicted.weights.iter().zip(&predicted.slacks).map(|(dv, ds)| dv * ds);
        let corrected: Vec<f64> = complementarity.iter().zip(error).map(|(c, e)| c + e).collect();
        let step = self.direction(&system, &corrected, mu);
        let (primal, dual) = self.step_lengths(&step, 1.0 - AWAY_FROM_BOUNDARY);
        add_scaled_step(&mut self.weights, &step.weights, primal);
        add_scaled_step(&mut self.slacks, &step.slacks, dual);
        self.at = problem.evaluate(&self.weights)?;
        Ok(())
    }

    /// The step towards `v s = mu`, for `v s` and the error of the first step in `products`.
    fn direction(&self, system: &NewtonSystem, products: &[f64], mu: f64) -> WeightStep {
        let Self { weights: v, slacks: s, at } = self;
        let right = (0..v.len()).map(|i| at.leverages[i] - 1.0 + s[i] + (mu - products[i]) / v[i]);
        let dv = system.solve(&right.collect::<Vec<f64>>());
        let ds = (0..v.len()).map(|i| (mu - products[i] - s[i] * dv[i]) / v[i]).collect();
        WeightStep { slacks: ds, weights: dv }
    }

    /// How far mu may fall: the mean complementarity after the predicted step, with the cube of its share of the present one.
    fn next_barrier_parameter(&self, complementarity: &[f64], step: &WeightStep) -> f64 {
        let count = complementarity.len() as f64;
        let (primal, dual) = self.step_lengths(step, 1.0);
        let after = (0..complementarity.len())
            .map(|i| (self.weights[i] + primal * step.weights[i]) * (self.slacks[i] + dual * step.slacks[i]));
        let now = complementarity.iter().sum::<f64>() / count;
        let then = after.sum::<f64>() / count;
        now * (then / now).clamp(0.0, 1.0).powi(3)
    }

    /// The longest steps of at most 1 that keep weights and slacks non-negative, times `share` if they end at the boundary.
    fn step_lengths(&self, step: &WeightStep, share: f64) -> (f64, f64) {
        (
            boundary_step_length(&self.weights, &step.weights, share),
            boundary_step_length(&self.slacks, &step.slacks, share),
        )
    }
}

/// A step of weights and slacks.
struct WeightStep {
    weights: Vec<f64>,
    slacks: Vec<f64>,
}

/// `v_i <- v_i g_i^e` from equal weights.
fn multiplicative_start_weights(problem: &dyn WeightProblem) -> Result<Vec<f64>, LinalgError> {
    let mut weights = vec![1.0; problem.columns().ncols()];
    for _ in 0..WARM_STEPS {
        let at = problem.evaluate(&weights)?;
        for (weight, leverage) in weights.iter_mut().zip(&at.leverages) {
            *weight *= leverage.powi(problem.multiplicative_exponent());
        }
        // A weight that reached zero would stay there, and Newton steps divide by it.
        let floor = LEAST_WEIGHT * weights.iter().sum::<f64>() / weights.len() as f64;
        weights.iter_mut().for_each(|weight| *weight = weight.max(floor));
    }
    Ok(weights)
}

/// The longest step of at most 1 that keeps all values non-negative, times `share` where it ends at zero.
fn boundary_step_length(values: &[f64], step: &[f64], share: f64) -> f64 {
    // Steps upwards have no limit.
    let limits = values.iter().zip(step).map(|(v, d)| if *d < 0.0 { -share * v / d } else { 1.0 });
    limits.fold(1.0, f64::min)
}

fn add_scaled_step(values: &mut [f64], step: &[f64], length: f64) {
    for (value, d) in values.iter_mut().zip(step) {
        *value += length * d;
    }
}

/// A column whose curvature is below this share of its slack over its weight is on its way to no weight at all, and is
/// solved for by itself.
const STRONG: f64 = 0.03;

/// `(H + diag(s / v)) x = b`, where the rows and columns of `H` that are weak beside the diagonal `s / v` are replaced by
/// their diagonal. The number of strong columns falls towards the size of the support of the optimum as the
/// method converges, and with it the cost, `k^3 / 3`; what is neglected vanishes with the weights of the weak columns.
pub(super) struct NewtonSystem {
    strong: Vec<usize>,
    factor: Cholesky,
    diagonal: Vec<f64>,
}

impl NewtonSystem {
    /// The system at an evaluated point, for the ratios `s / v`.
    ///
    /// # Errors
    /// [`LinalgError`] if rounding leaves the system indefinite.
    pub fn new(problem: &dyn WeightProblem, at: &LeverageEvaluation, ratios: &[f64]) -> Result<Self, LinalgError> {
        let terms = problem.hessian_terms(at);
        let curvatures = hessian_diagonal(&at.coordinates, &terms);
        let strong: Vec<usize> = (0..ratios.len()).filter(|&i| curvatures[i] > STRONG * ratios[i]).collect();
        let coordinates = at.coordinates.select_columns(&strong);
        let factor = Cholesky::new_in_place("the Newton system of the noise design", || {
            let mut system = lower_hessian(&coordinates, &terms);
            strong.iter().enumerate().for_each(|(place, &i)| system[(place, place)] += ratios[i]);
            system
        })?;
        let diagonal = curvatures.iter().zip(ratios).map(|(c, r)| c + r).collect();
        Ok(Self { strong, factor, diagonal })
    }

    /// The solution for a right-hand side.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = right.iter().zip(&self.diagonal).map(|(b, d)| b / d).collect();
        let strong = DMatrix::from_iterator(self.strong.len(), 1, self.strong.iter().map(|&i| right[i]));
        let solved = self.factor.solve(&strong);
        self.strong.iter().zip(solved.iter()).for_each(|(&i, x)| solution[i] = *x);
        solution
    }
}

/// Columns of the Hessian at once: so few that their products stay in the cache of the second level.
const PANEL: usize = 64;

/// `sum_q (A' diag(d_q) A)^2`, squared by elements, for `A` (r x k): on and below the diagonal, and zeros or parts of it above.
/// The factorisation reads nothing else. A diagonal of few entries costs as few products.
fn lower_hessian(coordinates: &DMatrix<f64>, terms: &[DVector<f64>]) -> DMatrix<f64> {
    let size = coordinates.ncols();
    let mut hessian = DMatrix::zeros(size, size);
    for_each_piece_in_parallel(hessian.as_mut_slice().chunks_mut((PANEL * size).max(1)), |place, panel| {
        let (start, width) = (place * PANEL, panel.len() / size);
        let sums = hessian_columns(coordinates, terms, start, width);
        for (to, from) in panel.chunks_exact_mut(size).zip(sums.column_iter()) {
            to[start..].copy_from_slice(from.as_slice());
        }
    });
    hessian
}

/// `width` columns of that sum, from `start` on, from the diagonal of the first one down.
fn hessian_columns(coordinates: &DMatrix<f64>, terms: &[DVector<f64>], start: usize, width: usize) -> DMatrix<f64> {
    let (rank, size) = coordinates.shape();
    let below = copy_columns(coordinates, start, size - start);
    let mut sums = DMatrix::zeros(size - start, width);
    let mut products = sums.clone();
    for term in terms {
        let scaled = scale_last_rows(&coordinates.as_slice()[start * rank..][..width * rank], rank, term);
        transposed_product_of_last_rows(&mut products, &below, &scaled);
        let squares = products.as_slice().iter().map(|p| p * p);
        sums.as_mut_slice().iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
    }
    sums
}

/// `diag(d)` times the last rows of some columns (`rank` each), as many as d has entries.
fn scale_last_rows(columns: &[f64], rank: usize, d: &DVector<f64>) -> DMatrix<f64> {
    let mut scaled = Vec::with_capacity(columns.len() / rank * d.len());
    for column in columns.chunks_exact(rank) {
        scaled.extend(column[rank - d.len()..].iter().zip(d.as_slice()).map(|(a, d)| a * d));
    }
    DMatrix::from_vec(d.len(), columns.len() / rank, scaled)
}

/// A copy of neighbouring columns.
fn copy_columns(matrix: &DMatrix<f64>, start: usize, count: usize) -> DMatrix<f64> {
    let rows = matrix.nrows();
    DMatrix::from_vec(rows, count, matrix.as_slice()[start * rows..(start + count) * rows].to_vec())
}

/// The diagonal of the Hessian.
fn hessian_diagonal(coordinates: &DMatrix<f64>, terms: &[DVector<f64>]) -> Vec<f64> {
    let squares = coordinates.map(|a| a * a);
    let mut diagonals = DMatrix::zeros(coordinates.nrows(), terms.len());
    for (mut column, term) in diagonals.column_iter_mut().zip(terms) {
        column.rows_mut(squares.nrows() - term.len(), term.len()).copy_from(term);
    }
    let products = transposed_product(&squares, &diagonals);
    products.row_iter().map(|row| row.norm_squared()).collect()
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::objective::{LogDetProblem, TraceProblem};

    /// From 2 and 4 the step (-4, 1) may go half as far, less a hundredth of that; one that stays or rises may go all the way.
    #[test]
    fn steps_end_where_a_value_would_be_negative() {
        assert_eq!(boundary_step_length(&[2.0, 4.0], &[-4.0, 1.0], 1.0), 0.5);
        assert_eq!(boundary_step_length(&[2.0, 4.0], &[-4.0, -16.0], 1.0), 0.25);
        assert!((boundary_step_length(&[2.0, 4.0], &[-4.0, 1.0], 0.99) - 0.495).abs() < 1e-15);
        assert_eq!(boundary_step_length(&[2.0, 4.0], &[0.0, 1.0], 0.99), 1.0);
        assert_eq!(boundary_step_length(&[2.0], &[-1.0], 0.99), 1.0);
    }

    /// Weights of 1 and 1 with slacks 1 and 3 are 2 apart from the optimum in the mean, and 1 after the predicted step, which may go all
    /// the way: 2 times 1/8. Where nothing is gained mu stays.
    #[test]
    fn mu_falls_with_the_cube_of_what_is_predicted() {
        let at =
            LeverageEvaluation { leverages: vec![1.0; 2], coordinates: DMatrix::zeros(1, 2), spectrum: Vec::new() };
        let iterate = InteriorPointIterate { weights: vec![1.0, 1.0], slacks: vec![1.0, 3.0], at };
        let mu = |weights: [f64; 2], slacks: [f64; 2]| {
            iterate
                .next_barrier_parameter(&[1.0, 3.0], &WeightStep { weights: weights.to_vec(), slacks: slacks.to_vec() })
        };
        assert_eq!(mu([-0.5, 0.0], [0.0, -1.5]), 0.25);
        assert_eq!(mu([0.0, 0.0], [0.0, 0.0]), 2.0);
        assert_eq!(mu([4.0, 0.0], [0.0, 0.0]), 2.0);
        // Half of the way: the second weight becomes 0, the first 3/2 with the slack 1.
        assert_eq!(mu([1.0, -2.0], [0.0, 0.0]), 2.0 * 0.375f64.powi(3));
    }

    /// Orthogonal columns of lengths 1 and 1/2 have the weights 1 and 1 for the log determinant, and 1 and 1/4 for the trace.
    #[test]
    fn the_warm_start_solves_orthogonal_columns() {
        let columns = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.5]);
        let problems: [(Box<dyn WeightProblem>, f64); 2] =
            [(Box::new(LogDetProblem::new(columns.clone())), 1.0), (Box::new(TraceProblem::new(columns)), 0.25)];
        for (problem, second) in problems {
            let weights = multiplicative_start_weights(problem.as_ref()).unwrap();
            assert!((weights[0] - 1.0).abs() < 1e-12 && (weights[1] - second).abs() < 1e-12, "{weights:?}");
        }
    }

    /// Of three columns on a line the longest takes all; the others stop at a ten thousandth of the mean.
    #[test]
    fn the_warm_start_keeps_a_little_of_every_weight() {
        let problem = LogDetProblem::new(DMatrix::from_row_slice(1, 3, &[1.0, 0.1, 0.15]));
        let weights = multiplicative_start_weights(&problem).unwrap();
        let mean = weights.iter().sum::<f64>() / 3.0;
        assert!(weights[0] > 2.9 * mean, "{weights:?}");
        for weight in &weights[1..] {
            assert!((weight / mean / LEAST_WEIGHT - 1.0).abs() < 0.01, "{weights:?}");
        }
        // In the plane all weights add up to 2.
        let plane = LogDetProblem::new(DMatrix::from_row_slice(2, 4, &[1.0, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.1]));
        let weights = multiplicative_start_weights(&plane).unwrap();
        for weight in &weights[2..] {
            assert!((weight / 0.5 / LEAST_WEIGHT - 1.0).abs() < 0.01, "{weights:?}");
        }
    }

    /// Two columns at right angles have the weights 1 and 1, whatever lies between them.
    #[test]
    fn the_optimum_of_a_square_is_known() {
        let problem = LogDetProblem::new(DMatrix::from_row_slice(2, 3, &[1.0, 0.0, 0.5, 0.0, 1.0, 0.5]));
        for start in [None, Some(vec![0.2, 3.0, 1.0])] {
            let found = solve_by_interior_point(&problem, start, TARGET_GAP).unwrap();
            assert!(found.gap <= TARGET_GAP && found.steps < 30, "{} {}", found.gap, found.steps);
            let total = found.weights.iter().sum::<f64>();
            assert!((found.weights[0] / total - 0.5).abs() < 1e-6 && found.weights[2] / total < 1e-6);
        }
    }
}

#[cfg(test)]
mod newton_system_tests {
    use super::*;
    use crate::objective::{LogDetProblem, TraceProblem};

    fn problems() -> [Box<dyn WeightProblem>; 2] {
        let columns = DMatrix::from_fn(4, 9, |i, j| ((i * i + 2) as f64 * 0.7 * j as f64 + i as f64).sin());
        [Box::new(LogDetProblem::new(columns.clone())), Box::new(TraceProblem::new(columns))]
    }

    /// The Hessian is what differences of the leverages say, within the error that the trace objective allows itself.
    #[test]
    fn the_hessian_is_the_slope_of_the_leverages() {
        for (problem, error) in problems().into_iter().zip([1e-6, 0.08]) {
            let weights: Vec<f64> = (0..9).map(|i| 0.5 + 0.1 * f64::from(i)).collect();
            let at = problem.evaluate(&weights).unwrap();
            let (terms, step) = (problem.hessian_terms(&at), 1e-5);
            let lower = lower_hessian(&at.coordinates, &terms);
            let diagonal = hessian_diagonal(&at.coordinates, &terms);
            let largest = lower.amax();
            for j in 0..9 {
                let moved = |by: f64| {
                    let mut weights = weights.clone();
                    weights[j] += by;
                    problem.evaluate(&weights).unwrap().leverages
                };
                let (up, down) = (moved(step), moved(-step));
                for i in j..9 {
                    let slope = (down[i] - up[i]) / (2.0 * step);
                    assert!((lower[(i, j)] - slope).abs() < error * largest, "{i} {j} {slope}");
                }
                assert!((lower[(j, j)] / diagonal[j] - 1.0).abs() < 1e-12);
            }
        }
    }

    /// With no slack to speak of every column is strong, and the solution is exact.
    #[test]
    fn strong_columns_are_solved_together() {
        let problem = &problems()[0];
        let at = problem.evaluate(&[1.0; 9]).unwrap();
        let ratios = [1e-3; 9];
        let system = NewtonSystem::new(problem.as_ref(), &at, &ratios).unwrap();
        let right: Vec<f64> = (0..9).map(|i| 1.0 - 0.3 * f64::from(i)).collect();
        let solution = DVector::from_vec(system.solve(&right));
        let lower = lower_hessian(&at.coordinates, &problem.hessian_terms(&at)).lower_triangle();
        let whole =
            &lower + lower.transpose() - DMatrix::from_diagonal(&lower.diagonal()) + DMatrix::identity(9, 9) * 1e-3;
        assert!((whole * solution - DVector::from_vec(right)).amax() < 1e-9);
    }
}
