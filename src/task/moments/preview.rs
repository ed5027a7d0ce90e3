//! What noisy moments are worth, before anything is released.

use super::{LEAST_SIGMA, MomentsModel};
use crate::number::Epsilon;
use crate::setting::PrivacySetting;
use crate::task::{Expected, Preview, TaskError};

impl MomentsModel {
    /// What is expected of the surface over the whole box for so many rows, before anything is released.
    ///
    /// # Errors
    /// [`TaskError`] if no design can be computed.
    pub fn preview(
        &self,
        rows: usize,
        epsilons: &[Epsilon],
        cell: &PrivacySetting,
    ) -> Result<Preview, TaskError> {
        let unit = self.summand().targets.scale;
        let reference = self.reference(self.known_rows(rows))?;
        let exact = self.design(&reference, LEAST_SIGMA)?.risk.max(0.0);
        let mut expected = Vec::with_capacity(epsilons.len());
        for &epsilon in epsilons {
            let sigma = self.sigma(&PrivacySetting { epsilon, ..cell.clone() });
            let design = self.design(&reference, sigma)?;
            let risk = design.risk.max(exact);
            expected.push(Expected {
                epsilon,
                noise: unit * (risk - exact).sqrt(),
                error: unit * risk.sqrt(),
                released: design.numbers(),
            });
        }
        let prior = unit * (reference.kernel.variance() + reference.bias).sqrt();
        Ok(Preview { prior, expected, without_privacy: unit * exact.sqrt() })
    }
}
