//! The least ellipsoid around the differences of all records of a box.

use nalgebra::DMatrix;

use super::NoiseAxes;
use super::least_trace::{Contributions, least_trace};
use super::reach::{places, reach};
use dpgp_gp::variational::Bumps;
use dpgp_linalg::LinalgError;

/// Points to a side of the grid that a shape is found on, and of the one that it is certified on, for one and two inputs.
const FOUND: [usize; 2] = [97, 17];
const CERTIFIED: [usize; 2] = [801, 45];

/// What a record (x, y) adds to sums: `(y phi(x), e(x))`, with `|y| <= R`.
#[derive(Debug, Clone, PartialEq)]
pub struct SumMaps {
    /// phi (m).
    pub weighted: Bumps,
    /// e (k).
    pub plain: Bumps,
    /// R.
    pub bound: f64,
}

impl SumMaps {
    /// At the bound of targets, for inputs (n x d).
    pub(super) fn contributions(&self, inputs: &DMatrix<f64>) -> Contributions {
        Contributions {
            weighted: self.weighted.features(inputs) * self.bound,
            plain: self.plain.features(inputs),
        }
    }
}

/// Noise at the multiplier 1.
///
/// Obligation: the difference D of any two records of the box has `D' S^-1 D <= 1`, so that this noise times sigma is a Gaussian mechanism
/// with `mu = 1 / sigma` for neighbours that differ in one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Ellipsoid {
    /// On `b = sum y phi(x)`.
    pub weighted: NoiseAxes,
    /// On `T = sum e(x)`.
    pub plain: NoiseAxes,
    /// How far its trace is above a lower bound on the trace of every such noise, as a part of the bound: by the ascent and by the margin
    /// for inputs between the places of a grid.
    pub gap: f64,
}

impl Ellipsoid {
    /// The shape of least trace, but for the gap, for a box of one or two inputs.
    ///
    /// ```
    /// use dpgp_gp::variational::InducingGrid;
    /// use dpgp_mechanisms::{Ellipsoid, SumMaps};
    /// let sides = vec![(0..7).map(|place| 15.0 * f64::from(place)).collect()];
    /// let grid = InducingGrid { sides, variance: 1.0, lengthscale: 25.0 };
    /// let plain = grid.midpoints().scaled(&grid.multiplicities().map(f64::sqrt));
    /// let maps = SumMaps { weighted: grid.covariances(), plain, bound: 2.0 };
    /// let shape = Ellipsoid::around(&maps, &[[0.0, 90.0]])?;
    /// // The ball around all differences takes 4 R^2 K = 47 of each number: 330 on A alone.
    /// assert!(shape.gap < 0.03 && shape.weighted.variances.sum() < 0.4 * 330.0);
    /// # Ok::<(), dpgp_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError`] if features are not finite.
    ///
    /// # Panics
    /// For another number of inputs.
    pub fn around(maps: &SumMaps, domain: &[[f64; 2]]) -> Result<Self, LinalgError> {
        let inputs = domain.len() - 1;
        let found = least_trace(&maps.contributions(&places(domain, FOUND[inputs])))?;
        let reach = reach(maps, &found.weighted, &found.plain, domain, CERTIFIED[inputs]);
        let held = found.scaled(reach);
        Ok(Self { gap: held.trace() / held.bound - 1.0, weighted: held.weighted, plain: held.plain })
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use dpgp_gp::variational::InducingGrid;

    fn maps(inputs: usize) -> SumMaps {
        let side = [-4.0, -2.0, 0.0, 2.0, 4.0].to_vec();
        let grid = InducingGrid { sides: vec![side; inputs], variance: 1.3, lengthscale: 2.0 };
        let plain = grid.midpoints().scaled(&grid.multiplicities().map(|w| (4.5 * w).sqrt()));
        SumMaps { weighted: grid.covariances(), plain, bound: 3.0 }
    }

    fn squared(maps: &SumMaps, shape: &Ellipsoid, pair: &[f64], sign: f64) -> f64 {
        let inputs = DMatrix::from_row_slice(2, pair.len() / 2, pair);
        let u = shape.weighted.whitened(&maps.weighted.features(&inputs)) * maps.bound;
        let w = shape.plain.whitened(&maps.plain.features(&inputs));
        (u.row(0) - u.row(1) * sign).norm_squared() + (w.row(0) - w.row(1)).norm_squared()
    }

    /// Random pairs pushed uphill: no difference reaches out, and some touch but for the margin.
    #[test]
    fn no_difference_reaches_out() {
        let mut stream = rand_pcg::Pcg64::seed_from_u64(3);
        for (inputs, gap) in [(1, 0.02), (2, 0.06)] {
            let maps = maps(inputs);
            let shape = Ellipsoid::around(&maps, &vec![[-4.0, 4.0]; inputs]).unwrap();
            assert!(shape.gap > 0.0 && shape.gap < gap, "{}", shape.gap);
            let mut worst = 0.0f64;
            for climb in 0..30 {
                let mut pair = vec![0.0; 2 * inputs];
                let (mut far, sign) = (0.0, if climb % 3 == 0 { 1.0 } else { -1.0 });
                for step in 0..300 {
                    let reach = 8.0 * 0.98f64.powi(step);
                    let moved: Vec<f64> = pair
                        .iter()
                        .map(|x| (x + reach * stream.random_range(-1.0..1.0f64)).clamp(-4.0, 4.0))
                        .collect();
                    let found = squared(&maps, &shape, &moved, sign);
                    if found > far {
                        (far, pair) = (found, moved);
                    }
                }
                worst = worst.max(far);
            }
            assert!(worst <= 1.0 && worst > 0.93, "{inputs}: {worst}");
        }
    }
}
