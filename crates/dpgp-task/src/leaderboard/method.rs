//! What a private regression is asked here.

use rand_pcg::Pcg64;

use super::baseline::Baseline;
use super::bins::BinnedRegression;
use super::chosen::ChosenRegression;
use super::linear::NoisyRegression;
use super::moments::MomentsRegression;
use super::predicted::Predicted;
use super::setting::BoardPosterior;
use super::site_sums::SitesRegression;
use super::sums::SummedRegression;
use crate::LeaderboardTask;
use crate::cross_validation::FoldRows;
use crate::{Certified, Job, TaskError};
use dpgp_mechanisms::{BinningSetting, MomentsSetting, PrivacySetting, SumsSetting};
use dpgp_spec::setting::ModelSetting;

/// A private regression on the training rows of a fold, in units of the normalised target.
pub(super) trait Method {
    /// One run of the mechanism: predictions at the test inputs, whose variances account for the privacy noise.
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError>;

    /// What is guaranteed about one run.
    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError>;

    /// The largest jitter of a factorisation.
    fn jitter(&self) -> f64;
}

/// What all folds share.
#[derive(Clone, Copy)]
pub(super) struct Leaderboard<'a> {
    pub job: &'a Job<'a>,
    pub task: &'a LeaderboardTask,
    pub model: &'a ModelSetting,
    /// Units of the target per unit of the normalised one.
    pub scale: f64,
}

impl<'a> Leaderboard<'a> {
    /// The method of the block: a baseline, or that of its mechanism.
    pub fn method(&self, rows: &FoldRows) -> Result<Box<dyn Method + 'a>, TaskError> {
        if let Some(setting) = self.task.baseline {
            return Ok(Box::new(Baseline::new(self, setting, rows)));
        }
        let mechanism = &self.job.setting.privacy.mechanism;
        if let Some(binning) = mechanism.of::<BinningSetting>() {
            return Ok(Box::new(BinnedRegression::new(self, binning, rows)?));
        }
        if let Some(moments) = mechanism.of::<MomentsSetting>() {
            return Ok(Box::new(MomentsRegression::new(self, moments, rows)?));
        }
        if mechanism.of::<SumsSetting>().is_some() {
            return Ok(match self.task.posterior {
                BoardPosterior::Sites => Box::new(SitesRegression::new(self, rows)?),
                BoardPosterior::NoiseAware => Box::new(SummedRegression::new(self, rows)?),
            });
        }
        Ok(match &self.task.choose {
            None => Box::new(NoisyRegression::new(self, self.model, rows)?),
            Some(choose) => Box::new(ChosenRegression::new(self, choose, rows)?),
        })
    }
}
