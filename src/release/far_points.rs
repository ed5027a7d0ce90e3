//! Points that are far from every row.

use nalgebra::DMatrix;

use super::PrivatePredictions;
use crate::kernel::KernelSetting;
use crate::setting::NormaliseSetting;
use crate::task::Predictions;

/// Above this share of the prior's standard deviation the rows have told less than a tenth of its variance.
const FAR: f64 = 0.95;

/// The standard deviations of the process before any row, at the points.
pub(super) struct PriorSds(Vec<f64>);

impl PriorSds {
    /// Of a model of targets within public bounds. Of a sum of functions one may be unknown where the others are known: more than its
    /// variance is then left.
    pub fn new(kernel: &KernelSetting, normalise: &NormaliseSetting, points: &DMatrix<f64>) -> Option<Self> {
        let NormaliseSetting::Bounds { scale, .. } = normalise else { return None };
        let variances = match kernel {
            KernelSetting::Additive(sum) => vec![sum.largest(); points.nrows()],
            kernel => kernel.covariance(points).diagonal(points),
        };
        Some(Self(variances.into_iter().map(|variance| scale.get() * variance.sqrt()).collect()))
    }

    fn far<'a>(&self, sds: impl Iterator<Item = &'a f64>) -> usize {
        sds.zip(&self.0).filter(|(sd, prior)| **sd > FAR * **prior).count()
    }
}

/// How many of the points are so far from public inputs, in lengthscales, that predictions there are those of the prior. Public, as `gp_sd`
/// is.
pub(super) fn far_from_inputs(release: &PrivatePredictions<'_>) -> Option<String> {
    let kernel = &release.setting.model.as_deref()?.kernel;
    let prior = PriorSds::new(kernel, &release.setting.normalise, release.points)?;
    let (far, all) = (prior.far(release.predictions.gp_sd.iter()), release.points.nrows());
    (far > 0).then(|| {
        format!(
            "at {far} of {all} points gp_sd is nearly what it is without any row, for the function or for one of a sum: rows are many \
             lengthscales away, or what is released of them tells little, and predictions fall back to the mean of the prior"
        )
    })
}

/// At how many of the points private rows and noise together leave open what the prior does. Public, as both standard deviations are.
pub(super) fn far_from_records(prior: &PriorSds, predictions: &Predictions) -> Option<String> {
    let both = predictions.gp_sd.iter().zip(&predictions.noise_sd);
    let sds: Vec<f64> = both.map(|(gp, noise)| gp.hypot(*noise)).collect();
    let (far, all) = (prior.far(sds.iter()), sds.len());
    (far > 0).then(|| {
        format!(
            "at {far} of {all} points gp_sd and noise_sd together are nearly what gp_sd is without any row: no rows lie there, or noise hides \
             them. Where that is most of the map, its ends may be those of other inputs, such as a latitude in the place of a longitude"
        )
    })
}
