//! What `dpgp stats --release` writes for a histogram.

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::CliError;
use super::stats_release::{Drawn, ensure_random};
use crate::setting::PrivacySetting;
use crate::stream::Counts;
use crate::task::HistogramModel;
use crate::task::{Setting, TaskSetting};

/// The counts with noise from the operating system, in the order of the bins: the last input varies fastest. Neither the
/// number of rows nor that of records outside all bins is there: both are private, and nothing is spent on them.
///
/// # Errors
/// [`CliError`] for a system without randomness.
pub(super) fn draw(
    setting: &Setting,
    privacy: &PrivacySetting,
    model: &HistogramModel,
    counts: &Counts,
) -> Result<Drawn, CliError> {
    ensure_random()?;
    let guarantee = model.guarantee(privacy);
    let exact: Vec<f64> = counts.bins.iter().map(|count| *count as f64).collect();
    let noisy = guarantee.release(&exact, &mut UnwrapErr(SysRng));
    let value = json!({ "histogram": public(setting), "counts": noisy, "sd": guarantee.sd });
    Ok(Drawn { certificate: guarantee.certificate, mu: guarantee.mu, value })
}

/// What the spec says, all of it public.
fn public(setting: &Setting) -> Value {
    let data = &setting.data;
    let bins = match &*setting.task {
        TaskSetting::Density(task) => json!(task.bins),
        _ => Value::Null,
    };
    json!({ "inputs": data.inputs, "records": data.target, "filter": data.filter, "bins": bins })
}
