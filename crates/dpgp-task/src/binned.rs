//! Noisy statistics of the targets in bins, the alternative to cloaking in comparisons.

use std::cmp::Reverse;
use std::f64::consts::SQRT_2;

use nalgebra::{DMatrix, DVector, DVectorView};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64;

use super::{AuditEvidence, AuditableCertificate, ReplicateJob, TargetGuarantee, TaskError};
use dpgp_accounting::{Caveat, Certificate, CertifiedMechanism, ReleaseKind};
use dpgp_gp::kernel::{BinObservation, Bins};
use dpgp_gp::{BinnedCovarianceFamily, maximise_marginal_likelihood};
use dpgp_mechanisms::BinStatistic;
use dpgp_mechanisms::{BinNoiseDistribution, BinningSetting};

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

    /// The statistics with noise.
    pub fn add_noise(&self, law: BinNoiseDistribution, sds: &[f64], stream: &mut Pcg64) -> DVector<f64> {
        let noisy = self.values.iter().zip(sds).map(|(value, sd)| {
            let unit: f64 = match law {
                BinNoiseDistribution::Gaussian => StandardNormal.sample(stream),
                BinNoiseDistribution::Laplace => standard_laplace(stream),
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
        let logs = maximise_marginal_likelihood(&few.family, &few.targets, &hyperparameter_starts(&self.bins))?.logs;
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
    pub target: TargetGuarantee,
    pub statistic: BinStatistic,
    pub law: BinNoiseDistribution,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
}

impl BinNoise {
    /// The standard deviation where the statistic moves as far as a target does.
    pub fn sd(self) -> f64 {
        match self.law {
            BinNoiseDistribution::Gaussian => self.target.change / self.scale * self.target.sigma(),
            // Twice the square of its scale is the variance of a Laplace distribution.
            BinNoiseDistribution::Laplace => SQRT_2 * self.target.change / self.scale / self.target.epsilon,
        }
    }

    /// Guarantee where these bins are released.
    pub fn certify(
        self,
        job: &ReplicateJob<'_>,
        released: &[&BinStatistics],
        caveats: &[(Caveat, bool)],
    ) -> Result<AuditableCertificate, TaskError> {
        let Self { target, statistic, law, scale } = self;
        if law == BinNoiseDistribution::Laplace {
            return self.certify_laplace(job, released, caveats);
        }
        let certificate = target.gaussian(ReleaseKind::Histogram, CertifiedMechanism::Histogram, 1.0).certificate();
        job.certify_with_evidence(certificate.with_caveats(caveats), || {
            let bins = released.iter().flat_map(|of| of.counts.iter().copied().zip(of.noise_sds(self.sd())));
            vec![AuditEvidence::Statistics { statistic, bins: bins.collect(), change: target.change / scale }]
        })
    }

    fn certify_laplace(
        self,
        job: &ReplicateJob<'_>,
        released: &[&BinStatistics],
        caveats: &[(Caveat, bool)],
    ) -> Result<AuditableCertificate, TaskError> {
        let Self { target, statistic, scale, .. } = self;
        if !target.is_private() {
            return Ok(AuditableCertificate::without_claim());
        }
        let certificate = Certificate::laplace(ReleaseKind::Histogram, target.neighbours(), target.epsilon);
        job.certify_with_evidence(certificate.with_caveats(caveats), || {
            let bins = released.iter().flat_map(|of| of.counts.iter().copied().zip(of.noise_sds(self.sd())));
            let bins = bins.map(|(records, sd)| (records, sd / SQRT_2)).collect();
            vec![AuditEvidence::Laplace { statistic, bins, change: target.change / scale }]
        })
    }
}

/// A draw of the Laplace distribution with variance 1: the difference of two exponential ones over the root of 2.
fn standard_laplace(stream: &mut Pcg64) -> f64 {
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
fn hyperparameter_starts(bins: &Bins) -> Vec<Vec<f64>> {
    [1.0, 4.0].map(|widths| hyperparameter_start(bins, widths)).to_vec()
}

fn hyperparameter_start(bins: &Bins, widths: f64) -> Vec<f64> {
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
