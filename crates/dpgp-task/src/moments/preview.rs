//! What noisy moments are worth, before anything is released.

use super::{LEAST_SIGMA, MomentsModel};
use crate::{Expected, Preview, PreviewedOver, TaskError};
use dpgp_gp::sites::site_grid;
use dpgp_mechanisms::PrivacySetting;
use dpgp_number::Epsilon;

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
        // Of values at two places drawn from the box the covariance is that of a place with the mean of all.
        let sites = site_grid(reference.kernel.dimensions());
        let alike = reference.kernel.correlations(1.0).matrix(&sites, &sites).mean();
        let of_mean =
            reference.kernel.variance() * (1.0 - alike) + reference.noise_variance / reference.rows as f64;
        for &epsilon in epsilons {
            let sigma = self.sigma(&PrivacySetting { epsilon, ..cell.clone() });
            // One row moves the mean from a bound to the other at most.
            let added = sigma * 2.0 * reference.bound / reference.rows as f64;
            let design = self.design(&reference, sigma)?;
            let risk = design.risk.max(exact);
            let least = self.lower_bound(&reference, sigma)?.min(risk);
            expected.push(Expected {
                epsilon,
                noise: unit * (risk - exact).sqrt(),
                error: unit * risk.sqrt(),
                least: Some(unit * least.sqrt()),
                constant: unit * (of_mean + added * added).sqrt(),
                released: design.numbers(),
            });
        }
        let prior = unit * (reference.kernel.variance() + reference.bias).sqrt();
        Ok(Preview { over: PreviewedOver::Box, prior, expected, without_privacy: unit * exact.sqrt() })
    }
}
