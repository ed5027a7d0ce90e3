//! The weights that noise on Fourier moments stands for.
//!
//! In units of the noise, a number with the standard deviation sd has the weight `1 / sd^2`. With the weights u, t and q_0 and the
//! sums `V(d) = sum_j u_j cos(2 pi j.d / P)` and `W(d) = sum_k t_k cos(2 pi k.d / P)`, two records a displacement d apart with targets y and z
//! are `2 (W(0) - W(d)) + (y^2 + z^2) V(0) - 2 y z V(d) + q_0 (y^2 - z^2)^2` apart, squared.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use dpgp_linalg::largest;
use dpgp_mechanisms::Frequencies;
use dpgp_mechanisms::MomentsRelease;

/// Displacements that are tried, in all.
const DISPLACEMENTS: f64 = 4000.0;
/// Targets that are tried, from -R to R.
const TARGETS: i32 = 16;

/// A frequency with its weight.
struct Wave {
    frequency: Vec<i64>,
    weight: f64,
}

/// The weights that the noise stands for.
pub(super) struct MomentWeights {
    weighted: Vec<Wave>,
    plain: Vec<Wave>,
    squares: f64,
    period: f64,
    bound: f64,
    /// Of numbers of rows beside them, all together.
    counts: f64,
}

impl MomentWeights {
    pub fn of(release: &MomentsRelease) -> Self {
        Self {
            weighted: waves(&release.weighted, release.noise.weighted.as_slice()),
            plain: waves(&release.plain, release.noise.plain.as_slice()),
            squares: release.noise.squares.powi(-2),
            period: release.period,
            bound: release.bound,
            counts: release.counts.iter().map(|sd| sd.powi(-2)).sum(),
        }
    }

    /// The greatest squared shift that the weights allow.
    ///
    /// Obligation: let `t_k <= c v_k` for the coefficients `v_k` of `V^2`, with a c that makes `kappa = 2 c V_0 / R^2` at least 1. Then
    /// `W(0) - W(d) <= c (V_0^2 - V^2)`, and the squared shift is at most the greater end of a function that is convex in the square
    /// of `r = (|y - z| - |y + z|) / (2 R)`: `R^2 V_0 (1 + kappa) + max(R^2 V_0 (1 + 1 / kappa), q_0 R^4)`. Numbers of rows beside them
    /// move by at most 1 each.
    pub fn bound(&self) -> f64 {
        let total: f64 = self.weighted.iter().map(|wave| wave.weight).sum();
        let square = self.bound * self.bound;
        let coefficients = self.squared();
        let ratio = largest(self.plain.iter().map(|wave| {
            // A plain sum that V^2 has no share in is bounded by nothing.
            coefficients.get(&wave.frequency).map_or(f64::INFINITY, |v| wave.weight / v)
        }));
        let kappa = largest([1.0, 2.0 * ratio * total / square]);
        square * (total * (1.0 + kappa) + largest([total * (1.0 + 1.0 / kappa), self.squares * square]))
            + self.counts
    }

    /// The coefficients of the square of V, by the product of cosines for every ordered pair.
    fn squared(&self) -> BTreeMap<Vec<i64>, f64> {
        let mut coefficients = BTreeMap::new();
        for one in &self.weighted {
            for other in &self.weighted {
                for sign in [-1, 1] {
                    let pairs = one.frequency.iter().zip(&other.frequency);
                    let sum: Vec<i64> = pairs.map(|(a, b)| a + sign * b).collect();
                    *coefficients.entry(positive(sum)).or_insert(0.0) += 0.5 * one.weight * other.weight;
                }
            }
        }
        coefficients
    }

    /// The greatest squared shift over displacements and targets on a grid: records that exist.
    pub fn search(&self) -> f64 {
        let dimensions = self.weighted.first().map_or(1, |wave| wave.frequency.len());
        let side = (DISPLACEMENTS.powf(1.0 / dimensions as f64) as usize).max(2);
        let count = (0..dimensions).fold(1, |count: usize, _| count * side);
        largest((0..count).map(|place| self.worst_targets(&displacement(place, side, dimensions))))
    }

    fn worst_targets(&self, displacement: &[f64]) -> f64 {
        let (v, w) = (self.sum(&self.weighted, displacement), self.sum(&self.plain, displacement));
        let (most_v, most_w) = (self.sum(&self.weighted, &[]), self.sum(&self.plain, &[]));
        largest(self.targets().flat_map(|y| {
            self.targets().map(move |z| {
                let moved = (y * y + z * z) * most_v - 2.0 * y * z * v;
                2.0 * (most_w - w) + moved + self.squares * (y * y - z * z).powi(2)
            })
        }))
    }

    fn targets(&self) -> impl Iterator<Item = f64> {
        (-TARGETS..=TARGETS).map(|y| self.bound * f64::from(y) / f64::from(TARGETS))
    }

    /// The sum of weighted cosines at a displacement; without one at zero.
    fn sum(&self, waves: &[Wave], displacement: &[f64]) -> f64 {
        let mut sum = 0.0;
        for wave in waves {
            let turns: f64 = wave.frequency.iter().zip(displacement).map(|(j, d)| *j as f64 * d).sum();
            sum += wave.weight * (TAU * turns / self.period).cos();
        }
        sum
    }
}

/// Each frequency with the weight of the lesser noise of its cosine and sine; the zero has a cosine alone.
fn waves(frequencies: &Frequencies, sds: &[f64]) -> Vec<Wave> {
    let (mut waves, mut rest) = (Vec::new(), sds);
    for frequency in frequencies.vectors() {
        let width = if frequency.iter().all(|entry| *entry == 0) { 1 } else { 2 };
        let (here, after) = rest.split_at(width);
        let weight = largest(here.iter().map(|sd| sd.powi(-2)));
        waves.push(Wave { frequency: frequency.clone(), weight });
        rest = after;
    }
    waves
}

/// Of a vector and its negative the one whose first entry that is not zero is positive.
fn positive(vector: Vec<i64>) -> Vec<i64> {
    let negative: Vec<i64> = vector.iter().map(|entry| -entry).collect();
    vector.max(negative)
}

/// A point of the grid over the displacements within the box, one of each opposite pair along the first input.
fn displacement(place: usize, side: usize, dimensions: usize) -> Vec<f64> {
    let (mut rest, mut point) = (place, Vec::with_capacity(dimensions));
    for dimension in 0..dimensions {
        let part = (rest % side) as f64 / (side - 1) as f64;
        point.push(if dimension == 0 { part } else { 2.0 * part - 1.0 });
        rest /= side;
    }
    point
}
