//! Counts that no number of is negative.

use nalgebra::{DMatrix, DVector};

use super::{NoisyFeatures, SiteFeatures};
use dpgp_linalg::{Cholesky, gram, onto_simplex};

/// Sets of counts that may be tried before the descent takes over.
const SETS: usize = 50;
/// Steps after which the descent ends.
const STEPS: usize = 2000;
/// It ends where no count moves by more than this part of all.
const STILL: f64 = 1e-10;

/// `1/2 |N^(-1/2) (T - E'p)|^2 + 1 / (2 S) sum_g (p_g - n w_g)^2 / w_g` for counts `p >= 0` with `sum p = n` and shares w, by its quadratic
/// form `1/2 p' H p - h'p` with `H = W'W + diag(d)`: strictly convex, so that its minimum is unique.
pub(super) struct Misfit {
    /// W: each sum in units of its noise (k x G).
    whitened: DMatrix<f64>,
    /// d: how the prior pulls at each count (G).
    pulls: DVector<f64>,
    linear: DVector<f64>,
    /// A bound on the greatest eigenvalue of the curvature.
    steepest: f64,
    total: f64,
}

impl Misfit {
    pub fn new(
        features: &SiteFeatures,
        released: &NoisyFeatures,
        variances: &DVector<f64>,
        scale: f64,
    ) -> Self {
        let mut whitened = features.plain.transpose();
        let mut sums = released.sums.plain.clone();
        for (k, variance) in variances.iter().enumerate() {
            whitened.row_mut(k).scale_mut(1.0 / variance.sqrt());
            sums[k] /= variance.sqrt();
        }
        let pulls = features.shares.map(|share| 1.0 / (scale * share));
        // A pull times the rows that a site has a priori is the same everywhere.
        let total = released.sums.rows as f64;
        let linear = whitened.tr_mul(&sums).add_scalar(total / scale);
        // The nonzero eigenvalues of W'W are those of W W', none of which exceeds a sum of absolute values along a row.
        let steepest = pulls.max() + greatest_row(&gram(&whitened.transpose()));
        Self { whitened, pulls, linear, steepest, total }
    }

    /// The minimum, from some counts: exact to rounding on the set of counts that are positive. The next set leaves out the counts that
    /// came out negative, and takes in those that the misfit would fall with: Newton's method for the conditions of the minimum, which
    /// ends in some steps. Source: Hintermueller, Ito and Kunisch 2002. If it does not end, the descent does.
    pub fn least(&self, from: &DVector<f64>) -> DVector<f64> {
        let counts = onto_simplex(from, self.total);
        let mut positive: Vec<bool> = counts.iter().map(|count| *count > 0.0).collect();
        for _ in 0..SETS {
            let Some(stationary) = self.stationary(&positive) else { break };
            let next = stationary.improved(self, &positive);
            if next == positive {
                return stationary.counts;
            }
            positive = next;
        }
        self.descended(counts)
    }

    /// `H p - h`.
    fn slopes(&self, counts: &DVector<f64>) -> DVector<f64> {
        let seen = &self.whitened * counts;
        self.whitened.tr_mul(&seen) + self.pulls.component_mul(counts) - &self.linear
    }

    /// The minimum among the counts that are zero outside a set, whatever their sign: `H_FF p_F = h_F + slope 1`, `sum p = n`.
    fn stationary(&self, positive: &[bool]) -> Option<Stationary> {
        let places: Vec<usize> = (0..positive.len()).filter(|place| positive[*place]).collect();
        let pulls = self.pulls.select_rows(&places);
        let within = gram(&self.whitened.select_columns(&places)) + DMatrix::from_diagonal(&pulls);
        let factor = Cholesky::without_jitter("the curvature of the misfit of counts", &within).ok()?;
        let mut right = DMatrix::from_element(places.len(), 2, 1.0);
        places.iter().enumerate().for_each(|(row, place)| right[(row, 0)] = self.linear[*place]);
        let solved = factor.solve(&right);
        let slope = (self.total - solved.column(0).sum()) / solved.column(1).sum();
        let mut counts = DVector::zeros(positive.len());
        for (row, place) in places.into_iter().enumerate() {
            counts[place] = solved[(row, 0)] + slope * solved[(row, 1)];
        }
        Some(Stationary { counts, slope })
    }

    /// The minimum, by accelerated projected gradients from counts that are feasible. Source: Beck and Teboulle 2009; it starts again
    /// where a step goes against the last move (O'Donoghue and Candes 2015).
    fn descended(&self, mut counts: DVector<f64>) -> DVector<f64> {
        let (mut ahead, mut momentum) = (counts.clone(), 1.0f64);
        for _ in 0..STEPS {
            let next = onto_simplex(&(&ahead - self.slopes(&ahead) / self.steepest), self.total);
            let moved = &next - &counts;
            if (&ahead - &next).dot(&moved) > 0.0 {
                momentum = 1.0;
            }
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            ahead = &next + &moved * ((momentum - 1.0) / grown);
            (counts, momentum) = (next, grown);
            if moved.amax() <= STILL * self.total {
                break;
            }
        }
        counts
    }
}

/// What [`Misfit::stationary`] finds.
struct Stationary {
    counts: DVector<f64>,
    /// That of the misfit along each of the counts in the set.
    slope: f64,
}

impl Stationary {
    /// The set without its negative counts, and with the others along which the misfit falls faster than within it.
    fn improved(&self, misfit: &Misfit, positive: &[bool]) -> Vec<bool> {
        let slopes = misfit.slopes(&self.counts);
        let places = positive.iter().enumerate();
        places
            .map(|(place, within)| match within {
                true => self.counts[place] > 0.0,
                false => slopes[place] < self.slope,
            })
            .collect()
    }
}

fn greatest_row(matrix: &DMatrix<f64>) -> f64 {
    matrix.row_iter().map(|row| row.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of twelve sites and a handful of sums, from numbers without pattern.
    fn misfit(seed: usize) -> Misfit {
        let whitened = DMatrix::from_fn(5, 12, |i, j| ((7 * i + 11 * j + 13 * seed) as f64).sin() * 3.0);
        let sums = DVector::from_fn(5, |i, _| ((5 * i + seed) as f64).cos() * 200.0);
        Misfit {
            linear: whitened.tr_mul(&sums) + DVector::from_element(12, 0.1),
            steepest: 0.01 + greatest_row(&gram(&whitened)),
            pulls: DVector::from_element(12, 0.01),
            whitened,
            total: 40.0,
        }
    }

    /// The conditions of Karush, Kuhn and Tucker, which only the minimum of a convex function meets.
    fn assert_least(misfit: &Misfit, counts: &DVector<f64>, tolerance: f64) -> usize {
        assert!((counts.sum() - misfit.total).abs() < tolerance && counts.min() >= 0.0);
        let curvature = misfit.whitened.tr_mul(&misfit.whitened) + DMatrix::identity(12, 12) * 0.01;
        let slopes = curvature * counts - &misfit.linear;
        let within: Vec<f64> =
            slopes.iter().zip(counts.iter()).filter(|(_, count)| **count > 0.0).map(|(s, _)| *s).collect();
        let slope = within.iter().sum::<f64>() / within.len() as f64;
        assert!(within.iter().all(|each| (each - slope).abs() < tolerance));
        assert!(slopes.iter().all(|each| *each > slope - tolerance));
        counts.len() - within.len()
    }

    #[test]
    fn the_minimum_meets_its_conditions_by_either_way() {
        let mut zeros = 0;
        for seed in 0..40 {
            let misfit = misfit(seed);
            let from = DVector::from_element(12, misfit.total / 12.0);
            zeros += assert_least(&misfit, &misfit.least(&from), 1e-9);
            assert_least(&misfit, &misfit.descended(from), 1e-3);
        }
        assert!(zeros > 40, "{zeros} counts are zero");
    }
}
