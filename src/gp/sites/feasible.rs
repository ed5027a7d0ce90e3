//! Counts that no number of is negative.

use nalgebra::{DMatrix, DVector};

use super::{NoisyFeatures, SiteFeatures};
use crate::linalg::{gram, onto_simplex};

/// Steps after which the descent ends.
const STEPS: usize = 2000;
/// It ends where no count moves by more than this part of all.
const STILL: f64 = 1e-10;

/// `1/2 |N^(-1/2) (T - E p)|^2 + G / (2 S) |p - n / G|^2` for counts `p >= 0` with `sum p = n`, by its quadratic form
/// `1/2 p' H p - h'p`: strictly convex, so that its minimum is unique.
pub(super) struct Misfit {
    curvature: DMatrix<f64>,
    linear: DVector<f64>,
    /// A bound on the greatest eigenvalue of the curvature.
    steepest: f64,
    total: f64,
}

impl Misfit {
    pub fn new(
        features: &SiteFeatures,
        released: &NoisyFeatures,
        uniform: &DVector<f64>,
        scale: f64,
    ) -> Self {
        // Each sum in units of its noise.
        let mut whitened = features.plain.transpose();
        let mut sums = released.sums.plain.clone();
        for (k, variance) in released.plain.iter().enumerate() {
            whitened.row_mut(k).scale_mut(1.0 / variance.sqrt());
            sums[k] /= variance.sqrt();
        }
        let pull = features.len() as f64 / scale;
        let sites = features.len();
        let curvature = gram(&whitened) + DMatrix::identity(sites, sites) * pull;
        let linear = whitened.tr_mul(&sums) + uniform * pull;
        // The nonzero eigenvalues of W'W are those of W W', none of which exceeds a sum of absolute values along a row.
        let steepest = pull + greatest_row(&gram(&whitened.transpose()));
        Self { curvature, linear, steepest, total: released.sums.rows as f64 }
    }

    /// The minimum, by accelerated projected gradients from some counts. Source: Beck and Teboulle 2009; it starts again where a
    /// step goes against the last move (O'Donoghue and Candes 2015).
    pub fn least(&self, from: &DVector<f64>) -> DVector<f64> {
        let mut counts = onto_simplex(from, self.total);
        let (mut ahead, mut momentum) = (counts.clone(), 1.0f64);
        for _ in 0..STEPS {
            let slope = &self.curvature * &ahead - &self.linear;
            let next = onto_simplex(&(&ahead - slope / self.steepest), self.total);
            let moved = &next - &counts;
            if (&ahead - &next).dot(&moved) > 0.0 {
                momentum = 1.0;
            }
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            ahead = &next + &moved * ((momentum - 1.0) / grown);
            (counts, momentum) = (next, grown);
            if moved.amax() <= STILL * self.total {
                break;
            }
        }
        counts
    }
}

fn greatest_row(matrix: &DMatrix<f64>) -> f64 {
    matrix.row_iter().map(|row| row.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
}
