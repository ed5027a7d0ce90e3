//! Gaussian noise on the two sums of a variational model over private records: `A = sum y k(x)` and `B = sum k(x) k(x)'`.

mod ellipsoid;
mod midpoints;
mod rule;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mechanism;
use dpgp_number::Positive;
use dpgp_spec::setting::rules::{CheckResult, SettingError, check_dimension, check_range, fail};
use dpgp_spec::setting::{PersonRowChoiceBasis, RangeSetting, SpecProblem};

pub use ellipsoid::{NoiseAxes, NoiseEllipsoid, SumFeatureMaps};
pub use midpoints::MidpointFeatureBounds;
pub use rule::{
    HeteroscedasticSensitivityRule, RecordBounds, SumsNoise, SumsSensitivityRule, class_sums_sensitivity,
    max_free_split_ratio,
};

/// The settings of Gaussian noise on the two sums of a variational model. Neighbours differ by the replacement of one record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumsSetting {
    /// The public bound on the absolute value of targets, which are clipped to it. Class labels need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_bound: Option<Positive>,
    /// The bound on the norm of one input's covariances with the inducing inputs.
    pub features: FeatureBoundSetting,
    /// The ratio of the noise variance on the first sum to that on the second. For an ellipsoid, the weight of the second
    /// sum in its trace.
    #[serde(default = "default_split")]
    pub split: Positive,
    /// How the sensitivity is bounded.
    pub sensitivity: SumsSensitivityRule,
    /// The form in which the second sum is released. Forms other than `all` are for simulations with the posterior `sites`.
    #[serde(default, skip_serializing_if = "SecondSumSetting::is_all")]
    pub products: SecondSumSetting,
    /// The shape of the noise. Shapes other than `spherical` are for simulations with the posterior `sites`.
    #[serde(default, skip_serializing_if = "SumsNoiseShape::is_spherical")]
    pub noise: SumsNoiseShape,
}

impl Mechanism for SumsSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Record
    }

    fn target_bound(&self) -> Option<f64> {
        self.target_bound.map(Positive::get)
    }
}

/// The form in which the second sum of a variational model is released.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SecondSumSetting {
    /// The products of all pairs of covariances.
    #[default]
    All,
    /// The sums at the midpoints of pairs of inducing inputs, from which all products follow.
    Midpoints,
}

impl SecondSumSetting {
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// The shape of the noise on the sums of a variational model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SumsNoiseShape {
    /// The same in every direction, except that `split` applies.
    #[default]
    Spherical,
    /// The ellipsoid of least trace that contains every change that one record in the public box can make.
    Ellipsoid,
}

impl SumsNoiseShape {
    fn is_spherical(&self) -> bool {
        *self == Self::Spherical
    }
}

fn default_split() -> Positive {
    Positive::ONE
}

/// Bounds on the squared norm of one input's covariances with the inducing inputs, for a kernel variance of 1. On a product
/// grid, each bound except `trivial` and `separated` is the product of the bounds for the grid's sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeatureBoundSetting {
    /// The number of inducing inputs.
    Trivial,
    /// A bound from the spacing of inducing inputs on a line, as printed in the paper.
    PrintedLine,
    /// As `printed-line`, but without its two superfluous terms.
    Line,
    /// A bound from the smallest distance between inducing inputs.
    Separated,
    /// The supremum over a public box, which is given by its two ends in each dimension.
    Supremum(Vec<[f64; 2]>),
}

/// The summed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummedValueKind {
    /// Numerical targets, which a bound clips.
    Targets,
    /// Labels of classes, which need no bound.
    Labels,
}

impl SumsSetting {
    /// Checks the numbers, for data with this number of inputs, and that nothing is asked for that is for simulations alone.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`], [`SpecProblem::OutOfRange`], [`SpecProblem::WrongDimension`], [`SpecProblem::OnlySites`].
    pub fn check(&self, inputs: usize, summed: SummedValueKind) -> CheckResult {
        self.check_all_products_spherical()?;
        self.check_target_and_feature_bounds(inputs, summed)
    }

    /// Fails unless all products are released with spherical noise.
    ///
    /// # Errors
    /// [`SpecProblem::OnlySites`].
    pub fn check_all_products_spherical(&self) -> CheckResult {
        match (self.products, self.noise) {
            (SecondSumSetting::Midpoints, _) => fail(PRODUCTS, SpecProblem::OnlySites),
            (_, SumsNoiseShape::Ellipsoid) => fail(NOISE, SpecProblem::OnlySites),
            (SecondSumSetting::All, SumsNoiseShape::Spherical) => Ok(()),
        }
    }

    /// The public box of the inputs.
    ///
    /// # Errors
    /// [`SpecProblem::Shape`] if the features are bounded without a box.
    pub fn domain(&self) -> Result<&[[f64; 2]], SettingError> {
        let FeatureBoundSetting::Supremum(domain) = &self.features else {
            let why = "the posterior \"sites\" needs a public box of the inputs: features = { supremum = ... }";
            return Err(SettingError::new("privacy.mechanism.sums.features", SpecProblem::Shape(why.to_owned())));
        };
        Ok(domain)
    }

    /// Checks what the noise of a simulation with the posterior `sites` needs, for so many sums in all.
    ///
    /// # Errors
    /// [`SpecProblem::Shape`], [`SpecProblem::OutOfRange`].
    pub fn check_noise_shape(&self, inputs: usize, numbers: usize) -> CheckResult {
        if self.check_all_products_spherical().is_err() && self.sensitivity != SumsSensitivityRule::Exact {
            let why = "sums at midpoints and ellipsoidal noise need sensitivity = \"exact\"".to_owned();
            return fail("privacy.mechanism.sums.sensitivity", SpecProblem::Shape(why));
        }
        if self.noise == SumsNoiseShape::Ellipsoid {
            check_range(NOISE, inputs <= 2, "used with at most 2 inputs", inputs as f64)?;
            let few = numbers <= MOST_IN_ELLIPSOID;
            return check_range(NOISE, few, "used with at most 500 sums", numbers as f64);
        }
        Ok(())
    }

    /// Checks the numbers that have nothing to do with the shape of the noise.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`], [`SpecProblem::OutOfRange`], [`SpecProblem::WrongDimension`].
    pub fn check_target_and_feature_bounds(&self, inputs: usize, summed: SummedValueKind) -> CheckResult {
        let path = "privacy.mechanism.sums";
        match (self.target_bound, summed) {
            (Some(_), _) | (None, SummedValueKind::Labels) => {}
            (None, SummedValueKind::Targets) => {
                return fail(path, SpecProblem::MissingKey { key: "target_bound", by: "a numerical target" });
            }
        }
        let FeatureBoundSetting::Supremum(domain) = &self.features else { return Ok(()) };
        check_dimension(SUPREMUM, inputs, domain.len())?;
        domain.iter().try_for_each(|[low, high]| {
            check_range(SUPREMUM, low < high && low.is_finite() && high.is_finite(), "increasing and finite", *high)
        })
    }

    /// Fails unless the box of a supremum holds the inducing inputs. Then the bound holds for inputs anywhere: a step
    /// towards the inducing inputs raises every covariance.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`].
    pub fn check_domain_holds_inducing_inputs(&self, inducing: &[RangeSetting]) -> CheckResult {
        let FeatureBoundSetting::Supremum(domain) = &self.features else { return Ok(()) };
        inducing.iter().zip(domain).try_for_each(|(inducing, [low, high])| {
            check_range(SUPREMUM, *low <= inducing.from, "at most the first inducing input", *low)?;
            check_range(SUPREMUM, *high >= inducing.to, "at least the last inducing input", *high)
        })
    }
}

/// The path of a public box.
const SUPREMUM: &str = "privacy.mechanism.sums.features.supremum";
const PRODUCTS: &str = "privacy.mechanism.sums.products";
const NOISE: &str = "privacy.mechanism.sums.noise";

/// The most sums that an ellipsoid is found for: it takes seconds.
const MOST_IN_ELLIPSOID: usize = 500;
