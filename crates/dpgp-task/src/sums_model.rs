//! What tasks on noisy sums need of a spec: a kernel that the bounds on features hold for, inducing inputs, and the
//! mechanism.

use dpgp_mechanisms::{Sections, Summed, SumsSetting};
use dpgp_spec::setting::rules::{check_grid, range};
use dpgp_spec::setting::{Checked, Fault, ModelSetting, Problem, RangeSetting};

/// The model, whose kernel is one that the bounds on features hold for.
pub(super) fn model<'a>(path: &str, setting: &'a Sections) -> Result<&'a ModelSetting, Fault> {
    let model = setting.model(path)?;
    if model.exponentiated_quadratic().is_none() {
        let why = "this task needs the kernel `eq`".to_owned();
        return Err(Fault::new("model.kernel", Problem::Shape(why)));
    }
    Ok(model)
}

/// The most inducing inputs.
const MOST_INDUCING: usize = 1000;

/// Checks the inducing inputs of the task at a path.
pub(super) fn inducing(path: &str, ranges: &[RangeSetting], setting: &Sections) -> Checked {
    let path = format!("{path}.inducing");
    check_grid(&path, ranges, setting.data.dimensions())?;
    let total: usize = ranges.iter().map(|range| range.points).product();
    range(&path, total <= MOST_INDUCING, "at most 1000 points", total as f64)
}

/// The settings of noisy sums, the only mechanism that these tasks know.
pub(super) fn mechanism(setting: &Sections, summed: Summed) -> Result<&SumsSetting, Fault> {
    let sums = any_mechanism(setting)?;
    sums.check(setting.data.dimensions(), summed)?;
    Ok(sums)
}

/// The same with noise of any shape, which is for simulations alone.
pub(super) fn shaped_mechanism(setting: &Sections, summed: Summed) -> Result<&SumsSetting, Fault> {
    let sums = any_mechanism(setting)?;
    sums.check_bounds(setting.data.dimensions(), summed)?;
    sums.domain()?;
    Ok(sums)
}

fn any_mechanism(setting: &Sections) -> Result<&SumsSetting, Fault> {
    let sums = setting.privacy.mechanism.of::<SumsSetting>();
    let sums = sums.ok_or_else(|| setting.privacy.wrong("sums"))?;
    sums.target_bound.map_or(Ok(()), |bound| setting.normalise.keeps_targets(bound.get()))?;
    Ok(sums)
}
