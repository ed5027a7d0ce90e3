//! Sums and differences of frequencies.

use std::collections::BTreeMap;

use super::Frequencies;
use super::frequencies::{is_zero, with_sign};

/// The frequencies `k = +-(i - j)` and `+-(i + j)` of all pairs of some frequencies, but for the zero, and where each pair has its
/// own.
#[derive(Debug, Clone)]
pub struct PairTable {
    /// All k.
    pub frequencies: Frequencies,
    /// For each pair, row by row, the places of its difference and of its sum; none for the zero.
    places: Vec<[Option<usize>; 2]>,
}

impl PairTable {
    /// Of all pairs of these frequencies.
    pub fn new(frequencies: &Frequencies) -> Self {
        let vectors = frequencies.vectors();
        let pairs =
            vectors.iter().flat_map(|i| vectors.iter().map(move |j| [-1, 1].map(|s| combined(i, j, s))));
        let pairs: Vec<[Vec<i64>; 2]> = pairs.collect();
        let all = pairs.iter().flatten().filter(|vector| !is_zero(vector)).cloned();
        let all = Frequencies::half_space(all);
        let known: BTreeMap<&[i64], usize> =
            all.vectors().iter().enumerate().map(|(place, vector)| (vector.as_slice(), place)).collect();
        let places = pairs.iter().map(|pair| [0, 1].map(|which| known.get(pair[which].as_slice()).copied()));
        Self { places: places.collect(), frequencies: all }
    }

    /// The coefficients `t_k` of `V^2 = t_0 + sum_k t_k cos(2 pi k.d / P)` for `V = sum_j u_j cos(2 pi j.d / P)`: a product of two
    /// cosines is half the cosine of the difference and half that of the sum, so that each ordered pair adds `u_i u_j / 2` to
    /// both.
    ///
    /// ```
    /// use dpgp_mechanisms::{Frequencies, PairTable};
    /// // (1/2 + 1/2 cos a)^2 = 3/8 + 1/2 cos a + 1/8 cos 2a.
    /// let table = PairTable::new(&Frequencies::ball(1, 1, 1));
    /// assert_eq!(table.autoconvolution(&[0.5, 0.5]), [0.5, 0.125]);
    /// ```
    pub fn autoconvolution(&self, weights: &[f64]) -> Vec<f64> {
        let mut squared = vec![0.0; self.frequencies.len()];
        for (pair, places) in self.places.iter().enumerate() {
            let half = 0.5 * weights[pair / weights.len()] * weights[pair % weights.len()];
            places.iter().flatten().for_each(|place| squared[*place] += half);
        }
        squared
    }
}

/// `i + sign j`, or its negative.
fn combined(i: &[i64], j: &[i64], sign: i64) -> Vec<i64> {
    with_sign(i.iter().zip(j).map(|(a, b)| a + sign * b).collect())
}
