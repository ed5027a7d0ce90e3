//! Noisy Fourier moments, which hide inputs and targets.

use nalgebra::DMatrix;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::planned_moments::{PlannedMoments, sigma};
use crate::gp::sites::{HyperGrid, MixturePrediction, SiteCounts, SiteReference, site_grid, site_mixture};
use crate::gp::variational::Prediction;
use crate::privacy::accounting::Relation;
use crate::privacy::{Certificate, GaussianEvent, Mechanism, Neighbours, Release};
use crate::setting::{MomentsSetting, PrivacySetting};
use crate::task::cross_validation::FoldRows;
use crate::task::model::noise_variance;
use crate::task::{Certified, Job, TaskError};

/// The mixture of processes that follows from noisy moments of the training rows.
pub(super) struct MomentsRegression {
    reference: SiteReference,
    /// A release for each noise multiplier.
    releases: Vec<PlannedMoments>,
    /// The held-out inputs, in units of the box.
    test: DMatrix<f64>,
}

/// How close the density of inputs is to the uniform one, before anything is known of it.
const CONCENTRATION: f64 = 10.0;
/// The variance of the mean of the process, over the square of the bound on targets.
const BIAS: f64 = 0.25;

impl MomentsRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &MomentsSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let reference = reference(context, setting, rows.targets.len())?;
        let inputs = in_box(&rows.inputs, &setting.domain);
        let mut releases: Vec<PlannedMoments> = Vec::new();
        for cell in context.job.cells {
            let sigma = sigma(cell);
            if releases.iter().any(|release| release.sigma == sigma) {
                continue;
            }
            let design = PlannedMoments::design(&reference, sigma, setting.period)?;
            releases.push(PlannedMoments {
                sums: design.moments(&inputs, &rows.targets),
                features: design.at_sites(site_grid(inputs.ncols())),
                sigma,
                design,
            });
        }
        Ok(Self { reference, releases, test: in_box(&rows.test, &setting.domain) })
    }

    fn planned(&self, cell: &PrivacySetting) -> Result<&PlannedMoments, TaskError> {
        let sigma = sigma(cell);
        let found = self.releases.iter().find(|release| release.sigma == sigma);
        found.ok_or(TaskError::Missing { needed: "a release of moments" })
    }
}

impl Method for MomentsRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        let planned = self.planned(cell)?;
        let released = planned.released(stream);
        let counts = SiteCounts::new(&planned.features, &released)?;
        let grid = HyperGrid::around(&self.reference);
        let mixture = site_mixture(&planned.features, &released, &counts, &grid)?;
        let MixturePrediction { mean, variance } = mixture.predict(&self.test);
        // Scores add the noise variance of the model, in whose place the members have their own.
        Ok(Prediction { mean, variance: variance.add_scalar(-self.reference.noise_variance) })
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let planned = self.planned(cell)?;
        job.certify(certificate(cell), || vec![planned.sampled()])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

fn certificate(cell: &PrivacySetting) -> Certificate {
    let event = GaussianEvent {
        release: Release::Posterior,
        neighbours: Neighbours::OneRecord(Relation::ReplaceOne),
        mechanism: Mechanism::NoisyMoments,
        calibration: cell.calibration,
        guarantee: cell.guarantee(),
        // The noise is scaled by the closed form, which is a bound.
        sensitivity: 1.0,
    };
    event.certificate()
}

/// What the model says, in units of the box.
fn reference(
    context: &Leaderboard<'_>,
    setting: &MomentsSetting,
    rows: usize,
) -> Result<SiteReference, TaskError> {
    let (variance, lengthscale) = context.job.exponentiated_quadratic()?;
    let bound = setting.target_bound.get();
    Ok(SiteReference {
        rows,
        bound,
        bias: BIAS * bound * bound,
        variance,
        lengthscales: setting.domain.iter().map(|[low, high]| lengthscale / (high - low)).collect(),
        noise_variance: noise_variance(context.model)?,
        concentration: CONCENTRATION,
    })
}

/// Inputs in units of the box (n x d); those outside move to its nearest point.
fn in_box(inputs: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(inputs.nrows(), inputs.ncols(), |row, column| {
        let [low, high] = domain[column];
        ((inputs[(row, column)] - low) / (high - low)).clamp(0.0, 1.0)
    })
}
