//! Additive kernels.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distance::check_lengthscale_count;
use super::{
    ExponentiatedQuadratic, Kernel, KernelKeyError, KernelKeyErrorReason, KernelRescaling, SpecKernel,
    StationarySpecKernel, SumKernel,
};
use dpgp_number::{NonNegative, Positive};

/// `k(x, x') = sum_l v_l c_l + sum_p v_p c_l c_m` with `c_l = exp(-(x_l - x'_l)^2 / (2 lengthscale_l^2))` and pairs p = (l, m): a sum of functions
/// of one input each and of functions of two, the model class of explainable boosting, with a posterior.
///
/// Source: Duvenaud, Nickisch and Rasmussen 2011; pairs as in Lou, Caruana, Gehrke and Hooker 2013.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct AdditiveSetting {
    /// One lengthscale for all inputs, or one for each, in units of the inputs.
    pub lengthscales: Vec<Positive>,
    /// The variance of each function of a single input, in the order of the inputs, or 0 for an input without such a function.
    pub variances: Vec<NonNegative>,
    /// Joint functions of two inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<InputPairKernelSetting>,
}

/// A function of two inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct InputPairKernelSetting {
    /// The positions of the two inputs in the list of inputs, counted from 0.
    pub inputs: [usize; 2],
    /// Its variance.
    pub variance: Positive,
}

/// An exponentiated quadratic kernel of some of the inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ExponentiatedQuadraticTerm {
    /// Its variance.
    pub variance: f64,
    /// A lengthscale for each input, infinite for inputs that the kernel does not depend on.
    pub lengthscales: Vec<f64>,
}

impl ExponentiatedQuadraticTerm {
    /// The inputs that the kernel depends on.
    pub fn active_inputs(&self) -> Vec<usize> {
        (0..self.lengthscales.len()).filter(|input| self.lengthscales[*input].is_finite()).collect()
    }

    fn build_kernel(self) -> Box<dyn Kernel> {
        Box::new(ExponentiatedQuadratic::ard(self.variance, self.lengthscales))
    }
}

impl AdditiveSetting {
    /// `k(x, x)`.
    pub fn prior_variance(&self) -> f64 {
        let alone: f64 = self.variances.iter().map(|variance| variance.get()).sum();
        alone + self.pairs.iter().map(|pair| pair.variance.get()).sum::<f64>()
    }

    /// The largest variance of a term.
    pub fn largest_term_variance(&self) -> f64 {
        let alone = self.variances.iter().map(|variance| variance.get());
        alone.chain(self.pairs.iter().map(|pair| pair.variance.get())).fold(0.0, f64::max)
    }

    /// The terms with a positive variance, with lengthscales in the given unit of each input.
    pub fn terms_in_units(&self, units: &[f64]) -> Vec<ExponentiatedQuadraticTerm> {
        let alone = self.variances.iter().enumerate().filter(|(_, variance)| variance.get() > 0.0);
        let alone = alone.map(|(input, variance)| self.term_in_units(variance.get(), &[input], units));
        let pairs = self.pairs.iter().map(|pair| self.term_in_units(pair.variance.get(), &pair.inputs, units));
        alone.chain(pairs).collect()
    }

    fn term_in_units(&self, variance: f64, inputs: &[usize], units: &[f64]) -> ExponentiatedQuadraticTerm {
        let all = self.lengthscales.iter().cycle().zip(units).enumerate();
        let lengthscales = all.map(|(input, (lengthscale, unit))| match inputs.contains(&input) {
            true => lengthscale.get() / unit,
            false => f64::INFINITY,
        });
        ExponentiatedQuadraticTerm { variance, lengthscales: lengthscales.collect() }
    }

    /// The covariance function, its variance over a number, with lengthscales in some unit for each input.
    fn kernel_in_units(&self, over: f64, units: &[f64]) -> Box<dyn Kernel> {
        let parts = self.terms_in_units(units).into_iter();
        let parts =
            parts.map(|part| ExponentiatedQuadraticTerm { variance: part.variance / over, ..part }.build_kernel());
        Box::new(SumKernel(parts.collect()))
    }
}

impl InputPairKernelSetting {
    /// Whether there are two such inputs among so many.
    fn has_valid_inputs(&self, inputs: usize) -> bool {
        let [one, other] = self.inputs;
        one != other && one.max(other) < inputs
    }
}

fn kernel_key_error(key: &str, reason: KernelKeyErrorReason) -> KernelKeyError {
    KernelKeyError { key: key.to_owned(), reason }
}

impl SpecKernel for AdditiveSetting {
    const EXAMPLE: &'static str =
        "{ lengthscales = [1.2, 3.0], variances = [0.5, 0.0], pairs = [{ inputs = [0, 1], variance = 0.8 }] }";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_lengthscale_count(&self.lengthscales, inputs)?;
        if self.variances.len() != inputs {
            return Err(kernel_key_error("variances", KernelKeyErrorReason::Dimension(self.variances.len())));
        }
        if self.prior_variance() <= 0.0 {
            return Err(kernel_key_error("variances", KernelKeyErrorReason::Empty));
        }
        let wrong = self.pairs.iter().position(|pair| !pair.has_valid_inputs(inputs));
        wrong.map_or(Ok(()), |place| {
            Err(kernel_key_error(&format!("pairs.{place}.inputs"), KernelKeyErrorReason::Places))
        })
    }

    fn build_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        self.kernel_in_units(1.0, &vec![1.0; inputs.ncols()])
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for AdditiveSetting {
    fn total_variance(&self) -> f64 {
        self.prior_variance()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        KernelRescaling::new(sides).scale_lengthscales(&self.lengthscales)
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let units: Vec<f64> = scaled.sides.iter().map(|side| side / scaled.stretch).collect();
        self.kernel_in_units(scaled.over, &units)
    }

    fn exponentiated_quadratic_terms(&self, sides: &[f64]) -> Option<Vec<ExponentiatedQuadraticTerm>> {
        Some(self.terms_in_units(sides))
    }

    fn is_sum_over_inputs_or_pairs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(text: &str) -> AdditiveSetting {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn functions_of_one_and_two_inputs_add_up() {
        let text = "lengthscales = [1.0, 2.0, 4.0]\nvariances = [0.5, 0.0, 0.25]\npairs = [{ inputs = [0, 2], variance = 3.0 }]";
        let kernel = setting(text).build_kernel(&DMatrix::zeros(1, 3));
        let [c0, c2] = [(-0.5f64).exp(), (-0.5f64 * 0.25).exp()];
        let expected = 0.5 * c0 + 0.25 * c2 + 3.0 * c0 * c2;
        // The second input has no function.
        for second in [0.0, 7.0, -1e300] {
            assert!((kernel.value(&[0.0, 0.0, 0.0], &[1.0, second, 2.0]) - expected).abs() < 1e-15);
        }
        assert_eq!(kernel.variance(&[0.0; 3]), 3.75);
    }

    #[test]
    fn every_number_has_its_input() {
        let cases = [
            ("lengthscales = [1.0, 2.0]\nvariances = [0.5, 0.0, 0.25]", "lengthscales"),
            ("lengthscales = [1.0]\nvariances = [0.5, 0.0]", "variances"),
            ("lengthscales = [1.0]\nvariances = [0.0, 0.0, 0.0]", "variances"),
            (
                "lengthscales = [1.0]\nvariances = [0.5, 0.0, 0.0]\npairs = [{ inputs = [1, 3], variance = 1.0 }]",
                "pairs.0.inputs",
            ),
            (
                "lengthscales = [1.0]\nvariances = [0.5, 0.0, 0.0]\npairs = [{ inputs = [1, 1], variance = 1.0 }]",
                "pairs.0.inputs",
            ),
        ];
        for (text, key) in cases {
            assert_eq!(setting(text).check_input_count(3).unwrap_err().key, key, "{text}");
        }
        assert!(setting("lengthscales = [1.0]\nvariances = [0.0, 1.0, 0.0]").check_input_count(3).is_ok());
    }
}
