//! Moments with noise on them.

use nalgebra::DVector;
use serde::{Deserialize, Serialize};

use super::{Frequencies, MomentsDesign};
use dpgp_gp::sites::{NoisyFeatures, SiteFeatures, SummedFeatures};
use dpgp_number::Positive;

/// Released moments and all that is needed to use them, as a file holds them; in units of the box and of the model's targets. A
/// frequency j has two numbers, that of `cos(2 pi j.x / P)` and that of the sine; the zero has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedMoments {
    /// P, in sides of the box.
    pub period: f64,
    /// The number of rows.
    pub rows: u64,
    /// The standard deviation of its noise; zero where it is public.
    pub rows_sd: f64,
    /// The frequencies of the sums that targets weigh.
    pub frequencies: Vec<Vec<i64>>,
    /// Those sums.
    pub weighted: Vec<f64>,
    /// The standard deviations of their noise.
    pub weighted_sd: Vec<f64>,
    /// The frequencies of the plain sums.
    pub pairs: Vec<Vec<i64>>,
    /// Those sums.
    pub plain: Vec<f64>,
    /// The standard deviations of their noise.
    pub plain_sd: Vec<f64>,
    /// The sum of squared targets.
    pub squares: f64,
    /// The standard deviation of its noise.
    pub squares_sd: f64,
}

impl ReleasedMoments {
    /// Of noisy sums by a design.
    pub(super) fn new(design: &MomentsDesign, noisy: &NoisyFeatures) -> Self {
        Self {
            period: design.period,
            rows: noisy.sums.rows as u64,
            rows_sd: noisy.rows.sqrt(),
            frequencies: design.frequencies.vectors().to_vec(),
            weighted: noisy.sums.weighted.as_slice().to_vec(),
            weighted_sd: roots(&noisy.weighted),
            pairs: design.pairs.vectors().to_vec(),
            plain: noisy.sums.plain.as_slice().to_vec(),
            plain_sd: roots(&noisy.plain),
            squares: noisy.sums.squares,
            squares_sd: noisy.squares.sqrt(),
        }
    }

    /// Whether there are such moments of so many inputs: every number is finite, noise is positive, and each frequency has its
    /// numbers.
    pub fn is_sound(&self, inputs: usize) -> bool {
        let Self { period, rows, rows_sd, squares, squares_sd, .. } = self;
        let weighted =
            NumbersOf { vectors: &self.frequencies, numbers: &self.weighted, sds: &self.weighted_sd };
        let plain = NumbersOf { vectors: &self.pairs, numbers: &self.plain, sds: &self.plain_sd };
        // Few rows leave nothing to say of the plain sums: a design may have none.
        !weighted.vectors.is_empty()
            && weighted.are_sound(inputs)
            && plain.are_sound(inputs)
            && (1.0..=1e3).contains(period)
            && (1..=1 << 48).contains(rows)
            && (0.0..f64::INFINITY).contains(rows_sd)
            && squares.is_finite()
            && Positive::new(*squares_sd).is_ok()
    }

    /// What a model needs of them: the features at its sites, and the noisy sums.
    pub(super) fn seen(&self, additive: bool) -> (SiteFeatures, NoisyFeatures) {
        let [frequencies, pairs] =
            [&self.frequencies, &self.pairs].map(|list| Frequencies::half_space(list.iter().cloned()));
        let features = frequencies.at_sites(&pairs, self.period, additive);
        let noisy = NoisyFeatures {
            sums: SummedFeatures {
                rows: usize::try_from(self.rows).unwrap_or(usize::MAX),
                weighted: DVector::from_column_slice(&self.weighted),
                plain: DVector::from_column_slice(&self.plain),
                squares: self.squares,
            },
            weighted: squares(&self.weighted_sd),
            plain: squares(&self.plain_sd),
            squares: self.squares_sd * self.squares_sd,
            rows: self.rows_sd * self.rows_sd,
        };
        (features, noisy)
    }
}

/// The numbers of some frequencies.
struct NumbersOf<'a> {
    vectors: &'a [Vec<i64>],
    numbers: &'a [f64],
    sds: &'a [f64],
}

/// No entry of a frequency is larger: sums of them must not overflow.
const MOST_TURNS: u64 = 1 << 20;

impl NumbersOf<'_> {
    /// The vectors must be those of a half space and in its order, each with its numbers, and all noise positive.
    fn are_sound(&self, inputs: usize) -> bool {
        let entries = self.vectors.iter().flatten();
        let small = entries.clone().all(|entry| entry.unsigned_abs() <= MOST_TURNS);
        if !small || self.vectors.iter().any(|vector| vector.len() != inputs) {
            return false;
        }
        let frequencies = Frequencies::half_space(self.vectors.iter().cloned());
        frequencies.vectors() == self.vectors
            && frequencies.columns() == self.numbers.len()
            && self.sds.len() == self.numbers.len()
            && self.numbers.iter().all(|number| number.is_finite())
            && self.sds.iter().all(|sd| Positive::new(*sd).is_ok())
    }
}

fn roots(variances: &DVector<f64>) -> Vec<f64> {
    variances.iter().map(|variance| variance.sqrt()).collect()
}

fn squares(sds: &[f64]) -> DVector<f64> {
    DVector::from_iterator(sds.len(), sds.iter().map(|sd| sd * sd))
}
