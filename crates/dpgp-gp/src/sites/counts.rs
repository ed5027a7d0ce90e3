//! How many rows lie near each site.

use nalgebra::{DMatrix, DVector};

use super::feasible::Misfit;
use super::{NoisyFeatures, SiteFeatures};
use dpgp_linalg::{Cholesky, LinalgError, gram, transposed_product};

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
/// is worthless. So T has a variance by its rows between sites, too ([`BetweenSites`](super::BetweenSites)), with the least clumping at
/// which counts explain T. (The evidence is no guide to it: it takes densities that are rough in some places and smooth in others, such as
/// those of rows at the ends of the box, for clumped ones.)
#[derive(Debug, Clone, PartialEq)]
pub struct SiteCounts {
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

impl SiteCounts {
    /// Given the released sums.
    ///
    /// # Errors
    /// [`LinalgError`] if a variance of the noise is not positive.
    pub fn new(features: &SiteFeatures, released: &NoisyFeatures) -> Result<Self, LinalgError> {
        let prior = CountsPrior::new(features, released);
        let mut given = prior.likeliest(NO_CLUMPING)?;
        let mut mean = prior.mean(&given);
        while prior.misfit(&given, &mean) > MOST_MISFIT {
            let Some(clumping) = prior.next_clumping(given.belief.clumping) else { break };
            given = prior.likeliest(clumping)?;
            mean = prior.mean(&given);
        }
        prior.posterior(given, mean)
    }
}

/// What is believed of rows before T is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Belief {
    concentration: f64,
    clumping: f64,
}

/// What all beliefs share.
struct CountsPrior<'a> {
    features: &'a SiteFeatures,
    released: &'a NoisyFeatures,
    /// e at the sites about its mean over them, `E - 1 w'E` (G x k).
    centred: DMatrix<f64>,
    /// `E' (diag(w) - w w') E` (k x k).
    spread: DMatrix<f64>,
    /// T less its mean a priori (k x 1).
    residual: DMatrix<f64>,
}

/// What follows for one belief.
struct GivenBelief {
    belief: Belief,
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

impl<'a> CountsPrior<'a> {
    fn new(features: &'a SiteFeatures, released: &'a NoisyFeatures) -> Self {
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
    fn scale(&self, concentration: f64) -> f64 {
        let n = self.released.sums.rows as f64;
        n * n / (concentration + 1.0) + n
    }

    /// The concentration of greatest evidence at some clumping.
    fn likeliest(&self, clumping: f64) -> Result<GivenBelief, LinalgError> {
        let mut best = self.given(Belief { concentration: CONCENTRATIONS[0], clumping })?;
        for concentration in CONCENTRATIONS.into_iter().skip(1) {
            let other = self.given(Belief { concentration, clumping })?;
            if other.evidence > best.evidence {
                best = other;
            }
        }
        Ok(best)
    }

    /// None where there is no more, or no row lies between sites.
    fn next_clumping(&self, clumping: f64) -> Option<f64> {
        self.features.between.as_ref()?;
        CLUMPINGS.into_iter().find(|next| *next > clumping)
    }

    fn given(&self, belief: Belief) -> Result<GivenBelief, LinalgError> {
        let scale = self.scale(belief.concentration);
        let between = match &self.features.between {
            Some(between) => between.variances(belief.clumping, self.released.sums.rows as f64),
            None => DVector::zeros(self.residual.len()),
        };
        let noise = &self.released.plain + &between;
        let covariance = &self.spread * scale + DMatrix::from_diagonal(&noise);
        let factor = Cholesky::without_jitter("the covariance of the plain sums", &covariance)?;
        let solved = factor.half_solve(&self.residual);
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let evidence = -0.5 * solved.norm_squared() - logs;
        Ok(GivenBelief { belief, scale, between, noise, factor, solved, evidence })
    }

    /// `F^-1 Cov(T, p)` for the factor F (k x G).
    fn gain(&self, given: &GivenBelief) -> DMatrix<f64> {
        given.factor.half_solve(&self.covariance(given.scale))
    }

    /// Of T with p a priori (k x G).
    fn covariance(&self, scale: f64) -> DMatrix<f64> {
        let mut covariance = self.centred.transpose();
        for (mut column, share) in covariance.column_iter_mut().zip(self.features.shares.iter()) {
            column *= scale * share;
        }
        covariance
    }

    /// The most probable counts that are not negative.
    fn mean(&self, given: &GivenBelief) -> DVector<f64> {
        let uniform = &self.features.shares * self.released.sums.rows as f64;
        let mean = uniform + transposed_product(&self.gain(given), &given.solved).column(0);
        if mean.min() >= 0.0 {
            return mean;
        }
        let sums = Misfit::new(self.features, self.released, &given.noise, given.scale);
        sums.least(&mean)
    }

    /// The mean square of `T - E'p`, each in units of its standard deviation.
    fn misfit(&self, given: &GivenBelief, mean: &DVector<f64>) -> f64 {
        let residual = &self.released.sums.plain - self.features.plain.tr_mul(mean);
        let squares = residual.iter().zip(given.noise.iter()).map(|(r, variance)| r * r / variance);
        squares.sum::<f64>() / residual.len().max(1) as f64
    }

    fn posterior(&self, given: GivenBelief, mean: DVector<f64>) -> Result<SiteCounts, LinalgError> {
        let (shares, scale) = (&self.features.shares, given.scale);
        let mut prior = DMatrix::from_diagonal(&(shares * scale));
        prior.ger(-scale, shares, shares, 1.0);
        let without = &self.spread * scale + DMatrix::from_diagonal(&given.between);
        let exact = Cholesky::new("the covariance of the plain sums without noise", &without)?;
        let unresolved = &prior - gram(&exact.half_solve(&self.covariance(scale)));
        let mut covariance = prior - gram(&self.gain(&given));
        // A number of rows that is not known scales all counts.
        let rows = self.released.sums.rows as f64;
        covariance.ger(self.released.rows / (rows * rows), &mean, &mean, 1.0);
        let Belief { concentration, clumping } = given.belief;
        Ok(SiteCounts { mean, covariance, unresolved, concentration, clumping })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::SummedFeatures;

    /// Two sites of half the box each, told apart by a feature of 1 and -1, ten rows, and noise of variance 1 on its sum.
    fn two_sites(sum: f64, rows: f64) -> SiteCounts {
        let features = SiteFeatures {
            sites: DMatrix::from_column_slice(2, 1, &[0.25, 0.75]),
            shares: DVector::from_element(2, 0.5),
            weighted: DMatrix::from_element(2, 1, 1.0),
            plain: DMatrix::from_column_slice(2, 1, &[1.0, -1.0]),
            between: None,
            gram: None,
        };
        let sums = SummedFeatures {
            rows: 10,
            weighted: DVector::zeros(1),
            plain: DVector::from_element(1, sum),
            squares: 0.0,
        };
        let one = DVector::from_element(1, 1.0);
        let released = NoisyFeatures { sums, weighted: one.clone(), plain: one, squares: 1.0, rows };
        SiteCounts::new(&features, &released).unwrap()
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
