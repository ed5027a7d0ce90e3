//! Noisy means of bins.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use super::method::{Leaderboard, Method};
use super::predicted::Predicted;
use crate::binned::{BinNoise, Binned, of_bins};
use crate::cross_validation::FoldRows;
use crate::denoised_bins::DenoisedBins;
use crate::{Certified, Job, OneTarget, TaskError};
use dpgp_gp::variational::Prediction;
use dpgp_mechanisms::Statistic;
use dpgp_mechanisms::{BinNoiseLaw, BinningSetting, PrivacySetting};

/// The noisy statistic of the bin that holds a test input; where there is none, the prior of the model. Or the best linear
/// prediction given all of them.
pub(super) struct BinnedRegression {
    binned: Binned,
    statistic: Statistic,
    places: Vec<Option<usize>>,
    /// The variance of the prior at each test input.
    prior: Vec<f64>,
    denoised: Option<DenoisedBins>,
    law: BinNoiseLaw,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl BinnedRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &BinningSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let binned = Binned::new(setting, &rows.inputs, &rows.targets);
        let places = binned.places(&rows.test);
        let prior = context.model.kernel.covariance(&rows.inputs).diagonal(&rows.test);
        let denoised = DenoisedBins::of(context.job, rows, &binned, context.scale)?;
        Ok(Self {
            places,
            binned,
            statistic: setting.statistic,
            prior,
            denoised,
            law: setting.noise,
            scale: context.scale,
        })
    }

    fn noise(&self, cell: &PrivacySetting) -> Result<BinNoise, TaskError> {
        let Self { statistic, law, scale, .. } = *self;
        Ok(BinNoise { target: OneTarget::of(cell)?, statistic, law, scale })
    }
}

impl Method for BinnedRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let noise = self.noise(cell)?.sd();
        let sds = self.binned.sds(noise);
        let noisy = self.binned.noisy(self.law, &sds, stream);
        if let Some(denoised) = &self.denoised {
            let variance = DVector::from_column_slice(denoised.variances(noise)?);
            return Ok(Prediction { mean: denoised.mean(noise, &self.binned, &noisy)?, variance }.into());
        }
        let mean = of_bins(&noisy, &self.places);
        let variance = self.places.iter().zip(&self.prior);
        let variance = variance.map(|(place, prior)| place.map_or(*prior, |bin| sds[bin] * sds[bin]));
        Ok(Prediction { mean, variance: DVector::from_iterator(self.places.len(), variance) }.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        self.noise(cell)?.certify(job, &[&self.binned], &[])
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
