//! What `dpgp stats --release` writes for a surface.

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::stats_release::{Drawn, ensure_random, rows, sums_json};
use crate::gp::variational::WeightPosterior;
use crate::setting::PrivacySetting;
use crate::stream::Sums;
use crate::task::Setting;
use crate::task::SurfaceModel;

/// The sums with noise from the operating system, and the posterior that follows from them. All but the public settings
/// is computed from the noisy sums alone.
///
/// # Errors
/// [`CliError`] for a matrix that cannot be inverted, and for a system without randomness.
pub(super) fn draw(
    setting: &Setting,
    privacy: &PrivacySetting,
    model: &SurfaceModel,
    sums: &Sums,
) -> Result<Drawn, CliError> {
    ensure_random()?;
    let (noisy, guarantee) = model.release(&sums.statistics(), privacy, &mut UnwrapErr(SysRng));
    let inducing = model.inducing()?;
    let posterior = model.posterior(&inducing, &noisy)?;
    let value = json!({
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
    Ok(Drawn { certificate: guarantee.certificate, mu: guarantee.mu, value })
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
