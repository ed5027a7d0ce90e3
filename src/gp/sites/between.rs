//! Rows that lie between sites.

use nalgebra::{DMatrix, DVector};

use super::SiteKernel;

/// The mean square of a cosine over places that nobody knows.
const OF_NOTHING: f64 = 0.5;

/// What counts at sites leave out of rows between them, for sites on a grid.
///
/// A row between sites is represented by positive weights on its neighbours that keep its mean place, as linear interpolation has them.
/// Where rows gather at places between sites, such errors are the same for all rows of a place and do not average out, however many
/// rows there are.
#[derive(Debug, Clone, PartialEq)]
pub struct BetweenSites {
    /// The distance h of neighbouring sites.
    pub spacing: f64,
    /// The mean square of that error of each of the functions e (k).
    pub plain: DVector<f64>,
}

impl BetweenSites {
    /// The mean square error of `cos(t.u)`, for the angles `t_d` between neighbouring sites.
    ///
    /// At the share u of the way between two sites the error is at most `u (1 - u) t^2 / 2` of an amplitude of 1. Its square has the mean
    /// `t^4 / 120` over u, of which a cosine has half; errors along several inputs add up. Sites tell waves with more than half a turn
    /// between them from no others.
    ///
    /// ```
    /// use dpgp::gp::sites::BetweenSites;
    /// assert_eq!(BetweenSites::of_wave(&[0.0, 0.0]), 0.0);
    /// assert!((BetweenSites::of_wave(&[0.4]) - 0.4f64.powi(4) / 240.0).abs() < 1e-18);
    /// assert_eq!(BetweenSites::of_wave(&[3.2]), 0.5);
    /// ```
    pub fn of_wave(angles: &[f64]) -> f64 {
        if angles.iter().any(|angle| angle.abs() > std::f64::consts::PI) {
            return OF_NOTHING;
        }
        let square: f64 = angles.iter().map(|angle| angle * angle).sum();
        (square * square / 240.0).min(OF_NOTHING)
    }

    /// The variance of each T by rows between sites (k): `c n^2` of its mean square error, where c is the chance that two rows lie at one
    /// place; all of it where the sites tell nothing of a wave.
    pub(super) fn variances(&self, clumping: f64, rows: f64) -> DVector<f64> {
        self.plain.map(|error| rows * rows * error * if error < OF_NOTHING { clumping } else { 1.0 })
    }

    /// The mean variance of a process of variance 1 about its linear interpolation from the sites, over places between 2^d of them: by two
    /// nodes of Gauss and Legendre along each input.
    pub(super) fn of_process(&self, kernel: &SiteKernel, inputs: usize) -> f64 {
        let node = 0.5 - 0.5 / 3f64.sqrt();
        let corners =
            DMatrix::from_fn(1 << inputs, inputs, |corner, input| f64::from(is_upper(corner, input)));
        let places = corners.map(|end| if end == 1.0 { 1.0 - node } else { node });
        let weights = DMatrix::from_fn(places.nrows(), corners.nrows(), |place, corner| {
            (0..inputs).map(|input| share(places[(place, input)], corners[(corner, input)])).product()
        });
        let (corners, places) = (corners * self.spacing, places * self.spacing);
        let between = kernel.correlations.matrix(&corners, &corners);
        let across = kernel.correlations.matrix(&places, &corners);
        let mut total = 0.0;
        for (weights, across) in weights.row_iter().zip(across.row_iter()) {
            total += 1.0 - 2.0 * weights.dot(&across) + (weights * &between).dot(&weights);
        }
        (total / weights.nrows() as f64).max(0.0)
    }
}

/// Whether a corner of a unit cell lies at the upper end of an input.
fn is_upper(corner: usize, input: usize) -> bool {
    corner >> input & 1 == 1
}

/// The weight of an end, 0 or 1, for a place between both.
fn share(place: f64, end: f64) -> f64 {
    if end == 1.0 { place } else { 1.0 - place }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    fn of_process(lengthscale: f64, inputs: usize) -> f64 {
        let correlations = Arc::new(ExponentiatedQuadratic::isotropic(1.0, lengthscale));
        let between = BetweenSites { spacing: 0.1, plain: DVector::zeros(0) };
        between.of_process(&SiteKernel { correlations, log_prior: 0.0 }, inputs)
    }

    /// To leading order `u (1 - u) h^2 f'' / 2`: f'' has the variance `3 / l^4`, `(u (1 - u))^2` the mean 1 / 36 at the two nodes.
    /// Inputs add up, and f'' along two of them has the covariance `1 / l^4`.
    #[test]
    fn interpolation_errs_by_the_second_derivative() {
        let order = (0.1f64 / 0.8).powi(4) / (4.0 * 36.0);
        assert!((of_process(0.8, 1) / (3.0 * order) - 1.0).abs() < 0.02, "{:e}", of_process(0.8, 1));
        assert!((of_process(0.8, 2) / (8.0 * order) - 1.0).abs() < 0.02, "{:e}", of_process(0.8, 2));
        // Far shorter than the grid is wide: nothing at the sites tells of places between them.
        assert!(of_process(0.001, 1) > 1.0);
    }

    /// The mean square over u of what the chord of a cosine misses, by a sum over places and phases.
    #[test]
    fn a_wave_errs_by_its_chord() {
        for angle in [0.2, 0.5, 1.0] {
            let mut total = 0.0;
            for step in 0..100 * 100 {
                let (u, phase) =
                    (f64::from(step % 100) / 100.0, f64::from(step / 100) * 0.01 * std::f64::consts::TAU);
                let chord = (1.0 - u) * phase.cos() + u * (phase + angle).cos();
                total += ((phase + u * angle).cos() - chord).powi(2);
            }
            let found = BetweenSites::of_wave(&[angle]);
            assert!((total / 1e4 / found - 1.0).abs() < 0.05, "{angle}: {}", total / 1e4 / found);
        }
    }

    #[test]
    fn what_tells_nothing_counts_in_full() {
        let between = BetweenSites { spacing: 0.1, plain: DVector::from_vec(vec![0.1, OF_NOTHING]) };
        assert_eq!(between.variances(0.0, 10.0).as_slice(), [0.0, 50.0]);
        assert_eq!(between.variances(0.01, 10.0).as_slice(), [0.1, 50.0]);
    }
}
