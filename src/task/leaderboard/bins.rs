//! Noisy means of bins.

use nalgebra::DVector;
use rand_pcg::Pcg64;

use super::super::TaskError;
use super::super::binning::{Binned, of_bins};
use super::super::witness::{Sampled, record};
use super::{Context, Method, Rows};
use crate::gp::variational::Prediction;
use crate::privacy::{Certificate, Mechanism, Neighbours, Release, Statistic};
use crate::spec::{BinningSetting, PrivacySetting};

/// The noisy statistic of the bin that holds a test input; where there is none, the prior of the model.
pub(super) struct Bins {
    binned: Binned,
    statistic: Statistic,
    places: Vec<Option<usize>>,
    prior: f64,
    /// Units of the target per unit of the normalised one.
    scale: f64,
}

impl Bins {
    pub fn new(context: &Context<'_>, setting: &BinningSetting, rows: &Rows) -> Self {
        let binned = Binned::new(setting, &rows.inputs, &rows.targets);
        let prior = context.model.exponentiated_quadratic().map_or(1.0, |(variance, _)| variance);
        let places = binned.places(&rows.test);
        Self { places, binned, statistic: setting.statistic, prior, scale: context.scale }
    }

    fn noise(&self, cell: &PrivacySetting) -> f64 {
        cell.change() / self.scale * cell.calibration.sigma(cell.epsilon, cell.delta)
    }
}

impl Method for Bins {
    fn run(&self, cell: &PrivacySetting, stream: &mut Pcg64) -> Result<Prediction, TaskError> {
        let sds = self.binned.sds(self.noise(cell));
        let mean = of_bins(&self.binned.noisy(&sds, stream), &self.places);
        let variance = self.places.iter().map(|place| place.map_or(self.prior, |bin| sds[bin] * sds[bin]));
        Ok(Prediction { mean, variance: DVector::from_iterator(self.places.len(), variance) })
    }

    fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        if cell.epsilon.is_infinite() {
            return Certificate::none();
        }
        record(cell, || Sampled::Statistics {
            statistic: self.statistic,
            bins: self.binned.counts.iter().copied().zip(self.binned.sds(self.noise(cell))).collect(),
            change: cell.change() / self.scale,
        });
        let neighbours = Neighbours::OneTargetChanges(cell.change());
        let budget = (cell.epsilon, cell.delta);
        Certificate::gaussian((Release::Histogram, neighbours), cell.calibration, budget, 1.0, None)
            .by(Mechanism::Histogram(cell.calibration))
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}
