//! From the problem to a design: the release, its error and its certificate.
//!
//! The search begins with few rows. It adds rows where the certificate finds a gap, and drops those that have
//! vanished.

use nalgebra::{DMatrix, DVector};

use super::certificate::{DualBound, EvaluatedStrategy};
use super::newton::{improve_strategy, scale_columns_to_unit_length, with_slack};
use super::{PredictionRiskProblem, ReducedRiskProblem};
use crate::release::CloakingNoise;
use dpgp_linalg::thin_svd;
use dpgp_noise::PrivacyError;

/// A private linear prediction of nearly least expected error.
#[derive(Debug, Clone)]
pub struct MinimumRiskDesign {
    /// The map and its noise, for sensitivity 1. [`CloakingNoise::released_mean_map`] is not the map of the Gaussian process: predictions are
    /// those of this map, shrunk to the prior mean by as much as the noise deserves.
    pub cloak: CloakingNoise,
    /// The weighted sum of the expected squared errors over prior, targets and noise, in squared units of the model.
    pub expected: f64,
    /// The variance of each latent value (t) given the release, noise included.
    pub variances: Vec<f64>,
    /// No private linear prediction with noise of this size has an expected error below `(1 - gap) expected`.
    pub gap: f64,
    /// Products with the Hessian that the solver took.
    pub steps: usize,
}

/// The private linear prediction with the least expected error, for noise of standard deviation `noise_sd` at
/// sensitivity 1 (the noise multiplier of the mechanism times the largest change of one target, in units of the model).
///
/// Obligation: whatever the solver returns, [`CloakingNoise`] scales the strategy until every column is covered, and checks it.
///
/// ```
/// use std::sync::Arc;
///
/// use dpgp_gp::{TargetSumCovariances, CovarianceRepresentation};
/// use dpgp_cloaking::{PredictionRiskProblem, design_minimum_risk_prediction};
/// use nalgebra::DMatrix;
/// // One latent value of variance 1, seen once with noise of variance 1/2; the release adds noise of variance 1/2.
/// let one = DMatrix::from_element(1, 1, 1.0);
/// let shared = Arc::new(CovarianceRepresentation::of_factor(one.clone()));
/// let moments = TargetSumCovariances { cross: one, shared, own: vec![0.5], variances: vec![1.0] };
/// let design = design_minimum_risk_prediction(&PredictionRiskProblem::with_equal_weights(moments), 0.5f64.sqrt())?;
/// // It is 1 / (1 + 1/2 + 1/2) times what is released, and half of the variance is explained.
/// assert!((design.cloak.released_mean_map()[(0, 0)] - 0.5).abs() < 1e-9);
/// assert!((design.expected - 0.5).abs() < 1e-9 && design.gap < 1e-6);
/// # Ok::<(), dpgp_noise::PrivacyError>(())
/// ```
///
/// # Errors
/// [`PrivacyError::NothingToProtect`] if no weighted point depends on any target, [`PrivacyError::NoNoise`] unless the standard
/// deviation is positive and finite, [`PrivacyError::Linalg`] if a matrix is not finite or a factorisation fails.
pub fn design_minimum_risk_prediction(
    problem: &PredictionRiskProblem,
    noise_sd: f64,
) -> Result<MinimumRiskDesign, PrivacyError> {
    let noisy = noise_sd > 0.0 && noise_sd.is_finite();
    if !noisy {
        return Err(PrivacyError::NoNoise { solver: "risk" });
    }
    let reduced = ReducedRiskProblem::new(problem, noise_sd)?;
    let found = minimise_expected_error(&reduced)?;
    // The posterior mean at all points, those without weight too.
    let seen = &found.point.rows * problem.moments.cross.transpose();
    let estimator = found.point.covariance.solve(&seen).transpose();
    let mut cloak = CloakingNoise::from_strategy(&estimator, &found.point.rows, found.products)?;
    let variances = expected_squared_errors(problem, &reduced, &cloak);
    let expected: f64 = variances.iter().zip(&problem.weights).map(|(variance, weight)| variance * weight).sum();
    let gap = ((expected - found.least + reduced.dropped) / expected).max(0.0);
    cloak.gap = Some(gap);
    Ok(MinimumRiskDesign { cloak, expected, variances, gap, steps: found.products })
}

/// The diagonal of `K** - 2 C K*' + C A C' + s^2 L L'`, for the very map and noise of the release.
fn expected_squared_errors(
    problem: &PredictionRiskProblem,
    reduced: &ReducedRiskProblem,
    cloak: &CloakingNoise,
) -> Vec<f64> {
    let (map, noise): (DMatrix<f64>, DMatrix<f64>) = (cloak.released_mean_map(), cloak.noise_map());
    let moved = reduced.times_covariance(&map) - 2.0 * &problem.moments.cross;
    let explained = map.row_iter().zip(moved.row_iter()).map(|(c, moved)| c.dot(&moved));
    let added = noise.row_iter().map(|row| reduced.noise * row.norm_squared());
    problem
        .moments
        .variances
        .iter()
        .zip(explained.zip(added))
        .map(|(prior, (explained, added))| prior + explained + added)
        .collect()
}

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
pub(super) struct StrategyWithLowerBound {
    pub point: EvaluatedStrategy,
    /// A lower bound of the error in the reduced problem.
    pub least: f64,
    /// Products with the Hessian.
    pub products: usize,
}

/// Minimises the expected error.
///
/// # Errors
/// [`PrivacyError::Linalg`] if a factorisation fails.
pub(super) fn minimise_expected_error(problem: &ReducedRiskProblem) -> Result<StrategyWithLowerBound, PrivacyError> {
    let mut budget = PRODUCTS;
    let (mut tolerance, mut least) = (FIRST_TOLERANCE, f64::NEG_INFINITY);
    let mut point = improve_strategy(problem, initial_strategy(problem)?, tolerance, &mut budget)?;
    let mut best: Option<EvaluatedStrategy> = None;
    for _ in 0..ROUNDS {
        let bound = DualBound::new(problem, &point)?;
        least = least.max(bound.least);
        let error = point.expected_error(problem);
        let gap = (error - least) / error;
        let used = PRODUCTS - budget;
        if gap <= TARGET || (gap <= ENOUGH && used > MANY) || budget == 0 {
            break;
        }
        let missing = bound.missing_directions(&point, tolerance.max(BELOW_GAP * TARGET) * error)?;
        let strategy = if missing.nrows() > 0 {
            tolerance = tolerance.min(BELOW_GAP * gap).max(SHARPEST);
            append_strategy_rows(&point.strategy, &missing)
        } else {
            tolerance = (SHARPER * tolerance).max(SHARPEST);
            compress_strategy(&point)?
        };
        let next = improve_strategy(problem, EvaluatedStrategy::new(problem, strategy)?, tolerance, &mut budget)?;
        // New rows begin at a length that is a guess, so that the error may rise at first: the best is kept beside.
        best = Some(better_strategy(best, std::mem::replace(&mut point, next)));
        // Nothing is missing, and no step is left to take.
        if tolerance <= SHARPEST && PRODUCTS - budget == used {
            break;
        }
    }
    Ok(StrategyWithLowerBound { point: better_strategy(best, point), least, products: PRODUCTS - budget })
}

/// The one that explains more.
fn better_strategy(best: Option<EvaluatedStrategy>, point: EvaluatedStrategy) -> EvaluatedStrategy {
    match best {
        Some(best) if best.explained > point.explained => best,
        _ => point,
    }
}

/// The strategy with rows added above its slack.
fn append_strategy_rows(strategy: &DMatrix<f64>, rows: &DMatrix<f64>) -> DMatrix<f64> {
    let at = strategy.nrows() - 1;
    let mut longer = strategy.clone().insert_rows(at, rows.nrows(), 0.0);
    longer.rows_mut(at, rows.nrows()).copy_from(rows);
    scale_columns_to_unit_length(longer)
}

/// The strategy in the span of its singular vectors that have not vanished.
fn compress_strategy(point: &EvaluatedStrategy) -> Result<DMatrix<f64>, PrivacyError> {
    let svd = thin_svd("the strategy", &point.rows)?;
    let rank = svd.s.iter().filter(|s| **s > VANISHED * svd.s[0]).count();
    let last = point.rows.nrows();
    if rank == last {
        return Ok(point.strategy.clone());
    }
    let mut shorter = svd.u.columns(0, rank).tr_mul(&point.rows).insert_row(rank, 0.0);
    shorter.row_mut(rank).copy_from(&point.strategy.row(last));
    Ok(scale_columns_to_unit_length(shorter))
}

/// Halvings of the logarithm of the price of noise.
const HALVINGS: usize = 100;
/// The range of that price.
const PRICES: f64 = 1e-30;
/// Where so many of the directions have a share, noise is small, and the optimum may be near the Gaussian process.
const MOST: f64 = 0.8;

/// The best of some strategies that are optimal for simpler problems.
///
/// # Errors
/// [`PrivacyError::Linalg`] if a factorisation fails.
pub(super) fn initial_strategy(problem: &ReducedRiskProblem) -> Result<EvaluatedStrategy, PrivacyError> {
    let filled = water_filling_strategy(problem);
    let nearly_all = filled.nrows() as f64 >= MOST * problem.scale.len() as f64;
    let last = filled.nrows();
    // Columns of length 1, and columns cut to length 1, of which some are shorter.
    let mut best = EvaluatedStrategy::new(problem, scale_columns_to_unit_length(filled.clone().insert_row(last, 0.0)))?;
    let mut others = vec![with_slack(&filled)];
    if nearly_all {
        others.extend(gaussian_process_strategies(problem)?);
    }
    for strategy in others {
        let point = EvaluatedStrategy::new(problem, strategy)?;
        if point.explained > best.explained {
            best = point;
        }
    }
    Ok(best)
}

/// The optimum if only the mean square of the columns were bounded and the directions V of T were eigenvectors of A: direction j
/// of variance `a_j = v_j' A v_j` has the share `g_j` of n that maximises `sum s_j^2 g_j / (s^2 + a_j g_j)`.
fn water_filling_strategy(problem: &ReducedRiskProblem) -> DMatrix<f64> {
    let mut directions = problem.targets.clone();
    directions.column_iter_mut().for_each(|mut column| column.component_div_assign(&problem.scale));
    let moved = problem.times_covariance(&directions);
    let variances = DVector::from_iterator(
        directions.nrows(),
        directions.row_iter().zip(moved.row_iter()).map(|(v, moved)| v.dot(&moved)),
    );
    let shares = allocate_shares(problem, &variances, directions.ncols() as f64);
    let mut kept: Vec<usize> = (0..shares.len()).filter(|&j| shares[j] > 0.0).collect();
    kept.sort_by(|&i, &j| shares[j].total_cmp(&shares[i]));
    let mut rows = directions.select_rows(&kept);
    rows.row_iter_mut().zip(&kept).for_each(|(mut row, &j)| row *= shares[j].sqrt());
    rows
}

/// The shares that sum to `total`, for the price at which they do.
fn allocate_shares(problem: &ReducedRiskProblem, variances: &DVector<f64>, total: f64) -> DVector<f64> {
    let highest = problem.scale.max().powi(2) / problem.noise;
    let (mut low, mut high) = (highest * PRICES, highest);
    for _ in 0..HALVINGS {
        let price = (low * high).sqrt();
        if shares_at_price(problem, variances, price).sum() > total { low = price } else { high = price }
    }
    // The lower price has shares for at least one direction.
    shares_at_price(problem, variances, low)
}

/// Where the gain of each share, `s^2 s_j^2 / (s^2 + a_j g_j)^2`, has fallen to the price.
fn shares_at_price(problem: &ReducedRiskProblem, variances: &DVector<f64>, price: f64) -> DVector<f64> {
    let noise = problem.noise;
    problem.scale.zip_map(variances, |s, a| (s * (noise / price).sqrt() - noise).max(0.0) / a)
}

/// Strategies of the rows of `C = K* A^-1 = U S V'`, as `S^1/2 V'`: scaled to the longest column, and to the mean square.
fn gaussian_process_strategies(problem: &ReducedRiskProblem) -> Result<[DMatrix<f64>; 2], PrivacyError> {
    let svd = thin_svd("K* A^-1", &gaussian_process_mean_map(problem)?)?;
    let mut rows = svd.v.transpose();
    let roots = svd.s.map(f64::sqrt);
    rows.column_iter_mut().for_each(|mut column| column.component_mul_assign(&roots));
    let longest = rows.column_iter().map(|column| column.norm()).fold(f64::MIN_POSITIVE, f64::max);
    let mean = rows.norm() / (rows.ncols() as f64).sqrt();
    Ok([with_slack(&(&rows / longest)), with_slack(&(rows / mean))])
}

/// `T A^-1` (p x n).
fn gaussian_process_mean_map(problem: &ReducedRiskProblem) -> Result<DMatrix<f64>, PrivacyError> {
    Ok(problem.shared.solve_with_diagonal(&problem.targets, &problem.own)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::newton::with_slack;
    use crate::risk::tests::small;

    /// New rows stand above the slack, and all columns are of length 1 again.
    #[test]
    fn rows_are_added_above_the_slack() {
        let strategy = DMatrix::from_row_slice(2, 2, &[1.0, 0.6, 0.0, 0.8]);
        let longer = append_strategy_rows(&strategy, &DMatrix::from_row_slice(1, 2, &[0.75, 0.0]));
        let expected = DMatrix::from_row_slice(3, 2, &[0.8, 0.6, 0.6, 0.0, 0.0, 0.8]);
        assert!((&longer - &expected).amax() < 1e-15, "{longer}");
    }

    /// A row that is a millionth of the others goes, one of a hundredth stays; what is explained stays the same.
    #[test]
    fn rows_that_have_vanished_are_dropped() {
        let problem = ReducedRiskProblem::new(&small(), 3.0).unwrap();
        for (size, rows) in [(1e-2, 3), (1e-7, 2)] {
            let rows_of = |i: usize, j: usize| {
                let x = (i * 6 + j + 1) as f64;
                if i == 2 { size * (x * x).cos() } else { 0.6 * (x * x).sin() }
            };
            let point = EvaluatedStrategy::new(&problem, with_slack(&DMatrix::from_fn(3, 6, rows_of))).unwrap();
            let shorter = compress_strategy(&point).unwrap();
            assert_eq!(shorter.nrows(), rows + 1, "{size}");
            assert!(shorter.column_iter().all(|column| (column.norm() - 1.0).abs() < 1e-12));
            let again = EvaluatedStrategy::new(&problem, shorter).unwrap();
            assert!((again.explained / point.explained - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_better_point_is_kept() {
        let problem = ReducedRiskProblem::new(&small(), 3.0).unwrap();
        let of = |size: f64| {
            let rows = DMatrix::from_fn(1, 6, |_, j| size * (j + 1) as f64);
            EvaluatedStrategy::new(&problem, with_slack(&rows)).unwrap()
        };
        let (small, large) = (of(1e-3).explained, of(0.1).explained);
        assert!(small < large);
        assert_eq!(better_strategy(Some(of(0.1)), of(1e-3)).explained, large);
        assert_eq!(better_strategy(Some(of(1e-3)), of(0.1)).explained, large);
        assert_eq!(better_strategy(None, of(1e-3)).explained, small);
    }

    /// A small problem is solved to the target with a part of the products that there are.
    #[test]
    fn a_search_ends_at_its_target() {
        for noise_sd in [0.3, 3.0] {
            let problem = ReducedRiskProblem::new(&small(), noise_sd).unwrap();
            let StrategyWithLowerBound { point, least, products } = minimise_expected_error(&problem).unwrap();
            let gap = (point.expected_error(&problem) - least) / point.expected_error(&problem);
            assert!(gap.abs() <= TARGET && products > 0 && products < PRODUCTS / 4, "{noise_sd}: {gap:e} {products}");
        }
    }
}

#[cfg(test)]
mod start_tests {
    use super::*;
    use crate::risk::newton::without_slack;
    use crate::risk::tests::{covariance, small};

    /// A share has gained as much as it costs, `s^2 s_j^2 / (s^2 + a_j g_j)^2 = price`; one of nothing would gain less.
    #[test]
    fn shares_gain_what_they_cost() {
        for (noise_sd, totals) in [(3.0, [0.5, 6.0, 300.0]), (0.1, [1e-3, 6.0, 300.0])] {
            let problem = ReducedRiskProblem::new(&small(), noise_sd).unwrap();
            for total in totals {
                check_shares(&problem, total);
            }
        }
    }

    fn check_shares(problem: &ReducedRiskProblem, total: f64) {
        let variances = DVector::from_fn(problem.scale.len(), |j, _| 2.0 + j as f64);
        let shares = allocate_shares(problem, &variances, total);
        assert!((shares.sum() / total - 1.0).abs() < 1e-9, "{total}: {shares}");
        let gains = DVector::from_fn(shares.len(), |j, _| {
            let (s, a) = (problem.scale[j], variances[j]);
            problem.noise * s * s / (problem.noise + a * shares[j]).powi(2)
        });
        let price = gains.max();
        for (share, gain) in shares.iter().zip(&gains) {
            assert!(*share == 0.0 || (gain / price - 1.0).abs() < 1e-9, "{total}: {gains}");
        }
        assert!(shares[0] > 0.0, "{shares}");
    }

    /// `T A^-1` with A as a matrix.
    #[test]
    fn the_process_is_that_of_the_inverse() {
        let whole = small();
        let problem = ReducedRiskProblem::new(&whole, 3.0).unwrap();
        let inverse = covariance(&whole).try_inverse().unwrap();
        let apart = gaussian_process_mean_map(&problem).unwrap() - &problem.targets * inverse;
        assert!(apart.amax() < 1e-9, "{apart}");
    }

    /// With little noise the process is nearly best, with much noise few directions are; neither is below the filled ones.
    #[test]
    fn the_start_is_the_best_of_its_kind() {
        for noise_sd in [1e-3, 1.0, 30.0] {
            let problem = ReducedRiskProblem::new(&small(), noise_sd).unwrap();
            let best = initial_strategy(&problem).unwrap().explained;
            let filled = water_filling_strategy(&problem);
            let last = filled.nrows();
            let mut others =
                vec![scale_columns_to_unit_length(filled.clone().insert_row(last, 0.0)), with_slack(&filled)];
            if noise_sd < 0.01 {
                others.extend(gaussian_process_strategies(&problem).unwrap());
            }
            for other in others {
                let explained = EvaluatedStrategy::new(&problem, other).unwrap().explained;
                assert!(explained <= best * (1.0 + 1e-12), "{noise_sd}: {explained} {best}");
            }
        }
    }

    /// The first strategy is a multiple of the rows, its longest column 1 long; the second has a mean square of 1 before columns are cut.
    #[test]
    fn the_process_is_scaled_in_two_ways() {
        let problem = ReducedRiskProblem::new(&small(), 1e-3).unwrap();
        let [longest, mean] = gaussian_process_strategies(&problem).unwrap();
        let rows = without_slack(&longest);
        let norms: Vec<f64> = rows.column_iter().map(|column| column.norm()).collect();
        assert!((norms.iter().copied().fold(0.0, f64::max) - 1.0).abs() < 1e-12, "{norms:?}");
        let square = norms.iter().map(|norm| norm * norm).sum::<f64>() / norms.len() as f64;
        assert!((mean - with_slack(&(rows / square.sqrt()))).amax() < 1e-12);
    }

    /// Rows have the roots of the shares as lengths, which fall and add up to a column each.
    #[test]
    fn filled_rows_share_all_columns() {
        for noise_sd in [0.1, 3.0] {
            let rows = water_filling_strategy(&ReducedRiskProblem::new(&small(), noise_sd).unwrap());
            let shares: Vec<f64> = rows.row_iter().map(|row| row.norm_squared()).collect();
            assert!((shares.iter().sum::<f64>() - 6.0).abs() < 1e-6, "{noise_sd}: {shares:?}");
            assert!(shares.windows(2).all(|two| two[0] >= two[1]) && shares.len() > 1, "{noise_sd}: {shares:?}");
        }
    }
}
