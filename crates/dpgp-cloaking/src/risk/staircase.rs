//! Few rows first: rows are added where the certificate finds them wanting, and dropped where they have vanished.

use nalgebra::DMatrix;

use super::certificate::Bound;
use super::newton::improve;
use super::point::Point;
use super::reduced::Reduced;
use super::sphere::normalised;
use super::start::start;
use dpgp_linalg::thin_svd;
use dpgp_noise::PrivacyError;

/// The relative gap at which the search stops: the root of the error is then known to half of it.
const TARGET: f64 = 1e-6;
/// The gap that is enough where the last digits take long: after [`MANY`] products with the Hessian.
const ENOUGH: f64 = 1e-4;
const MANY: usize = 300;
/// Rounds of Newton's method, each to a sharper tolerance or with more rows.
const ROUNDS: usize = 16;
/// The tolerance of the first round, how much sharper those after it are, and the sharpest.
const FIRST_TOLERANCE: f64 = 1e-3;
const SHARPER: f64 = 1e-4;
const SHARPEST: f64 = 1e-15;
/// How much sharper than the gap the tolerance must be once rows are added.
const BELOW_GAP: f64 = 0.1;
/// Most products with the Hessian.
const PRODUCTS: usize = 2000;
/// Rows below this, relative to the largest, are dropped.
const VANISHED: f64 = 1e-5;

/// The best strategy found and what no release can be better than.
pub(super) struct Found {
    pub point: Point,
    /// A lower bound of the error in the reduced problem.
    pub least: f64,
    /// Products with the Hessian.
    pub products: usize,
}

/// Minimises the expected error.
///
/// # Errors
/// [`PrivacyError::Linalg`] if a factorisation fails.
pub(super) fn solve(problem: &Reduced) -> Result<Found, PrivacyError> {
    let mut budget = PRODUCTS;
    let (mut tolerance, mut least) = (FIRST_TOLERANCE, f64::NEG_INFINITY);
    let mut point = improve(problem, start(problem)?, tolerance, &mut budget)?;
    let mut best: Option<Point> = None;
    for _ in 0..ROUNDS {
        let bound = Bound::new(problem, &point)?;
        least = least.max(bound.least);
        let error = point.error(problem);
        let gap = (error - least) / error;
        let used = PRODUCTS - budget;
        if gap <= TARGET || (gap <= ENOUGH && used > MANY) || budget == 0 {
            break;
        }
        let missing = bound.missing(&point, tolerance.max(BELOW_GAP * TARGET) * error)?;
        let strategy = if missing.nrows() > 0 {
            tolerance = tolerance.min(BELOW_GAP * gap).max(SHARPEST);
            extended(&point.strategy, &missing)
        } else {
            tolerance = (SHARPER * tolerance).max(SHARPEST);
            compressed(&point)?
        };
        let next = improve(problem, Point::new(problem, strategy)?, tolerance, &mut budget)?;
        // New rows begin at a length that is a guess, so that the error may rise at first: the best is kept beside.
        best = Some(better(best, std::mem::replace(&mut point, next)));
        // Nothing is missing, and no step is left to take.
        if tolerance <= SHARPEST && PRODUCTS - budget == used {
            break;
        }
    }
    Ok(Found { point: better(best, point), least, products: PRODUCTS - budget })
}

/// The one that explains more.
fn better(best: Option<Point>, point: Point) -> Point {
    match best {
        Some(best) if best.explained > point.explained => best,
        _ => point,
    }
}

/// The strategy with rows added above its slack.
fn extended(strategy: &DMatrix<f64>, rows: &DMatrix<f64>) -> DMatrix<f64> {
    let at = strategy.nrows() - 1;
    let mut longer = strategy.clone().insert_rows(at, rows.nrows(), 0.0);
    longer.rows_mut(at, rows.nrows()).copy_from(rows);
    normalised(longer)
}

/// The strategy in the span of its singular vectors that have not vanished.
fn compressed(point: &Point) -> Result<DMatrix<f64>, PrivacyError> {
    let svd = thin_svd("the strategy", &point.rows)?;
    let rank = svd.s.iter().filter(|s| **s > VANISHED * svd.s[0]).count();
    let last = point.rows.nrows();
    if rank == last {
        return Ok(point.strategy.clone());
    }
    let mut shorter = svd.u.columns(0, rank).tr_mul(&point.rows).insert_row(rank, 0.0);
    shorter.row_mut(rank).copy_from(&point.strategy.row(last));
    Ok(normalised(shorter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::sphere::with_slack;
    use crate::risk::tests::cases::small;

    /// New rows stand above the slack, and all columns are of length 1 again.
    #[test]
    fn rows_are_added_above_the_slack() {
        let strategy = DMatrix::from_row_slice(2, 2, &[1.0, 0.6, 0.0, 0.8]);
        let longer = extended(&strategy, &DMatrix::from_row_slice(1, 2, &[0.75, 0.0]));
        let expected = DMatrix::from_row_slice(3, 2, &[0.8, 0.6, 0.6, 0.0, 0.0, 0.8]);
        assert!((&longer - &expected).amax() < 1e-15, "{longer}");
    }

    /// A row that is a millionth of the others goes, one of a hundredth stays; what is explained stays the same.
    #[test]
    fn rows_that_have_vanished_are_dropped() {
        let problem = Reduced::new(&small(), 3.0).unwrap();
        for (size, rows) in [(1e-2, 3), (1e-7, 2)] {
            let rows_of = |i: usize, j: usize| {
                let x = (i * 6 + j + 1) as f64;
                if i == 2 { size * (x * x).cos() } else { 0.6 * (x * x).sin() }
            };
            let point = Point::new(&problem, with_slack(&DMatrix::from_fn(3, 6, rows_of))).unwrap();
            let shorter = compressed(&point).unwrap();
            assert_eq!(shorter.nrows(), rows + 1, "{size}");
            assert!(shorter.column_iter().all(|column| (column.norm() - 1.0).abs() < 1e-12));
            let again = Point::new(&problem, shorter).unwrap();
            assert!((again.explained / point.explained - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_better_point_is_kept() {
        let problem = Reduced::new(&small(), 3.0).unwrap();
        let of = |size: f64| {
            let rows = DMatrix::from_fn(1, 6, |_, j| size * (j + 1) as f64);
            Point::new(&problem, with_slack(&rows)).unwrap()
        };
        let (small, large) = (of(1e-3).explained, of(0.1).explained);
        assert!(small < large);
        assert_eq!(better(Some(of(0.1)), of(1e-3)).explained, large);
        assert_eq!(better(Some(of(1e-3)), of(0.1)).explained, large);
        assert_eq!(better(None, of(1e-3)).explained, small);
    }

    /// A small problem is solved to the target with a part of the products that there are.
    #[test]
    fn a_search_ends_at_its_target() {
        for noise_sd in [0.3, 3.0] {
            let problem = Reduced::new(&small(), noise_sd).unwrap();
            let Found { point, least, products } = solve(&problem).unwrap();
            let gap = (point.error(&problem) - least) / point.error(&problem);
            assert!(
                gap.abs() <= TARGET && products > 0 && products < PRODUCTS / 4,
                "{noise_sd}: {gap:e} {products}"
            );
        }
    }
}
