//! The errors of a candidate in one fold.

use super::clipped_square::expected_square;
use dpgp_mechanisms::FoldColumns;

/// One fold of one candidate.
#[derive(Debug, Clone)]
pub(super) struct CandidateFold {
    pub columns: FoldColumns,
    /// The test rows.
    pub tests: Vec<usize>,
    /// Prediction minus target, on the scale of the model.
    pub errors: Vec<f64>,
    /// The noise at multiplier 1 and change 1.
    pub noise: ErrorNoise,
    /// The largest squared norm of a column.
    pub longest: f64,
    pub gap: Option<f64>,
}

/// How the noise enters the errors.
#[derive(Debug, Clone)]
pub(super) enum ErrorNoise {
    /// By its standard deviations: the expectation is exact.
    Deviations(Vec<f64>),
    /// By sampled values, one list per draw.
    Draws(Vec<Vec<f64>>),
}

impl CandidateFold {
    /// The sum of squares of some errors with the noise times `noise`, clipped to `clip`: expected, or the mean over draws.
    pub fn squares(&self, errors: &[f64], noise: f64, clip: f64) -> f64 {
        match &self.noise {
            ErrorNoise::Deviations(sds) => {
                errors.iter().zip(sds).map(|(e, sd)| expected_square(*e, noise * sd, clip)).sum()
            }
            ErrorNoise::Draws(draws) => {
                let of_draws = draws.iter().map(|draw| {
                    let noisy = errors.iter().zip(draw).map(|(e, z)| e + noise * z);
                    noisy.map(|e| e.clamp(-clip, clip).powi(2)).sum::<f64>()
                });
                of_draws.sum::<f64>() / draws.len() as f64
            }
        }
    }
}
