//! Value axes of figures.

/// Ticks stand at 1, 2 and 5 times powers of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// The most ticks on an axis.
const MOST_TICKS: f64 = 11.0;

/// A linear or logarithmic value axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Scale {
    /// Where a value stands on the axis.
    pub fn place(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// The text at a place.
    pub fn tick(&self, place: f64) -> String {
        let value = if self.log { 10f64.powf(place) } else { place };
        let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
        super::number::exact(rounded)
    }

    /// The places of the ticks between two places.
    pub fn ticks(&self, low: f64, high: f64) -> Vec<f64> {
        let candidates: Vec<f64> = if self.log {
            decades(low.floor(), high).map(f64::log10).collect()
        } else {
            let span = high - low;
            let step =
                decades((span / MOST_TICKS).log10().floor(), span.log10()).find(|s| span / s <= MOST_TICKS);
            let step = step.unwrap_or(span);
            (0..=MOST_TICKS as i32 + 1).map(|i| step * (f64::from(i) + (low / step).ceil())).collect()
        };
        candidates.into_iter().filter(|place| (low..=high).contains(place)).collect()
    }

    /// The range of values with their spreads and a little room; a linear axis may have to show zero. Without any value
    /// it is from 0 to 1.
    pub fn range(&self, intervals: impl Iterator<Item = (f64, f64)>, zero: bool) -> (f64, f64) {
        let zero = zero && !self.log;
        let mut low = if zero { 0.0 } else { f64::INFINITY };
        let mut high = f64::NEG_INFINITY;
        for (value, spread) in intervals {
            let least = if self.log && value - spread <= 0.0 { value } else { value - spread };
            low = low.min(self.place(least));
            high = high.max(self.place(value + spread));
        }
        if low > high {
            return (0.0, 1.0);
        }
        let room = 0.04 * (high - low).max(1e-9);
        (if zero { low } else { low - room }, high + room)
    }
}

/// 1, 2 and 5 times the powers of ten from one exponent to another.
fn decades(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let exponents = (from.floor() as i32)..=(to.ceil() as i32);
    exponents.flat_map(|e| STEPS.into_iter().map(move |step| step * 10f64.powi(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let ticks = |log, low, high| {
            let scale = Scale { log };
            scale.ticks(low, high).into_iter().map(|t| scale.tick(t)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(false, 0.0, 21.0), "0 2 4 6 8 10 12 14 16 18 20");
        assert_eq!(ticks(false, 0.0, 0.034), "0 0.005 0.01 0.015 0.02 0.025 0.03");
        assert_eq!(ticks(true, 1.5, 3.3), "50 100 200 500 1000");
    }
}
