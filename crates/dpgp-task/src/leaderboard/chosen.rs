//! Cloaking with a lengthscale that is chosen within the budget.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::linear::NoisyRegression;
use super::method::{Leaderboard, Method};
use super::predicted::Predicted;
use crate::ChooseSetting;
use crate::cross_validation::FoldRows;
use crate::selection::Choice;
use crate::{Certified, Job, OneTarget, Sampled, TaskError};
use dpgp_accounting::Certificate;
use dpgp_gp::kernel::{EqSetting, KernelSetting};
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::setting::ModelSetting;

/// The exponential mechanism chooses among Gaussian processes for a share of epsilon, and what it chose is released for
/// the rest.
///
/// Obligation: the choice is `share epsilon`-DP and the release, whatever was chosen, `((1 - share) epsilon, delta)`-DP;
/// by basic composition (Dwork et al. 2006) both together are `(epsilon, delta)`-DP for the delta of the release.
pub(super) struct ChosenRegression {
    choice: Choice,
    candidates: Vec<NoisyRegression>,
    share: f64,
}

impl ChosenRegression {
    pub fn new(
        context: &Leaderboard<'_>,
        setting: &ChooseSetting,
        rows: &FoldRows,
    ) -> Result<Self, TaskError> {
        let choice = Choice::new(context.job, setting.task(context.model), rows, context.scale)?;
        let KernelSetting::Eq(eq) = &context.model.kernel else {
            return Err(TaskError::Missing { needed: "the kernel eq" });
        };
        let mut candidates = Vec::with_capacity(setting.lengthscales.len());
        for &lengthscale in &setting.lengthscales {
            let kernel = KernelSetting::Eq(EqSetting { lengthscale, ..eq.clone() });
            let model = ModelSetting { kernel, ..context.model.clone() };
            candidates.push(NoisyRegression::new(context, &model, rows)?);
        }
        Ok(Self { choice, candidates, share: setting.share.get() })
    }

    /// The guarantee that is left for the release.
    fn rest(&self, cell: &PrivacySetting) -> Result<OneTarget, TaskError> {
        Ok(OneTarget::of(cell)?.spending((1.0 - self.share) * cell.epsilon.get()))
    }

    /// The guarantee of the release, whatever was chosen.
    fn worst_certificate(&self, rest: OneTarget) -> Result<Certificate, TaskError> {
        let mut worst: Option<Certificate> = None;
        for candidate in &self.candidates {
            let own = candidate.certificate(rest)?;
            match &mut worst {
                Some(worst) => worst.absorb(&own),
                None => worst = Some(own),
            }
        }
        worst.ok_or(TaskError::Missing { needed: "a lengthscale to choose" })
    }
}

impl Method for ChosenRegression {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Predicted, TaskError> {
        let rest = self.rest(cell)?;
        let chances = self.choice.probabilities(rest, self.share * cell.epsilon.get());
        let place: f64 = stream.random();
        let below = chances.iter().scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        });
        // Rounding may leave the last sum below 1.
        let chosen = below.take_while(|sum| *sum <= place).count().min(chances.len() - 1);
        Ok(self.candidates[chosen].release(rest, stream)?.into())
    }

    fn certified(&self, job: &Job<'_>, cell: &PrivacySetting) -> Result<Certified, TaskError> {
        let rest = self.rest(cell)?;
        if !rest.is_private() {
            return Ok(Certified::nothing());
        }
        let releases = self.candidates.iter().map(|candidate| candidate.sampled(rest));
        let releases = releases.collect::<Result<Vec<Sampled>, TaskError>>()?;
        job.certify(self.worst_certificate(rest)?.after_choice(cell.epsilon.get()), || {
            let choice = self.choice.sampled(rest, self.share * cell.epsilon.get());
            std::iter::once(choice).chain(releases).collect()
        })
    }

    fn jitter(&self) -> f64 {
        self.candidates.iter().map(Method::jitter).fold(0.0, f64::max)
    }
}
