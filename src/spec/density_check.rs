//! Range checks of histograms, densities and private functions.

use super::Problem;
use super::check::{Checked, count, dimension, fail, positive, range};
use super::density::{BinningEstimate, BinningSetting, CutSetting, DensityEstimate, DensityTask};
use super::setting::MechanismSetting;
use crate::privacy::Statistic;

/// The most bins of a histogram.
const MOST_BINS: usize = 20_000;

pub(super) fn density(task: &DensityTask, inputs: usize) -> Checked {
    let path = "task.density";
    cuts(&format!("{path}.bins"), &task.bins, inputs)?;
    cuts(&format!("{path}.test"), &task.test, inputs)?;
    count(&format!("{path}.draws"), task.draws)?;
    if let Some(curve) = task.curve {
        super::check::grid(&format!("{path}.curve"), &[curve], inputs)?;
    }
    match &task.estimate {
        DensityEstimate::Histogram {} | DensityEstimate::Function { .. } => Ok(()),
        DensityEstimate::Process(process) => {
            let widths = format!("{path}.estimate.process.widths");
            if process.widths.is_empty() {
                return fail(&widths, Problem::Empty);
            }
            process.widths.iter().try_for_each(|width| positive(&widths, *width))?;
            let path = format!("{path}.estimate.process.lengthscales");
            let Some(lengthscales) = &process.lengthscales else { return Ok(()) };
            dimension(&path, inputs, lengthscales.len())?;
            lengthscales.iter().try_for_each(|l| positive(&path, *l))
        }
    }
}

fn cuts(path: &str, cuts: &[CutSetting], inputs: usize) -> Checked {
    dimension(path, inputs, cuts.len())?;
    for (i, CutSetting { from, to, bins }) in cuts.iter().enumerate() {
        range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than from and finite", *to)?;
        count(&format!("{path}.{i}.bins"), *bins)?;
    }
    let total = cuts.iter().fold(1, |n: usize, cut| n.saturating_mul(cut.bins));
    range(path, total <= MOST_BINS, "a grid of at most 20000 bins", total as f64)
}

/// The mechanism of a density must be that of its estimate.
pub(super) fn mechanism(task: &DensityTask, mechanism: &MechanismSetting, change: Option<f64>) -> Checked {
    let wrong = |needed| fail("privacy.mechanism", Problem::WrongMechanism { needed });
    match (&task.estimate, mechanism) {
        (DensityEstimate::Function { .. }, MechanismSetting::Function(_)) if change.is_none() => {
            fail("privacy", Problem::MissingKey { key: "change", by: "function" })
        }
        (DensityEstimate::Function { .. }, MechanismSetting::Function(_)) => Ok(()),
        (DensityEstimate::Function { .. }, _) => wrong("function"),
        (_, MechanismSetting::Histogram(_)) => Ok(()),
        (_, _) => wrong("histogram"),
    }
}

pub(super) fn binning(binning: &BinningSetting, inputs: usize) -> Checked {
    let path = "privacy.mechanism.binning";
    count(&format!("{path}.bins"), binning.bins)?;
    let total = (0..inputs).fold(1, |n: usize, _| n.saturating_mul(binning.bins));
    range(&format!("{path}.bins"), total <= MOST_BINS, "a grid of at most 20000 bins", total as f64)?;
    if binning.statistic == Statistic::Count {
        let why = "a count tells nothing of targets; use \"mean\" or \"median\"".to_owned();
        return fail(&format!("{path}.statistic"), Problem::Shape(why));
    }
    match binning.estimate {
        BinningEstimate::Bin {} => Ok(()),
        BinningEstimate::Integral { fitted } => count(&format!("{path}.estimate.integral.fitted"), fitted),
    }
}
