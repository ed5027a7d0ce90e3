//! Points that are far from every row.

use super::PrivatePredictions;
use dpgp_gp::kernel::KernelSetting;
use dpgp_spec::setting::NormaliseSetting;

/// Above this share of the prior's standard deviation the rows have told less than a tenth of its variance.
const FAR: f64 = 0.95;

/// How many of the points are so far from public inputs, in lengthscales, that predictions there are those of the prior. Public, as `gp_sd`
/// is. Of a sum of functions one may be unknown where the others are known: more than its variance is then left.
pub(super) fn far_warning(release: &PrivatePredictions<'_>) -> Option<String> {
    let NormaliseSetting::Bounds { scale, .. } = *release.setting.normalise else { return None };
    let kernel = &release.setting.model.as_deref()?.kernel;
    let prior = match kernel {
        KernelSetting::Additive(sum) => vec![sum.largest(); release.points.nrows()],
        kernel => kernel.covariance(release.points).diagonal(release.points),
    };
    let known = release.predictions.gp_sd.iter().zip(prior);
    let far = known.filter(|(sd, variance)| **sd > FAR * scale.get() * variance.sqrt()).count();
    let all = release.points.nrows();
    (far > 0).then(|| {
        format!(
            "at {far} of {all} points gp_sd is nearly what it is without any row, for the function or for one of a sum: rows are many \
             lengthscales away, or what is released of them tells little, and predictions fall back to the mean of the prior"
        )
    })
}
