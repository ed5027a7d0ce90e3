//! The posterior counts of rows near each site, none of them negative.

use nalgebra::{DMatrix, DVector};

use super::{NoisyFeatureSums, SiteFeatures};
use dpgp_linalg::{Cholesky, LinalgError, gram, project_onto_simplex, transposed_product};

/// The concentrations of the prior that the evidence chooses from.
pub(super) const CONCENTRATIONS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0];

/// The chance that two rows lie at one place between sites, where counts explain T.
const NO_CLUMPING: f64 = 0.0;
/// The chances that are tried where they do not, one after the other.
const CLUMPINGS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// The most that T may miss its counts by: the mean square, in standard deviations.
const MOST_MISFIT: f64 = 2.0;

/// The posterior of the counts p at G sites, given the noisy sums T.
///
/// A priori p has mean `n w` and covariance `S (diag(w) - w w')`, `S = n^2 / (a + 1) + n`, for the shares w of the sites: the first two
/// moments of a sample of n rows from a density that is Dirichlet with mean w and concentration a. The concentration is the one of greatest
/// evidence of T. The mean is the most probable one with `p >= 0` and `sum p = n`, so that the sums are those of a data set; the
/// covariance is that of the Gaussian posterior.
///
/// Counts at sites are not those of rows between them, and with little noise no counts make such sums: what is made of them then
/// is worthless. So T has a variance by its rows between sites, too ([`SiteInterpolationVariance`](super::SiteInterpolationVariance)), with the least clumping at
/// which counts explain T. (The evidence is no guide to it: it takes densities that are rough in some places and smooth in others, such as
/// those of rows at the ends of the box, for clumped ones.)
#[derive(Debug, Clone, PartialEq)]
pub struct SiteCountPosterior {
    /// The counts (G).
    pub mean: DVector<f64>,
    /// Their covariance (G x G).
    pub covariance: DMatrix<f64>,
    /// What it would be without noise on T: what so few sums leave open.
    pub unresolved: DMatrix<f64>,
    /// a.
    pub concentration: f64,
    /// The chance that two rows lie at one place between sites.
    pub clumping: f64,
}

impl SiteCountPosterior {
    /// Given the released sums.
    ///
    /// # Errors
    /// [`LinalgError`] if a variance of the noise is not positive.
    pub fn new(features: &SiteFeatures, released: &NoisyFeatureSums) -> Result<Self, LinalgError> {
        let prior = SiteCountModel::new(features, released);
        let mut given = prior.fit_concentration(NO_CLUMPING)?;
        let mut mean = prior.most_probable_counts(&given);
        while prior.misfit(&given, &mean) > MOST_MISFIT {
            let Some(clumping) = prior.next_clumping(given.belief.clumping) else { break };
            given = prior.fit_concentration(clumping)?;
            mean = prior.most_probable_counts(&given);
        }
        prior.posterior(given, mean)
    }
}

/// Prior of rows, before T is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CountPriorParameters {
    concentration: f64,
    clumping: f64,
}

/// State shared by all priors.
struct SiteCountModel<'a> {
    features: &'a SiteFeatures,
    released: &'a NoisyFeatureSums,
    /// e at the sites about its mean over them, `E - 1 w'E` (G x k).
    centred: DMatrix<f64>,
    /// `E' (diag(w) - w w') E` (k x k).
    spread: DMatrix<f64>,
    /// T less its mean a priori (k x 1).
    residual: DMatrix<f64>,
}

/// Results for one prior.
struct ConditionedCountPrior {
    belief: CountPriorParameters,
    /// `S`.
    scale: f64,
    /// The variances of T by its rows between sites (k).
    between: DVector<f64>,
    /// The same with that of its noise (k).
    noise: DVector<f64>,
    factor: Cholesky,
    /// `F^-1 residual` for the factor F (k x 1).
    solved: DMatrix<f64>,
    evidence: f64,
}

impl<'a> SiteCountModel<'a> {
    fn new(features: &'a SiteFeatures, released: &'a NoisyFeatureSums) -> Self {
        let mean = features.plain.tr_mul(&features.shares);
        let mut centred = features.plain.clone();
        centred.row_iter_mut().for_each(|mut row| row -= mean.transpose());
        let mut weighed = centred.clone();
        for (mut row, share) in weighed.row_iter_mut().zip(features.shares.iter()) {
            row *= share.sqrt();
        }
        let spread = gram(&weighed);
        let residual = &released.sums.plain - mean * released.sums.rows as f64;
        let residual = DMatrix::from_column_slice(residual.len(), 1, residual.as_slice());
        Self { features, released, centred, spread, residual }
    }

    /// `S = n^2 / (a + 1) + n`.
    fn prior_variance_scale(&self, concentration: f64) -> f64 {
        let n = self.released.sums.rows as f64;
        n * n / (concentration + 1.0) + n
    }

    /// The concentration of greatest evidence at some clumping.
    fn fit_concentration(&self, clumping: f64) -> Result<ConditionedCountPrior, LinalgError> {
        let mut best = self.condition_on_sums(CountPriorParameters { concentration: CONCENTRATIONS[0], clumping })?;
        for concentration in CONCENTRATIONS.into_iter().skip(1) {
            let other = self.condition_on_sums(CountPriorParameters { concentration, clumping })?;
            if other.evidence > best.evidence {
                best = other;
            }
        }
        Ok(best)
    }

    /// The next larger clumping to try; `None` after the last, or where no row lies between sites.
    fn next_clumping(&self, clumping: f64) -> Option<f64> {
        self.features.between.as_ref()?;
        CLUMPINGS.into_iter().find(|next| *next > clumping)
    }

    fn condition_on_sums(&self, belief: CountPriorParameters) -> Result<ConditionedCountPrior, LinalgError> {
        let scale = self.prior_variance_scale(belief.concentration);
        let between = match &self.features.between {
            Some(between) => between.plain_sum_interpolation_variances(belief.clumping, self.released.sums.rows as f64),
            None => DVector::zeros(self.residual.len()),
        };
        let noise = &self.released.plain + &between;
        let covariance = &self.spread * scale + DMatrix::from_diagonal(&noise);
        let factor = Cholesky::without_jitter("the covariance of the plain sums", &covariance)?;
        let solved = factor.lower_solve(&self.residual);
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let evidence = -0.5 * solved.norm_squared() - logs;
        Ok(ConditionedCountPrior { belief, scale, between, noise, factor, solved, evidence })
    }

    /// `F^-1 Cov(T, p)` for the factor F (k x G).
    fn whitened_cross_covariance(&self, given: &ConditionedCountPrior) -> DMatrix<f64> {
        given.factor.lower_solve(&self.prior_cross_covariance(given.scale))
    }

    /// Of T with p a priori (k x G).
    fn prior_cross_covariance(&self, scale: f64) -> DMatrix<f64> {
        let mut covariance = self.centred.transpose();
        for (mut column, share) in covariance.column_iter_mut().zip(self.features.shares.iter()) {
            column *= scale * share;
        }
        covariance
    }

    /// The most probable counts that are not negative.
    fn most_probable_counts(&self, given: &ConditionedCountPrior) -> DVector<f64> {
        let uniform = &self.features.shares * self.released.sums.rows as f64;
        let mean = uniform + transposed_product(&self.whitened_cross_covariance(given), &given.solved).column(0);
        if mean.min() >= 0.0 {
            return mean;
        }
        let sums = SiteCountObjective::new(self.features, self.released, &given.noise, given.scale);
        sums.minimise_from(&mean)
    }

    /// The mean square of `T - E'p`, each in units of its standard deviation.
    fn misfit(&self, given: &ConditionedCountPrior, mean: &DVector<f64>) -> f64 {
        let residual = &self.released.sums.plain - self.features.plain.tr_mul(mean);
        let squares = residual.iter().zip(given.noise.iter()).map(|(r, variance)| r * r / variance);
        squares.sum::<f64>() / residual.len().max(1) as f64
    }

    fn posterior(&self, given: ConditionedCountPrior, mean: DVector<f64>) -> Result<SiteCountPosterior, LinalgError> {
        let (shares, scale) = (&self.features.shares, given.scale);
        let mut prior = DMatrix::from_diagonal(&(shares * scale));
        prior.ger(-scale, shares, shares, 1.0);
        let without = &self.spread * scale + DMatrix::from_diagonal(&given.between);
        let exact = Cholesky::new("the covariance of the plain sums without noise", &without)?;
        let unresolved = &prior - gram(&exact.lower_solve(&self.prior_cross_covariance(scale)));
        let mut covariance = prior - gram(&self.whitened_cross_covariance(&given));
        // A number of rows that is not known scales all counts.
        let rows = self.released.sums.rows as f64;
        covariance.ger(self.released.rows / (rows * rows), &mean, &mean, 1.0);
        let CountPriorParameters { concentration, clumping } = given.belief;
        Ok(SiteCountPosterior { mean, covariance, unresolved, concentration, clumping })
    }
}

/// Sets of counts that may be tried before the descent takes over.
const SETS: usize = 50;
/// Steps after which the descent ends.
const STEPS: usize = 2000;
/// It ends where no count moves by more than this part of all.
const STILL: f64 = 1e-10;

/// `1/2 |N^(-1/2) (T - E'p)|^2 + 1 / (2 S) sum_g (p_g - n w_g)^2 / w_g` for counts `p >= 0` with `sum p = n` and shares w, by its quadratic
/// form `1/2 p' H p - h'p` with `H = W'W + diag(d)`: strictly convex, so that its minimum is unique.
pub(super) struct SiteCountObjective {
    /// W: each sum in units of its noise (k x G).
    whitened: DMatrix<f64>,
    /// d: how the prior pulls at each count (G).
    pulls: DVector<f64>,
    linear: DVector<f64>,
    /// A bound on the greatest eigenvalue of the curvature.
    steepest: f64,
    total: f64,
}

impl SiteCountObjective {
    pub fn new(features: &SiteFeatures, released: &NoisyFeatureSums, variances: &DVector<f64>, scale: f64) -> Self {
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
        let steepest = pulls.max() + largest_absolute_row_sum(&gram(&whitened.transpose()));
        Self { whitened, pulls, linear, steepest, total }
    }

    /// The minimum, from some counts: exact to rounding on the set of counts that are positive. The next set leaves out the counts that
    /// came out negative, and takes in those that the misfit would fall with: Newton's method for the conditions of the minimum, which
    /// ends in some steps. Source: Hintermueller, Ito and Kunisch 2002. If it does not end, the descent does.
    pub fn minimise_from(&self, from: &DVector<f64>) -> DVector<f64> {
        let counts = project_onto_simplex(from, self.total);
        let mut positive: Vec<bool> = counts.iter().map(|count| *count > 0.0).collect();
        for _ in 0..SETS {
            let Some(stationary) = self.minimise_on_active_set(&positive) else { break };
            let next = stationary.improve_support(self, &positive);
            if next == positive {
                return stationary.counts;
            }
            positive = next;
        }
        self.minimise_by_descent(counts)
    }

    /// `H p - h`.
    fn gradient(&self, counts: &DVector<f64>) -> DVector<f64> {
        let seen = &self.whitened * counts;
        self.whitened.tr_mul(&seen) + self.pulls.component_mul(counts) - &self.linear
    }

    /// The minimum among the counts that are zero outside a set, whatever their sign: `H_FF p_F = h_F + slope 1`, `sum p = n`.
    fn minimise_on_active_set(&self, positive: &[bool]) -> Option<ActiveSetMinimum> {
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
        Some(ActiveSetMinimum { counts, slope })
    }

    /// The minimum, by accelerated projected gradients from counts that are feasible. Source: Beck and Teboulle 2009; it starts again
    /// where a step goes against the last move (O'Donoghue and Candes 2015).
    fn minimise_by_descent(&self, mut counts: DVector<f64>) -> DVector<f64> {
        let (mut ahead, mut momentum) = (counts.clone(), 1.0f64);
        for _ in 0..STEPS {
            let next = project_onto_simplex(&(&ahead - self.gradient(&ahead) / self.steepest), self.total);
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

/// Result of [`SiteCountObjective::minimise_on_active_set`].
struct ActiveSetMinimum {
    counts: DVector<f64>,
    /// That of the misfit along each of the counts in the set.
    slope: f64,
}

impl ActiveSetMinimum {
    /// The set without its negative counts, and with the others along which the misfit falls faster than within it.
    fn improve_support(&self, misfit: &SiteCountObjective, positive: &[bool]) -> Vec<bool> {
        let slopes = misfit.gradient(&self.counts);
        let places = positive.iter().enumerate();
        places
            .map(|(place, within)| match within {
                true => self.counts[place] > 0.0,
                false => slopes[place] < self.slope,
            })
            .collect()
    }
}

fn largest_absolute_row_sum(matrix: &DMatrix<f64>) -> f64 {
    matrix.row_iter().map(|row| row.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::FeatureSums;

    /// Two sites of half the box each, told apart by a feature of 1 and -1, ten rows, and noise of variance 1 on its sum.
    fn two_sites(sum: f64, rows: f64) -> SiteCountPosterior {
        let features = SiteFeatures {
            sites: DMatrix::from_column_slice(2, 1, &[0.25, 0.75]),
            shares: DVector::from_element(2, 0.5),
            weighted: DMatrix::from_element(2, 1, 1.0),
            plain: DMatrix::from_column_slice(2, 1, &[1.0, -1.0]),
            between: None,
            gram: None,
        };
        let sums =
            FeatureSums { rows: 10, weighted: DVector::zeros(1), plain: DVector::from_element(1, sum), squares: 0.0 };
        let one = DVector::from_element(1, 1.0);
        let released = NoisyFeatureSums { sums, weighted: one.clone(), plain: one, squares: 1.0, rows };
        SiteCountPosterior::new(&features, &released).unwrap()
    }

    /// The sum has the variance `S + 1` a priori. Of a sum of 4 the evidence is greatest where that is nearest to 16: at a = 30, where
    /// `S = 100 / 31 + 10`. The counts are 5 and `S / 2 * 4 / (S + 1)` more or less; what is left is `S / 4` less `S^2 / 4 / (S + 1)`.
    #[test]
    fn counts_of_two_sites_have_a_closed_form() {
        let found = two_sites(4.0, 0.0);
        let scale = 100.0 / 31.0 + 10.0;
        assert_eq!((found.concentration, found.clumping), (30.0, 0.0));
        let more = 2.0 * scale / (scale + 1.0);
        assert!((found.mean[0] - 5.0 - more).abs() < 1e-12 && (found.mean[1] - 5.0 + more).abs() < 1e-12);
        let left = 0.25 * scale / (scale + 1.0);
        let expected = DMatrix::from_row_slice(2, 2, &[left, -left, -left, left]);
        assert!((&found.covariance - &expected).amax() < 1e-12, "{}", found.covariance);
        // Without noise the sum tells both counts.
        assert!(found.unresolved.amax() < 1e-12, "{}", found.unresolved);
        // A number of rows with noise of variance 2 adds 2/100 of the squares of the counts.
        let noisy = two_sites(4.0, 2.0);
        let added = &found.mean * found.mean.transpose() * 0.02;
        assert!((&noisy.covariance - &expected - added).amax() < 1e-12, "{}", noisy.covariance);
    }

    /// A sum of 14 asks for more rows than there are: no count is negative.
    #[test]
    fn counts_are_not_negative() {
        let found = two_sites(14.0, 0.0);
        assert!((found.mean[0] - 10.0).abs() < 1e-9 && found.mean[1].abs() < 1e-9, "{}", found.mean);
    }
}

#[cfg(test)]
mod feasible_tests {
    use super::*;

    /// Of twelve sites and a handful of sums, from numbers without pattern.
    fn misfit(seed: usize) -> SiteCountObjective {
        let whitened = DMatrix::from_fn(5, 12, |i, j| ((7 * i + 11 * j + 13 * seed) as f64).sin() * 3.0);
        let sums = DVector::from_fn(5, |i, _| ((5 * i + seed) as f64).cos() * 200.0);
        SiteCountObjective {
            linear: whitened.tr_mul(&sums) + DVector::from_element(12, 0.1),
            steepest: 0.01 + largest_absolute_row_sum(&gram(&whitened)),
            pulls: DVector::from_element(12, 0.01),
            whitened,
            total: 40.0,
        }
    }

    /// The conditions of Karush, Kuhn and Tucker, which only the minimum of a convex function meets.
    fn assert_least(misfit: &SiteCountObjective, counts: &DVector<f64>, tolerance: f64) -> usize {
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
            zeros += assert_least(&misfit, &misfit.minimise_from(&from), 1e-9);
            assert_least(&misfit, &misfit.minimise_by_descent(from), 1e-3);
        }
        assert!(zeros > 40, "{zeros} counts are zero");
    }
}
