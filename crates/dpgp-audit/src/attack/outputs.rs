//! What a mechanism printed.

/// Outputs of a mechanism on one input: rows of numbers, all of one width.
///
/// A symbol is a number like another. Numbers are told apart by their bits, so that there may be several that are no number.
///
/// ```
/// use dpgp_audit::Outputs;
/// let outputs = Outputs::new(2, vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((outputs.len(), outputs.rows().next_back()), (2, Some([3.0, 4.0].as_slice())));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    width: usize,
    numbers: Vec<f64>,
}

impl Outputs {
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
