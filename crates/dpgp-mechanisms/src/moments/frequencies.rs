//! Frequencies of cosines and sines.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, DVector};

/// Vectors j of whole numbers, of j and -j only the one whose first entry that is not zero is positive. They come in the order of
/// their norms, then in that of their entries: the zero, if there is one, comes first.
///
/// Frequency j stands for `cos(2 pi j.x / P)` and `sin(2 pi j.x / P)`, the zero for the constant 1 alone.
///
/// ```
/// use dpgp_mechanisms::Frequencies;
/// let disc = Frequencies::ball(1, 1, 2);
/// assert_eq!(disc.vectors(), [vec![0, 0], vec![0, 1], vec![1, 0]]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequencies {
    pub(super) vectors: Vec<Vec<i64>>,
}

impl Frequencies {
    /// Of some vectors; of a pair j, -j one is kept, and each once.
    pub fn half_space(vectors: impl IntoIterator<Item = Vec<i64>>) -> Self {
        let distinct: BTreeSet<Vec<i64>> = vectors.into_iter().map(with_sign).collect();
        let mut vectors: Vec<Vec<i64>> = distinct.into_iter().collect();
        // The sort keeps the order of entries among equal norms.
        vectors.sort_by_key(|vector| squared_norm(vector));
        Self { vectors }
    }

    /// All with entries from `-side` to `side` and a squared norm of at most `squared_radius`.
    pub fn ball(side: i64, squared_radius: i64, dimensions: usize) -> Self {
        let mut vectors = vec![Vec::new()];
        for _ in 0..dimensions {
            vectors = vectors.iter().flat_map(|start| extended(start, side)).collect();
        }
        Self::half_space(vectors.into_iter().filter(|vector| squared_norm(vector) <= squared_radius))
    }

    /// The vectors.
    pub fn vectors(&self) -> &[Vec<i64>] {
        &self.vectors
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Those whose flag is set.
    pub fn kept(&self, flags: &[bool]) -> Self {
        let vectors = self.vectors.iter().zip(flags).filter(|(_, kept)| **kept);
        Self { vectors: vectors.map(|(vector, _)| vector.clone()).collect() }
    }

    /// The cosine and the sine of each frequency at each input, side by side; one column of ones for the zero (n x columns).
    pub fn features(&self, inputs: &DMatrix<f64>, period: f64) -> DMatrix<f64> {
        let mut columns = Vec::new();
        for vector in &self.vectors {
            let turns = DVector::from_iterator(vector.len(), vector.iter().map(|entry| *entry as f64));
            let angles = inputs * turns * (std::f64::consts::TAU / period);
            columns.push(angles.map(f64::cos));
            if !is_zero(vector) {
                columns.push(angles.map(f64::sin));
            }
        }
        if columns.is_empty() { DMatrix::zeros(inputs.nrows(), 0) } else { DMatrix::from_columns(&columns) }
    }

    /// How many columns [`Frequencies::features`] has: two for each frequency, and one for the zero.
    pub fn columns(&self) -> usize {
        self.vectors.iter().map(|vector| if is_zero(vector) { 1 } else { 2 }).sum()
    }

    /// A value of each frequency for each of its columns.
    pub fn spread(&self, values: &[f64]) -> DVector<f64> {
        let mut spread = Vec::new();
        for (vector, value) in self.vectors.iter().zip(values) {
            spread.push(*value);
            spread.extend((!is_zero(vector)).then_some(*value));
        }
        DVector::from_vec(spread)
    }

    /// The sum of the values of the columns of each frequency.
    pub fn gathered(&self, columns: &[f64]) -> Vec<f64> {
        let (mut gathered, mut place) = (Vec::with_capacity(self.len()), 0);
        for vector in &self.vectors {
            let width = if is_zero(vector) { 1 } else { 2 };
            gathered.push(columns[place..place + width].iter().sum());
            place += width;
        }
        gathered
    }
}

/// Of a vector and its negative the one that is kept.
pub(super) fn with_sign(mut vector: Vec<i64>) -> Vec<i64> {
    let first = vector.iter().copied().find(|entry| *entry != 0);
    if first.is_some_and(i64::is_negative) {
        vector.iter_mut().for_each(|entry| *entry = -*entry);
    }
    vector
}

pub(super) fn is_zero(vector: &[i64]) -> bool {
    vector.iter().all(|entry| *entry == 0)
}

fn squared_norm(vector: &[i64]) -> i64 {
    vector.iter().map(|entry| entry * entry).sum()
}

/// A vector with each entry from `-side` to `side` behind it.
fn extended(start: &[i64], side: i64) -> impl Iterator<Item = Vec<i64>> {
    (-side..=side).map(move |entry| [start, &[entry]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the thirteen vectors in a disc of radius 2 seven, by their norms, then by their entries.
    #[test]
    fn half_of_a_disc_comes_in_order() {
        let disc = Frequencies::ball(2, 4, 2);
        let expected = [[0, 0], [0, 1], [1, 0], [1, -1], [1, 1], [0, 2], [2, 0]];
        assert_eq!(disc.vectors(), expected.map(Vec::from));
        assert_eq!((disc.len(), disc.columns(), disc.is_empty()), (7, 13, false));
        assert_eq!(with_sign(vec![0, -3, 2]), [0, 3, -2]);
    }

    /// The zero has one column, each other two.
    #[test]
    fn values_are_spread_over_columns_and_gathered() {
        let three = Frequencies::ball(2, 4, 1);
        assert_eq!(three.spread(&[5.0, 6.0, 7.0]).as_slice(), [5.0, 6.0, 6.0, 7.0, 7.0]);
        assert_eq!(three.gathered(&[1.0, 2.0, 3.0, 4.0, 5.0]), [1.0, 5.0, 9.0]);
        assert_eq!(three.kept(&[true, false, true]).gathered(&[1.0, 4.0, 5.0]), [1.0, 9.0]);
    }
}
