//! The sums of each class of a classification, and the posteriors from noisy ones.

use rand::Rng;
use serde_json::{Value, json};

use super::described_sums::{HeldDescription, HeldFacts, PublicFacts};
use super::draw::Guaranteed;
use super::sums_file::sums_json;
use super::sums_model::{NoisyNumber, SumsModel, exact_sums, list, matrix_rows};
use dpgp_mechanisms::PrivacySetting;
use dpgp_stream::{ClassSummand, ClassSums};
use dpgp_task::{ClassModel, Setting, SumsGuarantee, TaskError};

/// A classifier from sums over the rows of each class.
#[derive(Debug, Clone)]
pub struct ClassSumsRelease {
    model: ClassModel,
    rows: ClassSummand,
}

impl ClassSumsRelease {
    /// None if the model releases weighted sums, which are not sums over the rows of each class.
    pub(super) fn new(model: ClassModel, setting: &Setting) -> Option<Self> {
        let rows = model.summand(&setting.data)?;
        Some(Self { model, rows })
    }
}

impl SumsModel for ClassSumsRelease {
    type Rows = ClassSummand;

    fn rows(&self) -> &ClassSummand {
        &self.rows
    }

    const NOISY: &'static [&'static str] = &["sums", "weights"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        list(&file["sums"]).flat_map(NoisyNumber::of_sums).collect()
    }

    fn exact_numbers(&self, _: &PrivacySetting, sums: &ClassSums) -> Result<Vec<f64>, TaskError> {
        Ok(sums.0.iter().flat_map(|sums| exact_sums(sums, self.rows.units())).collect())
    }

    /// Every class, at the same place and at one without any correlation.
    fn replaced(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let inputs = self.rows.inputs;
        let mut records = Vec::new();
        for place in [0.0, 1e300] {
            for class in 0..self.rows.classes {
                let mut other = record.to_vec();
                other[..inputs].iter_mut().for_each(|x| *x += place);
                other[inputs] = class as f64;
                records.push(other);
            }
        }
        records
    }

    fn depends_on(&self, setting: &Setting) -> Value {
        let task = self.model.task();
        json!({
            "kernel": setting.model.as_deref().map(|model| &model.kernel), "inducing": task.inducing,
            "classes": task.classes, "release": task.release,
        })
    }

    fn described(&self, sums: &ClassSums) -> HeldDescription {
        let of_class: Vec<u64> = sums.0.iter().map(|sums| sums.rows).collect();
        let (rows, m) = (of_class.iter().sum::<u64>(), self.rows.kernel.size());
        let list = of_class.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        HeldDescription {
            private: HeldFacts { rows, classes: Some(of_class), ..HeldFacts::default() },
            counts: format!("{rows} rows, by class {list}"),
            public: PublicFacts { inducing_inputs: Some(m), ..PublicFacts::default() },
            text: format!("{m} inducing inputs"),
        }
    }

    fn guaranteed(&self, privacy: &PrivacySetting, _: &ClassSums) -> Result<Guaranteed, TaskError> {
        let SumsGuarantee { certificate, record, .. } = self.model.guarantee(privacy);
        Ok(Guaranteed { certificate, noise: record })
    }

    /// Not even numbers of rows are there, for those of the classes are private.
    fn noisy(
        &self,
        setting: &Setting,
        privacy: &PrivacySetting,
        sums: &ClassSums,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let (model, task) = (&self.model, self.model.task());
        let noisy = model.release(sums, self.rows.units(), privacy, noise)?;
        let inducing = model.inducing()?;
        let mut weights = Vec::new();
        for posterior in model.posteriors(&inducing, &noisy)? {
            let covariance = matrix_rows(&posterior.covariance);
            weights.push(json!({ "mean": posterior.mean.as_slice(), "covariance": covariance }));
        }
        Ok(json!({
            "model": {
                "inputs": setting.data.inputs, "target": setting.data.target, "filter": setting.data.filter,
                "kernel": setting.model.as_ref().map(|model| &model.kernel),
                "inducing": matrix_rows(&model.points()), "classes": task.classes, "alpha": task.alpha,
            },
            "sums": noisy.iter().map(|sums| sums_json(sums, self.rows.units())).collect::<Vec<Value>>(),
            "weights": weights,
        }))
    }
}
