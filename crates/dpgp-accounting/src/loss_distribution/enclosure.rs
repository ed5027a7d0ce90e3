//! Bounds from both sides.

/// A number lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Enclosure {
    pub lower: f64,
    pub upper: f64,
}

impl Enclosure {
    /// Of the greater of two numbers.
    pub fn or_worse(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Of one number that lies in both.
    pub fn and(self, other: Self) -> Self {
        Self { lower: f64::max(self.lower, other.lower), upper: f64::min(self.upper, other.upper) }
    }
}
