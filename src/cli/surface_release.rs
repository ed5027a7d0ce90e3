//! What `dpgp stats --release` writes.

use std::path::Path;

use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::output::write_file;
use crate::gp::variational::{NoisyStatistics, WeightPosterior};
use crate::privacy::Certificate;
use crate::spec::{PrivacySetting, Setting};
use crate::stream::Sums;
use crate::task::SurfaceModel;

/// What the noise cannot promise.
const CAUTION: &str = "The noise is drawn in 64-bit floating point from the operating system's randomness. The guarantee \
    is that of exact arithmetic, and of this one release: each further one adds to what is spent.";

/// Writes the sums with noise from the operating system, and the posterior that follows from them. All but the public
/// settings is computed from the noisy sums alone.
///
/// # Errors
/// [`CliError`] for an infinite epsilon, a matrix that cannot be inverted, or a file that cannot be written.
pub(super) fn release(
    path: &Path,
    (setting, epsilon): (&Setting, Option<f64>),
    model: &SurfaceModel,
    sums: &Sums,
) -> Result<(), CliError> {
    let privacy =
        PrivacySetting { epsilon: epsilon.unwrap_or(setting.privacy.epsilon), ..(*setting.privacy).clone() };
    if !(privacy.epsilon > 0.0 && privacy.epsilon.is_finite()) {
        return Err(CliError::NoGuarantee);
    }
    // A system without randomness says so here, not in the middle of a draw.
    SysRng.try_next_u64().map_err(|error| CliError::Io {
        path: "the randomness of the operating system".into(),
        cause: std::io::Error::other(error.to_string()),
    })?;
    let (noisy, certificate) = model.release(&sums.statistics(), &privacy, &mut UnwrapErr(SysRng))?;
    let inducing = model.inducing()?;
    let posterior = model.posterior(&inducing, &noisy)?;
    let value = json!({
        "guarantee": guarantee(&certificate),
        "caution": CAUTION,
        "rows": sums.rows,
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
    write_file(path, &format!("{value:#}\n"))
}

fn guarantee(certificate: &Certificate) -> Value {
    json!({
        "text": certificate.to_string(), "epsilon": certificate.epsilon, "delta": certificate.delta,
        "delta_exact": certificate.delta_exact,
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
