//! The mechanism that adds noise to the sums of a variational model, from the words of a spec.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nalgebra::DMatrix;

use super::TaskError;
use super::witness::{RecordReleases, SumsRelease, WeightedLabel};
use crate::gp::variational::{FeatureBound, grid_supremum};
use crate::privacy::{Calibration, Certificate, RecordBounds, Release, SumsNoise};
use crate::spec::{FeaturesSetting, MechanismSetting, PrivacySetting, RangeSetting, SumsSetting};

/// The bounds that noise is scaled by.
pub(super) struct NoisySums<'a> {
    pub setting: &'a SumsSetting,
    /// On the norm of one input's covariances with the inducing inputs, as the spec asks for.
    pub features: f64,
    /// The least that is known, which certificates use: the supremum over all inputs, which is reached between
    /// the inducing inputs.
    pub least: f64,
    inducing: &'a [RangeSetting],
    kernel: (f64, f64),
}

impl<'a> NoisySums<'a> {
    /// For an exponentiated quadratic kernel (variance, lengthscale) and a product grid of inducing inputs.
    pub fn new(
        mechanism: &'a MechanismSetting,
        inducing: &'a [RangeSetting],
        (variance, lengthscale): (f64, f64),
    ) -> Result<Self, TaskError> {
        let MechanismSetting::Sums(setting) = mechanism else {
            return Err(TaskError::WrongMechanism { needed: "sums" });
        };
        let supremum = |(range, ends)| supremum(range, lengthscale, ends);
        let whole = inducing.iter().map(|range| supremum((range, (range.from, range.to)))).product::<f64>();
        let squared = match &setting.features {
            FeaturesSetting::Trivial => bound(FeatureBound::Trivial, inducing, lengthscale, false),
            FeaturesSetting::PrintedLine => bound(FeatureBound::PrintedLine, inducing, lengthscale, true),
            FeaturesSetting::Line => bound(FeatureBound::Line, inducing, lengthscale, true),
            FeaturesSetting::Separated => bound(FeatureBound::Separated, inducing, lengthscale, false),
            FeaturesSetting::Supremum(domain) => {
                inducing.iter().zip(domain.iter().map(|[low, high]| (*low, *high))).map(supremum).product()
            }
        };
        Ok(Self {
            setting,
            features: variance * squared.sqrt(),
            least: variance * squared.min(whole).sqrt(),
            inducing,
            kernel: (variance, lengthscale),
        })
    }

    /// The sensitivity of `(A, sqrt(c) B)` that noise is scaled by, and the least that is known to bound it,
    /// for targets within a bound.
    pub fn sensitivities(&self, target: f64) -> (f64, f64) {
        let of = |features| RecordBounds { features, target };
        let rule = self.setting.sensitivity;
        let least = crate::privacy::SumsRule::Exact.sensitivity(of(self.least), self.setting.split);
        (rule.sensitivity(of(self.features), self.setting.split), least)
    }

    /// The public bound on targets; labels have none.
    pub fn target_bound(&self) -> f64 {
        self.setting.target_bound.unwrap_or(1.0)
    }

    /// The noise at a budget, for the sensitivity that it is scaled by; none where epsilon is infinite.
    pub fn noise(
        &self,
        calibration: Calibration,
        (epsilon, delta): (f64, f64),
        sensitivity: f64,
    ) -> SumsNoise {
        SumsNoise::new(calibration.sigma(epsilon, delta) * sensitivity, self.setting.split)
    }

    /// One pair of sums with noise on it, which records with these labels enter.
    pub fn sampled(&self, noise: SumsNoise, labels: Vec<WeightedLabel>) -> SumsRelease {
        SumsRelease { noise, kernel: self.kernel, inducing: self.inducing.to_vec(), labels }
    }

    /// The labels of targets within the public bound: its ends, since distances are convex in a target.
    pub fn bounded_labels(&self) -> Vec<WeightedLabel> {
        let bound = self.target_bound();
        [-bound, bound].map(|a| WeightedLabel { a, b: 1.0 }).to_vec()
    }

    /// Pairs of sums of the same records.
    pub fn together(&self, sums: Vec<SumsRelease>) -> RecordReleases {
        let domain = match &self.setting.features {
            FeaturesSetting::Supremum(domain) => Some(domain.clone()),
            _ => None,
        };
        RecordReleases { sums, domain }
    }

    /// What is guaranteed about a release with these sensitivities.
    pub fn certificate(&self, cell: &PrivacySetting, (assumed, least): (f64, f64)) -> Certificate {
        if cell.epsilon.is_infinite() {
            return Certificate::none();
        }
        let budget = (cell.epsilon, cell.delta);
        Certificate::noisy_sums(Release::Posterior, cell.calibration, budget, least / assumed)
    }
}

/// A bound over a product grid: the product of those of its sides, or one for all its points.
fn bound(of: FeatureBound, inducing: &[RangeSetting], lengthscale: f64, by_side: bool) -> f64 {
    let correlation = |distance: f64| (-0.5 * (distance / lengthscale).powi(2)).exp();
    if by_side {
        return inducing.iter().map(|range| of.squared(range.points, spacing(range), correlation)).product();
    }
    let total = inducing.iter().map(|range| range.points).product();
    let nearest = inducing.iter().map(spacing).fold(f64::INFINITY, f64::min);
    of.squared(total, nearest, correlation)
}

/// The supremum of one side; replicates that ask for the same share one computation.
fn supremum(range: &RangeSetting, lengthscale: f64, ends: (f64, f64)) -> f64 {
    static KNOWN: Mutex<BTreeMap<String, f64>> = Mutex::new(BTreeMap::new());
    let compute = || grid_supremum(&points(range), lengthscale, ends);
    let question = format!("{range:?} {lengthscale:?} {ends:?}");
    *KNOWN.lock().unwrap_or_else(PoisonError::into_inner).entry(question).or_insert_with(compute)
}

fn spacing(range: &RangeSetting) -> f64 {
    (range.to - range.from) / (range.points - 1) as f64
}

fn points(range: &RangeSetting) -> Vec<f64> {
    (0..range.points).map(|place| range.at(place)).collect()
}

/// The training rows of a sample and the others.
pub(super) fn split(inputs: &DMatrix<f64>, train: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    (inputs.rows(0, train).into_owned(), inputs.rows(train, inputs.nrows() - train).into_owned())
}
