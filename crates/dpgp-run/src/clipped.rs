//! Targets outside the public bounds, and inputs outside the public box.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::load::DataLoader;
use super::{Project, RunError};
use dpgp_data::Progress;
use dpgp_mechanisms::{MomentsSetting, SumsSetting};
use dpgp_spec::setting::{NormaliseSetting, prior_mean};
use dpgp_task::{CellSetting, Experiment, Sample};

/// How many targets lie outside public bounds and were clipped to them. The count is not private: it is for the holder
/// of the data, and no part of a release.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ClippedCounts {
    /// The least value of a target.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Targets outside.
    pub clipped: usize,
    /// All targets.
    pub rows: usize,
    /// Rows with an input outside the box of private inputs, which count as the nearest place in it; none where there is no box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<usize>,
}

impl fmt::Display for ClippedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high, clipped, rows, outside } = self;
        write!(f, "{clipped} of {rows} targets lie outside the public bounds [{low}, {high}] and were clipped")?;
        if let Some(outside) = outside.filter(|outside| *outside > 0) {
            let who =
                if outside == *rows { "all rows lie".to_owned() } else { format!("{outside} of {rows} rows lie") };
            write!(
                f,
                "; {who} outside the public box privacy.mechanism.moments.domain and were moved to the nearest point in it"
            )?;
        }
        f.write_str(" (this count is exact: do not publish it)")
    }
}

/// The count for one setting; none if it has no public bounds.
pub fn clipped_targets(setting: &CellSetting, sample: &Sample) -> Option<ClippedCounts> {
    let (low, high) = target_bounds(setting)?;
    let clipped = sample.targets.iter().filter(|y| !(low..=high).contains(*y)).count();
    let outside = moments(setting).map(|moments| moments.count_outside_box(&sample.inputs));
    Some(ClippedCounts { low, high, clipped, rows: sample.row_count(), outside })
}

/// The mechanism with the box of private inputs; none if inputs have none.
fn moments(setting: &CellSetting) -> Option<&MomentsSetting> {
    setting.privacy.mechanism.downcast()
}

fn target_bounds(setting: &CellSetting) -> Option<(f64, f64)> {
    let mechanism = &setting.privacy.mechanism;
    if mechanism.downcast::<SumsSetting>().is_some() || mechanism.downcast::<MomentsSetting>().is_some() {
        return bounds_in_target_units(&setting.normalise, mechanism.mechanism().target_bound()?);
    }
    match *setting.normalise {
        NormaliseSetting::Bounds { low, high, .. } | NormaliseSetting::Standardised { low, high } => {
            Some((low.get(), high.get()))
        }
        NormaliseSetting::None | NormaliseSetting::Private { .. } | NormaliseSetting::Constants { .. } => None,
    }
}

/// The targets, in their own units, that stay within the bound of a mechanism after normalisation by public constants.
fn bounds_in_target_units(normalise: &NormaliseSetting, bound: f64) -> Option<(f64, f64)> {
    match *normalise {
        NormaliseSetting::None => Some((-bound, bound)),
        NormaliseSetting::Constants { centre, scale } => {
            Some((centre.get() - scale.get() * bound, centre.get() + scale.get() * bound))
        }
        NormaliseSetting::Bounds { low, high, centre, scale } => {
            let (centre, half) = (prior_mean(low, high, centre), scale.get() * bound);
            Some((low.get().max(centre - half), high.get().min(centre + half)))
        }
        NormaliseSetting::Standardised { .. } | NormaliseSetting::Private { .. } => None,
    }
}

/// The counts for the user's own files in an experiment: one for each data section, its bounds and its box, in the order of the
/// cells. The files are read again, because results may all have been stored before.
///
/// # Errors
/// [`RunError`] if a file cannot be read.
pub(super) fn clipped_in_own_files(
    experiment: &Experiment,
    project: &Project,
    progress: &dyn Progress,
) -> Result<Vec<ClippedCounts>, RunError> {
    let loader = DataLoader { experiment, project, progress };
    let mut seen = Vec::new();
    let mut counts = Vec::new();
    for cell in &experiment.cells {
        let setting = cell.setting();
        let key = (cell.data_id(), target_bounds(setting), moments(setting).map(|moments| &moments.domain));
        if setting.data.source.own_file().is_none() || key.1.is_none() || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let sample = loader.sample(&setting.data, setting.privacy.mechanism.row_choice_basis())?;
        counts.extend(clipped_targets(setting, &sample));
    }
    Ok(counts)
}
