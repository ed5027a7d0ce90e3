//! Gaussian noise on the counts of a histogram.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Mechanism, PrivacySetting};
use dpgp_accounting::{
    CalibratedGaussianRelease, Certificate, CertifiedMechanism, NeighbourRelation, Neighbours, PrivacyUnit, ReleaseKind,
};
use dpgp_gp::kernel::Bins;
use dpgp_noise::{RoundedGaussian, RoundedNoiseParameters};
use dpgp_number::{Count, OutOfRangeError, Positive};
use dpgp_spec::setting::{DataSetting, PersonRowChoiceBasis};
use dpgp_stream::{CountSummand, RecordsPerRow};

/// Gaussian noise on the counts of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramSetting {
    /// Which datasets are neighbours.
    pub relation: NeighbourRelation,
    /// The maximum number of records per row; larger numbers are clipped to it. Neighbours then differ in all records of
    /// one row (or of one person, with `data.person`), not in a single record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_per_row: Option<Count>,
    /// Whether a process that is fitted to the noisy counts treats the variance of their noise, which is public, as known,
    /// and fits only the remaining variation. Otherwise, it fits both jointly. Needs `estimate.process` of `task.density`.
    /// Costs no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for HistogramSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Record
    }

    fn denoise_setting(&self) -> Option<bool> {
        self.denoise
    }

    fn hides_number_of_rows(&self) -> bool {
        self.relation == NeighbourRelation::AddRemove
    }
}

/// How far a histogram of counts moves (in the Euclidean norm) between neighbours.
///
/// A record added or removed changes one bin by 1; a replaced one may leave a bin and enter another, `sqrt 2`.
///
/// ```
/// use dpgp_accounting::NeighbourRelation;
/// use dpgp_mechanisms::histogram_sensitivity;
/// assert_eq!(histogram_sensitivity(NeighbourRelation::AddRemove), 1.0);
/// assert_eq!(histogram_sensitivity(NeighbourRelation::ReplaceOne), 2f64.sqrt());
/// ```
pub fn histogram_sensitivity(relation: NeighbourRelation) -> f64 {
    match relation {
        NeighbourRelation::AddRemove => 1.0,
        NeighbourRelation::ReplaceOne => std::f64::consts::SQRT_2,
    }
}

/// The noise on the counts of a histogram, with its certificate.
#[derive(Debug, Clone)]
pub struct CertifiedCountsNoise {
    /// The standard deviation of the noise in each bin, zero without privacy.
    pub sd: f64,
    /// The guarantee.
    pub certificate: Certificate,
    /// The size of the noise relative to the sensitivity.
    pub record: RoundedNoiseParameters,
}

/// Counts of records in the bins of a public grid, with Gaussian noise.
#[derive(Debug, Clone)]
pub struct HistogramReleaseDesign {
    bins: Bins,
    relation: NeighbourRelation,
    each: RecordsPerRow,
    unit: PrivacyUnit,
}

impl HistogramReleaseDesign {
    /// The histogram over these bins.
    pub fn new(bins: Bins, setting: &HistogramSetting, data: &DataSetting) -> Self {
        let most = setting.most_per_row.map(|most| most.get() as u64);
        let unit = most.map_or_else(|| data.privacy_unit(), |most| data.privacy_unit().with_records_per_row(most));
        let each = if data.counts_each_row() { RecordsPerRow::One } else { RecordsPerRow::Target { most } };
        Self { bins, relation: setting.relation, each, unit }
    }

    /// What to count in the rows of a file: the bins of the inputs, the number of records and the filters.
    pub fn build_summand(&self, data: &DataSetting) -> CountSummand {
        CountSummand { bins: self.bins.clone(), filters: data.row_filter_comparisons(), each: self.each }
    }

    /// The noise for a cell's guarantee, with its certificate.
    pub fn certified_noise(&self, cell: &PrivacySetting) -> CertifiedCountsNoise {
        let sensitivity = histogram_sensitivity(self.relation) * self.unit.max_records() as f64;
        let sd = sensitivity * cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        let event = CalibratedGaussianRelease {
            release: ReleaseKind::Histogram,
            neighbours: Neighbours::OneRecord(self.relation),
            mechanism: CertifiedMechanism::Histogram,
            calibration: cell.calibration,
            guarantee: cell.guarantee(),
            sensitivity: 1.0,
        };
        let certificate = event.certificate().with_privacy_unit(self.unit.clone());
        CertifiedCountsNoise { sd, certificate, record: RoundedNoiseParameters { sensitivity, sd } }
    }

    /// The bins.
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    /// Which datasets are neighbours.
    pub fn relation(&self) -> NeighbourRelation {
        self.relation
    }

    /// The largest number of records in which neighbours differ: those of one row or person.
    pub fn max_records_per_unit(&self) -> u64 {
        self.unit.max_records()
    }
}

impl CertifiedCountsNoise {
    /// Counts with exactly rounded noise: whole numbers.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for noise outside the range of the arithmetic.
    pub fn release_counts(&self, counts: &[u64], source: &mut impl Rng) -> Result<Vec<i64>, OutOfRangeError> {
        // The noise multiplier and its product with the sensitivity are off by less.
        let noise = RoundedGaussian::new(Positive::new(self.sd * (1.0 + f64::from(-45).exp2()))?)?;
        let exact: Vec<i128> = counts.iter().map(|count| i128::from(*count)).collect();
        Ok(noise.add_noise(&exact, source).into_iter().map(clamp_to_i64).collect())
    }

    /// A simulation of a release, with floating-point noise from a seeded stream.
    pub fn simulate_release(&self, counts: &[f64], stream: &mut impl Rng) -> Vec<f64> {
        let noisy = counts.iter().map(|count| {
            let unit: f64 = StandardNormal.sample(stream);
            count + self.sd * unit
        });
        noisy.collect()
    }
}

/// Clamps a noisy count to 64 bits. This follows the noise, so it costs no privacy.
fn clamp_to_i64(count: i128) -> i64 {
    count.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_moves_one_bin_or_two() {
        assert_eq!(histogram_sensitivity(NeighbourRelation::AddRemove), 1.0);
        assert!((histogram_sensitivity(NeighbourRelation::ReplaceOne).powi(2) - 2.0).abs() < 1e-15);
    }
}
