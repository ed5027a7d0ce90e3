//! A set of rows, a bit for each.

/// Bits of a word.
const BITS: u64 = 64;

/// The rows that are used, by their numbers from 0.
///
/// ```
/// let mut kept = dpgp_data::KeptRows::default();
/// [70, 2].into_iter().for_each(|row| kept.insert(row));
/// assert_eq!(kept.marks(1, 3).collect::<Vec<f64>>(), [0.0, 1.0, 0.0]);
/// assert_eq!((kept.rows(), kept.contains(70), kept.contains(1 << 40)), (2, true, false));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRows {
    words: Vec<u64>,
}

impl KeptRows {
    /// Takes a row.
    pub fn insert(&mut self, row: u64) {
        let word = (row / BITS) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (row % BITS);
    }

    /// Whether a row is among them.
    pub fn contains(&self, row: u64) -> bool {
        self.words.get((row / BITS) as usize).is_some_and(|word| word >> (row % BITS) & 1 == 1)
    }

    /// How many there are.
    pub fn rows(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// 1 for each of so many rows from one on that is among them, 0 for each other.
    pub fn marks(&self, from: u64, rows: usize) -> impl Iterator<Item = f64> {
        (from..from + rows as u64).map(|row| f64::from(u8::from(self.contains(row))))
    }
}
