//! What a release of moments is designed for.

use dpgp_gp::sites::SiteReference;
use dpgp_mechanisms::MomentsDesign;
use dpgp_noise::PrivacyError;

/// All that the design of least expected error depends on: it is public, and the folds of a cross-validation share it.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignQuestion {
    /// What is believed about the data.
    pub reference: SiteReference,
    /// The noise over the sensitivity of one row.
    pub sigma: f64,
    /// The period that is wanted, if one is.
    pub period: Option<f64>,
}

impl DesignQuestion {
    /// The design.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn answer(&self) -> Result<MomentsDesign, PrivacyError> {
        let periods = self.period.map_or(MomentsDesign::PERIODS.to_vec(), |period| vec![period]);
        MomentsDesign::least_risk(&self.reference, self.sigma, &periods)
    }
}
