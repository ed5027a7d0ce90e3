//! Noisy statistics of the targets in bins, the alternative to cloaking in comparisons, and the best linear
//! predictions from them.

use std::cmp::Reverse;
use std::f64::consts::SQRT_2;

use nalgebra::{DMatrix, DVector, DVectorView};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64;

use super::cross_validation::FoldRows;
use super::model::GpOnTrainingInputs;
use super::{AuditableCertificate, AuditedMechanism, ReplicateJob, TargetChangeGuarantee, TaskError};
use dpgp_accounting::{Certificate, CertifiedMechanism, GuaranteeCaveat, ReleaseKind};
use dpgp_gp::kernel::{BinObservation, Bins};
use dpgp_gp::{BinnedCovarianceFamily, NoisySumsPosterior, PredictionMap, maximise_marginal_likelihood};
use dpgp_mechanisms::{BinNoiseDistribution, BinStatistic, BinningSetting};

/// Part of the widest range by which bins reach beyond the training inputs, so that the largest is inside.
const MARGIN: f64 = 1e-9;

/// The bins with training rows, in units of the normalised target.
pub(super) struct BinStatistics {
    bins: Bins,
    /// The statistic of each bin, how far it moves when one target moves by 1, and its number of records.
    pub values: Vec<f64>,
    pub sensitivities: Vec<f64>,
    pub counts: Vec<usize>,
}

impl BinStatistics {
    /// Of training rows, with bins over the range of their inputs, which are public.
    pub fn new(setting: &BinningSetting, inputs: &DMatrix<f64>, targets: &[f64]) -> Self {
        let bins = build_covering_bins(inputs, setting.bins.get());
        let mut members = vec![Vec::new(); bins.len()];
        for (i, target) in targets.iter().enumerate() {
            if let Some(bin) = find_bin(&bins, inputs, i) {
                members[bin].push(*target);
            }
        }
        let held: Vec<usize> = (0..bins.len()).filter(|&bin| !members[bin].is_empty()).collect();
        let counts: Vec<usize> = held.iter().map(|&bin| members[bin].len()).collect();
        Self {
            bins: bins.select(&held),
            values: held.iter().filter_map(|&bin| setting.statistic.compute(&members[bin])).collect(),
            sensitivities: counts.iter().map(|&n| setting.statistic.sensitivity(n, 1.0)).collect(),
            counts,
        }
    }

    /// The bin that holds each input; none outside all of them.
    pub fn find_bins(&self, inputs: &DMatrix<f64>) -> Vec<Option<usize>> {
        (0..inputs.nrows()).map(|i| find_bin(&self.bins, inputs, i)).collect()
    }

    /// The standard deviations of the noise of all bins.
    pub fn noise_sds(&self, noise: f64) -> Vec<f64> {
        self.sensitivities.iter().map(|s| s * noise).collect()
    }

    /// Returns the statistics with one draw of noise.
    pub fn draw_noisy_values(&self, law: BinNoiseDistribution, sds: &[f64], stream: &mut Pcg64) -> DVector<f64> {
        let noisy = self.values.iter().zip(sds).map(|(value, sd)| {
            let unit: f64 = match law {
                BinNoiseDistribution::Gaussian => StandardNormal.sample(stream),
                BinNoiseDistribution::Laplace => draw_unit_variance_laplace(stream),
            };
            value + sd * unit
        });
        DVector::from_iterator(sds.len(), noisy)
    }

    /// Regression on the averages of bins with their known noise, about their mean. The parameters are fitted to the bins
    /// with the most records, whose noise is least.
    pub fn predict_with_integral_kernel(
        &self,
        noisy: &DVector<f64>,
        sds: &[f64],
        test: &DMatrix<f64>,
        most: usize,
    ) -> Result<DVector<f64>, TaskError> {
        let centre = noisy.mean();
        let mut largest: Vec<usize> = (0..self.counts.len()).collect();
        largest.sort_by_key(|&bin| Reverse(self.counts[bin]));
        largest.truncate(most);
        largest.sort_unstable();
        let few = self.centred_observations(&largest, sds, noisy, centre);
        let logs =
            maximise_marginal_likelihood(&few.family, &few.targets, &log_hyperparameter_starts(&self.bins))?.logs;
        let all: Vec<usize> = (0..self.counts.len()).collect();
        let all = self.centred_observations(&all, sds, noisy, centre);
        Ok(all.family.predict(&logs, &all.targets, test)?.map(|mean| mean + centre))
    }

    fn centred_observations(&self, bins: &[usize], sds: &[f64], noisy: &DVector<f64>, centre: f64) -> ObservedBins {
        let known = bins.iter().map(|&bin| sds[bin] * sds[bin]).collect();
        let family =
            BinnedCovarianceFamily::new(self.bins.select(bins), BinObservation::Average, None).with_known_noise(known);
        let targets = DVector::from_iterator(bins.len(), bins.iter().map(|&bin| noisy[bin] - centre));
        ObservedBins { family, targets }
    }
}

/// The averages of some bins about their mean.
struct ObservedBins {
    family: BinnedCovarianceFamily,
    targets: DVector<f64>,
}

/// Noise on a statistic of bins, for the guarantee of one cell.
#[derive(Clone, Copy)]
pub(super) struct BinNoise {
    pub target: TargetChangeGuarantee,
    pub statistic: BinStatistic,
    pub law: BinNoiseDistribution,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
}

impl BinNoise {
    /// The standard deviation of the noise, in units of the model, on a statistic that moves as far as the target does.
    pub fn sd(self) -> f64 {
        match self.law {
            BinNoiseDistribution::Gaussian => self.target.change / self.scale * self.target.noise_multiplier(),
            // Twice the square of its scale is the variance of a Laplace distribution.
            BinNoiseDistribution::Laplace => SQRT_2 * self.target.change / self.scale / self.target.epsilon,
        }
    }

    /// Certifies the release of these bins.
    pub fn certify(
        self,
        job: &ReplicateJob<'_>,
        released: &[&BinStatistics],
        caveats: &[(GuaranteeCaveat, bool)],
    ) -> Result<AuditableCertificate, TaskError> {
        let Self { target, statistic, law, scale } = self;
        if law == BinNoiseDistribution::Laplace {
            return self.certify_laplace(job, released, caveats);
        }
        let certificate = target
            .calibrated_gaussian_release(ReleaseKind::Histogram, CertifiedMechanism::Histogram, 1.0)
            .certificate();
        job.auditable_certificate(certificate.with_caveats(caveats), || {
            let bins = released.iter().flat_map(|of| of.counts.iter().copied().zip(of.noise_sds(self.sd())));
            vec![AuditedMechanism::Statistics { statistic, bins: bins.collect(), change: target.change / scale }]
        })
    }

    fn certify_laplace(
        self,
        job: &ReplicateJob<'_>,
        released: &[&BinStatistics],
        caveats: &[(GuaranteeCaveat, bool)],
    ) -> Result<AuditableCertificate, TaskError> {
        let Self { target, statistic, scale, .. } = self;
        if !target.is_private() {
            return Ok(AuditableCertificate::without_claim());
        }
        let certificate = Certificate::laplace(ReleaseKind::Histogram, target.neighbours(), target.epsilon);
        job.auditable_certificate(certificate.with_caveats(caveats), || {
            let bins = released.iter().flat_map(|of| of.counts.iter().copied().zip(of.noise_sds(self.sd())));
            let bins = bins.map(|(records, sd)| (records, sd / SQRT_2)).collect();
            vec![AuditedMechanism::Laplace { statistic, bins, change: target.change / scale }]
        })
    }
}

/// A draw of the Laplace distribution with variance 1: the difference of two exponential ones over the root of 2.
fn draw_unit_variance_laplace(stream: &mut Pcg64) -> f64 {
    let [one, other]: [f64; 2] = [(); 2].map(|()| Exp1.sample(stream));
    (one - other) / SQRT_2
}

/// The value of the bin that holds each input; zero, the centre of the targets, where there is none.
pub(super) fn lookup_bin_values(noisy: &DVector<f64>, places: &[Option<usize>]) -> DVector<f64> {
    DVector::from_iterator(places.len(), places.iter().map(|place| place.map_or(0.0, |bin| noisy[bin])))
}

fn find_bin(bins: &Bins, inputs: &DMatrix<f64>, row: usize) -> Option<usize> {
    bins.find_bin(&inputs.row(row).iter().copied().collect::<Vec<f64>>())
}

/// Normalised targets have a variance of about 1; lengthscales of one and of four widths of a bin.
fn log_hyperparameter_starts(bins: &Bins) -> Vec<Vec<f64>> {
    [1.0, 4.0].map(|widths| log_hyperparameter_start(bins, widths)).to_vec()
}

fn log_hyperparameter_start(bins: &Bins, widths: f64) -> Vec<f64> {
    let spans = (0..bins.dimensions()).map(|d| (widths * bins.interval(0, d).width()).ln());
    [0.5f64.ln(), 0.5f64.ln()].into_iter().chain(spans).collect()
}

/// Bins over the range of the inputs, as many along each.
fn build_covering_bins(inputs: &DMatrix<f64>, count: usize) -> Bins {
    Bins::grid(&inputs.column_iter().map(|column| padded_column_range(column, count)).collect::<Vec<_>>())
}

fn padded_column_range(column: DVectorView<'_, f64>, count: usize) -> (f64, f64, usize) {
    let (low, high) = (column.min(), column.max());
    let margin = MARGIN * (1.0 + high - low);
    (low - margin, high + margin, count)
}

/// Post-processing of noisy means: inputs are public, so the number of rows in a bin is too, and the mean of n targets with noise of
/// standard deviation `sd / n` is their sum with noise of standard deviation sd, whichever the bin. Costs no budget.
pub(super) struct DenoisedBins(Vec<NoiseLevelPosterior>);

/// The posterior for noise of one standard deviation.
struct NoiseLevelPosterior {
    /// The standard deviation on the sum of a bin, in units of the model.
    noise: f64,
    given: NoisySumsPosterior,
}

impl DenoisedBins {
    /// Computes the posterior for the noise of each cell of a job; `None` if the spec does not ask for denoising. `scale` is in units of
    /// the target per unit of the model.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails.
    pub fn from_job(
        job: &ReplicateJob<'_>,
        rows: &FoldRows,
        binned: &BinStatistics,
        scale: f64,
    ) -> Result<Option<Self>, TaskError> {
        if !job.setting.privacy.mechanism.denoises_in_experiments() {
            return Ok(None);
        }
        let model = job.model()?;
        let kernel = model.kernel.build_kernel(&rows.inputs);
        let process =
            GpOnTrainingInputs::new(model, kernel.as_ref(), &rows.inputs, job.inducing_placement(&rows.stream_name()));
        let mut noises = Vec::with_capacity(job.cells.len());
        for cell in job.cells {
            let (target, law) = (TargetChangeGuarantee::for_one_row(cell)?, BinNoiseDistribution::Gaussian);
            noises.push(BinNoise { target, statistic: BinStatistic::Mean, law, scale }.sd());
        }
        Self::new(&process, rows, binned, &noises).map(Some)
    }

    fn new(
        process: &GpOnTrainingInputs<'_>,
        rows: &FoldRows,
        binned: &BinStatistics,
        noises: &[f64],
    ) -> Result<Self, TaskError> {
        let equal = PredictionMap::without_test_inputs(&rows.inputs);
        let moments = process.with_observation_noise()?.prior_moments(&rows.test, &equal)?;
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
    pub fn test_prediction_mean(
        &self,
        noise: f64,
        binned: &BinStatistics,
        noisy: &DVector<f64>,
    ) -> Result<DVector<f64>, TaskError> {
        let sums = DVector::from_fn(noisy.len(), |bin, _| noisy[bin] * binned.counts[bin] as f64);
        Ok(&self.posterior_at_noise(noise)?.map * sums)
    }

    /// The variances of the predictions of [`DenoisedBins::test_prediction_mean`], model and noise together, in squared units of the model.
    ///
    /// # Errors
    /// As [`DenoisedBins::test_prediction_mean`].
    pub fn test_prediction_variances(&self, noise: f64) -> Result<&[f64], TaskError> {
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
    use crate::model::InducingInputPlacer;
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
        let placing = InducingInputPlacer { streams: &streams, known: &RunCache::default(), purpose: "t" };
        let process = GpOnTrainingInputs::new(&setting, &kernel, &rows.inputs, placing);
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
            let (mean, variances) = (denoised.test_prediction_mean(noise, &binned, &noisy).unwrap(), denoised.test_prediction_variances(noise).unwrap());
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
        assert!(much.test_prediction_mean(1e8, &binned, &noisy).unwrap().amax() < 1e-12);
        assert!(much.test_prediction_variances(1e8).unwrap().iter().all(|v| (v - 1.7).abs() < 1e-12));
        let none = denoised(&rows, &binned, 1.2, 0.0);
        let exact = dpgp_gp::exact_prediction_map(&kernel(1.2), NOISE, &rows.inputs, &rows.test).unwrap();
        let mean = none.test_prediction_mean(0.0, &binned, &noisy).unwrap();
        assert!((mean - exact.predict(&rows.targets)).amax() < 1e-10);
        assert!(none.test_prediction_variances(1.0).is_err(), "no such noise");
    }
}
