//! Strategies to begin with.

use nalgebra::{DMatrix, DVector};

use super::point::Point;
use super::reduced::Reduced;
use super::sphere::{normalised, with_slack};
use dpgp_linalg::thin_svd;
use dpgp_noise::PrivacyError;

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
pub(super) fn start(problem: &Reduced) -> Result<Point, PrivacyError> {
    let filled = filled(problem);
    let nearly_all = filled.nrows() as f64 >= MOST * problem.scale.len() as f64;
    let last = filled.nrows();
    // Columns of length 1, and columns cut to length 1, of which some are shorter.
    let mut best = Point::new(problem, normalised(filled.clone().insert_row(last, 0.0)))?;
    let mut others = vec![with_slack(&filled)];
    if nearly_all {
        others.extend(near_the_process(problem)?);
    }
    for strategy in others {
        let point = Point::new(problem, strategy)?;
        if point.explained > best.explained {
            best = point;
        }
    }
    Ok(best)
}

/// The optimum if only the mean square of the columns were bounded and the directions V of T were eigenvectors of A: direction j
/// of variance `a_j = v_j' A v_j` has the share `g_j` of n that maximises `sum s_j^2 g_j / (s^2 + a_j g_j)`.
fn filled(problem: &Reduced) -> DMatrix<f64> {
    let mut directions = problem.targets.clone();
    directions.column_iter_mut().for_each(|mut column| column.component_div_assign(&problem.scale));
    let moved = problem.times_covariance(&directions);
    let variances = DVector::from_iterator(
        directions.nrows(),
        directions.row_iter().zip(moved.row_iter()).map(|(v, moved)| v.dot(&moved)),
    );
    let shares = shares(problem, &variances, directions.ncols() as f64);
    let mut kept: Vec<usize> = (0..shares.len()).filter(|&j| shares[j] > 0.0).collect();
    kept.sort_by(|&i, &j| shares[j].total_cmp(&shares[i]));
    let mut rows = directions.select_rows(&kept);
    rows.row_iter_mut().zip(&kept).for_each(|(mut row, &j)| row *= shares[j].sqrt());
    rows
}

/// The shares that sum to `total`, for the price at which they do.
fn shares(problem: &Reduced, variances: &DVector<f64>, total: f64) -> DVector<f64> {
    let highest = problem.scale.max().powi(2) / problem.noise;
    let (mut low, mut high) = (highest * PRICES, highest);
    for _ in 0..HALVINGS {
        let price = (low * high).sqrt();
        if shares_at(problem, variances, price).sum() > total { low = price } else { high = price }
    }
    // The lower price has shares for at least one direction.
    shares_at(problem, variances, low)
}

/// Where the gain of each share, `s^2 s_j^2 / (s^2 + a_j g_j)^2`, has fallen to the price.
fn shares_at(problem: &Reduced, variances: &DVector<f64>, price: f64) -> DVector<f64> {
    let noise = problem.noise;
    problem.scale.zip_map(variances, |s, a| (s * (noise / price).sqrt() - noise).max(0.0) / a)
}

/// Strategies of the rows of `C = K* A^-1 = U S V'`, as `S^1/2 V'`: scaled to the longest column, and to the mean square.
fn near_the_process(problem: &Reduced) -> Result<[DMatrix<f64>; 2], PrivacyError> {
    let svd = thin_svd("K* A^-1", &process(problem)?)?;
    let mut rows = svd.v.transpose();
    let roots = svd.s.map(f64::sqrt);
    rows.column_iter_mut().for_each(|mut column| column.component_mul_assign(&roots));
    let longest = rows.column_iter().map(|column| column.norm()).fold(f64::MIN_POSITIVE, f64::max);
    let mean = rows.norm() / (rows.ncols() as f64).sqrt();
    Ok([with_slack(&(&rows / longest)), with_slack(&(rows / mean))])
}

/// `T A^-1` (p x n).
fn process(problem: &Reduced) -> Result<DMatrix<f64>, PrivacyError> {
    Ok(problem.shared.solved(&problem.targets, &problem.own)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::sphere::released;
    use crate::risk::tests::cases::{covariance, small};

    /// A share has gained as much as it costs, `s^2 s_j^2 / (s^2 + a_j g_j)^2 = price`; one of nothing would gain less.
    #[test]
    fn shares_gain_what_they_cost() {
        for (noise_sd, totals) in [(3.0, [0.5, 6.0, 300.0]), (0.1, [1e-3, 6.0, 300.0])] {
            let problem = Reduced::new(&small(), noise_sd).unwrap();
            for total in totals {
                check_shares(&problem, total);
            }
        }
    }

    fn check_shares(problem: &Reduced, total: f64) {
        let variances = DVector::from_fn(problem.scale.len(), |j, _| 2.0 + j as f64);
        let shares = shares(problem, &variances, total);
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
        let problem = Reduced::new(&whole, 3.0).unwrap();
        let inverse = covariance(&whole).try_inverse().unwrap();
        let apart = process(&problem).unwrap() - &problem.targets * inverse;
        assert!(apart.amax() < 1e-9, "{apart}");
    }

    /// With little noise the process is nearly best, with much noise few directions are; neither is below the filled ones.
    #[test]
    fn the_start_is_the_best_of_its_kind() {
        for noise_sd in [1e-3, 1.0, 30.0] {
            let problem = Reduced::new(&small(), noise_sd).unwrap();
            let best = start(&problem).unwrap().explained;
            let filled = filled(&problem);
            let last = filled.nrows();
            let mut others = vec![normalised(filled.clone().insert_row(last, 0.0)), with_slack(&filled)];
            if noise_sd < 0.01 {
                others.extend(near_the_process(&problem).unwrap());
            }
            for other in others {
                let explained = Point::new(&problem, other).unwrap().explained;
                assert!(explained <= best * (1.0 + 1e-12), "{noise_sd}: {explained} {best}");
            }
        }
    }

    /// The first strategy is a multiple of the rows, its longest column 1 long; the second has a mean square of 1 before columns are cut.
    #[test]
    fn the_process_is_scaled_in_two_ways() {
        let problem = Reduced::new(&small(), 1e-3).unwrap();
        let [longest, mean] = near_the_process(&problem).unwrap();
        let rows = released(&longest);
        let norms: Vec<f64> = rows.column_iter().map(|column| column.norm()).collect();
        assert!((norms.iter().copied().fold(0.0, f64::max) - 1.0).abs() < 1e-12, "{norms:?}");
        let square = norms.iter().map(|norm| norm * norm).sum::<f64>() / norms.len() as f64;
        assert!((mean - with_slack(&(rows / square.sqrt()))).amax() < 1e-12);
    }

    /// Rows have the roots of the shares as lengths, which fall and add up to a column each.
    #[test]
    fn filled_rows_share_all_columns() {
        for noise_sd in [0.1, 3.0] {
            let rows = filled(&Reduced::new(&small(), noise_sd).unwrap());
            let shares: Vec<f64> = rows.row_iter().map(|row| row.norm_squared()).collect();
            assert!((shares.iter().sum::<f64>() - 6.0).abs() < 1e-6, "{noise_sd}: {shares:?}");
            assert!(
                shares.windows(2).all(|two| two[0] >= two[1]) && shares.len() > 1,
                "{noise_sd}: {shares:?}"
            );
        }
    }
}
