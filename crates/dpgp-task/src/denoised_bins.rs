//! Best linear predictions from noisy means of bins.

use nalgebra::{DMatrix, DVector};

use super::binned::{BinNoise, BinStatistics};
use super::cross_validation::FoldRows;
use super::model::TrainingProcess;
use super::{ReplicateJob, TargetGuarantee, TaskError};
use dpgp_gp::{NoisySumsPosterior, PredictionMap};
use dpgp_mechanisms::BinNoiseDistribution;
use dpgp_mechanisms::BinStatistic;

/// Post-processing of noisy means: inputs are public, so the number of rows in a bin is too, and the mean of n targets with noise of
/// standard deviation `sd / n` is their sum with noise of standard deviation sd, whichever the bin. Costs no budget.
pub(super) struct DenoisedBins(Vec<NoiseLevelPosterior>);

/// For noise of one size.
struct NoiseLevelPosterior {
    /// The standard deviation on the sum of a bin, in units of the model.
    noise: f64,
    given: NoisySumsPosterior,
}

impl DenoisedBins {
    /// For the guarantees of all cells of a job; none if its spec does not ask for it. `scale` is in units of the target per unit of
    /// the model.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails.
    pub fn from_job(
        job: &ReplicateJob<'_>,
        rows: &FoldRows,
        binned: &BinStatistics,
        scale: f64,
    ) -> Result<Option<Self>, TaskError> {
        if !job.setting.privacy.mechanism.denoises_experiments() {
            return Ok(None);
        }
        let model = job.model()?;
        let kernel = model.kernel.covariance(&rows.inputs);
        let process =
            TrainingProcess::new(model, kernel.as_ref(), &rows.inputs, job.inducing_placement(&rows.stream_name()));
        let mut noises = Vec::with_capacity(job.cells.len());
        for cell in job.cells {
            let (target, law) = (TargetGuarantee::from_privacy(cell)?, BinNoiseDistribution::Gaussian);
            noises.push(BinNoise { target, statistic: BinStatistic::Mean, law, scale }.sd());
        }
        Self::new(&process, rows, binned, &noises).map(Some)
    }

    fn new(
        process: &TrainingProcess<'_>,
        rows: &FoldRows,
        binned: &BinStatistics,
        noises: &[f64],
    ) -> Result<Self, TaskError> {
        let equal = PredictionMap::without_test_inputs(&rows.inputs);
        let moments = process.with_observation_noise()?.moments(&rows.test, &equal)?;
        let sums = bin_membership_matrix(binned, &equal.select_distinct_columns(&rows.inputs.transpose()).transpose());
        let mut given = Vec::with_capacity(noises.len());
        for &noise in noises {
            given.push(NoiseLevelPosterior { noise, given: moments.condition_on_noisy_sums(&sums, noise)? });
        }
        Ok(Self(given))
    }

    /// The predictions at the test inputs from means with noise of a standard deviation on the sum of a bin.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if nothing was designed for this noise.
    pub fn mean(&self, noise: f64, binned: &BinStatistics, noisy: &DVector<f64>) -> Result<DVector<f64>, TaskError> {
        let sums = DVector::from_fn(noisy.len(), |bin, _| noisy[bin] * binned.counts[bin] as f64);
        Ok(&self.posterior_at_noise(noise)?.map * sums)
    }

    /// Their variances, of model and noise together, in squared units of the model.
    ///
    /// # Errors
    /// As [`DenoisedBins::draw_mean`].
    pub fn variances(&self, noise: f64) -> Result<&[f64], TaskError> {
        Ok(&self.posterior_at_noise(noise)?.variances)
    }

    fn posterior_at_noise(&self, noise: f64) -> Result<&NoisySumsPosterior, TaskError> {
        let own = self.0.iter().find(|bins| bins.noise == noise);
        own.map(|bins| &bins.given).ok_or(TaskError::Missing { needed: "a prediction for this noise" })
    }
}

/// Which bin holds which of the distinct inputs (bins x k): from sums over equal inputs to sums over bins.
fn bin_membership_matrix(binned: &BinStatistics, inputs: &DMatrix<f64>) -> DMatrix<f64> {
    let mut members = DMatrix::zeros(binned.counts.len(), inputs.nrows());
    for (input, place) in binned.find_bins(inputs).into_iter().enumerate() {
        if let Some(bin) = place {
            members[(bin, input)] = 1.0;
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::InducingPlacement;
    use crate::{RandomStreams, RunCache};
    use dpgp_gp::kernel::{ExponentiatedQuadratic, Kernel};
    use dpgp_linalg::Cholesky;
    use dpgp_mechanisms::{BinPredictionSetting, BinningSetting};
    use dpgp_number::{Count, Positive};
    use dpgp_spec::setting::ModelSetting;
    use proptest::prelude::*;

    const NOISE: f64 = 0.4;

    /// Rows, some of which have equal inputs, and points to predict at, some of them outside all bins.
    fn rows(inputs: &[f64]) -> FoldRows {
        FoldRows {
            number: 0,
            inputs: DMatrix::from_fn(inputs.len(), 1, |i, _| (inputs[i] * 2.0).round() / 2.0),
            targets: inputs.iter().map(|x| x.sin()).collect(),
            test: DMatrix::from_fn(7, 1, |i, _| 1.3 * i as f64 - 0.4),
            truth: vec![0.0; 7],
        }
    }

    fn kernel(lengthscale: f64) -> ExponentiatedQuadratic {
        ExponentiatedQuadratic::isotropic(1.7, lengthscale)
    }

    fn binned(rows: &FoldRows, bins: usize) -> BinStatistics {
        let bins = Count::new(bins).unwrap();
        let setting = BinningSetting {
            bins,
            statistic: BinStatistic::Mean,
            noise: BinNoiseDistribution::Gaussian,
            estimate: BinPredictionSetting::Bin {},
            denoise: Some(true),
        };
        BinStatistics::new(&setting, &rows.inputs, &rows.targets)
    }

    fn denoised(rows: &FoldRows, binned: &BinStatistics, lengthscale: f64, noise: f64) -> DenoisedBins {
        let setting = ModelSetting {
            noise_variance: Some(Positive::new(NOISE).unwrap()),
            kernel: serde_json::from_value(
                serde_json::json!({ "eq": { "variance": 1.7, "lengthscale": lengthscale } }),
            )
            .unwrap(),
            averaged: false,
            sparse: None,
        };
        let streams = RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let kernel = kernel(lengthscale);
        let placing = InducingPlacement { streams: &streams, known: &RunCache::default(), purpose: "t" };
        let process = TrainingProcess::new(&setting, &kernel, &rows.inputs, placing);
        DenoisedBins::new(&process, rows, binned, &[noise]).unwrap()
    }

    /// The means of bins as a map of all targets, row by row.
    fn means(rows: &FoldRows, binned: &BinStatistics) -> DMatrix<f64> {
        let places = binned.find_bins(&rows.inputs);
        DMatrix::from_fn(binned.counts.len(), places.len(), |bin, row| match places[row] {
            Some(place) if place == bin => 1.0 / binned.counts[bin] as f64,
            _ => 0.0,
        })
    }

    /// Covariances of the targets, row by row.
    fn targets(rows: &FoldRows, lengthscale: f64) -> DMatrix<f64> {
        let n = rows.inputs.nrows();
        kernel(lengthscale).matrix(&rows.inputs, &rows.inputs) + DMatrix::identity(n, n) * NOISE
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// What is written down row by row: `k W' (W (K + s^2 I) W' + diag(sd^2))^-1` of the noisy means. Under the model it errs no
        /// more than the noisy mean of the bin, and no more than the prior mean.
        #[test]
        fn it_is_the_posterior_given_noisy_means_and_errs_least(
            inputs in prop::collection::vec(0.0..8.0f64, 6..30),
            bins in 2usize..9,
            lengthscale in 0.4..4.0f64,
            noise in 0.05..8.0f64,
        ) {
            let rows = rows(&inputs);
            let binned = binned(&rows, bins);
            let denoised = denoised(&rows, &binned, lengthscale, noise);
            let (w, a, sds) = (means(&rows, &binned), targets(&rows, lengthscale), binned.noise_sds(noise));
            let mut seen = &w * &a * w.transpose();
            (0..sds.len()).for_each(|bin| seen[(bin, bin)] += sds[bin] * sds[bin]);
            let cross = kernel(lengthscale).matrix(&rows.test, &rows.inputs);
            let common = &w * cross.transpose();
            let weights = Cholesky::new("S", &seen).unwrap().solve(&common);
            let noisy = DVector::from_fn(sds.len(), |bin, _| (1.7 * bin as f64).cos());
            let (mean, variances) = (denoised.mean(noise, &binned, &noisy).unwrap(), denoised.variances(noise).unwrap());
            prop_assert!((&mean - weights.tr_mul(&noisy)).amax() < 1e-9);
            for (i, place) in binned.find_bins(&rows.test).into_iter().enumerate() {
                let expected = 1.7 - weights.column(i).dot(&common.column(i));
                prop_assert!((variances[i] - expected).abs() < 1e-9, "{} {expected}", variances[i]);
                // An empty bin predicts the prior mean.
                let raw = place.map_or(1.7, |bin| 1.7 - 2.0 * common[(bin, i)] + seen[(bin, bin)]);
                prop_assert!(variances[i] <= raw.min(1.7) + 1e-9, "{} {raw}", variances[i]);
            }
        }
    }

    /// With much noise nothing but the prior is left; with none, and a bin for each input, the model.
    #[test]
    fn its_limits_are_the_prior_and_the_model() {
        let rows = rows(&[0.0, 0.5, 0.5, 2.0, 3.5, 3.5, 5.0, 7.5]);
        let binned = binned(&rows, 15);
        assert_eq!(binned.counts.iter().filter(|count| **count == 2).count(), 2);
        let noisy = DVector::from_column_slice(&binned.values);
        let much = denoised(&rows, &binned, 1.2, 1e8);
        assert!(much.mean(1e8, &binned, &noisy).unwrap().amax() < 1e-12);
        assert!(much.variances(1e8).unwrap().iter().all(|v| (v - 1.7).abs() < 1e-12));
        let none = denoised(&rows, &binned, 1.2, 0.0);
        let exact = dpgp_gp::exact_prediction_map(&kernel(1.2), NOISE, &rows.inputs, &rows.test).unwrap();
        let mean = none.mean(0.0, &binned, &noisy).unwrap();
        assert!((mean - exact.predict(&rows.targets)).amax() < 1e-10);
        assert!(none.variances(1.0).is_err(), "no such noise");
    }
}
