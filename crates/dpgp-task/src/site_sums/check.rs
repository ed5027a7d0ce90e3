//! What a posterior at sites needs of a spec.

use crate::sums_model;
use dpgp_gp::sites::CountSites;
use dpgp_linalg::largest;
use dpgp_mechanisms::{Sections, Summed, SumsSetting};
use dpgp_spec::setting::rules::range;
use dpgp_spec::setting::{Checked, RangeSetting};

/// The most inputs that there is a grid of sites for.
const MOST_INPUTS: usize = 4;
/// The most sums that rows are counted by.
const MOST_MIDDLES: usize = 2000;

/// Checks noisy sums at these inducing inputs of the task at a path.
pub fn check(path: &str, inducing: &[RangeSetting], setting: &Sections) -> Checked {
    let sums = sums_model::shaped_mechanism(setting, Summed::Targets)?;
    sums.holds(inducing)?;
    let inputs = setting.data.dimensions();
    let few = inputs <= MOST_INPUTS;
    range("data.inputs", few, "at most 4 inputs for the posterior \"sites\"", inputs as f64)?;
    few_sums(&format!("{path}.inducing"), inducing, sums)?;
    let kernel = sums_model::model(path, setting)?.exponentiated_quadratic();
    kernel.map_or(Ok(()), |(_, lengthscale)| is_resolved(lengthscale, sums.domain()?))
}

fn few_sums(path: &str, inducing: &[RangeSetting], sums: &SumsSetting) -> Checked {
    let points: usize = inducing.iter().map(|range| range.points).product();
    let middles: usize = inducing.iter().map(|range| 2 * range.points - 1).product();
    range(path, middles <= MOST_MIDDLES, "a grid with at most 2000 midpoints", middles as f64)?;
    sums.check_shape(inducing.len(), points + middles)
}

/// A process that varies from site to site is not known by its values there.
fn is_resolved(lengthscale: f64, domain: &[[f64; 2]]) -> Checked {
    let spacing = CountSites::to_the_ends(domain.len()).spacing;
    let longest = largest(domain.iter().map(|[low, high]| spacing * (high - low)));
    let asked = "at least the distance of the sites in the box";
    range("model.kernel.eq.lengthscale", lengthscale >= longest, asked, lengthscale)
}
