//! Errors of the papers, each with a counter-example that is computed.
//!
//! A row holds what the paper says (`claimed`), what is true of that very statement (`found`), whether the statement holds,
//! and the number that a right statement has (`corrected`). [`about`] says it in words.

mod about;
mod honkela2021;
mod jalko2016;
mod smith2016;
mod smith2021;

pub use about::{About, about};

use super::{Certified, Measured, TaskError};
use crate::setting::PrivacySetting;
use crate::spec::{ErrataTask, Erratum};

/// The numbers of an erratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// What the paper says.
    pub claimed: f64,
    /// What is true of that statement.
    pub found: f64,
    /// Whether it holds.
    pub holds: bool,
    /// What the right statement has.
    pub corrected: f64,
}

impl Numbers {
    /// A statement that something is at most, with a counter-example.
    fn at_most(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found <= claimed, corrected }
    }

    /// A statement that two numbers are the same.
    fn equal(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: (found - claimed).abs() <= 1e-9 * claimed.abs(), corrected }
    }
}

/// The metrics `claimed`, `found`, `holds` (1 or 0) and `corrected`; exact, without privacy.
pub(super) fn errata(task: &ErrataTask, cells: &[&PrivacySetting]) -> Result<Vec<Measured>, TaskError> {
    let Numbers { claimed, found, holds, corrected } = evaluate(task.erratum)?;
    let values = [claimed, found, f64::from(u8::from(holds)), corrected];
    let measured = Certified::nothing().measured(0.0, ErrataTask::METRICS.into_iter().zip(values));
    Ok(vec![measured; cells.len()])
}

/// Computes the counter-example of an erratum.
///
/// # Errors
/// [`TaskError`] if a factorisation fails.
pub fn evaluate(erratum: Erratum) -> Result<Numbers, TaskError> {
    match erratum {
        Erratum::RowNorm => smith2016::row_norm(),
        Erratum::InducingGain => smith2016::inducing_gain(),
        Erratum::DensityChange => Ok(smith2016::density_change()),
        Erratum::LargeEpsilon => Ok(smith2016::large_epsilon()),
        Erratum::NoiseConstant => Ok(smith2016::noise_constant()),
        Erratum::KernelScale => Ok(smith2016::kernel_scale()),
        Erratum::PrivateNormalisation => Ok(smith2021::private_normalisation()),
        Erratum::VarianceForDeviation => Ok(smith2021::variance_for_deviation()),
        Erratum::SelectionSensitivity => smith2021::selection_sensitivity(),
        Erratum::ToyClip => smith2021::toy_clip(),
        Erratum::DroppedDirections => smith2021::dropped_directions(),
        Erratum::RankTolerance => smith2021::rank_tolerance(),
        Erratum::SquaredSensitivity => Ok(smith2021::squared_sensitivity()),
        Erratum::GradientScheme => smith2021::gradient_scheme(),
        Erratum::SquareCloak => smith2021::square_cloak(),
        Erratum::CurvatureSign => Ok(smith2021::curvature_sign()),
        Erratum::LatentMean => Ok(smith2021::latent_mean()),
        Erratum::SumsSensitivity => Ok(honkela2021::sums_sensitivity()),
        Erratum::SplitRatio => Ok(honkela2021::split_ratio()),
        Erratum::FeatureBound => Ok(honkela2021::feature_bound()),
        Erratum::SeparatedBound => Ok(honkela2021::separated_bound()),
        Erratum::Regularisation => Ok(honkela2021::regularisation()),
        Erratum::CorrectionCovariance => Ok(honkela2021::correction_covariance()),
        Erratum::ZcdpConversion => Ok(honkela2021::zcdp_conversion()),
        Erratum::LabelVariance => Ok(honkela2021::label_variance()),
        Erratum::HeteroscedasticNoise => Ok(honkela2021::heteroscedastic_noise()),
        Erratum::RefusalTest => Ok(honkela2021::refusal_test()),
        Erratum::SumsDimension => Ok(honkela2021::sums_dimension()),
        Erratum::TargetBound => Ok(honkela2021::target_bound()),
        Erratum::EpsilonPerStep => jalko2016::epsilon_per_step(),
        Erratum::RepeatedRecords => Ok(jalko2016::repeated_records()),
        Erratum::Looseness => jalko2016::looseness(),
        Erratum::ClippedPrior => Ok(jalko2016::clipped_prior()),
    }
}
