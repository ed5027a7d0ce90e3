//! The sums of a surface or of each class of a classification, and the posteriors from their noisy versions.

use rand::Rng;
use serde_json::{Value, json};

use super::draw::ReleaseGuarantee;
use super::sums_model::{
    DataHolderDescription, NoisyNumber, PrivateFacts, PublicFacts, SumsReleaseMethod, flatten_exact_sums,
    list_elements, matrix_rows, sums_json,
};
use dpgp_gp::variational::{CovariancesWithConditionalVariances, WeightPosterior};
use dpgp_mechanisms::{PrivacySetting, SumsSetting};
use dpgp_stream::{CORRELATION_BITS, ClassSummand, ClassSums, KernelSummand, KernelSums};
use dpgp_task::{CellSetting, CertifiedSumsNoise, DirichletModel, SurfaceModel, TaskError};

/// Model whose released sums are those of a sparse Gaussian process, with the surface that follows from them.
#[derive(Debug, Clone)]
pub struct SparseGpReleaseMethod {
    model: SurfaceModel,
}

impl SparseGpReleaseMethod {
    /// The model of a cell. `None` if the cell has another task or model.
    pub(super) fn from_setting(setting: &CellSetting) -> Option<Self> {
        Some(Self { model: SurfaceModel::new(setting)? })
    }

    /// The surface on the grid of the spec, in units of the target; empty without a grid.
    fn surface_json(&self, located: &CovariancesWithConditionalVariances, posterior: &WeightPosterior) -> Vec<Value> {
        let (map, prediction) = (self.model.figure_points(), posterior.predict(located));
        let mut points = Vec::with_capacity(map.nrows());
        for (i, point) in map.row_iter().enumerate() {
            let at: Vec<f64> = point.iter().copied().collect();
            let mean = self.model.to_target_units(prediction.mean[i]);
            let sd = self.model.target_scale() * prediction.variance[i].sqrt();
            points.push(json!({ "at": at, "mean": mean, "sd": sd }));
        }
        points
    }
}

impl SumsReleaseMethod for SparseGpReleaseMethod {
    type Rows = KernelSummand;

    fn summand(&self) -> &KernelSummand {
        self.model.summand()
    }

    const NOISY: &'static [&'static str] = &["sums", "weights", "surface"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        NoisyNumber::from_sums_json(&file["sums"])
    }

    fn exact_numbers(&self, _: &PrivacySetting, sums: &KernelSums) -> Result<Vec<f64>, TaskError> {
        Ok(flatten_exact_sums(sums, self.summand().units()))
    }

    /// Opposite targets at the same place are the furthest apart; the other ends of the inputs and places without any
    /// correlation are tried, too.
    fn extreme_replacements(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let inputs = self.summand().inputs;
        let mut records = Vec::new();
        for place in [0.0, 1e3, 1e300] {
            for target in [-f64::MAX, f64::MAX] {
                let mut other = record.to_vec();
                // Zero keeps the place; a filter may let the others go.
                other[..inputs].iter_mut().for_each(|x| *x += place);
                other[inputs] = target;
                records.push(other);
            }
        }
        records
    }

    fn settings_of_sums(&self, setting: &CellSetting) -> Value {
        let bound = setting.privacy.mechanism.downcast::<SumsSetting>().and_then(|sums| sums.target_bound);
        json!({
            "kernel": setting.model.as_deref().map(|model| &model.kernel), "normalise": *setting.normalise,
            "inducing": self.model.task().inducing, "bound": bound, "correlation_bits": CORRELATION_BITS,
        })
    }

    fn describe_sums(&self, sums: &KernelSums) -> DataHolderDescription {
        let (rows, clipped, m) = (sums.rows, sums.clipped, sums.a.len());
        DataHolderDescription {
            private: PrivateFacts { rows, clipped: Some(clipped), ..PrivateFacts::default() },
            counts: format!("{rows} rows, {clipped} of them clipped"),
            public: PublicFacts { inducing_inputs: Some(m), ..PublicFacts::default() },
            text: format!("{m} inducing inputs"),
        }
    }

    fn release_guarantee(&self, privacy: &PrivacySetting, _: &KernelSums) -> Result<ReleaseGuarantee, TaskError> {
        let CertifiedSumsNoise { certificate, record, .. } = self.model.certified_noise(privacy);
        Ok(ReleaseGuarantee { certificate, noise: record })
    }

    fn draw_release(
        &self,
        setting: &CellSetting,
        privacy: &PrivacySetting,
        sums: &KernelSums,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let model = &self.model;
        let draw_release = model.release(sums, privacy, noise)?;
        let inducing = model.factorise_inducing()?;
        let posterior = model.posterior(&inducing, &draw_release)?;
        Ok(json!({
            "rows": setting.data.keeps_all_rows().then_some(sums.rows),
            "model": {
                "inputs": setting.data.inputs, "target": setting.data.target, "normalise": *setting.normalise,
                "kernel": setting.model.as_ref().map(|model| &model.kernel),
                "noise_variance": setting.model.as_ref().and_then(|model| model.noise_variance),
                "inducing": matrix_rows(&model.inducing_inputs()),
            },
            "sums": sums_json(&draw_release, self.summand().units()),
            "weights": { "mean": posterior.mean.as_slice(), "covariance": matrix_rows(&posterior.covariance) },
            "surface": self.surface_json(&inducing.covariances_with_conditional_variances(&model.figure_points()), &posterior),
        }))
    }
}

/// Model whose released sums are those of a sparse Dirichlet classifier, one set for each class.
#[derive(Debug, Clone)]
pub struct ClassReleaseMethod {
    model: DirichletModel,
    rows: ClassSummand,
}

impl ClassReleaseMethod {
    /// None if the model releases weighted sums, which are not sums over the rows of each class.
    pub(super) fn new(model: DirichletModel, setting: &CellSetting) -> Option<Self> {
        let rows = model.summand(&setting.data)?;
        Some(Self { model, rows })
    }
}

impl SumsReleaseMethod for ClassReleaseMethod {
    type Rows = ClassSummand;

    fn summand(&self) -> &ClassSummand {
        &self.rows
    }

    const NOISY: &'static [&'static str] = &["sums", "weights"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        list_elements(&file["sums"]).flat_map(NoisyNumber::from_sums_json).collect()
    }

    fn exact_numbers(&self, _: &PrivacySetting, sums: &ClassSums) -> Result<Vec<f64>, TaskError> {
        Ok(sums.0.iter().flat_map(|sums| flatten_exact_sums(sums, self.rows.units())).collect())
    }

    /// Every class, at the same place and at one without any correlation.
    fn extreme_replacements(&self, record: &[f64]) -> Vec<Vec<f64>> {
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

    fn settings_of_sums(&self, setting: &CellSetting) -> Value {
        let task = self.model.task();
        json!({
            "kernel": setting.model.as_deref().map(|model| &model.kernel), "inducing": task.inducing,
            "classes": task.classes, "release": task.release, "correlation_bits": CORRELATION_BITS,
        })
    }

    fn describe_sums(&self, sums: &ClassSums) -> DataHolderDescription {
        let of_class: Vec<u64> = sums.0.iter().map(|sums| sums.rows).collect();
        let (rows, m) = (of_class.iter().sum::<u64>(), self.rows.kernel.inducing_count());
        let list = of_class.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        DataHolderDescription {
            private: PrivateFacts { rows, classes: Some(of_class), ..PrivateFacts::default() },
            counts: format!("{rows} rows (by class: {list})"),
            public: PublicFacts { inducing_inputs: Some(m), ..PublicFacts::default() },
            text: format!("{m} inducing inputs"),
        }
    }

    fn release_guarantee(&self, privacy: &PrivacySetting, _: &ClassSums) -> Result<ReleaseGuarantee, TaskError> {
        let CertifiedSumsNoise { certificate, record, .. } = self.model.guarantee(privacy);
        Ok(ReleaseGuarantee { certificate, noise: record })
    }

    /// Not even numbers of rows are there, for those of the classes are private.
    fn draw_release(
        &self,
        setting: &CellSetting,
        privacy: &PrivacySetting,
        sums: &ClassSums,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let (model, task) = (&self.model, self.model.task());
        let draw_release = model.release(sums, self.rows.units(), privacy, noise)?;
        let inducing = model.factorise_inducing()?;
        let mut weights = Vec::new();
        for posterior in model.posteriors(&inducing, &draw_release)? {
            let covariance = matrix_rows(&posterior.covariance);
            weights.push(json!({ "mean": posterior.mean.as_slice(), "covariance": covariance }));
        }
        Ok(json!({
            "model": {
                "inputs": setting.data.inputs, "encode": setting.data.encode, "target": setting.data.target,
                "filter": setting.data.filter, "kernel": setting.model.as_ref().map(|model| &model.kernel),
                "inducing": matrix_rows(&model.inducing_inputs()), "classes": task.classes, "alpha": task.alpha,
            },
            "sums": draw_release.iter().map(|sums| sums_json(sums, self.rows.units())).collect::<Vec<Value>>(),
            "weights": weights,
        }))
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::AnyPlannedSumsRelease;
    use dpgp_run::{DataLocations, Project};

    /// At the first of three inducing inputs, and where nothing correlates.
    const SPEC: &str = r#"experiment.title = "sums"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 2.0, high = 12.0, scale = 4.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.25, lengthscale = 1.0 } }
task.surface = { inducing = [{ from = 0.0, to = 20.0, points = 3 }], posterior = { regularisation = "tight", correction = "first-order" }, map = [{ from = 0.0, to = 1000.0, points = 2 }] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.5, features = { supremum = [[0.0, 20.0]] }, sensitivity = "exact", split = 0.3 } }
"#;

    fn with_model(test: fn(&SparseGpReleaseMethod, &CellSetting)) {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("sums", SPEC).unwrap();
        let AnyPlannedSumsRelease::Surface(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
        else {
            panic!("a surface")
        };
        test(streamed.method(), streamed.setting());
    }

    /// Features are 1/4 at the first inducing input and nearly nothing at the others. A weight of 8 there is a mean of 2, in units 7 + 4
    /// times 2; with variance 16 of each weight the function has variance 1, in units a standard deviation of 4. Far away there is the
    /// prior alone: 7, and 4 times 1/2.
    #[test]
    fn the_surface_is_in_units_of_the_target() {
        with_model(|release, _| {
            let inducing = release.model.factorise_inducing().unwrap();
            let posterior = WeightPosterior {
                mean: DVector::from_column_slice(&[8.0, 0.0, 0.0]),
                covariance: 16.0 * DMatrix::identity(3, 3),
                jitter: 0.0,
            };
            let surface = release.surface_json(
                &inducing.covariances_with_conditional_variances(&release.model.figure_points()),
                &posterior,
            );
            for (point, expected) in surface.iter().zip([[0.0, 15.0, 4.0], [1000.0, 7.0, 2.0]]) {
                let found = [&point["at"][0], &point["mean"], &point["sd"]].map(|x| x.as_f64().unwrap());
                let apart = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-6, "{point} {expected:?}");
            }
            assert_eq!(surface.len(), 2);
        });
    }

    #[test]
    fn sums_depend_on_the_bound() {
        with_model(|release, setting| {
            let depends = release.settings_of_sums(setting);
            assert_eq!((&depends["bound"], &depends["normalise"]["bounds"]["high"]), (&json!(1.5), &json!(12.0)));
            assert!(depends["kernel"].is_object() && depends["inducing"].is_array());
        });
    }
}
