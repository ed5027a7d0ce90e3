//! Pairs of numbers, and rectangles of the sheet.

use std::iter::zip;

/// A pair of values of a plot, or a place on the sheet in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// To the right.
    pub x: f64,
    /// Upwards in data, downwards in dots.
    pub y: f64,
}

impl Spot {
    /// A place.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Moved by so much in each direction.
    pub fn moved(self, x: f64, y: f64) -> Self {
        Self::new(self.x + x, self.y + y)
    }

    /// The spot a fraction of the way to another.
    pub fn towards(self, other: Self, t: f64) -> Self {
        self.moved(t * (other.x - self.x), t * (other.y - self.y))
    }

    /// How far it is from another.
    pub fn distance(self, other: Self) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }
}

impl From<(f64, f64)> for Spot {
    fn from(pair: (f64, f64)) -> Self {
        Self::new(pair.0, pair.1)
    }
}

/// Two columns as spots.
pub fn spots(x: &[f64], y: &[f64]) -> Vec<Spot> {
    zip(x, y).map(|(x, y)| Spot::new(*x, *y)).collect()
}

/// A rectangle of the sheet, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Its left side.
    pub left: f64,
    /// Its upper side.
    pub top: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Rect {
    /// Its right side.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its lower side.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Its centre.
    pub fn centre(&self) -> Spot {
        Spot::new(self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// The same in a unit that is so many times smaller.
    pub fn times(&self, factor: f64) -> Self {
        let [left, top, width, height] =
            [self.left, self.top, self.width, self.height].map(|side| factor * side);
        Self { left, top, width, height }
    }

    /// Whether a spot lies inside or on an edge; NaN lies in none.
    pub fn holds(&self, spot: Spot) -> bool {
        (self.left..=self.right()).contains(&spot.x) && (self.top..=self.bottom()).contains(&spot.y)
    }
}
