//! Exact and noisy counts of a histogram.

use rand::Rng;
use serde_json::{Value, json};

use super::draw::ReleaseGuarantee;
use super::sums_model::{DataHolderDescription, NotPrivateMark, PrivateFacts, PublicFacts};
use super::sums_model::{NoisyNumber, SumsReleaseMethod, list_elements, number_or_infinity};
use dpgp_accounting::NeighbourRelation;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::{CertifiedCountsNoise, HistogramReleaseDesign};
use dpgp_spec::setting::BinRangeSetting;
use dpgp_stream::{BinCounts, CountSummand, RecordsPerRow};
use dpgp_task::{CellSetting, DensityTask, TaskError, TaskSetting};

/// Model whose released sums are the counts of records in the bins of a public grid.
#[derive(Debug, Clone)]
pub struct HistogramReleaseMethod {
    model: HistogramReleaseDesign,
    rows: CountSummand,
    bins: Vec<BinRangeSetting>,
}

impl HistogramReleaseMethod {
    /// The model of a cell. `None` if the cell has another task or mechanism.
    pub(super) fn from_setting(setting: &CellSetting) -> Option<Self> {
        let TaskSetting::Density(task) = &*setting.task else { return None };
        let model = DensityTask::histogram(setting)?;
        let (rows, bins) = (model.build_summand(&setting.data), task.bins.clone());
        Some(Self { model, rows, bins })
    }

    /// The most records that a row stands for, if there is a limit.
    fn max_records_per_row(&self) -> Option<u64> {
        match self.rows.each {
            RecordsPerRow::One => None,
            RecordsPerRow::Target { most } => most,
        }
    }

    /// The record beyond all bins, or in the first and the last of them where neighbours have as many records.
    fn records_moved_to_extremes(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let at = |place: fn(&BinRangeSetting) -> f64| {
            let mut other = record.to_vec();
            other.iter_mut().zip(&self.bins).for_each(|(cell, cut)| *cell = place(cut));
            // The first input stands where a target would.
            other[self.bins.len()] = other[0];
            other
        };
        let beyond = at(|cut| cut.to + (cut.to - cut.from));
        match self.model.relation() {
            NeighbourRelation::AddRemove => vec![beyond],
            NeighbourRelation::ReplaceOne => {
                vec![beyond, at(|cut| cut.from), at(|cut| cut.edges()[cut.bins - 1..].iter().sum::<f64>() / 2.0)]
            }
        }
    }
}

impl SumsReleaseMethod for HistogramReleaseMethod {
    type Rows = CountSummand;

    fn summand(&self) -> &CountSummand {
        &self.rows
    }

    const NOISY: &'static [&'static str] = &["counts"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        let sd = number_or_infinity(&file["sd"]);
        list_elements(&file["counts"]).map(|count| NoisyNumber::new(number_or_infinity(count), sd)).collect()
    }

    fn exact_numbers(&self, _: &PrivacySetting, counts: &BinCounts) -> Result<Vec<f64>, TaskError> {
        Ok(counts.bins.iter().map(|count| *count as f64).collect())
    }

    /// A row that is one record moves out of all bins, and to the first and last bin where a record may be replaced. A row
    /// that stands for several has one record more, or, where rows are protected, none or as many as a row can have. (A
    /// record that is replaced leaves its bin, too: another row, which this attack does not change, so that it finds less
    /// than the sensitivity.)
    fn extreme_replacements(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let weight = self.rows.bins.dimensions();
        let with = |extreme: f64| {
            let mut other = record.to_vec();
            other[weight] = extreme;
            other
        };
        match self.rows.each {
            RecordsPerRow::One => self.records_moved_to_extremes(record),
            RecordsPerRow::Target { most: None } => vec![with(record[weight] + 1.0)],
            RecordsPerRow::Target { most: Some(_) } => vec![with(0.0), with(f64::from(u32::MAX))],
        }
    }

    fn neighbour_may_lack_whole_row(&self) -> bool {
        self.rows.each != RecordsPerRow::Target { most: None }
    }

    fn settings_of_sums(&self, _: &CellSetting) -> Value {
        match self.max_records_per_row() {
            None => json!({ "bins": self.bins }),
            Some(most) => json!({ "bins": self.bins, "most_per_row": most }),
        }
    }

    fn describe_sums(&self, counts: &BinCounts) -> DataHolderDescription {
        let BinCounts { rows, outside, bins, clipped } = counts;
        let (inside, bins) = (bins.iter().sum::<u64>(), bins.len());
        let mut counts = format!("{rows} rows; {inside} records in the bins, {outside} outside");
        if let Some(most) = self.max_records_per_row() {
            counts += &format!("; {clipped} rows had more than {most} records each and were clipped");
        }
        DataHolderDescription {
            private: PrivateFacts {
                rows: *rows,
                records: Some(inside),
                outside: Some(*outside),
                clipped: self.max_records_per_row().map(|_| *clipped),
                classes: None,
                not_private: NotPrivateMark::default(),
            },
            counts,
            public: PublicFacts { bins: Some(bins), ..PublicFacts::default() },
            text: format!("{bins} bins"),
        }
    }

    fn release_guarantee(&self, privacy: &PrivacySetting, _: &BinCounts) -> Result<ReleaseGuarantee, TaskError> {
        let CertifiedCountsNoise { certificate, record, .. } = self.model.certified_noise(privacy);
        Ok(ReleaseGuarantee { certificate, noise: record })
    }

    /// In the order of the bins: the last input varies fastest. Neither the number of rows nor that of records outside
    /// all bins is there: both are private, and nothing is spent on them.
    fn draw_release(
        &self,
        setting: &CellSetting,
        privacy: &PrivacySetting,
        counts: &BinCounts,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let guarantee = self.model.certified_noise(privacy);
        let draw_release = guarantee.release_counts(&counts.bins, noise)?;
        let data = &setting.data;
        let mut histogram = json!({
            "inputs": data.inputs, "records": data.target, "filter": data.filter, "bins": self.bins,
        });
        if !data.encode.is_empty() {
            histogram["encode"] = json!(data.encode);
        }
        Ok(json!({
            "histogram": histogram,
            "counts": draw_release,
            "sd": guarantee.sd,
        }))
    }
}
