//! The rows behind noisy Fourier moments, and the surface from noisy ones.

use nalgebra::DMatrix;
use rand::Rng;
use serde_json::{Value, json};

use super::certificate_file::INTERVALS;
use super::draw::ReleaseGuarantee;
use super::sums_model::{DataHolderDescription, PrivateFacts, PublicFacts};
use super::sums_model::{NoisyNumber, SumsReleaseMethod, list_elements, number_or_infinity};
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::{CertifiedMomentsNoise, MomentsModel, SurfacePrediction};
use dpgp_stream::{LatticeSummand, LatticeSums};
use dpgp_task::{CellSetting, TaskError, TaskSetting};

/// Model whose released sums are moments of the rows (waves or nested cells), with the surface that follows from them.
#[derive(Debug, Clone)]
pub struct MomentsReleaseMethod {
    model: MomentsModel,
    /// The points of the spec's map (t x d); none without one.
    map: DMatrix<f64>,
}

impl MomentsReleaseMethod {
    /// The model of a cell. `None` if the cell has another task or mechanism.
    pub(super) fn from_setting(setting: &CellSetting) -> Option<Self> {
        let TaskSetting::Surface(task) = &*setting.task else { return None };
        Some(Self { model: MomentsModel::new(setting)?, map: task.figure_points() })
    }

    /// The surface on the grid of the spec, in units of the target.
    fn surface_json(&self, prediction: &SurfacePrediction) -> Vec<Value> {
        let mut points = Vec::with_capacity(self.map.nrows());
        for (i, point) in self.map.row_iter().enumerate() {
            let at: Vec<f64> = point.iter().copied().collect();
            let sd = prediction.model_sd[i].hypot(prediction.noise_sd[i]);
            points.push(json!({ "at": at, "mean": prediction.mean[i], "sd": sd }));
        }
        points
    }
}

impl SumsReleaseMethod for MomentsReleaseMethod {
    type Rows = LatticeSummand;

    fn summand(&self) -> &LatticeSummand {
        self.model.summand()
    }

    fn without_postprocessing(&self) -> Self {
        Self { map: DMatrix::zeros(0, self.map.ncols()), ..self.clone() }
    }

    const NOISY: &'static [&'static str] = &["moments", "surface"];

    fn noisy_numbers(&self, file: &Value) -> Vec<NoisyNumber> {
        let moments = &file["moments"];
        let mut found = Vec::new();
        for level in list_elements(&moments["levels"]) {
            for (numbers, sd) in [("sums", "sums_sd"), ("counts", "counts_sd")] {
                let sd = number_or_infinity(&level[sd]);
                found.extend(list_elements(&level[numbers]).map(|n| NoisyNumber::new(number_or_infinity(n), sd)));
            }
        }
        for (numbers, sds) in [("weighted", "weighted_sd"), ("plain", "plain_sd")] {
            let pairs = list_elements(&moments[numbers]).zip(list_elements(&moments[sds]));
            found.extend(pairs.map(|(n, sd)| NoisyNumber::new(number_or_infinity(n), number_or_infinity(sd))));
        }
        // A model needs a row, so that no fewer are released.
        for (number_of, sd_of, least) in [("squares", "squares_sd", f64::NEG_INFINITY), ("rows", "rows_sd", 1.0)] {
            let (of, sd) = (number_or_infinity(&moments[number_of]), number_or_infinity(&moments[sd_of]));
            // A number of rows without noise is public.
            found.extend((sd > 0.0).then_some(NoisyNumber { number: of, sd, least }));
        }
        found
    }

    fn exact_numbers(&self, privacy: &PrivacySetting, sums: &LatticeSums) -> Result<Vec<f64>, TaskError> {
        Ok(self.model.exact_moments(sums, privacy)?)
    }

    /// Opposite targets at the same place are the furthest apart for most frequencies; other places move the plain sums.
    fn extreme_replacements(&self, record: &[f64]) -> Vec<Vec<f64>> {
        let domain = &self.model.mechanism().domain;
        let mut records = Vec::new();
        for part in [0.0, 0.25, 0.5, 1.0] {
            for target in [-f64::MAX, f64::MAX] {
                let mut other = record.to_vec();
                other.iter_mut().zip(domain).for_each(|(x, [low, high])| *x += part * (high - low));
                other[domain.len()] = target;
                records.push(other);
            }
        }
        records
    }

    fn settings_of_sums(&self, setting: &CellSetting) -> Value {
        let mechanism = self.model.mechanism();
        json!({
            "normalise": *setting.normalise, "domain": mechanism.domain, "bound": mechanism.target_bound,
            "cells": self.summand().lattice.cells_per_side(),
        })
    }

    fn describe_sums(&self, sums: &LatticeSums) -> DataHolderDescription {
        let (rows, clipped, lattice) = (sums.rows, sums.clipped, self.summand().lattice);
        let cells = lattice.len();
        let of_box = match lattice.can_keep_all_cells() {
            true => format!("{cells} cells of the box"),
            false => format!("cells of the box, {} along each input", lattice.cells_per_side()),
        };
        DataHolderDescription {
            private: PrivateFacts { rows, clipped: Some(clipped), ..PrivateFacts::default() },
            counts: format!("{rows} rows, {clipped} of them clipped"),
            public: PublicFacts { cells: Some(cells), ..PublicFacts::default() },
            text: format!("{of_box}; moments of any frequency can be computed from them"),
        }
    }

    fn release_guarantee(&self, privacy: &PrivacySetting, sums: &LatticeSums) -> Result<ReleaseGuarantee, TaskError> {
        let CertifiedMomentsNoise { certificate, record, .. } = self.model.certified_noise(sums, privacy)?;
        Ok(ReleaseGuarantee { certificate, noise: record })
    }

    fn draw_release(
        &self,
        setting: &CellSetting,
        privacy: &PrivacySetting,
        sums: &LatticeSums,
        noise: &mut impl Rng,
    ) -> Result<Value, TaskError> {
        let model = &self.model;
        let released = model.release(sums, privacy, noise)?;
        let surface = match self.map.nrows() {
            0 => Vec::new(),
            _ => self.surface_json(&model.predict(&model.posterior(&released)?, &self.map)?),
        };
        Ok(json!({
            "model": {
                "inputs": setting.data.inputs, "encode": setting.data.encode, "target": setting.data.target,
                "normalise": *setting.normalise,
                "kernel": setting.model.as_ref().map(|model| &model.kernel),
                "noise_variance": setting.model.as_ref().and_then(|model| model.noise_variance),
                "mechanism": model.mechanism(),
            },
            "moments": released,
            "surface": surface,
            "intervals": INTERVALS,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyPlannedSumsRelease;
    use dpgp_run::{DataLocations, Project};

    const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 2 }] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.5, domain = [[0.0, 4.0]] } }
"#;

    fn with_model(test: fn(&MomentsReleaseMethod, &CellSetting)) {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("moments", SPEC).unwrap();
        let AnyPlannedSumsRelease::Moments(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
        else {
            panic!("moments")
        };
        test(streamed.method(), streamed.setting());
    }

    /// Of model and noise together, 3 and 4 make 5.
    #[test]
    fn the_surface_has_both_standard_deviations() {
        with_model(|release, _| {
            let prediction =
                SurfacePrediction { mean: vec![1.0, 2.0], model_sd: vec![3.0, 5.0], noise_sd: vec![4.0, 12.0] };
            let expected =
                [json!({ "at": [0.5], "mean": 1.0, "sd": 5.0 }), json!({ "at": [3.5], "mean": 2.0, "sd": 13.0 })];
            assert_eq!(release.surface_json(&prediction), expected);
        });
    }

    /// A number of rows with noise is one of the noisy numbers, a public one is not.
    #[test]
    fn noisy_numbers_are_those_with_noise() {
        let file = |rows_sd: f64| {
            json!({ "moments": {
                "weighted": [1.0, 2.0], "weighted_sd": [0.1, 0.2], "plain": [3.0], "plain_sd": [0.3],
                "squares": 4.0, "squares_sd": 0.4, "rows": 5.0, "rows_sd": rows_sd,
            } })
        };
        with_numbers(&file(0.5), &[(1.0, 0.1), (2.0, 0.2), (3.0, 0.3), (4.0, 0.4), (5.0, 0.5)]);
        with_numbers(&file(0.0), &[(1.0, 0.1), (2.0, 0.2), (3.0, 0.3), (4.0, 0.4)]);
    }

    fn with_numbers(file: &Value, expected: &[(f64, f64)]) {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("moments", SPEC).unwrap();
        let release = MomentsReleaseMethod::from_setting(experiment.cells[0].setting()).unwrap();
        let found = release.noisy_numbers(file).into_iter().map(|noisy| (noisy.number, noisy.sd));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn moments_depend_on_box_and_bound() {
        with_model(|release, setting| {
            let depends = release.settings_of_sums(setting);
            assert_eq!((&depends["bound"], &depends["domain"]), (&json!(1.5), &json!([[0.0, 4.0]])));
            assert!(depends["cells"].as_u64().is_some_and(|cells| cells > 1));
            assert_eq!(depends["normalise"]["bounds"]["high"], 10.0);
            assert!(release.neighbour_may_lack_whole_row());
        });
    }
}
