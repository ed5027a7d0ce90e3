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
            linear(low, high, MOST_TICKS)
        };
        candidates.into_iter().filter(|place| (low..=high).contains(place)).collect()
    }

    /// No more than about so many ticks between two places: on a logarithmic axis powers of ten alone if need be.
    pub fn few_ticks(&self, low: f64, high: f64, most: usize) -> Vec<f64> {
        let within = |places: Vec<f64>| -> Vec<f64> {
            places.into_iter().filter(|place| (low..=high).contains(place)).collect()
        };
        if !self.log {
            return within(linear(low, high, most as f64));
        }
        let all = self.ticks(low, high);
        let whole =
            || linear(low, high, most as f64).into_iter().filter(|place| place.fract() == 0.0).collect();
        if all.len() <= most { all } else { within(whole()) }
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

/// Multiples of 1, 2 or 5 times a power of ten from one place to beyond another, so many at most between them.
fn linear(low: f64, high: f64, most: f64) -> Vec<f64> {
    let span = high - low;
    let step = decades((span / most).log10().floor(), span.log10()).find(|s| span / s <= most);
    let step = step.unwrap_or(span);
    (0..=most as i32 + 1).map(|i| step * (f64::from(i) + (low / step).ceil())).collect()
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

    #[test]
    fn few_ticks_thin_out_to_powers_of_ten() {
        let ticks = |log, low, high, most| {
            let scale = Scale { log };
            scale.few_ticks(low, high, most).into_iter().map(|t| scale.tick(t)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(false, 0.0, 21.0, 5), "0 5 10 15 20");
        assert_eq!(ticks(true, 1.5, 3.3, 6), "50 100 200 500 1000");
        assert_eq!(ticks(true, -6.2, 1.3, 5), "1e-6 0.0001 0.01 1");
    }
}
