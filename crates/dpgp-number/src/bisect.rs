//! Bisection down to neighbouring numbers.

/// Where a condition that holds from some point on begins: `high` is the least number found at which it holds, `low` the
/// greatest at which it does not. Calibrations return the end on the safe side of the two.
pub struct Turn {
    /// Where it does not hold.
    pub low: f64,
    /// Where it holds.
    pub high: f64,
}

/// Halves `[low, high]` until nothing lies between its ends; `beyond` is not asked at the ends themselves.
pub fn bisect(mut low: f64, mut high: f64, beyond: impl Fn(f64) -> bool) -> Turn {
    loop {
        let middle = 0.5 * (low + high);
        // The mean of neighbouring numbers rounds to one of them, so the loop ends.
        if middle <= low || middle >= high {
            return Turn { low, high };
        }
        if beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}
