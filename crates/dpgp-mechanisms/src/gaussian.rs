//! Independent Gaussian noise of the same size on every prediction: the plain Gaussian mechanism.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AuditedLinearMechanism, LinearFit, LinearMechanism, LinearNoise, LinearReleaseMatrices, Mechanism};
use dpgp_accounting::{Calibration, CertifiedMechanism};
use dpgp_gp::PredictionMap;
use dpgp_linalg::largest_or_nan;
use dpgp_noise::PrivacyError;
use dpgp_spec::setting::PersonRowChoiceBasis;

/// Independent Gaussian noise of the same size on every prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaussianSetting {
    /// Whether predictions are the best linear predictions given the released values, as for `cloaking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for GaussianSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Inputs
    }

    fn denoise_setting(&self) -> Option<bool> {
        self.denoise
    }

    fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        Some(self)
    }
}

impl LinearMechanism for GaussianSetting {
    fn design_noise(&self, fit: &dyn LinearFit, _: f64) -> Result<Box<dyn LinearNoise>, PrivacyError> {
        Ok(Box::new(IndependentNoise::new(fit.linear_map())?))
    }
}

/// Noise `s xi` on predictions `C y`, with independent standard normal draws xi and `s = max_j |c_j|`.
///
/// Obligation: a target that changes by 1 moves `C y` along one column, by at most s in the Euclidean norm, and some target does move it
/// by s: the sensitivity of the Gaussian mechanism (Dwork and Roth 2014, Appendix A).
struct IndependentNoise {
    columns: DMatrix<f64>,
    sensitivity: f64,
}

impl IndependentNoise {
    fn new(map: &PredictionMap) -> Result<Self, PrivacyError> {
        let columns = map.distinct_columns().clone();
        let sensitivity = largest_or_nan(columns.column_iter().map(|column| column.norm()));
        if sensitivity == 0.0 {
            return Err(PrivacyError::NothingToProtect);
        }
        Ok(Self { columns, sensitivity })
    }

    /// The factor of the covariance of the noise, `s I`.
    fn covariance_factor(&self) -> DMatrix<f64> {
        DMatrix::from_diagonal_element(self.columns.nrows(), self.columns.nrows(), self.sensitivity)
    }
}

impl LinearNoise for IndependentNoise {
    fn noise_map(&self) -> DMatrix<f64> {
        self.covariance_factor()
    }

    fn true_to_assumed_sensitivity_ratio(&self) -> f64 {
        largest_or_nan(self.columns.column_iter().map(|column| (column / self.sensitivity).norm()))
    }

    fn whitened_columns(&self, plain: &PredictionMap) -> DMatrix<f64> {
        plain.distinct_columns() / self.sensitivity
    }

    fn certified_mechanism(&self) -> fn(Calibration) -> CertifiedMechanism {
        CertifiedMechanism::Gaussian
    }

    fn audited_mechanism(&self) -> AuditedLinearMechanism {
        AuditedLinearMechanism::Numbers(LinearReleaseMatrices {
            columns: self.columns.clone(),
            factor: self.covariance_factor(),
        })
    }
}
