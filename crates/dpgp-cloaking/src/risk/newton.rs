//! Newton's method with a trust region on the unit columns of a strategy. Conjugate gradients minimise the
//! quadratic model.
//!
//! A strategy with columns of length at most 1 becomes one of unit columns with an extra coordinate. This
//! last row is slack: nothing is released along it, and it takes up the rest of a column that should be
//! shorter than 1.

use nalgebra::DMatrix;

use super::certificate::EvaluatedStrategy;
use super::{QuadraticErrorModel, ReducedRiskProblem};
use dpgp_noise::PrivacyError;

/// Most steps.
const STEPS: usize = 60;
/// The radius to begin with, and the largest, relative to the strategy itself.
const FIRST_RADIUS: f64 = 0.5;
const LARGEST_RADIUS: f64 = 1.0;
/// Shares of the predicted gain below which a step is refused, below which the region shrinks, and above which it grows.
const ACCEPTED: f64 = 0.05;
const POOR: f64 = 0.25;
const GOOD: f64 = 0.75;
/// How inexact the equations of a step may be at most.
const INEXACT: f64 = 0.3;
/// Gains below this, relative to the prior error, are rounding: whether they came true cannot be told.
const ROUNDING: f64 = 1e-13;
/// A predicted gain below this, relative to the error, ends the method.
const NO_GAIN: f64 = 1e-14;

/// Improves a point until the squared gradient, in the inverse of the metric, is `tolerance` times the error. Returns the point
/// and takes the number of products with the Hessian from `budget`.
///
/// # Errors
/// [`PrivacyError::Linalg`] if a factorisation fails.
pub(super) fn improve_strategy(
    problem: &ReducedRiskProblem,
    mut point: EvaluatedStrategy,
    tolerance: f64,
    budget: &mut usize,
) -> Result<EvaluatedStrategy, PrivacyError> {
    let mut radius = FIRST_RADIUS;
    for _ in 0..STEPS {
        let mut strategy = point.strategy.clone();
        if activate_slack(&mut strategy, &point.radial_gradients()) {
            point = EvaluatedStrategy::new(problem, strategy)?;
        }
        let model = QuadraticErrorModel::new(problem, &point);
        let scaled = model.precondition(&model.gradient);
        let (error, height) = (point.expected_error(problem), model.gradient.dot(&scaled));
        if height <= tolerance * error || *budget == 0 {
            break;
        }
        let accuracy = step_accuracy(height / error, tolerance);
        let advance = minimise_in_trust_region(
            &model,
            scaled,
            radius * radius * model.squared_strategy_norm_in_metric(),
            accuracy,
        );
        *budget = budget.saturating_sub(advance.products);
        let moved = scale_columns_to_unit_length(&point.strategy + &advance.direction);
        let next = EvaluatedStrategy::new(problem, moved)?;
        let ratio = gain_ratio(problem, &advance, (next.explained - point.explained) / 2.0);
        radius = adapt_radius(radius, ratio, advance.at_boundary);
        if ratio > ACCEPTED {
            point = next;
        }
        if 2.0 * advance.predicted <= NO_GAIN * error {
            break;
        }
    }
    Ok(point)
}

/// The accuracy of a step: the better the smaller the gradient (for convergence of order 3/2), but none that the tolerance
/// does not ask for.
fn step_accuracy(height: f64, tolerance: f64) -> f64 {
    INEXACT.min(height.powf(0.25)).max(INEXACT * (tolerance / height).sqrt())
}

/// Ratio of the actual to the predicted gain.
fn gain_ratio(problem: &ReducedRiskProblem, advance: &TrustRegionStep, gain: f64) -> f64 {
    let rounding = ROUNDING * problem.prior;
    (gain + rounding) / (advance.predicted + rounding)
}

fn adapt_radius(radius: f64, ratio: f64, at_boundary: bool) -> f64 {
    match ratio {
        GOOD.. if at_boundary => (2.0 * radius).min(LARGEST_RADIUS),
        POOR.. => radius,
        // Too little, or no number.
        _ => radius / 4.0,
    }
}

/// Most products with the Hessian for one step.
const PRODUCTS: usize = 150;
/// Products before the gain of the last one matters.
const FIRST_PRODUCTS: usize = 4;
/// A product that gains less than this share of what was gained so far ends the step.
const LITTLE_GAIN: f64 = 0.02;

/// A step and what the model says of it.
pub(super) struct TrustRegionStep {
    pub direction: DMatrix<f64>,
    /// By how much half the error should fall.
    pub predicted: f64,
    pub at_boundary: bool,
    pub products: usize,
}

/// Where the method stands: the step and its image, the residual and the next direction.
struct SteihaugSearch<'a> {
    model: &'a QuadraticErrorModel<'a>,
    radius_squared: f64,
    step: DMatrix<f64>,
    image: DMatrix<f64>,
    residual: DMatrix<f64>,
    direction: DMatrix<f64>,
    /// `<residual, preconditioned residual>`.
    height: f64,
    /// Squared lengths of the step and the direction, and their product, in the metric.
    length: f64,
    along: f64,
    stride: f64,
}

impl SteihaugSearch<'_> {
    /// One conjugate step; true if it ended at the boundary of the region.
    fn take_conjugate_step(&mut self) -> bool {
        let image = self.model.apply_hessian(&self.direction);
        let curvature = self.direction.dot(&image);
        let size = self.height / curvature;
        let after = self.length + 2.0 * size * self.along + size * size * self.stride;
        if curvature > 0.0 && after < self.radius_squared {
            self.apply_step(size, &image);
            self.length = after;
            self.update_direction(size);
            return false;
        }
        let rest = self.along * self.along + self.stride * (self.radius_squared - self.length);
        self.apply_step((rest.max(0.0).sqrt() - self.along) / self.stride, &image);
        true
    }

    fn apply_step(&mut self, size: f64, image: &DMatrix<f64>) {
        add_scaled(&mut self.step, size, &self.direction);
        add_scaled(&mut self.image, size, image);
        add_scaled(&mut self.residual, size, image);
    }

    /// The next conjugate direction.
    fn update_direction(&mut self, size: f64) {
        let scaled = self.model.precondition(&self.residual);
        let height = self.residual.dot(&scaled);
        let share = height / self.height;
        self.along = share * (self.along + size * self.stride);
        self.stride = height + share * share * self.stride;
        self.direction *= share;
        add_scaled(&mut self.direction, -1.0, &scaled);
        self.height = height;
    }

    /// By how much the model falls.
    fn predicted_gain(&self) -> f64 {
        -self.model.gradient.dot(&self.step) - 0.5 * self.step.dot(&self.image)
    }
}

/// Minimises the model within a radius of the metric, until the residual is `accuracy` times the gradient.
/// `scaled` is the preconditioned gradient. Source: Steihaug 1983, SIAM J. Numer. Anal. 20(3).
pub(super) fn minimise_in_trust_region(
    model: &QuadraticErrorModel<'_>,
    scaled: DMatrix<f64>,
    radius_squared: f64,
    accuracy: f64,
) -> TrustRegionStep {
    let height = model.gradient.dot(&scaled);
    let zero = DMatrix::zeros(scaled.nrows(), scaled.ncols());
    let mut search = SteihaugSearch {
        model,
        radius_squared,
        step: zero.clone(),
        image: zero,
        residual: model.gradient.clone(),
        direction: -scaled,
        height,
        length: 0.0,
        along: 0.0,
        stride: height,
    };
    let (mut products, mut predicted, mut at_boundary) = (0, 0.0, false);
    while products < PRODUCTS {
        at_boundary = search.take_conjugate_step();
        products += 1;
        let gained = search.predicted_gain() - predicted;
        predicted += gained;
        let enough = products > FIRST_PRODUCTS && gained < LITTLE_GAIN * predicted;
        // Rounding can leave a residual that is no number or points backwards.
        let more = search.height > accuracy * accuracy * height;
        if at_boundary || enough || !more {
            break;
        }
    }
    TrustRegionStep { direction: search.step, predicted, at_boundary, products }
}

/// `to += size from`.
fn add_scaled(to: &mut DMatrix<f64>, size: f64, from: &DMatrix<f64>) {
    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to += size * from);
}

/// Slack below this counts as none.
const ASLEEP: f64 = 0.1;

/// The strategy (r x n) without the row of slack.
pub(super) fn without_slack(strategy: &DMatrix<f64>) -> DMatrix<f64> {
    strategy.rows(0, strategy.nrows() - 1).into_owned()
}

/// Columns of any length with slack in the last row, scaled to length 1.
pub(super) fn scale_columns_to_unit_length(mut strategy: DMatrix<f64>) -> DMatrix<f64> {
    let last = strategy.nrows() - 1;
    for mut column in strategy.column_iter_mut() {
        let norm = column.norm();
        // A column that is zero has all its length in slack.
        if norm > 0.0 { column /= norm } else { column[last] = 1.0 }
    }
    strategy
}

/// Rows (r x n) with columns longer than 1 cut to 1, and the length that shorter ones have left as slack.
pub(super) fn with_slack(rows: &DMatrix<f64>) -> DMatrix<f64> {
    let last = rows.nrows();
    let mut strategy = rows.clone().insert_row(last, 0.0);
    for mut column in strategy.column_iter_mut() {
        column[last] = (1.0 - column.norm_squared()).max(0.0).sqrt();
    }
    scale_columns_to_unit_length(strategy)
}

/// Gives slack to the columns that want to be shorter (`pulls[u] < 0`) and have none: at zero the slack does not move by
/// itself. Tells whether there were any.
pub(super) fn activate_slack(strategy: &mut DMatrix<f64>, pulls: &[f64]) -> bool {
    let last = strategy.nrows() - 1;
    let mut woken = false;
    for (mut column, pull) in strategy.column_iter_mut().zip(pulls) {
        if *pull < 0.0 && column[last] < ASLEEP {
            column *= ((1.0 - ASLEEP * ASLEEP) / (1.0 - column[last].powi(2))).sqrt();
            column[last] = ASLEEP;
            woken = true;
        }
    }
    woken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::small;

    /// The fourth root of the gradient, at most .3, but no more than the tolerance asks for.
    #[test]
    fn steps_are_as_accurate_as_the_gradient_is_small() {
        for (height, tolerance, expected) in
            [(1.0, 1e-8, 0.3), (1e-4, 1e-8, 0.1), (1e-8, 1e-9, 0.3 * 0.1f64.sqrt()), (1e-8, 1e-20, 0.01)]
        {
            let found = step_accuracy(height, tolerance);
            assert!((found / expected - 1.0).abs() < 1e-12, "{height} {tolerance}: {found}");
        }
    }

    #[test]
    fn the_region_follows_what_came_true() {
        for (radius, ratio, at_boundary, expected) in [
            (0.25, 0.8, true, 0.5),
            (0.75, 0.9, true, 1.0),
            (0.25, 0.8, false, 0.25),
            (0.25, 0.5, true, 0.25),
            (0.25, 0.2, true, 0.0625),
            (0.25, f64::NAN, false, 0.0625),
        ] {
            assert_eq!(adapt_radius(radius, ratio, at_boundary), expected, "{radius} {ratio}");
        }
    }

    /// The prior error is 4: gains of 4e-13 and less are rounding.
    #[test]
    fn gains_below_rounding_came_true() {
        let problem = ReducedRiskProblem::new(&small(), 3.0).unwrap();
        let of = |predicted: f64, gain: f64| {
            let direction = nalgebra::DMatrix::zeros(1, 1);
            gain_ratio(&problem, &TrustRegionStep { direction, predicted, at_boundary: false, products: 1 }, gain)
        };
        assert!((of(1.0, 0.5) - 0.5).abs() < 1e-12);
        assert!((of(4e-13, 0.0) - 0.5).abs() < 1e-9 && (of(0.0, 4e-13) - 2.0).abs() < 1e-9);
    }
}

#[cfg(test)]
mod steihaug_tests {
    use super::*;
    use crate::risk::ReducedRiskProblem;
    use crate::risk::certificate::EvaluatedStrategy;
    use crate::risk::tests::small;

    /// A strategy of two rows near the best of them, where the model is convex.
    fn nearly_best(problem: &ReducedRiskProblem) -> EvaluatedStrategy {
        let rows = DMatrix::from_fn(2, 6, |i, j| 0.7 * ((i * 6 + j + 1) as f64).sin());
        let point = EvaluatedStrategy::new(problem, with_slack(&rows)).unwrap();
        improve_strategy(problem, point, 1e-4, &mut 500).unwrap()
    }

    /// The squared length in the metric, `|lambda_u| + e_u (L' L)_jj` and `|lambda_u|` for slack.
    fn squared_length(problem: &ReducedRiskProblem, point: &EvaluatedStrategy, direction: &DMatrix<f64>) -> f64 {
        let pulls = point.radial_gradients();
        let mut sum = 0.0;
        for (u, column) in direction.column_iter().enumerate() {
            for (j, x) in column.iter().enumerate() {
                let spread = point.spread.get(j).copied().unwrap_or(0.0);
                sum += x * x * (pulls[u].abs() + problem.own[u] * spread);
            }
        }
        sum
    }

    /// Of conjugate gradients the residual is orthogonal to the step; what is predicted is what the model falls by.
    #[test]
    fn a_step_minimises_the_model_along_itself() {
        let problem = ReducedRiskProblem::new(&small(), 3.0).unwrap();
        let point = nearly_best(&problem);
        let model = QuadraticErrorModel::new(&problem, &point);
        let scaled = model.precondition(&model.gradient);
        let mut falls = Vec::new();
        for accuracy in [0.5, 1e-2, 1e-4] {
            let TrustRegionStep { direction, predicted, at_boundary, products } =
                minimise_in_trust_region(&model, scaled.clone(), f64::INFINITY, accuracy);
            let (linear, image) = (model.gradient.dot(&direction), model.apply_hessian(&direction));
            let along = linear + direction.dot(&image);
            assert!(!at_boundary && along.abs() <= 1e-9 * linear.abs(), "{accuracy}: {along:e} {linear:e}");
            let fall = -linear - 0.5 * direction.dot(&image);
            assert!((predicted / fall - 1.0).abs() < 1e-9 && fall > 0.0, "{predicted:e} {fall:e}");
            let residual = &model.gradient + image;
            let left = residual.dot(&model.precondition(&residual)) / model.gradient.dot(&scaled);
            assert!(left <= accuracy * accuracy || products > FIRST_PRODUCTS, "{accuracy}: {left:e}");
            falls.push((products, predicted));
        }
        assert!(falls[0].0 < falls[2].0 && falls[0].1 < falls[2].1, "{falls:?}");
    }

    #[test]
    fn a_step_ends_at_the_boundary() {
        let problem = ReducedRiskProblem::new(&small(), 3.0).unwrap();
        let point = nearly_best(&problem);
        let model = QuadraticErrorModel::new(&problem, &point);
        let scaled = model.precondition(&model.gradient);
        let whole = minimise_in_trust_region(&model, scaled.clone(), f64::INFINITY, 1e-6).direction;
        let whole = squared_length(&problem, &point, &whole);
        let mut before = 0.0;
        for share in [0.01, 0.3, 0.9] {
            let advance = minimise_in_trust_region(&model, scaled.clone(), share * whole, 1e-6);
            let length = squared_length(&problem, &point, &advance.direction);
            assert!((length / (share * whole) - 1.0).abs() < 1e-9 && advance.at_boundary, "{share}: {length:e}");
            assert!(advance.predicted > before, "{share}: {}", advance.predicted);
            before = advance.predicted;
        }
    }
}

#[cfg(test)]
mod sphere_tests {
    use super::*;

    fn assert_close(found: &DMatrix<f64>, expected: &[f64]) {
        let expected = DMatrix::from_row_slice(found.nrows(), found.ncols(), expected);
        assert!((found - &expected).amax() < 1e-15, "{found}");
    }

    /// Columns of length 1/2, 5 and 0.
    #[test]
    fn shorter_columns_have_slack() {
        let rows = DMatrix::from_row_slice(2, 3, &[0.5, 3.0, 0.0, 0.0, 4.0, 0.0]);
        let strategy = with_slack(&rows);
        assert_close(&strategy, &[0.5, 0.6, 0.0, 0.0, 0.8, 0.0, 0.75f64.sqrt(), 0.0, 1.0]);
        assert_close(&without_slack(&strategy), &[0.5, 0.6, 0.0, 0.0, 0.8, 0.0]);
    }

    /// Of three columns that want to be shorter two have no slack yet, of which one has a little; the last wants to be longer.
    #[test]
    fn slack_is_given_once() {
        let little = 0.05f64;
        let rest = (1.0 - little * little).sqrt();
        let mut strategy = DMatrix::from_row_slice(2, 4, &[1.0, rest, 0.8, 1.0, 0.0, little, 0.6, 0.0]);
        assert!(activate_slack(&mut strategy, &[-1.0, -1e-9, -1.0, 0.0]));
        let woken = 0.99f64.sqrt();
        assert_close(&strategy, &[woken, woken, 0.8, 1.0, 0.1, 0.1, 0.6, 0.0]);
        assert!(!activate_slack(&mut strategy, &[-1.0, -1.0, -1.0, 0.0]));
    }
}
