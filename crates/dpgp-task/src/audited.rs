//! Samples of a task for audits of its privacy claim.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::SelectionErrorFunction;
use dpgp_accounting::{NeighbourRelation, PrivacyEvent};
use dpgp_mechanisms::{AuditedMomentsNoise, BinStatistic, LinearReleaseMatrices, PrivateSelection, SumsNoise};
use dpgp_spec::setting::RangeSetting;

/// How a record with a certain label enters a pair of sums: `a k` and `b k k'`, with k its covariances with the
/// inducing inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordSumWeights {
    /// In the first sum.
    pub a: f64,
    /// In the second sum.
    pub b: f64,
}

/// The noise on one pair of sums.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedSumsNoise {
    /// The noise.
    pub noise: SumsNoise,
    /// Variance and lengthscale of the exponentiated quadratic kernel.
    pub kernel: (f64, f64),
    /// The inducing inputs.
    pub inducing: Vec<RangeSetting>,
    /// How a record enters, by its label; targets by the ends of their range.
    pub labels: Vec<RecordSumWeights>,
}

/// Pairs of sums of the same records, all released.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedJointSumsNoise {
    /// The pairs.
    pub sums: Vec<AuditedSumsNoise>,
    /// The public box that inputs lie in; none if they may lie anywhere.
    pub domain: Option<Vec<[f64; 2]>>,
    /// The most records that are replaced: those of one person.
    pub records: u64,
}

/// Noise on the sums of a variational model that is not the same along every direction, or that lies on the sums at midpoints: `sum y k(x)` and
/// `sum p(x)` of records, with p as [`dpgp_gp::variational::InducingGrid`] has it.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedAnisotropicSumsNoise {
    /// The covariance of the noise on `sum y k(x)` (m x m).
    pub weighted: DMatrix<f64>,
    /// That of the noise on the sums at the midpoints (k x k).
    pub plain: DMatrix<f64>,
    /// Variance and lengthscale of the exponentiated quadratic kernel.
    pub kernel: (f64, f64),
    /// The inducing inputs.
    pub inducing: Vec<RangeSetting>,
    /// The public box that inputs lie in.
    pub domain: Vec<[f64; 2]>,
    /// The bound on targets.
    pub bound: f64,
}

/// The private selection of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedPrivateSelection {
    /// How often candidates are drawn, and what each may spend.
    pub selection: PrivateSelection,
    /// The releases of the sums that a candidate may make.
    pub sums: Vec<AuditedJointSumsNoise>,
    /// Values that a CoinPress mean is taken of.
    pub rows: usize,
    /// The ranges that the values of each candidate are clipped to: middle and radius.
    pub ranges: Vec<(f64, f64)>,
    /// Budget of the steps of a CoinPress mean.
    pub shares: Vec<f64>,
}

/// What an audit needs to test a privacy claim by itself: the noise and what it covers, a variant for each kind of release.
#[derive(Debug, Clone)]
pub enum AuditedMechanism {
    /// Gaussian releases of linear maps of the targets, one after the other on the same targets; of each all that
    /// were made at its place. They are scaled by `scale`, and a target moves by at most `change`.
    Linear {
        /// The releases at each place.
        places: Vec<Vec<LinearReleaseMatrices>>,
        /// Factor of the noise.
        scale: f64,
        /// The most that a target moves.
        change: f64,
    },
    /// A sample of a Gaussian process times `scale`, added to `sum_i (A y)_i k(., b_i)`.
    Function {
        /// `A` (m x n), and the covariance of the points b (m x m); cells of one design share them.
        mean: Arc<(DMatrix<f64>, DMatrix<f64>)>,
        /// Factor of the process.
        scale: f64,
        /// The most that an entry of y moves.
        change: f64,
    },
    /// Gaussian noise on the counts of bins.
    Counts {
        /// Standard deviation.
        sd: f64,
        /// Number of bins.
        bins: usize,
        /// Which datasets are neighbours.
        relation: NeighbourRelation,
        /// The most records that neighbours differ in: those of one row or person.
        records: u64,
    },
    /// Gaussian noise on a statistic of each of some disjoint bins.
    Statistics {
        /// The statistic.
        statistic: BinStatistic,
        /// The records of each bin, and the standard deviation there.
        bins: Vec<(usize, f64)>,
        /// The most that a target moves.
        change: f64,
    },
    /// Laplace noise on a statistic of each of some disjoint bins.
    Laplace {
        /// The statistic.
        statistic: BinStatistic,
        /// The records of each bin, and the scale there.
        bins: Vec<(usize, f64)>,
        /// The most that a target moves.
        change: f64,
    },
    /// Gaussian noise on the sums of a variational model.
    Records(AuditedJointSumsNoise),
    /// Gaussian noise of another shape on them.
    Shaped(AuditedAnisotropicSumsNoise),
    /// Gaussian noise on Fourier moments.
    Moments(AuditedMomentsNoise),
    /// Gaussian noise on means of values of which one record moves each by at most `range / rows`.
    Means {
        /// Standard deviation.
        sd: f64,
        /// Number of means.
        means: usize,
        /// The range of a value.
        range: f64,
        /// Records.
        rows: usize,
    },
    /// Clipped gradients with noise.
    Gradients {
        /// The steps, with the noise that was used over the clip.
        event: PrivacyEvent,
        /// Which datasets are neighbours.
        relation: NeighbourRelation,
    },
    /// The index of a candidate by the exponential mechanism.
    Exponential(Box<SelectionErrorFunction>),
    /// The index of a candidate by private selection.
    Selection(AuditedPrivateSelection),
}

impl AuditedMechanism {
    /// Whether it holds no release at some place, so that nothing can be judged there.
    pub(super) fn has_place_without_release(&self) -> bool {
        match self {
            Self::Linear { places, .. } => places.is_empty() || places.iter().any(Vec::is_empty),
            Self::Statistics { bins, .. } | Self::Laplace { bins, .. } => bins.is_empty(),
            Self::Records(releases) => releases.sums.is_empty(),
            Self::Moments(AuditedMomentsNoise::Waves(release)) => release.weighted.is_empty(),
            Self::Moments(AuditedMomentsNoise::Cells(release)) => release.noise.sums.is_empty(),
            Self::Selection(draws) => draws.sums.is_empty(),
            Self::Shaped(release) => release.inducing.is_empty(),
            Self::Function { .. }
            | Self::Counts { .. }
            | Self::Means { .. }
            | Self::Gradients { .. }
            | Self::Exponential(_) => false,
        }
    }
}
