//! The Gram matrix of waves, from sums of waves.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::Frequencies;
use super::frequencies::{is_zero, with_sign};
use dpgp_gp::sites::{GramEntry, GramMap, GramSum};

/// The cosine or the sine of a frequency: a feature.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wave {
    Cosine,
    Sine,
}

/// The features of some frequencies, each with its frequency.
struct Feature<'a> {
    frequency: &'a [i64],
    wave: Wave,
}

impl Frequencies {
    /// How the Gram matrix of these waves follows from the plain sums of others, where they were released, for inputs that are
    /// spread like the sites (G x d).
    ///
    /// With `C(k) = sum_i cos(2 pi k.x_i / P)` and S(k) the same of sines, `C(0) = n`, `S(0) = 0`:
    ///
    /// ```text
    /// cos i cos j = (C(i - j) + C(i + j)) / 2,    sin i sin j = (C(i - j) - C(i + j)) / 2,    sin i cos j = (S(i + j) + S(i - j)) / 2.
    /// ```
    pub fn gram_map(&self, released: &Self, sites: &DMatrix<f64>, period: f64) -> GramMap {
        let features = self.listed();
        let mut builder =
            GramBuilder { constant: DMatrix::zeros(features.len(), features.len()), sums: BTreeMap::new() };
        for (row, one) in features.iter().enumerate() {
            for (column, other) in features.iter().enumerate() {
                builder.add(row, column, one, other);
            }
        }
        let places = released.places();
        let mut sums = Vec::new();
        for (vector, entries) in builder.sums {
            let waves = Self { vectors: vec![vector.clone()] }.features(sites, period);
            let place = places.get(vector.as_slice());
            for (wave, entries) in entries.into_iter().enumerate() {
                let column = waves.column(wave);
                let released = place.map(|place| place + wave);
                sums.push(GramSum { mean: column.mean(), variance: column.variance(), released, entries });
            }
        }
        GramMap { constant: builder.constant, sums }
    }

    /// The features in the order of their columns.
    fn listed(&self) -> Vec<Feature<'_>> {
        let mut features = Vec::new();
        for frequency in &self.vectors {
            features.push(Feature { frequency, wave: Wave::Cosine });
            features.extend((!is_zero(frequency)).then_some(Feature { frequency, wave: Wave::Sine }));
        }
        features
    }

    /// The column of the cosine of each frequency.
    fn places(&self) -> BTreeMap<&[i64], usize> {
        let (mut places, mut next) = (BTreeMap::new(), 0);
        for vector in &self.vectors {
            places.insert(vector.as_slice(), next);
            next += if is_zero(vector) { 1 } else { 2 };
        }
        places
    }
}

/// The coefficients of a Gram matrix.
struct GramBuilder {
    constant: DMatrix<f64>,
    /// For each frequency the entries of the matrices of its cosine and of its sine.
    sums: BTreeMap<Vec<i64>, [Vec<GramEntry>; 2]>,
}

impl GramBuilder {
    /// The product of two features, in sums of waves.
    fn add(&mut self, row: usize, column: usize, one: &Feature<'_>, other: &Feature<'_>) {
        let (sum, difference) = (combined(one, other, 1), combined(one, other, -1));
        // The halves of the waves of the sum and of the difference of the frequencies.
        let (wave, of_sum, of_difference) = match (one.wave, other.wave) {
            (Wave::Cosine, Wave::Cosine) => (Wave::Cosine, 0.5, 0.5),
            (Wave::Sine, Wave::Sine) => (Wave::Cosine, -0.5, 0.5),
            (Wave::Sine, Wave::Cosine) => (Wave::Sine, 0.5, 0.5),
            (Wave::Cosine, Wave::Sine) => (Wave::Sine, 0.5, -0.5),
        };
        self.put(sum, wave, GramEntry { row, column, factor: of_sum });
        self.put(difference, wave, GramEntry { row, column, factor: of_difference });
    }

    /// A multiple of the wave of a frequency, whose sine turns its sign with it.
    fn put(&mut self, frequency: Vec<i64>, wave: Wave, entry: GramEntry) {
        if is_zero(&frequency) {
            if wave == Wave::Cosine {
                self.constant[(entry.row, entry.column)] += entry.factor;
            }
            return;
        }
        let turned = with_sign(frequency.clone());
        let sign = if wave == Wave::Sine && turned != frequency { -1.0 } else { 1.0 };
        let entries = &mut self.sums.entry(turned).or_default()[usize::from(wave == Wave::Sine)];
        let factor = sign * entry.factor;
        // The two waves of a product with the constant are one and the same.
        match entries.iter_mut().find(|known| (known.row, known.column) == (entry.row, entry.column)) {
            Some(known) => known.factor += factor,
            None => entries.push(GramEntry { factor, ..entry }),
        }
    }
}

/// `i + sign j`.
fn combined(one: &Feature<'_>, other: &Feature<'_>, sign: i64) -> Vec<i64> {
    one.frequency.iter().zip(other.frequency).map(|(i, j)| i + sign * j).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From exact sums follows the Gram matrix of the features themselves.
    #[test]
    fn sums_of_waves_are_products_of_waves() {
        let rows = DMatrix::from_fn(9, 3, |i, l| (0.37 * (i * i + 1) as f64 * (l + 1) as f64).fract());
        let frequencies = Frequencies::half_space([
            vec![0, 0, 0],
            vec![1, 0, 0],
            vec![0, 2, 0],
            vec![1, -1, 0],
            vec![0, 0, 3],
        ]);
        let pairs = super::super::PairTable::new(&frequencies).frequencies;
        let map = frequencies.gram_map(&pairs, &rows, 1.3);
        let sums = pairs.features(&rows, 1.3).row_sum();
        let mut gram = map.constant * 9.0;
        for sum in &map.sums {
            let total = sums[sum.released.unwrap()];
            // The rows stand for the sites here.
            assert!((total - 9.0 * sum.mean).abs() < 1e-12);
            sum.entries.iter().for_each(|entry| gram[(entry.row, entry.column)] += total * entry.factor);
        }
        let features = frequencies.features(&rows, 1.3);
        assert!((gram - features.transpose() * features).amax() < 1e-12);
        // A sum that was not released has no place.
        let some = frequencies.gram_map(&Frequencies::half_space([vec![1, 0, 0]]), &rows, 1.3);
        assert_eq!(some.sums.iter().filter(|sum| sum.released.is_some()).count(), 2);
    }
}
