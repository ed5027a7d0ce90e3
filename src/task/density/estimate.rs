//! What follows from a noisy histogram.

use nalgebra::{DMatrix, DVector};

use crate::gp::{BinnedFamily, fit};
use crate::kernel::Bins;
use crate::number::Positive;
use crate::task::ProcessSetting;
use crate::task::TaskError;

/// An estimate of the density that can be asked for any point.
pub(super) enum DensityCurve<'a> {
    /// The densities of bins; zero outside all of them.
    Bins { bins: &'a Bins, densities: DVector<f64> },
    /// A process with parameters fitted by maximum likelihood.
    Process { family: BinnedFamily, logs: Vec<f64>, scaled: DVector<f64>, centre: f64, scale: f64 },
}

impl<'a> DensityCurve<'a> {
    /// From noisy densities: they are all that is known, so that whatever is fitted to them costs nothing more.
    pub fn new(
        process: Option<&ProcessSetting>,
        bins: &'a Bins,
        noisy: &DVector<f64>,
    ) -> Result<Self, TaskError> {
        let Some(setting) = process else { return Ok(Self::Bins { bins, densities: noisy.clone() }) };
        let (centre, scale) = match setting.standardise {
            true => (noisy.mean(), noisy.variance().sqrt()),
            false => (0.0, 1.0),
        };
        let scaled = noisy.map(|y| (y - centre) / scale);
        let fixed = setting.lengthscales.as_ref().map(|all| all.iter().map(|l| l.get()).collect());
        let family = BinnedFamily::new(bins.clone(), setting.observed, fixed);
        let fit = fit(&family, &scaled, &starts(setting, bins, &scaled))?;
        Ok(Self::Process { family, logs: fit.logs, scaled, centre, scale })
    }

    pub fn at(&self, points: &DMatrix<f64>) -> Result<DVector<f64>, TaskError> {
        match self {
            Self::Bins { bins, densities } => Ok(DVector::from_fn(points.nrows(), |i, _| {
                let point: Vec<f64> = points.row(i).iter().copied().collect();
                bins.holding(&point).map_or(0.0, |bin| densities[bin])
            })),
            Self::Process { family, logs, scaled, centre, scale } => {
                Ok(family.predict(logs, scaled, points)?.map(|mean| mean * scale + centre))
            }
        }
    }

    /// The standard deviation of the latent function; zero for bins.
    pub fn sd(&self, points: &DMatrix<f64>) -> Result<Vec<f64>, TaskError> {
        match self {
            Self::Bins { .. } => Ok(vec![0.0; points.nrows()]),
            Self::Process { family, logs, scale, .. } => {
                Ok(family.variance(logs, points)?.iter().map(|v| v.sqrt() * scale).collect())
            }
        }
    }
}

/// Where the searches for parameters begin: the mean square of the observations as the kernel's variance, a hundredth or a
/// half of it as noise, and lengthscales of some widths of a bin unless they are fixed.
fn starts(setting: &ProcessSetting, bins: &Bins, scaled: &DVector<f64>) -> Vec<Vec<f64>> {
    let power = (scaled.norm_squared() / scaled.len() as f64).max(f64::MIN_POSITIVE);
    let widths = if setting.lengthscales.is_some() { &[Positive::ONE] } else { setting.widths.as_slice() };
    let mut starts = Vec::new();
    for width in widths {
        for share in [0.01, 0.5] {
            let mut start = vec![power.ln(), (share * power).ln()];
            if setting.lengthscales.is_none() {
                start
                    .extend((0..bins.dimensions()).map(|d| (width.get() * bins.interval(0, d).width()).ln()));
            }
            starts.push(start);
        }
    }
    starts
}
