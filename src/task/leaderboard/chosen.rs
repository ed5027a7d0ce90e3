//! Cloaking with a lengthscale that is chosen within the budget.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::super::TaskError;
use super::super::selection::Choice;
use super::linear::Linear;
use super::{Context, Method, Rows};
use crate::gp::variational::Prediction;
use crate::privacy::Certificate;
use crate::spec::{ChooseSetting, KernelSetting, ModelSetting, PrivacySetting, SelectionTask};

/// The exponential mechanism chooses among Gaussian processes for a share of epsilon, and what it chose is released for
/// the rest.
///
/// Obligation: the choice is `share epsilon`-DP and the release, whatever was chosen, `((1 - share) epsilon, delta)`-DP;
/// by basic composition (Dwork et al. 2006) both together are `(epsilon, delta)`-DP for the delta of the release.
pub(super) struct Chosen<'a> {
    choice: Choice<'a>,
    candidates: Vec<Linear>,
    share: f64,
}

impl<'a> Chosen<'a> {
    pub fn new(
        context: &Context<'a>,
        (setting, selection): (&ChooseSetting, &'a SelectionTask),
        rows: &Rows,
    ) -> Result<Self, TaskError> {
        let data = (&rows.inputs, rows.targets.as_slice());
        let choice = Choice::new(context.block, selection, data, context.scale, context.streams)?;
        let of = |lengthscale: &f64| {
            let (variance, _) = context.model.exponentiated_quadratic().unwrap_or((1.0, 1.0));
            let kernel = KernelSetting::Eq { variance, lengthscale: *lengthscale };
            Linear::new(context, &ModelSetting { kernel, ..context.model.clone() }, rows)
        };
        let candidates: Result<Vec<Linear>, TaskError> = setting.lengthscales.iter().map(of).collect();
        Ok(Self { choice, candidates: candidates?, share: setting.share })
    }

    /// What is left for the release.
    fn rest(&self, cell: &PrivacySetting) -> f64 {
        (1.0 - self.share) * cell.epsilon
    }
}

impl Method for Chosen<'_> {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        let release = PrivacySetting { epsilon: self.rest(cell), ..cell.clone() };
        let chances = self.choice.probabilities(&release, self.share * cell.epsilon);
        let place: f64 = stream.random();
        let before = chances.iter().scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        });
        let chosen = before.take_while(|sum| *sum <= place).count().min(chances.len() - 1);
        Ok(self.candidates[chosen].release(cell, release.epsilon, stream))
    }

    fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        if cell.epsilon.is_infinite() {
            return Certificate::none();
        }
        let release = PrivacySetting { epsilon: self.rest(cell), ..cell.clone() };
        self.choice.tell(cell, &release, self.share * cell.epsilon);
        let of = |candidate: &Linear| candidate.guarantee(cell, self.rest(cell));
        let mut all = self.candidates.iter().map(of);
        let first = all.next().unwrap_or_else(Certificate::none);
        let release = all.fold(first, |mut worst, other| {
            worst.absorb(&other);
            worst
        });
        release.after_choice(cell.epsilon)
    }

    fn jitter(&self) -> f64 {
        self.candidates.iter().map(Method::jitter).fold(0.0, f64::max)
    }
}
