//! Scales of values, with limits and ticks.

use dpgp_number::text::format_exact;

/// Ticks stand at 1, 2 and 5 times powers of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// The room at the ends, as a part of the range.
const ROOM: f64 = 0.04;
/// The distance of infinity beyond the finite values, and the ends of the break in the axis, as fractions of their
/// range.
const BEYOND: f64 = 0.12;
const BREAK: [f64; 2] = [0.03, 0.05];

/// The exponents of the least and the largest number above zero.
const LEAST_EXPONENT: f64 = -324.0;
const MOST_EXPONENT: f64 = 308.0;

/// A linear or logarithmic scale. Its ends are places: values, or their logarithms to base ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    log: bool,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// The range of the finite values, if infinity stands beyond it.
    finite: Option<f64>,
}

/// A tick: its place, from 0 to 1, and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub fraction: f64,
    pub text: String,
}

impl Scale {
    /// A linear scale between two values.
    pub const fn between(low: f64, high: f64) -> Self {
        Self { log: false, low, high, finite: None }
    }

    /// A scale that shows some values, with a little room; from 0 to 1 without any.
    pub fn covering(log: bool, values: impl IntoIterator<Item = f64>) -> Self {
        match min_max(values.into_iter().map(|value| scale_coordinate(log, value))) {
            None => Self { log, ..Self::between(0.0, 1.0) },
            Some([low, high]) => {
                let room = ROOM * (high - low).max(1e-9);
                Self { log, ..Self::between(low - room, high + room) }
            }
        }
    }

    /// A linear scale that begins at zero, or at the least of some values that is negative, with room above them.
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let [low, high] = min_max(values.into_iter().chain([0.0])).unwrap_or([0.0, 0.0]);
        Self::between(low, high + ROOM * (high - low).max(1e-9))
    }

    /// A linear scale from the least to the largest of some values, without room; one value stands in the middle.
    pub fn tight(values: impl IntoIterator<Item = f64>) -> Self {
        match min_max(values) {
            None => Self::between(0.0, 1.0),
            Some([low, high]) if low == high => Self::between(low - 0.5, high + 0.5),
            Some([low, high]) => Self::between(low, high),
        }
    }

    /// With a little room at both ends.
    pub fn with_default_margin(self) -> Self {
        self.with_margin(ROOM * (self.high - self.low))
    }

    /// With so much room at both ends.
    pub fn with_margin(self, room: f64) -> Self {
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// With ends that were asked for.
    pub fn with_given_ends(self, least: Option<f64>, most: Option<f64>) -> Self {
        let low = least.map_or(self.low, |end| scale_coordinate(self.log, end));
        Self { low, high: most.map_or(self.high, |end| scale_coordinate(self.log, end)), ..self }
    }

    /// A scale that shows some places along an axis, infinity beyond a break.
    pub fn covering_with_infinity(log: bool, values: &[f64]) -> Self {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        Self::covering(log, finite).with_infinity(values.iter().copied())
    }

    /// With a place for infinity beyond a break at its end, if some of these values is infinite.
    pub fn with_infinity(self, values: impl IntoIterator<Item = f64>) -> Self {
        if values.into_iter().all(f64::is_finite) {
            return self;
        }
        let range = self.high - self.low;
        Self { high: self.high + (BEYOND + ROOM) * range, finite: Some(range), ..self }
    }

    /// The place of a value: 0 at the beginning, 1 at the end.
    pub fn fraction(&self, value: f64) -> f64 {
        match self.finite {
            Some(range) if value == f64::INFINITY => self.place_fraction(self.low + (1.0 + BEYOND) * range),
            _ => self.place_fraction(scale_coordinate(self.log, value)),
        }
    }

    /// The ends of the break in the axis, if it has one.
    pub fn axis_break(&self) -> Option<[f64; 2]> {
        self.finite.map(|range| BREAK.map(|part| self.place_fraction(self.low + (1.0 + part) * range)))
    }

    fn place_fraction(&self, place: f64) -> f64 {
        (place - self.low) / (self.high - self.low)
    }

    /// No more than about so many ticks: on a logarithmic scale powers of ten alone if need be.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let high = self.finite.map_or(self.high, |range| self.low + range);
        let places = if self.log { self.log_ticks(high, most) } else { linear_ticks(self.low, high, most) };
        let shown = places.into_iter().filter(|place| (self.low..=high).contains(place));
        let ticks = shown.map(|place| Tick { fraction: self.place_fraction(place), text: self.tick_text(place) });
        let infinity = self.finite.map(|_| f64::INFINITY);
        ticks.chain(infinity.map(|x| Tick { fraction: self.fraction(x), text: format_exact(x) })).collect()
    }

    /// The places of ticks on a logarithmic scale, up to one: round numbers as on a linear one where less than two of the usual ones
    /// would be there.
    fn log_ticks(&self, high: f64, most: usize) -> Vec<f64> {
        let all: Vec<f64> = decade_values(self.low.floor(), high)
            .map(f64::log10)
            .filter(|place| (self.low..=high).contains(place))
            .collect();
        if all.len() < 2 {
            let round = linear_ticks(10f64.powf(self.low), 10f64.powf(high), most);
            return round.into_iter().map(f64::log10).collect();
        }
        if all.len() <= most {
            return all;
        }
        let powers = linear_ticks(self.low, high, most).into_iter().filter(|place| place.fract() == 0.0);
        let powers: Vec<f64> = powers.filter(|place| (self.low..=high).contains(place)).collect();
        // A single power of ten is no scale: every second, third, ... of the usual ones instead.
        let every = all.len().div_ceil(most.max(1));
        if powers.len() > 1 { powers } else { all.into_iter().step_by(every).collect() }
    }

    fn tick_text(&self, place: f64) -> String {
        let value = if self.log { 10f64.powf(place) } else { place };
        format_exact(format!("{value:.6e}").parse().unwrap_or(value))
    }
}

/// The least and the largest of some values.
pub fn min_max(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    let ends = values.into_iter().fold(none, |ends, value| [ends[0].min(value), ends[1].max(value)]);
    (ends[0] <= ends[1]).then_some(ends)
}

/// The least distance between different values; 1 without two of them.
pub fn least_gap(values: &[f64]) -> f64 {
    let gap = sorted_distinct_values(values).windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    if gap.is_finite() { gap } else { 1.0 }
}

/// The different values in increasing order.
pub fn sorted_distinct_values(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Zero and negative values lie below every logarithmic scale.
fn scale_coordinate(log: bool, value: f64) -> f64 {
    if log { value.max(f64::MIN_POSITIVE).log10() } else { value }
}

/// Multiples of 1, 2 or 5 times a power of ten from one place to beyond another, so many at most between them.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (span, most) = (high - low, most as f64);
    let step = decade_values((span / most).log10().floor(), span.log10()).find(|s| span / s <= most);
    let step = step.unwrap_or(span);
    (0..=most as i32 + 1).map(|i| step * (f64::from(i) + (low / step).ceil())).collect()
}

/// 1, 2 and 5 times the powers of ten from one exponent to another, as far as numbers reach.
fn decade_values(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let exponents = (from.floor().max(LEAST_EXPONENT) as i32)..=(to.ceil().min(MOST_EXPONENT) as i32);
    exponents.flat_map(|e| STEPS.into_iter().map(move |step| step * 10f64.powi(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: bool, low: f64, high: f64, most: usize) -> String {
        let ticks = Scale { log, ..Scale::between(low, high) }.ticks(most).into_iter();
        ticks.map(|tick| tick.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn narrow_logarithmic_axes_have_ticks() {
        assert_eq!(texts(true, 2.05f64.log10(), 3.35f64.log10(), 7), "2.2 2.4 2.6 2.8 3 3.2");
        assert_eq!(texts(true, 3.9f64.log10(), 6.1f64.log10(), 5), "4 4.5 5 5.5 6");
        // Two of the usual ones are enough.
        assert_eq!(texts(true, 1.5f64.log10(), 6.0f64.log10(), 7), "2 5");
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(false, 0.0, 21.0, 11), "0 2 4 6 8 10 12 14 16 18 20");
        assert_eq!(texts(false, 0.0, 0.034, 11), "0 0.005 0.01 0.015 0.02 0.025 0.03");
        assert_eq!(texts(true, 1.5, 3.3, 11), "50 100 200 500 1000");
    }

    #[test]
    fn few_ticks_thin_out_to_powers_of_ten() {
        assert_eq!(texts(false, 0.0, 21.0, 5), "0 5 10 15 20");
        assert_eq!(texts(true, 1.5, 3.3, 6), "50 100 200 500 1000");
        // A range around one power of ten: of 0.02, 0.05, 0.1, 0.2 and 0.5 every second.
        assert_eq!(texts(true, -1.7, -0.1, 3), "0.02 0.1 0.5");
        assert_eq!(texts(true, -6.2, 1.3, 5), "1e-6 0.0001 0.01 1");
    }

    #[test]
    fn ticks_of_ranges_beyond_reason_end() {
        let [tiny, huge] = [(0.0, 5e-324), (-1.7e308, 1.7e308)].map(|(low, high)| Scale::between(low, high));
        assert!(tiny.ticks(11).len() <= 13 && huge.ticks(11).len() <= 13);
    }

    #[test]
    fn infinity_is_the_last_tick_beyond_a_break() {
        let finite = Scale::covering(true, [0.1, 2.0]);
        let scale = finite.with_infinity([0.1, f64::INFINITY]);
        let texts: Vec<String> = scale.ticks(11).into_iter().map(|tick| tick.text).collect();
        assert_eq!(texts, ["0.1", "0.2", "0.5", "1", "2", "inf"]);
        let [from, to] = scale.axis_break().unwrap();
        let order = [scale.fraction(2.0), from, to, scale.fraction(f64::INFINITY), 1.0];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
        assert_eq!(finite.with_infinity([0.1, 2.0]), finite, "without infinity nothing changes");
        assert!(finite.axis_break().is_none() && finite.fraction(f64::INFINITY) > 1.0);
    }

    #[test]
    fn ends_and_fractions() {
        let scale = Scale::covering(true, [1.0, 100.0]).with_given_ends(Some(0.1), Some(1000.0));
        assert!((scale.fraction(1.0) - 0.25).abs() < 1e-12, "{scale:?}");
        assert!(scale.fraction(0.0) < 0.0, "zero lies below a logarithmic scale");
        assert_eq!(Scale::tight([]).with_default_margin(), Scale::between(-0.04, 1.04));
        assert_eq!(Scale::tight([3.0]), Scale::between(2.5, 3.5));
        assert_eq!(Scale::from_zero([50.0, 100.0]), Scale::between(0.0, 104.0));
        assert_eq!(Scale::from_zero([-50.0, 50.0]).low, -50.0);
    }
}
