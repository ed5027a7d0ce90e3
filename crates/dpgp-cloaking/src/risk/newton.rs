//! The method of Newton with a trust region on the unit columns of a strategy.

use super::point::Point;
use super::quadratic::Quadratic;
use super::reduced::Reduced;
use super::sphere;
use super::steihaug::{Advance, minimise};
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
pub(super) fn improve(
    problem: &Reduced,
    mut point: Point,
    tolerance: f64,
    budget: &mut usize,
) -> Result<Point, PrivacyError> {
    let mut radius = FIRST_RADIUS;
    for _ in 0..STEPS {
        let mut strategy = point.strategy.clone();
        if sphere::wake(&mut strategy, &point.pulls()) {
            point = Point::new(problem, strategy)?;
        }
        let model = Quadratic::new(problem, &point);
        let scaled = model.precondition(&model.gradient);
        let (error, height) = (point.error(problem), model.gradient.dot(&scaled));
        if height <= tolerance * error || *budget == 0 {
            break;
        }
        let accuracy = accuracy(height / error, tolerance);
        let advance = minimise(&model, scaled, radius * radius * model.extent(), accuracy);
        *budget = budget.saturating_sub(advance.products);
        let moved = sphere::normalised(&point.strategy + &advance.direction);
        let next = Point::new(problem, moved)?;
        let ratio = ratio(problem, &advance, (next.explained - point.explained) / 2.0);
        radius = adapted(radius, ratio, advance.at_boundary);
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
fn accuracy(height: f64, tolerance: f64) -> f64 {
    INEXACT.min(height.powf(0.25)).max(INEXACT * (tolerance / height).sqrt())
}

/// What came true of the predicted gain.
fn ratio(problem: &Reduced, advance: &Advance, gain: f64) -> f64 {
    let rounding = ROUNDING * problem.prior;
    (gain + rounding) / (advance.predicted + rounding)
}

fn adapted(radius: f64, ratio: f64, at_boundary: bool) -> f64 {
    match ratio {
        GOOD.. if at_boundary => (2.0 * radius).min(LARGEST_RADIUS),
        POOR.. => radius,
        // Too little, or no number.
        _ => radius / 4.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::cases::small;

    /// The fourth root of the gradient, at most .3, but no more than the tolerance asks for.
    #[test]
    fn steps_are_as_accurate_as_the_gradient_is_small() {
        for (height, tolerance, expected) in
            [(1.0, 1e-8, 0.3), (1e-4, 1e-8, 0.1), (1e-8, 1e-9, 0.3 * 0.1f64.sqrt()), (1e-8, 1e-20, 0.01)]
        {
            let found = accuracy(height, tolerance);
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
            assert_eq!(adapted(radius, ratio, at_boundary), expected, "{radius} {ratio}");
        }
    }

    /// The prior error is 4: gains of 4e-13 and less are rounding.
    #[test]
    fn gains_below_rounding_came_true() {
        let problem = Reduced::new(&small(), 3.0).unwrap();
        let of = |predicted: f64, gain: f64| {
            let direction = nalgebra::DMatrix::zeros(1, 1);
            ratio(&problem, &Advance { direction, predicted, at_boundary: false, products: 1 }, gain)
        };
        assert!((of(1.0, 0.5) - 0.5).abs() < 1e-12);
        assert!((of(4e-13, 0.0) - 0.5).abs() < 1e-9 && (of(0.0, 4e-13) - 2.0).abs() < 1e-9);
    }
}
