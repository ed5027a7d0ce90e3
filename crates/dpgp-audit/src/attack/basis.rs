//! Outputs of a mechanism, and scores that tell them apart: frequent values of a column, and straight lines
//! between quantiles of the rest.

use std::fmt::Debug;

/// The share of outputs that makes a value frequent.
const FREQUENT: f64 = 0.002;

/// The frequent values of a column, and quantiles of all other numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnBasis {
    /// In the total order of doubles.
    atoms: Vec<f64>,
    /// Rising, and finite.
    knots: Vec<f64>,
}

/// A weight of a curve, and how much of it counts at a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Feature {
    pub at: usize,
    pub value: f64,
}

impl ColumnBasis {
    /// The basis of a column, with at most `pieces` pieces between quantiles.
    pub fn from_column(at: usize, outputs: [&MechanismOutputs; 2], pieces: usize) -> Self {
        let mut numbers: Vec<f64> = outputs.into_iter().flat_map(|outputs| outputs.column(at)).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let (mut atoms, mut rest) = (Vec::new(), Vec::new());
        for same in numbers.chunk_by(|a, b| a.to_bits() == b.to_bits()) {
            if same.len() as f64 > FREQUENT * numbers.len() as f64 {
                atoms.push(same[0]);
            } else if same[0].is_finite() {
                rest.extend_from_slice(same);
            }
        }
        Self { atoms, knots: quantiles(&rest, pieces) }
    }

    /// How many weights a curve has: one for each frequent value, one for each knot, one for what is neither.
    pub fn len(&self) -> usize {
        self.atoms.len() + self.knots.len() + 1
    }

    /// Whether some value is frequent.
    pub fn has_atoms(&self) -> bool {
        !self.atoms.is_empty()
    }

    /// Whether there is more than frequent values.
    pub fn has_knots(&self) -> bool {
        !self.knots.is_empty()
    }

    /// Which frequent value a number is; their number for any other.
    pub fn atom_index(&self, x: f64) -> usize {
        self.atoms.binary_search_by(|atom| atom.total_cmp(&x)).unwrap_or(self.atoms.len())
    }

    /// Between which knots a number lies, counted from zero below the first.
    pub fn knot_interval(&self, x: f64) -> usize {
        self.knots.partition_point(|knot| *knot <= x)
    }

    /// Features of a number: its frequent value, or the two knots around it, weighted by distance.
    pub fn features(&self, x: f64) -> [Feature; 2] {
        let (atom, first) = (self.atom_index(x), self.atoms.len());
        let whole = Feature { at: atom, value: 1.0 };
        let none = Feature { at: 0, value: 0.0 };
        if atom < first {
            return [whole, none];
        }
        if x.is_nan() || self.knots.is_empty() {
            return [Feature { at: self.len() - 1, ..whole }, none];
        }
        match self.knot_interval(x) {
            0 => [Feature { at: first, ..whole }, none],
            above if above == self.knots.len() => [Feature { at: first + above - 1, ..whole }, none],
            above => {
                let (low, high) = (self.knots[above - 1], self.knots[above]);
                let part = (x - low) / (high - low);
                [Feature { at: first + above - 1, value: 1.0 - part }, Feature { at: first + above, value: part }]
            }
        }
    }
}

/// Quantiles of sorted numbers at equal shares, the ends among them, each once.
fn quantiles(sorted: &[f64], pieces: usize) -> Vec<f64> {
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let mut knots: Vec<f64> = (0..=pieces).map(|piece| sorted[last * piece / pieces]).collect();
    knots.dedup();
    knots
}

/// A number for each output: the greater it is, the likelier the output came from one of the inputs.
pub(super) trait OutputScore: Debug + Send + Sync {
    /// The number of an output. It may be no number: half-lines are of the total order of all doubles.
    fn score(&self, output: &[f64]) -> f64;

    /// Words for the part of an output that it uses.
    fn name(&self) -> String;
}

/// Outputs of a mechanism on one input: rows of numbers, all of one width.
///
/// A symbol is a number like another. Numbers are told apart by their bits, so that there may be several that are no number.
///
/// ```
/// use dpgp_audit::MechanismOutputs;
/// let outputs = MechanismOutputs::new(2, vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((outputs.len(), outputs.rows().next_back()), (2, Some([3.0, 4.0].as_slice())));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismOutputs {
    width: usize,
    numbers: Vec<f64>,
}

impl MechanismOutputs {
    /// Rows of `width` numbers, at least 1, one after the other; what is left over at the end is no row.
    pub fn new(width: usize, numbers: Vec<f64>) -> Self {
        Self { width: width.max(1), numbers }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, in their order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.width)
    }

    /// The numbers of a column.
    pub(super) fn column(&self, at: usize) -> impl Iterator<Item = f64> {
        self.rows().map(move |row| row[at])
    }

    /// The first half of the rows and the rest.
    pub(super) fn halves(&self) -> [Self; 2] {
        let (first, rest) = self.numbers.split_at(self.len() / 2 * self.width);
        [first, rest].map(|numbers| Self::new(self.width, numbers.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis() -> ColumnBasis {
        let numbers = [vec![-7.0; 50], vec![f64::NAN; 50], (0..=1000).map(f64::from).collect()].concat();
        let outputs = MechanismOutputs::new(1, numbers);
        ColumnBasis::from_column(0, [&outputs, &outputs], 4)
    }

    #[test]
    fn frequent_values_and_quantiles() {
        let basis = basis();
        assert_eq!((basis.knots.clone(), basis.len()), (vec![0.0, 250.0, 500.0, 750.0, 1000.0], 8));
        assert_eq!([-7.0, f64::NAN, 3.0].map(|x| basis.atom_index(x)), [0, 1, 2]);
        assert_eq!([-1.0, 0.0, 600.0, 1e9].map(|x| basis.knot_interval(x)), [0, 1, 3, 5]);
    }

    /// Between knots a curve is the straight line through its weights, and its shares add up to one everywhere.
    #[test]
    fn curves_are_straight_between_knots() {
        let basis = basis();
        let at = |at, value| Feature { at, value };
        assert_eq!(basis.features(300.0), [at(3, 0.8), at(4, 0.2)]);
        assert_eq!(basis.features(-7.0)[0], at(0, 1.0));
        for x in [-1e9, -7.0, 0.0, 1.0, 999.5, 1e9, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            let features = basis.features(x);
            assert!((features.iter().map(|f| f.value).sum::<f64>() - 1.0).abs() < 1e-12, "{x}: {features:?}");
            assert!(features.iter().all(|f| f.at < basis.len()), "{x}: {features:?}");
        }
    }
}
