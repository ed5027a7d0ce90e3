//! What `dpgp stats --release` writes for a classification.

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::stats_release::{Drawn, ensure_random, rows, sums_json};
use crate::gp::variational::{Statistics, WeightPosterior};
use crate::setting::PrivacySetting;
use crate::stream::{ClassSums, Sums};
use crate::task::ClassModel;
use crate::task::{Setting, TaskSetting};

/// The sums of each class with noise from the operating system, and the posterior of the latent function of each class
/// that follows from them. All but the public settings is computed from the noisy sums alone; not even numbers of rows
/// are there, for those of the classes are private.
///
/// # Errors
/// [`CliError`] for a matrix that cannot be inverted, and for a system without randomness.
pub(super) fn draw(
    setting: &Setting,
    privacy: &PrivacySetting,
    model: &ClassModel,
    sums: &ClassSums,
) -> Result<Drawn, CliError> {
    ensure_random()?;
    let statistics: Vec<Statistics> = sums.0.iter().map(Sums::statistics).collect();
    let (noisy, guarantee) = model.release(&statistics, privacy, &mut UnwrapErr(SysRng));
    let inducing = model.inducing()?;
    let posteriors = model.posteriors(&inducing, &noisy)?;
    let value = json!({
        "model": public(setting, model),
        "sums": noisy.iter().map(sums_json).collect::<Vec<Value>>(),
        "weights": posteriors.iter().map(weights).collect::<Vec<Value>>(),
    });
    Ok(Drawn { certificate: guarantee.certificate, mu: guarantee.mu, value })
}

/// What the spec says, all of it public.
fn public(setting: &Setting, model: &ClassModel) -> Value {
    let mut public = json!({
        "inputs": setting.data.inputs, "target": setting.data.target, "filter": setting.data.filter,
        "kernel": setting.model.as_ref().map(|model| &model.kernel),
        "inducing": rows(&model.points()),
    });
    if let TaskSetting::Dirichlet(task) = &*setting.task {
        public["classes"] = json!(task.classes);
        public["alpha"] = json!(task.alpha);
    }
    public
}

fn weights(posterior: &WeightPosterior) -> Value {
    json!({ "mean": posterior.mean.as_slice(), "covariance": rows(&posterior.covariance) })
}
