//! Exact and noisy counts of a histogram.

use rand::Rng;
use serde_json::{Value, json};

use super::draw::Guaranteed;
use super::sums_model::{HeldDescription, HeldFacts, NotPrivate, PublicFacts};
use super::sums_model::{NoisyNumber, SumsModel, list, number};
use dpgp_accounting::Relation;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::{CountsGuarantee, HistogramModel};
use dpgp_spec::setting::CutSetting;
use dpgp_stream::{CountSummand, Counts, RecordsOfRow};
use dpgp_task::{DensityTask, Setting, TaskError, TaskSetting};

/// Counts of records in the bins of a public grid.
#[derive(Debug, Clone)]
pub struct CountsRelease {
    model: HistogramModel,
    rows: CountSummand,
    bins: Vec<CutSetting>,
}

impl CountsRelease {
    /// That of a cell; none if it has another task or mechanism.
    pub(super) fn from_setting(setting: &Setting) -> Option<Self> {
        let TaskSetting::Density(task) = &*setting.task else { return None };
        let model = DensityTask::histogram(setting)?;
        let (rows, bins) = (model.summand(&setting.data), task.bins.clone());
        Some(Self { model, rows, bins })
    }

    /// The most records that a row stands for, if there is a limit.
    fn most(&self) -> Option<u64> {
        match self.rows.each {
            RecordsOfRow::One => None,
            RecordsOfRow::Target { most } => most,
        }
    }

    /// The record beyond all bins, or in the first and the last of them where neighbours have as many records.
    fn moved(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let at = |place: fn(&CutSetting) -> f64| {
            let mut other = record.to_vec();
            other.iter_mut().zip(&self.bins).for_each(|(cell, cut)| *cell = place(cut));
            // The first input stands where a target would.
            other[self.bins.len()] = other[0];
            other
        };
        let beyond = at(|cut| cut.to + (cut.to - cut.from));
        match self.model.relation() {
            Relation::AddRemove => vec![beyond],
            Relation::ReplaceOne => vec![
                beyond,
                at(|cut| cut.from),
                at(|cut| cut.edges()[cut.bins - 1..].iter().sum::<f64>() / 2.0),
            ],
        }
    }
}

impl SumsModel for CountsRelease {
    type Rows = CountSummand;

    fn rows(&self) -> &CountSummand {
        &self.rows
    }

    const NOISY: &'static [&'static str] = &["counts"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        let sd = number(&file["sd"]);
        list(&file["counts"]).map(|count| NoisyNumber::new(number(count), sd)).collect()
    }

    fn exact_numbers(&self, _: &PrivacySetting, counts: &Counts) -> Result<Vec<f64>, TaskError> {
        Ok(counts.bins.iter().map(|count| *count as f64).collect())
    }

    /// A row that is one record moves out of all bins, and to the first and last bin where a record may be replaced. A row
    /// that stands for several has one record more, or, where rows are protected, none or as many as a row can have. (A
    /// record that is replaced leaves its bin, too: another row, which this attack does not change, so that it finds less
    /// than the sensitivity.)
    fn replaced(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let weight = self.rows.bins.dimensions();
        let with = |extreme: f64| {
            let mut other = record.to_vec();
            other[weight] = extreme;
            other
        };
        match self.rows.each {
            RecordsOfRow::One => self.moved(record),
            RecordsOfRow::Target { most: None } => vec![with(record[weight] + 1.0)],
            RecordsOfRow::Target { most: Some(_) } => vec![with(0.0), with(f64::from(u32::MAX))],
        }
    }

    fn protects_rows(&self) -> bool {
        self.rows.each != RecordsOfRow::Target { most: None }
    }

    fn depends_on(&self, _: &Setting) -> Value {
        match self.most() {
            None => json!({ "bins": self.bins }),
            Some(most) => json!({ "bins": self.bins, "most_per_row": most }),
        }
    }

    fn described(&self, counts: &Counts) -> HeldDescription {
        let Counts { rows, outside, bins, clipped } = counts;
        let (inside, bins) = (bins.iter().sum::<u64>(), bins.len());
        let mut counts = format!("{rows} rows; {inside} records in the bins, {outside} outside");
        if let Some(most) = self.most() {
            counts += &format!("; {clipped} rows had more than {most} records each and were clipped");
        }
        HeldDescription {
            private: HeldFacts {
                rows: *rows,
                records: Some(inside),
                outside: Some(*outside),
                clipped: self.most().map(|_| *clipped),
                classes: None,
                not_private: NotPrivate::default(),
            },
            counts,
            public: PublicFacts { bins: Some(bins), ..PublicFacts::default() },
            text: format!("{bins} bins"),
        }
    }

    fn guaranteed(&self, privacy: &PrivacySetting, _: &Counts) -> Result<Guaranteed, TaskError> {
        let CountsGuarantee { certificate, record, .. } = self.model.guarantee(privacy);
        Ok(Guaranteed { certificate, noise: record })
    }

    /// In the order of the bins: the last input varies fastest. Neither the number of rows nor that of records outside
    /// all bins is there: both are private, and nothing is spent on them.
    fn noisy(
        &self,
        setting: &Setting,
        privacy: &PrivacySetting,
        counts: &Counts,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let guarantee = self.model.guarantee(privacy);
        let noisy = guarantee.release(&counts.bins, noise)?;
        let data = &setting.data;
        let mut histogram = json!({
            "inputs": data.inputs, "records": data.target, "filter": data.filter, "bins": self.bins,
        });
        if !data.encode.is_empty() {
            histogram["encode"] = json!(data.encode);
        }
        Ok(json!({
            "histogram": histogram,
            "counts": noisy,
            "sd": guarantee.sd,
        }))
    }
}
