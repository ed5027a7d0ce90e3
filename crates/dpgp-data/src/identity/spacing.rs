//! How close the numbers of a column stand.

/// The most decimals of numbers that have a step.
const DECIMALS: i32 = 4;

/// How many pairs of equal numbers there would be, if numbers that stand close had been drawn: then one in twenty columns has none.
const PAIRS: f64 = 3.0;

/// How far a number may be off its step, in steps: it was read from text, or has 24 bits.
const OFF: f64 = 1e-4;

/// The range of the numbers of a column, and the step between them.
#[derive(Debug)]
pub(super) struct Spacing {
    least: f64,
    greatest: f64,
    /// The decimals of the step; more than there may be for numbers without one.
    decimals: i32,
    /// Ten to the power of them.
    scale: f64,
    /// Whether all cells are numbers.
    numbers: bool,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, decimals: 0, scale: 1.0, numbers: true }
    }
}

impl Spacing {
    /// Takes a cell: a finite number, or none.
    #[inline]
    pub fn insert(&mut self, number: Option<f64>) {
        let Some(number) = number else {
            self.numbers = false;
            return;
        };
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        while self.decimals <= DECIMALS && !is_whole(number * self.scale) {
            self.decimals += 1;
            self.scale *= 10.0;
        }
    }

    /// Whether so many distinct numbers stand so close that, drawn evenly from the steps in their range, some would be equal.
    pub fn is_crowded(&self, distinct: f64) -> bool {
        let steps = (self.greatest - self.least) * self.scale + 1.0;
        self.numbers && self.decimals <= DECIMALS && distinct * distinct >= 2.0 * PAIRS * steps
    }
}

#[inline]
fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() <= OFF
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowded(numbers: impl IntoIterator<Item = f64>) -> bool {
        let (mut spacing, mut distinct) = (Spacing::default(), std::collections::BTreeSet::new());
        for number in numbers {
            spacing.insert(Some(number));
            distinct.insert(number.to_bits());
        }
        spacing.is_crowded(distinct.len() as f64)
    }

    #[test]
    fn numbers_that_stand_close() {
        assert!(crowded((0..100).map(f64::from)));
        assert!(crowded((0..100).map(|i| f64::from(i) / 10.0)));
        assert!(crowded((0..100).map(|i| f64::from(i as f32 / 10.0)))); // of 24 bits
        assert!(crowded((0..200).map(|i| 1000.0 + 2.5 * f64::from(i))));
        assert!(!crowded((0..100).map(|i| f64::from(i * i * 37 % 100_003))));
        assert!(!crowded((0..100).map(|i| f64::from(i) / 7.0)));
        assert!(!crowded([5.0, 5.0]));
        let mut mixed = Spacing::default();
        (0..20).for_each(|i| mixed.insert(Some(f64::from(i))));
        assert!(mixed.is_crowded(20.0));
        mixed.insert(None);
        assert!(!mixed.is_crowded(20.0));
    }
}
