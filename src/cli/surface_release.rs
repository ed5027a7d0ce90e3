//! What `dpgp stats --release` writes.

use std::path::Path;

use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::ledger::NextRelease;
use super::output::write_file;
use crate::gp::variational::{NoisyStatistics, WeightPosterior};
use crate::publish::composed;
use crate::run::ledger::Account;
use crate::spec::{Experiment, PrivacySetting, Setting};
use crate::stream::Sums;
use crate::task::{SumsGuarantee, SurfaceModel};

/// What the noise cannot promise.
const CAUTION: &str = "The noise is drawn in 64-bit floating point from the operating system's randomness. The guarantee \
    is that of exact arithmetic, and of this one release: each further one adds to what is spent.";

/// Sums with noise from the operating system, and the posterior that follows from them. All but the public settings is
/// computed from the noisy sums alone.
pub(super) struct SurfaceRelease<'a> {
    experiment: &'a Experiment,
    setting: &'a Setting,
    privacy: &'a PrivacySetting,
    guarantee: SumsGuarantee,
    /// All of the file but what the ledger says.
    value: Value,
}

impl<'a> SurfaceRelease<'a> {
    /// Draws the noise.
    ///
    /// # Errors
    /// [`CliError`] for a matrix that cannot be inverted, and for a system without randomness.
    pub fn draw(
        (experiment, setting): (&'a Experiment, &'a Setting),
        privacy: &'a PrivacySetting,
        model: &SurfaceModel,
        sums: &Sums,
    ) -> Result<Self, CliError> {
        // A system without randomness says so here, not in the middle of a draw.
        SysRng.try_next_u64().map_err(|cause| CliError::Randomness { cause: cause.to_string() })?;
        let (noisy, guarantee) = model.release(&sums.statistics(), privacy, &mut UnwrapErr(SysRng))?;
        let inducing = model.inducing()?;
        let posterior = model.posterior(&inducing, &noisy)?;
        let value = json!({
            "guarantee": guarantee_json(&guarantee),
            "caution": CAUTION,
            // How many pass a filter depends on private records.
            "rows": setting.data.filter.is_empty().then_some(sums.rows),
            "model": {
                "inputs": setting.data.inputs, "target": setting.data.target, "normalise": *setting.normalise,
                "kernel": setting.model.as_ref().map(|model| &model.kernel),
                "noise_variance": setting.model.as_ref().map(|model| model.noise()),
                "inducing": rows(&model.points()),
            },
            "sums": sums_json(&noisy),
            "weights": { "mean": posterior.mean.as_slice(), "covariance": rows(&posterior.covariance) },
            "surface": surface(model, &inducing.locate(&model.map()), &posterior),
        });
        Ok(Self { experiment, setting, privacy, guarantee, value })
    }

    /// As a ledger counts it.
    pub fn next(&self) -> NextRelease<'_> {
        NextRelease {
            experiment: self.experiment,
            setting: self.setting,
            privacy: self.privacy,
            certificate: &self.guarantee.certificate,
            mu: self.guarantee.mu,
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`CliError::Io`] if it cannot be written.
    pub fn write(mut self, path: &Path, account: Option<&Account>) -> Result<(), CliError> {
        self.value["all_releases"] = json!(account.map(composed));
        write_file(path, &format!("{:#}\n", self.value))
    }
}

fn guarantee_json(SumsGuarantee { certificate, mu, .. }: &SumsGuarantee) -> Value {
    json!({
        "text": certificate.to_string(), "epsilon": certificate.epsilon, "delta": certificate.delta,
        "delta_exact": certificate.delta_exact, "mu": mu,
    })
}

fn sums_json(noisy: &NoisyStatistics) -> Value {
    json!({ "a": noisy.a.as_slice(), "b": rows(&noisy.b), "sd_a": noisy.sd_a, "sd_b": noisy.sd_b })
}

fn rows(matrix: &nalgebra::DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

/// The surface on the grid of the spec, in units of the target; empty without a grid.
fn surface(
    model: &SurfaceModel,
    located: &crate::gp::variational::Located,
    posterior: &WeightPosterior,
) -> Vec<Value> {
    let (map, prediction) = (model.map(), posterior.predict(located));
    let point = |i: usize| {
        let at: Vec<f64> = map.row(i).iter().copied().collect();
        let (mean, sd) = (model.in_units(prediction.mean[i]), model.scale() * prediction.variance[i].sqrt());
        json!({ "at": at, "mean": mean, "sd": sd })
    };
    (0..map.nrows()).map(point).collect()
}
