//! A noisy histogram: what is counted and what is released.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Sampled;
use crate::{Setting, TaskSetting};
use dpgp_accounting::Relation;
use dpgp_accounting::{Certificate, CertifiedMechanism, GaussianEvent, Neighbours, PrivacyUnit, Release};
use dpgp_gp::kernel::Bins;
use dpgp_mechanisms::count_sensitivity;
use dpgp_mechanisms::{HistogramSetting, MechanismSetting, PrivacySetting};
use dpgp_noise::{RoundedGaussian, RoundedNoise};
use dpgp_number::{OutOfRange, Positive};
use dpgp_spec::setting::{CutSetting, DataSetting};
use dpgp_stream::CountSummand;

/// The noise on the counts of a histogram.
#[derive(Debug, Clone)]
pub struct CountsGuarantee {
    /// Its standard deviation in each bin; zero without privacy.
    pub sd: f64,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// Its size against the sensitivity.
    pub record: RoundedNoise,
}

/// Counts of records in the bins of a public grid, with Gaussian noise.
#[derive(Debug, Clone)]
pub struct HistogramModel {
    bins: Bins,
    relation: Relation,
    /// The most records that a row stands for.
    most: Option<u64>,
    unit: PrivacyUnit,
}

impl HistogramModel {
    /// None if the mechanism is another.
    pub(super) fn new(bins: Bins, mechanism: &MechanismSetting, data: &DataSetting) -> Option<Self> {
        let setting = mechanism.of::<HistogramSetting>()?;
        let most = setting.most_per_row.map(|most| most.get() as u64);
        let unit = most.map_or_else(|| data.unit(), |most| data.unit().of_rows_with(most));
        Some(Self { bins, relation: setting.relation, most, unit })
    }

    /// The histogram of a cell; none if it has another task or mechanism.
    pub fn of(setting: &Setting) -> Option<Self> {
        let TaskSetting::Density(task) = &*setting.task else { return None };
        Self::new(bins(&task.bins), &setting.privacy.mechanism, &setting.data)
    }

    /// The bins of a cell along each input; none if it has another task.
    pub fn cuts(setting: &Setting) -> Option<&[CutSetting]> {
        let TaskSetting::Density(task) = &*setting.task else { return None };
        Some(&task.bins)
    }

    /// What is counted in the rows of a file: the inputs, the number of records and the columns of the filters.
    pub fn summand(&self, data: &DataSetting) -> CountSummand {
        CountSummand { bins: self.bins.clone(), filters: data.comparisons(), most: self.most }
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn guarantee(&self, cell: &PrivacySetting) -> CountsGuarantee {
        let sensitivity = count_sensitivity(self.relation) * self.unit.records() as f64;
        let sd = sensitivity * cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        let event = GaussianEvent {
            release: Release::Histogram,
            neighbours: Neighbours::OneRecord(self.relation),
            mechanism: CertifiedMechanism::Histogram,
            calibration: cell.calibration,
            guarantee: cell.guarantee(),
            sensitivity: 1.0,
        };
        let certificate = event.certificate().about(self.unit.clone());
        CountsGuarantee { sd, certificate, record: RoundedNoise { sensitivity, sd } }
    }

    /// What is sampled with noise of this standard deviation.
    pub(super) fn sampled(&self, sd: f64) -> Sampled {
        let (bins, records) = (self.bins.len(), self.unit.records());
        Sampled::Counts { sd, bins, relation: self.relation, records }
    }
}

impl CountsGuarantee {
    /// Counts with exactly rounded noise: whole numbers.
    ///
    /// # Errors
    /// [`OutOfRange`] for noise beyond the arithmetic.
    pub fn release(&self, counts: &[u64], source: &mut impl Rng) -> Result<Vec<i64>, OutOfRange> {
        // The noise multiplier and its product with the sensitivity are off by less.
        let noise = RoundedGaussian::new(Positive::new(self.sd * (1.0 + f64::from(-45).exp2()))?)?;
        let exact: Vec<i128> = counts.iter().map(|count| i128::from(*count)).collect();
        Ok(noise.added(&exact, source).into_iter().map(within_64_bits).collect())
    }

    /// A simulation of a release, with floating-point noise of a seeded stream.
    pub(super) fn simulated(&self, counts: &[f64], stream: &mut impl Rng) -> Vec<f64> {
        let noisy = counts.iter().map(|count| {
            let unit: f64 = StandardNormal.sample(stream);
            count + self.sd * unit
        });
        noisy.collect()
    }
}

/// What few readers of numbers hold is cut off after the noise, which gives nothing away.
fn within_64_bits(count: i128) -> i64 {
    count.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// The bins of a grid.
pub(super) fn bins(cuts: &[CutSetting]) -> Bins {
    Bins::grid(&cuts.iter().map(|cut| (cut.from, cut.to, cut.bins)).collect::<Vec<_>>())
}
