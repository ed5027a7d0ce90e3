//! Noise on sums at inducing inputs that is not that of the published release.

use std::sync::Arc;

use nalgebra::DVector;

use super::{ReleasedMap, ReleasedMaps};
use crate::known::Known;
use crate::noisy_sums::{TargetSums, noisy_sums};
use crate::{Sampled, ShapedRelease, TaskError};
use dpgp_accounting::{Certificate, Release};
use dpgp_gp::variational::{Bumps, InducingGrid};
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::{Ellipsoid, MidpointBounds, NoiseAxes, RecordBounds, SumMaps};
use dpgp_mechanisms::{PrivacySetting, ProductsSetting, SumsSetting, SumsShape};

/// What an ellipsoid depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct EllipsoidQuestion {
    maps: SumMaps,
    domain: Vec<[f64; 2]>,
}

/// Sums at the midpoints, or with noise in an ellipsoid.
pub struct ShapedSums {
    pub maps: ReleasedMaps,
    domain: Vec<[f64; 2]>,
    /// Of the trace of an ellipsoid.
    gap: Option<f64>,
}

impl ShapedSums {
    /// As a setting asks for, for inputs in a box.
    ///
    /// # Errors
    /// [`TaskError`] if an ellipsoid is not found.
    pub fn new(
        setting: &SumsSetting,
        grid: &InducingGrid,
        target: &TargetSums<'_>,
        domain: &[[f64; 2]],
        known: &Known,
    ) -> Result<Self, TaskError> {
        let maps = SumMaps { weighted: grid.covariances(), plain: plain(setting, grid), bound: target.bound };
        let (maps, gap) = match setting.noise {
            SumsShape::Spherical => {
                let record = RecordBounds { features: target.sums.features, target: target.bound };
                let most = MidpointBounds::new(grid, record, domain).sensitivity(setting.split.get());
                (spherical(&maps, most * most), None)
            }
            SumsShape::Ellipsoid => {
                let question = EllipsoidQuestion { maps: maps.clone(), domain: domain.to_vec() };
                let shape = known.ellipsoids.of(&question, || question.shape())?;
                (elliptic(&maps, &shape), Some(shape.gap))
            }
        };
        Ok(Self { maps, domain: domain.to_vec(), gap })
    }

    /// What is guaranteed: one record moves the sums by one standard deviation of the noise at the multiplier 1 at most.
    pub fn certificate(&self, cell: &PrivacySetting) -> Certificate {
        noisy_sums(Release::Posterior, cell, 1.0).with_gap(self.gap)
    }

    /// What is sampled with `sigma` times the noise, of sums of these targets.
    pub fn sampled(&self, target: &TargetSums<'_>, sigma: f64) -> Sampled {
        let ReleasedMaps { weighted, plain } = &self.maps;
        let mut of_plain = plain.noise.scaled(sigma * sigma).covariance();
        // In units of the features themselves.
        let scales = plain.bumps.scales();
        for (j, mut column) in of_plain.column_iter_mut().enumerate() {
            column.iter_mut().zip(scales.iter()).for_each(|(entry, scale)| *entry /= scale * scales[j]);
        }
        Sampled::Shaped(ShapedRelease {
            weighted: weighted.noise.scaled(sigma * sigma).covariance(),
            plain: of_plain,
            kernel: target.sums.kernel,
            inducing: target.sums.inducing.to_vec(),
            domain: self.domain.clone(),
            bound: target.bound,
        })
    }
}

/// The plain features, in the units that their noise is measured in.
fn plain(setting: &SumsSetting, grid: &InducingGrid) -> Bumps {
    let (c, middles) = (setting.split.get(), grid.midpoints());
    let squares = match setting.products {
        // What they are in B.
        ProductsSetting::All => grid.multiplicities(),
        ProductsSetting::Midpoints => DVector::from_element(middles.len(), 1.0),
    };
    middles.scaled(&squares.map(|square| (c * square).sqrt()))
}

/// With noise of one variance on every sum.
fn spherical(maps: &SumMaps, variance: f64) -> ReleasedMaps {
    let [weighted, plain] = [&maps.weighted, &maps.plain].map(|bumps| ReleasedMap {
        noise: NoiseAxes::spherical(bumps.len(), variance),
        bumps: bumps.clone(),
    });
    ReleasedMaps { weighted, plain }
}

fn elliptic(maps: &SumMaps, shape: &Ellipsoid) -> ReleasedMaps {
    let SumMaps { weighted, plain, .. } = maps.clone();
    ReleasedMaps {
        weighted: ReleasedMap { bumps: weighted, noise: shape.weighted.clone() },
        plain: ReleasedMap { bumps: plain, noise: shape.plain.clone() },
    }
}

impl EllipsoidQuestion {
    fn shape(&self) -> Result<Arc<Ellipsoid>, LinalgError> {
        Ellipsoid::around(&self.maps, &self.domain).map(Arc::new)
    }
}
