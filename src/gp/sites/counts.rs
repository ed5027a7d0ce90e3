//! How many rows lie near each site.

use nalgebra::{DMatrix, DVector};

use super::feasible::Misfit;
use super::{NoisyFeatures, SiteFeatures};
use crate::linalg::{Cholesky, LinalgError, gram, transposed_product};

/// The concentrations of the prior that the evidence chooses from.
pub(super) const CONCENTRATIONS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0];

/// The chances that two rows lie at one place between sites which are tried, one after the other.
const CLUMPINGS: [f64; 8] = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// The most that T may miss its counts by: the mean square, in standard deviations.
const MOST_MISFIT: f64 = 2.0;

/// The posterior of the counts p at G sites, given the noisy sums T.
///
/// A priori p has mean n / G and covariance `S (I / G - 11' / G^2)`, `S = n^2 / (a + 1) + n`: the first two moments of a sample of n
/// rows from a density that is Dirichlet with concentration a. The concentration is the one of greatest evidence of T. The mean
/// is the most probable one with `p >= 0` and `sum p = n`, so that the sums are those of a data set; the covariance is that of the
/// Gaussian posterior.
///
/// Counts at sites are not those of rows between them, and with little noise no counts make such sums: what is made of them then
/// is worthless. So T has a variance by its rows between sites, too ([`BetweenSites`](super::BetweenSites)), with the least clumping that
/// explains it: evidence and misfit of counts that are not negative both have a say.
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
        let mut given = prior.likeliest()?;
        let mut mean = prior.mean(&given);
        while prior.misfit(&given, &mean) > MOST_MISFIT {
            let Some(belief) = prior.clumped(given.belief) else { break };
            given = prior.given(belief)?;
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
    /// e at the sites about its mean over them (G x k).
    centred: DMatrix<f64>,
    /// `E (I / G - 11' / G^2) E'` (k x k).
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
        let sites = features.len() as f64;
        let mean = features.plain.row_mean();
        let mut centred = features.plain.clone();
        centred.row_iter_mut().for_each(|mut row| row -= &mean);
        let spread = gram(&centred) / sites;
        let residual = &released.sums.plain - mean.transpose() * released.sums.rows as f64;
        let residual = DMatrix::from_column_slice(residual.len(), 1, residual.as_slice());
        Self { features, released, centred, spread, residual }
    }

    /// `S = n^2 / (a + 1) + n`.
    fn scale(&self, concentration: f64) -> f64 {
        let n = self.released.sums.rows as f64;
        n * n / (concentration + 1.0) + n
    }

    /// The belief of greatest evidence: a concentration without clumping, more clumping while it gains, and again a concentration.
    fn likeliest(&self) -> Result<GivenBelief, LinalgError> {
        let first = self.given(Belief { concentration: CONCENTRATIONS[0], clumping: CLUMPINGS[0] })?;
        let mut best = self.with_concentration(first)?;
        let without = best.belief;
        while let Some(belief) = self.clumped(best.belief) {
            let more = self.given(belief)?;
            if more.evidence <= best.evidence {
                break;
            }
            best = more;
        }
        if best.belief == without { Ok(best) } else { self.with_concentration(best) }
    }

    fn with_concentration(&self, mut best: GivenBelief) -> Result<GivenBelief, LinalgError> {
        for concentration in CONCENTRATIONS {
            let other = Belief { concentration, ..best.belief };
            if other != best.belief {
                let other = self.given(other)?;
                if other.evidence > best.evidence {
                    best = other;
                }
            }
        }
        Ok(best)
    }

    /// With the next clumping; none where there is no more, or no row lies between sites.
    fn clumped(&self, belief: Belief) -> Option<Belief> {
        self.features.between.as_ref()?;
        let next = CLUMPINGS.into_iter().find(|clumping| *clumping > belief.clumping);
        next.map(|clumping| Belief { clumping, ..belief })
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
        self.centred.transpose() * (scale / self.features.len() as f64)
    }

    /// The most probable counts that are not negative.
    fn mean(&self, given: &GivenBelief) -> DVector<f64> {
        let sites = self.features.len();
        let uniform = DVector::from_element(sites, self.released.sums.rows as f64 * (1.0 / sites as f64));
        let mean = &uniform + transposed_product(&self.gain(given), &given.solved).column(0);
        if mean.min() >= 0.0 {
            return mean;
        }
        let sums = Misfit::new(self.features, self.released, &given.noise, &uniform, given.scale);
        sums.least(&mean)
    }

    /// The mean square of `T - E p`, each in units of its standard deviation.
    fn misfit(&self, given: &GivenBelief, mean: &DVector<f64>) -> f64 {
        let residual = &self.released.sums.plain - self.features.plain.tr_mul(mean);
        let squares = residual.iter().zip(given.noise.iter()).map(|(r, variance)| r * r / variance);
        squares.sum::<f64>() / residual.len().max(1) as f64
    }

    fn posterior(&self, given: GivenBelief, mean: DVector<f64>) -> Result<SiteCounts, LinalgError> {
        let (sites, scale) = (self.features.len(), given.scale);
        let each = 1.0 / sites as f64;
        let prior = DMatrix::from_fn(sites, sites, |i, j| scale * (f64::from(i == j) * each - each * each));
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
