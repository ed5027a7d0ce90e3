//! The identity of what `dpgp stats` sums.

use serde_json::{Value, json};

use crate::setting::MechanismSetting;
use crate::spec::Identity;
use crate::task::{Setting, TaskSetting};

/// The identity of what is summed: all of the setting that the sums depend on.
pub(super) fn summand(setting: &Setting) -> String {
    let data = &setting.data;
    let mut all = json!({ "inputs": data.inputs, "target": data.target, "filter": data.filter });
    let kernel = setting.model.as_deref().map(|model| &model.kernel);
    match &*setting.task {
        TaskSetting::Surface(task) => {
            all["kernel"] = json!(kernel);
            all["normalise"] = json!(*setting.normalise);
            all["inducing"] = json!(task.inducing);
            all["bound"] = bound(setting);
        }
        TaskSetting::Dirichlet(task) => {
            all["kernel"] = json!(kernel);
            all["inducing"] = json!(task.inducing);
            all["classes"] = json!(task.classes);
            all["release"] = json!(task.release);
        }
        TaskSetting::Density(task) => all["bins"] = json!(task.bins),
        _ => {}
    }
    Identity::of(&all.to_string()).to_string()
}

/// The public bound on targets.
fn bound(setting: &Setting) -> Value {
    match &setting.privacy.mechanism {
        MechanismSetting::Sums(sums) => json!(sums.target_bound),
        _ => Value::Null,
    }
}
