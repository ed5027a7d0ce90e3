//! What the model says before anything is released.

use nalgebra::DMatrix;

use super::MomentsSetting;
use crate::{MechanismError, Sections};
use dpgp_gp::kernel::{BoxKernel, KernelSetting};
use dpgp_gp::sites::SiteReference;
use dpgp_spec::setting::rules::{fail, range};
use dpgp_spec::setting::{Checked, ModelSetting, Problem};

/// How close the density of inputs is to the uniform one, before anything is known of it.
const CONCENTRATION: f64 = 10.0;
/// The variance of the mean of the process, over the square of the bound on targets.
const BIAS: f64 = 0.25;

/// The belief that a release of so many rows is designed for, in units of the box.
pub fn moments_reference(
    model: &ModelSetting,
    setting: &MomentsSetting,
    rows: usize,
) -> Result<SiteReference, MechanismError> {
    let bound = setting.target_bound.get();
    let noise = model.noise_variance.ok_or(MechanismError::Missing("model.noise_variance"))?;
    let kernel = BoxKernel::new(&model.kernel, setting.sides());
    Ok(SiteReference {
        rows,
        bound,
        bias: BIAS * bound * bound,
        kernel: kernel.ok_or(MechanismError::Missing("a stationary kernel"))?,
        noise_variance: noise.get(),
        concentration: CONCENTRATION,
    })
}

/// Checks what a task at a path needs of a spec: a model with noise and a stationary kernel, a box, a number of rows, and no keys
/// that are for noisy sums.
pub fn check_moments(
    path: &str,
    moments: &MomentsSetting,
    without_sums: bool,
    setting: &Sections,
) -> Checked {
    if !without_sums {
        let why = "noisy moments have neither inducing inputs nor a rule for the posterior";
        return fail(path, Problem::Shape(why.to_owned()));
    }
    setting.model(path)?.has_noise("noisy moments")?;
    moments.check(setting.data.dimensions())?;
    setting.normalise.keeps_targets(moments.target_bound.get())?;
    moments.knows_rows(&setting.data)?;
    check_stationary(setting)
}

/// More functions of two inputs than this would need too many moments.
const MOST_PAIRS: usize = 16;

/// Fails unless the kernel is one that moments are designed for.
pub fn check_stationary(setting: &Sections) -> Checked {
    let Some(model) = setting.model.as_deref() else { return Ok(()) };
    let why = match BoxKernel::new(&model.kernel, vec![1.0; setting.data.dimensions()]) {
        None => "noisy moments need a stationary kernel: no part of it may be `gibbs` or `linear`",
        Some(kernel) if !kernel.has_moments() => {
            "noisy moments of more than four inputs need the kernel `additive`"
        }
        Some(_) => return few_pairs(&model.kernel),
    };
    fail("model.kernel", Problem::Shape(why.to_owned()))
}

fn few_pairs(kernel: &KernelSetting) -> Checked {
    let KernelSetting::Additive(additive) = kernel else { return Ok(()) };
    let pairs = additive.pairs.len();
    range("model.kernel.additive.pairs", pairs <= MOST_PAIRS, "at most 16 pairs for moments", pairs as f64)
}

/// Inputs in units of the box (n x d); those outside move to its nearest point.
pub fn within_box(inputs: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(inputs.nrows(), inputs.ncols(), |row, column| {
        let [low, high] = domain[column];
        ((inputs[(row, column)] - low) / (high - low)).clamp(0.0, 1.0)
    })
}
