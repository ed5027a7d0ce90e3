//! Gaussian noise that is rounded to whole numbers exactly.
//!
//! Floating-point noise can reveal the number it was added to, because not every double is reached from every input
//! (Mironov 2012). Here no floating-point number takes part. For a whole number v and `s > 0`,
//!
//! `v + round(s Z) = round(v + s Z)`, Z standard normal,
//!
//! so the release is a function of the output of the continuous Gaussian mechanism, and keeps its exact guarantee. The
//! draws follow the law of `round(s Z)` exactly. The digits of Z are drawn on demand, by comparisons of digits only
//! (Karney 2016, "Sampling exactly from the normal distribution"), until all numbers with these digits round to the same
//! whole number.

#[cfg(test)]
mod enumeration;

use dashu_int::{IBig, UBig};
use rand::Rng;

use dpgp_number::{OutOfRangeError, Positive};

/// The bits of a generator, taken from the most significant end of its words; none is used twice and none is lost.
pub(super) struct RandomBits<'a, R> {
    source: &'a mut R,
    word: u64,
    left: u32,
}

impl<'a, R: Rng> RandomBits<'a, R> {
    pub fn new(source: &'a mut R) -> Self {
        Self { source, word: 0, left: 0 }
    }

    /// A number of `count` bits, 1 to 32.
    pub fn take(&mut self, count: u32) -> u32 {
        let mut bits = 0;
        let mut wanted = count;
        while wanted > 0 {
            if self.left == 0 {
                (self.word, self.left) = (self.source.next_u64(), u64::BITS);
            }
            let taken = wanted.min(self.left);
            // At most 32 bits are taken at once, so that neither shift is by a whole word.
            let top = (self.word >> (u64::BITS - taken)) as u32;
            bits = if taken == u32::BITS { top } else { (bits << taken) | top };
            (self.word, self.left, wanted) = (self.word << taken, self.left - taken, wanted - taken);
        }
        bits
    }

    /// A whole number below `bound`, each equally likely: numbers of as many bits as the greatest has, until one is below.
    pub fn uniform_below(&mut self, bound: u32) -> u32 {
        let count = u32::BITS - (bound - 1).leading_zeros();
        loop {
            // One number needs no bit.
            let number = if count == 0 { 0 } else { self.take(count) };
            if number < bound {
                return number;
            }
        }
    }

    /// Bits of the last word that were not taken.
    #[cfg(test)]
    pub fn unused_bit_count(&self) -> u32 {
        self.left
    }
}

/// Bits of a digit: most comparisons end at the first.
const DIGIT: u32 = 32;
/// Noise above this does not fit into 128 bits with room for what it is added to.
const MOST: f64 = 1.267_650_600_228_229_4e30;

/// The law of `round(s Z)`, Z standard normal; `s` is the double itself, a whole number times a power of two.
///
/// ```
/// use dpgp_number::Positive;
/// use dpgp_noise::RoundedGaussian;
/// use rand::SeedableRng;
/// // Noise of standard deviation 1000 on three counts.
/// let noise = RoundedGaussian::new(Positive::new(1000.0)?)?;
/// let counts = noise.add_noise(&[40, 0, 7], &mut rand_pcg::Pcg64::seed_from_u64(1));
/// assert!(counts.iter().all(|count| count.abs() < 10_000));
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundedGaussian {
    sd: f64,
    /// `sd = mantissa 2^exponent`, with an odd mantissa.
    mantissa: u64,
    exponent: i32,
}

impl RoundedGaussian {
    /// Noise of the standard deviation `sd` before it is rounded, in units of the whole numbers.
    ///
    /// # Errors
    /// [`OutOfRangeError`] above `2^100`: sums of 128 bits would overflow.
    pub fn new(sd: Positive) -> Result<Self, OutOfRangeError> {
        let sd = sd.get();
        if sd > MOST {
            return Err(OutOfRangeError::new("at most 2^100 units of the lattice", sd));
        }
        let (bits, least) = (sd.to_bits(), -1074);
        let (field, tail) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        // A subnormal double has no leading 1.
        let (mantissa, exponent) = if field == 0 { (tail, least) } else { (tail | 1 << 52, least + field - 1) };
        let zeros = mantissa.trailing_zeros();
        Ok(Self { sd, mantissa: mantissa >> zeros, exponent: exponent + zeros as i32 })
    }

    /// `s`.
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// The numbers with independent noise on each.
    pub fn add_noise(&self, numbers: &[i128], source: &mut impl Rng) -> Vec<i128> {
        let mut bits = RandomBits::new(source);
        let mut noisy = Vec::with_capacity(numbers.len());
        for number in numbers {
            noisy.push(number.saturating_add(self.draw::<DIGIT>(&mut bits)));
        }
        noisy
    }

    fn draw<const DIGIT: u32>(&self, bits: &mut RandomBits<'_, impl Rng>) -> i128 {
        let mut normal = ExactNormal::<DIGIT>::draw(bits);
        // The first number of digits that can leave less than a whole number between the ends.
        let mut count = (self.exponent.max(0) as u32 / DIGIT + 1) as usize;
        loop {
            if let Some(size) = self.round_scaled_normal(&mut normal, count, bits) {
                let noise = if normal.negative { -IBig::from(size) } else { IBig::from(size) };
                // Beyond 2^100 times 2^26 there are e^(-2^51) of all draws.
                return i128::try_from(noise).unwrap_or(if normal.negative { i128::MIN } else { i128::MAX });
            }
            count += 1;
        }
    }

    /// What `s (k + x)` rounds to, if the first `count` digits F of x decide it.
    ///
    /// With D bits to a digit and `h = D count - exponent`, `s (k + x)` lies strictly between `low` and `low + mantissa` over
    /// `2^h`, `low = mantissa (k 2^(D count) + F)`. All numbers between round to m if `floor(low / 2^h + 1/2) = m` and
    /// `ceil((low + mantissa) / 2^h + 1/2) - 1 = m`.
    fn round_scaled_normal<const DIGIT: u32>(
        &self,
        normal: &mut ExactNormal<DIGIT>,
        count: usize,
        bits: &mut RandomBits<'_, impl Rng>,
    ) -> Option<UBig> {
        let known = DIGIT as usize * count;
        let Ok(shift @ 1..) = usize::try_from(known as i64 - i64::from(self.exponent)) else { return None };
        let mantissa = UBig::from(self.mantissa);
        let low = ((UBig::from(normal.whole) << known) + normal.fraction.leading_digits(count, bits)) * &mantissa;
        let half = UBig::ONE << (shift - 1);
        let high = &low + mantissa + &half - UBig::ONE;
        let (low, high) = ((low + half) >> shift, high >> shift);
        (low == high).then_some(low)
    }
}

/// A uniform number in (0, 1), in the base `2^DIGIT`, of which finitely many digits are known.
///
/// Two such numbers differ with probability 1, and are compared by the digits up to the first that differs. `DIGIT` is 32; tests
/// take 1, for which all outcomes of few bits can be listed.
#[derive(Debug, Clone)]
pub(super) struct UniformDigits<const DIGIT: u32> {
    /// The first digit stands apart: most numbers are never asked for more, and then nothing is allocated.
    first: Option<u32>,
    rest: Vec<u32>,
}

impl<const DIGIT: u32> UniformDigits<DIGIT> {
    pub fn with_no_digits() -> Self {
        Self { first: None, rest: Vec::new() }
    }

    /// The digit at a place; the first is at 0.
    fn digit_at(&mut self, place: usize, bits: &mut RandomBits<'_, impl Rng>) -> u32 {
        let first = *self.first.get_or_insert_with(|| bits.take(DIGIT));
        if place == 0 {
            return first;
        }
        while self.rest.len() < place {
            self.rest.push(bits.take(DIGIT));
        }
        self.rest[place - 1]
    }

    /// Whether it is less than 1/2: its first bit is 0.
    pub fn is_below_half(&mut self, bits: &mut RandomBits<'_, impl Rng>) -> bool {
        self.digit_at(0, bits) >> (DIGIT - 1) == 0
    }

    /// Whether it is less than another.
    pub fn is_below(&mut self, other: &mut Self, bits: &mut RandomBits<'_, impl Rng>) -> bool {
        let mut place = 0;
        loop {
            let (mine, others) = (self.digit_at(place, bits), other.digit_at(place, bits));
            if mine != others {
                return mine < others;
            }
            place += 1;
        }
    }

    /// The first `count` digits as one whole number F: the number lies between `F` and `F + 1` over `2^(DIGIT count)`.
    pub fn leading_digits(&mut self, count: usize, bits: &mut RandomBits<'_, impl Rng>) -> UBig {
        let mut number = UBig::ZERO;
        for place in 0..count {
            number = (number << DIGIT as usize) + UBig::from(self.digit_at(place, bits));
        }
        number
    }
}

/// A standard normal number `+-(whole + fraction)`.
pub(super) struct ExactNormal<const DIGIT: u32> {
    pub negative: bool,
    pub whole: u32,
    pub fraction: UniformDigits<DIGIT>,
}

impl<const DIGIT: u32> ExactNormal<DIGIT> {
    /// Draws k with probability in proportion to `e^(-k/2)`, keeps it with `e^(-k(k-1)/2)`, draws x uniform in (0, 1) and
    /// keeps both with `e^(-x(2k + x)/2)`: the density at `k + x` is in proportion to
    /// `exp(-k/2 - k(k-1)/2 - kx - x^2/2) = exp(-(k + x)^2 / 2)`. What is not kept starts again. Source: Karney 2016,
    /// Algorithm N.
    pub fn draw(bits: &mut RandomBits<'_, impl Rng>) -> Self {
        loop {
            let whole = draw_geometric::<DIGIT>(bits);
            // k (k - 1) events of e^(-1/2) each; a k of more than 16 bits does not occur in the life of the universe, and is refused.
            let Some(trials) = whole.checked_mul(whole.saturating_sub(1)) else { continue };
            if !(0..trials).all(|_| draw_exp_half_event::<DIGIT>(bits)) {
                continue;
            }
            let mut fraction = UniformDigits::with_no_digits();
            // e^(-x(2k + x)/2) is k + 1 events of e^(-x (2k + x) / (2k + 2)) each.
            if (0..=whole).all(|_| draw_exp_fraction_event::<DIGIT>(whole, &mut fraction, bits)) {
                return Self { negative: bits.take(1) == 1, whole, fraction };
            }
        }
    }
}

/// k = 0, 1, ... with probability `e^(-k/2) (1 - e^(-1/2))`.
fn draw_geometric<const DIGIT: u32>(bits: &mut RandomBits<'_, impl Rng>) -> u32 {
    let mut successes = 0;
    while draw_exp_half_event::<DIGIT>(bits) {
        successes += 1;
    }
    successes
}

/// True with probability `e^(-1/2)`.
///
/// A run `1/2 > u_1 > u_2 > ...` of uniform numbers has at least n of them with probability `(1/2)^n / n!`, so that its
/// length is even with probability `sum_n (-1/2)^n / n! = e^(-1/2)`. Source: von Neumann 1951.
fn draw_exp_half_event<const DIGIT: u32>(bits: &mut RandomBits<'_, impl Rng>) -> bool {
    let mut last = UniformDigits::<DIGIT>::with_no_digits();
    if !last.is_below_half(bits) {
        return true;
    }
    let mut even = false;
    loop {
        let mut next = UniformDigits::with_no_digits();
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
fn draw_exp_fraction_event<const DIGIT: u32>(
    k: u32,
    x: &mut UniformDigits<DIGIT>,
    bits: &mut RandomBits<'_, impl Rng>,
) -> bool {
    let mut even = true;
    let mut last: Option<UniformDigits<DIGIT>> = None;
    loop {
        let mut next = UniformDigits::with_no_digits();
        let falls = match &mut last {
            None => next.is_below(x, bits),
            Some(last) => next.is_below(last, bits),
        };
        if !falls || !draw_ratio_event(k, x, bits) {
            return even;
        }
        (last, even) = (Some(next), !even);
    }
}

/// True with probability `(2k + x) / (2k + 2)`: one of 2k + 2 equal parts, of which 2k are true and one is with probability x.
fn draw_ratio_event<const DIGIT: u32>(
    k: u32,
    x: &mut UniformDigits<DIGIT>,
    bits: &mut RandomBits<'_, impl Rng>,
) -> bool {
    let part = bits.uniform_below(2 * k + 2);
    part < 2 * k || (part == 2 * k && UniformDigits::with_no_digits().is_below(x, bits))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::enumeration::{Outcomes, enumerate};
    use super::*;

    fn noise(sd: f64) -> RoundedGaussian {
        RoundedGaussian::new(Positive::new(sd).unwrap()).unwrap()
    }

    /// `P(round(s Z) = m) = Phi((m + 1/2) / s) - Phi((m - 1/2) / s)`.
    fn probability(sd: f64, m: i128) -> f64 {
        let m = m.unsigned_abs() as f64;
        if m == 0.0 { 1.0 - 2.0 * tail(0.5 / sd) } else { tail((m - 0.5) / sd) - tail((m + 0.5) / sd) }
    }

    /// `Phi(-x)`.
    fn tail(x: f64) -> f64 {
        0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
    }

    #[test]
    fn the_law_of_few_bits_is_exact() {
        for sd in [0.5, 0.8, 1.5] {
            let outcomes = enumerate(18, |bits| noise(sd).draw::<1>(bits));
            assert!(outcomes.undecided < 0.65, "{}", outcomes.undecided);
            for m in -4..=4 {
                let (least, truth) = (outcomes.probability(&m), probability(sd, m));
                assert!(least <= truth + 1e-12 && truth <= least + outcomes.undecided + 1e-12, "{sd} {m}");
                // Strings that differ in the sign alone decide alike.
                assert_eq!(least, outcomes.probability(&-m));
            }
        }
    }

    #[test]
    fn doubles_are_taken_apart_exactly() {
        for sd in [0.3, 1.0, 1e-310, 5e-324, 6.0, 1e30, f64::MIN_POSITIVE] {
            let noise = noise(sd);
            let back = noise.mantissa as f64 * f64::from(noise.exponent.max(-1000)).exp2();
            assert_eq!(back * f64::from(noise.exponent.min(-1000) + 1000).exp2(), sd);
            assert_eq!(noise.mantissa % 2, 1);
        }
        assert!(RoundedGaussian::new(Positive::new(2e30).unwrap()).is_err());
    }

    /// Noise far below 1/2 is zero, and noise as wide as 2^90 has its standard deviation.
    #[test]
    fn extreme_scales() {
        let mut source = Pcg64::seed_from_u64(3);
        assert!(noise(1e-300).add_noise(&[7; 1000], &mut source).iter().all(|number| *number == 7));
        let sd = 90f64.exp2();
        let draws = noise(sd).add_noise(&[0; 20_000], &mut source);
        let variance = draws.iter().map(|x| (*x as f64 / sd).powi(2)).sum::<f64>() / 20_000.0;
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
        // The low bits are there, too: they are uniform.
        let odd = draws.iter().filter(|x| *x % 2 != 0).count();
        assert!((9_500..10_500).contains(&odd), "{odd}");
    }

    #[test]
    fn the_most_noise_is_a_power_of_two() {
        assert_eq!(noise(2f64.powi(100)).sd(), 2f64.powi(100));
        assert!(RoundedGaussian::new(Positive::new(2f64.powi(100).next_up()).unwrap()).is_err());
    }

    /// The probability of each event over all strings of bits, against its closed form.
    fn check(outcomes: &Outcomes<bool>, truth: f64, most: f64) {
        let (yes, undecided) = (outcomes.probability(&true), outcomes.undecided);
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
        check(&enumerate(20, draw_exp_half_event::<1>), (-0.5f64).exp(), 5e-3);
        for k in 0..3u32 {
            let more = enumerate(20, |bits| draw_geometric::<1>(bits) >= k);
            check(&more, (-0.5 * f64::from(k)).exp(), 0.1);
        }
        // x is uniform too.
        for k in 0..3u32 {
            let found =
                enumerate(20, |bits| draw_exp_fraction_event::<1>(k, &mut UniformDigits::with_no_digits(), bits));
            let integral = mean_kept(f64::from(k));
            let (yes, undecided) = (found.probability(&true), found.undecided);
            assert!(yes <= integral + 1e-12 && integral <= yes + undecided + 1e-12, "{yes} {undecided} {integral}");
            assert!(undecided < 0.1, "{undecided}");
        }
    }
}
