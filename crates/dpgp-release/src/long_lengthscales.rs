//! Kernels by which a function hardly varies.

use nalgebra::DMatrix;

use dpgp_gp::kernel::KernelSetting;
use dpgp_mechanisms::MomentsSetting;
use dpgp_spec::setting::DataSetting;

/// An exponentiated quadratic kernel with a lengthscale of the side has .61.
const HARDLY: f64 = 0.7;

/// The inputs along which the kernel says that a function is nearly the same at both ends of the public box; intervals believe that whatever
/// the rows say. Of sums of functions nothing is said.
pub(super) fn long_lengthscales(
    kernel: &KernelSetting,
    moments: &MomentsSetting,
    data: &DataSetting,
) -> Option<String> {
    if matches!(kernel, KernelSetting::Additive(_)) {
        return None;
    }
    let least: Vec<f64> = moments.domain.iter().map(|[low, _]| *low).collect();
    let covariance = kernel.covariance(&DMatrix::from_row_slice(1, least.len(), &least));
    let variance = covariance.value(&least, &least);
    let mut long = Vec::new();
    for (input, [_, high]) in moments.domain.iter().enumerate() {
        let mut end = least.clone();
        end[input] = *high;
        if covariance.value(&least, &end) > HARDLY * variance {
            long.push(format!("{:?}", data.inputs[input]));
        }
    }
    (!long.is_empty()).then(|| {
        format!(
            "by the lengthscales of the kernel the function hardly changes over the box along {}: where it does all the same, far more places lie \
             outside of their intervals than these say",
            long.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_run::{DataPlaces, Project};

    const SPEC: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x", "y"], target = "z" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 1.0, kernel.eq-ard = { variance = 4.0, lengthscales = [1.5, LONG] } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 5.0, domain = [[0.0, 4.0], [2.0, 6.0]] } }
"#;

    /// At a distance of 4 and a lengthscale of 5 the correlation is `exp(-.32) = .73`, of 4.5 `exp(-.395) = .67`.
    #[test]
    fn a_lengthscale_beyond_the_box_is_named() {
        let project = Project::at(std::env::temp_dir(), &DataPlaces::default()).unwrap();
        for (lengthscale, named) in [("5.0", true), ("4.5", false)] {
            let experiment = project.parse("moments", &SPEC.replace("LONG", lengthscale)).unwrap();
            let setting = experiment.cells[0].setting();
            let moments = setting.privacy.mechanism.of::<MomentsSetting>().unwrap();
            let kernel = &setting.model.as_deref().unwrap().kernel;
            let said = long_lengthscales(kernel, moments, &setting.data);
            assert_eq!(said.is_some_and(|said| said.contains("along \"y\":")), named, "{lengthscale}");
        }
    }
}
