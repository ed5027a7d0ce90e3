//! A standard normal number, digit by digit.

use rand::Rng;

use super::bits::Bits;
use super::digits::Digits;

/// A standard normal number `+-(whole + fraction)`.
pub(super) struct ExactNormal<const DIGIT: u32> {
    pub negative: bool,
    pub whole: u32,
    pub fraction: Digits<DIGIT>,
}

impl<const DIGIT: u32> ExactNormal<DIGIT> {
    /// Draws k with probability in proportion to `e^(-k/2)`, keeps it with `e^(-k(k-1)/2)`, draws x uniform in (0, 1) and
    /// keeps both with `e^(-x(2k + x)/2)`: the density at `k + x` is in proportion to
    /// `exp(-k/2 - k(k-1)/2 - kx - x^2/2) = exp(-(k + x)^2 / 2)`. What is not kept starts again. Source: Karney 2016,
    /// Algorithm N.
    pub fn draw(bits: &mut Bits<'_, impl Rng>) -> Self {
        loop {
            let whole = geometric::<DIGIT>(bits);
            // k (k - 1) events of e^(-1/2) each; a k of more than 16 bits does not occur in the life of the universe, and is refused.
            let Some(trials) = whole.checked_mul(whole.saturating_sub(1)) else { continue };
            if !(0..trials).all(|_| half_exponential::<DIGIT>(bits)) {
                continue;
            }
            let mut fraction = Digits::unknown();
            // e^(-x(2k + x)/2) is k + 1 events of e^(-x (2k + x) / (2k + 2)) each.
            if (0..=whole).all(|_| tail::<DIGIT>(whole, &mut fraction, bits)) {
                return Self { negative: bits.take(1) == 1, whole, fraction };
            }
        }
    }
}

/// k = 0, 1, ... with probability `e^(-k/2) (1 - e^(-1/2))`.
fn geometric<const DIGIT: u32>(bits: &mut Bits<'_, impl Rng>) -> u32 {
    let mut successes = 0;
    while half_exponential::<DIGIT>(bits) {
        successes += 1;
    }
    successes
}

/// True with probability `e^(-1/2)`.
///
/// A run `1/2 > u_1 > u_2 > ...` of uniform numbers has at least n of them with probability `(1/2)^n / n!`, so that its
/// length is even with probability `sum_n (-1/2)^n / n! = e^(-1/2)`. Source: von Neumann 1951.
fn half_exponential<const DIGIT: u32>(bits: &mut Bits<'_, impl Rng>) -> bool {
    let mut last = Digits::<DIGIT>::unknown();
    if !last.is_below_half(bits) {
        return true;
    }
    let mut even = false;
    loop {
        let mut next = Digits::unknown();
        if !next.is_below(&mut last, bits) {
            return even;
        }
        (last, even) = (next, !even);
    }
}

/// True with probability `e^(-x q)`, `q = (2k + x) / (2k + 2)`.
///
/// As above, for a run `x > u_1 > u_2 > ...` whose every step also needs an event of probability q: at least n steps have
/// the probability `(x q)^n / n!`.
fn tail<const DIGIT: u32>(k: u32, x: &mut Digits<DIGIT>, bits: &mut Bits<'_, impl Rng>) -> bool {
    let mut even = true;
    let mut last: Option<Digits<DIGIT>> = None;
    loop {
        let mut next = Digits::unknown();
        let falls = match &mut last {
            None => next.is_below(x, bits),
            Some(last) => next.is_below(last, bits),
        };
        if !falls || !ratio(k, x, bits) {
            return even;
        }
        (last, even) = (Some(next), !even);
    }
}

/// True with probability `(2k + x) / (2k + 2)`: one of 2k + 2 equal parts, of which 2k are true and one is with probability x.
fn ratio<const DIGIT: u32>(k: u32, x: &mut Digits<DIGIT>, bits: &mut Bits<'_, impl Rng>) -> bool {
    let part = bits.below(2 * k + 2);
    part < 2 * k || (part == 2 * k && Digits::unknown().is_below(x, bits))
}

#[cfg(test)]
mod tests {
    use super::super::enumeration::{Outcomes, enumerate};
    use super::*;

    /// The probability of each event over all strings of bits, against its closed form.
    fn check(outcomes: &Outcomes<bool>, truth: f64, most: f64) {
        let (yes, undecided) = (outcomes.of(&true), outcomes.undecided);
        assert!(undecided < most, "{undecided}");
        assert!(yes <= truth + 1e-15 && truth <= yes + undecided + 1e-15, "{yes} {undecided} {truth}");
    }

    /// The mean of `e^(-x (2k + x) / (2k + 2))` over x in (0, 1), by Simpson's rule.
    fn mean_kept(k: f64) -> f64 {
        let width = 1e-3;
        let mut integral = 0.0;
        for step in 0..1000 {
            let low = f64::from(step) * width;
            let ends = kept(k, low) + kept(k, low + width);
            integral += width / 6.0 * (ends + 4.0 * kept(k, low + 0.5 * width));
        }
        integral
    }

    fn kept(k: f64, x: f64) -> f64 {
        (-x * (2.0 * k + x) / (2.0 * k + 2.0)).exp()
    }

    #[test]
    fn events_have_their_exact_probabilities() {
        check(&enumerate(20, half_exponential::<1>), (-0.5f64).exp(), 5e-3);
        for k in 0..3u32 {
            let more = enumerate(20, |bits| geometric::<1>(bits) >= k);
            check(&more, (-0.5 * f64::from(k)).exp(), 0.1);
        }
        // x is uniform too.
        for k in 0..3u32 {
            let found = enumerate(20, |bits| tail::<1>(k, &mut Digits::unknown(), bits));
            let integral = mean_kept(f64::from(k));
            let (yes, undecided) = (found.of(&true), found.undecided);
            assert!(
                yes <= integral + 1e-12 && integral <= yes + undecided + 1e-12,
                "{yes} {undecided} {integral}"
            );
            assert!(undecided < 0.1, "{undecided}");
        }
    }
}
