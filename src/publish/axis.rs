//! Value axes with ends.

use super::scale::Scale;

/// An axis: its scale, and the places where it begins and ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Axis {
    /// A linear axis between two values.
    pub fn between((low, high): (f64, f64)) -> Self {
        Self { scale: Scale { log: false }, low, high }
    }

    /// An axis that shows some values, with a little room.
    pub fn of(log: bool, values: impl Iterator<Item = f64>) -> Self {
        let scale = Scale { log };
        let (low, high) = scale.range(values.map(|value| (value, 0.0)), false);
        Self { scale, low, high }
    }

    /// A linear axis from the least to the largest of some values, without room; one value stands in
    /// the middle.
    pub fn tight(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        Self::between(match low < high {
            true => (low, high),
            false if low == high => (low - 0.5, high + 0.5),
            false => (0.0, 1.0),
        })
    }

    /// With a little room at both ends.
    pub fn roomy(self) -> Self {
        let room = 0.04 * (self.high - self.low);
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// With ends that were asked for.
    pub fn within(self, least: Option<f64>, most: Option<f64>) -> Self {
        let place = |end: Option<f64>, found| end.map_or(found, |end| self.scale.place(end));
        Self { low: place(least, self.low), high: place(most, self.high), ..self }
    }

    /// Where a value stands: 0 at the beginning, 1 at the end.
    pub fn fraction(&self, value: f64) -> f64 {
        (self.scale.place(value) - self.low) / (self.high - self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_fractions() {
        let axis = Axis::of(true, [1.0, 100.0].into_iter()).within(Some(0.1), Some(1000.0));
        assert!((axis.fraction(1.0) - 0.25).abs() < 1e-12, "{axis:?}");
        assert!(axis.fraction(0.0) < 0.0, "zero lies below a logarithmic axis");
        let none = Axis::tight(std::iter::empty());
        assert_eq!((none.low, none.high, none.roomy().high), (0.0, 1.0, 1.04));
        let one = Axis::tight([3.0].into_iter());
        assert!(one.low <= 3.0 && 3.0 <= one.high, "a single value is shown: {one:?}");
    }
}
