//! A Gaussian number rounded to the nearest whole number, exactly.

use dashu_int::{IBig, UBig};
use rand::Rng;

use super::bits::Bits;
use super::normal::ExactNormal;
use dpgp_number::{OutOfRange, Positive};

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
/// let counts = noise.added(&[40, 0, 7], &mut rand_pcg::Pcg64::seed_from_u64(1));
/// assert!(counts.iter().all(|count| count.abs() < 10_000));
/// # Ok::<(), dpgp_number::OutOfRange>(())
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
    /// [`OutOfRange`] above `2^100`: sums of 128 bits would overflow.
    pub fn new(sd: Positive) -> Result<Self, OutOfRange> {
        let sd = sd.get();
        if sd > MOST {
            return Err(OutOfRange::new("at most 2^100 units of the lattice", sd));
        }
        let (bits, least) = (sd.to_bits(), -1074);
        let (field, tail) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        // A subnormal double has no leading 1.
        let (mantissa, exponent) =
            if field == 0 { (tail, least) } else { (tail | 1 << 52, least + field - 1) };
        let zeros = mantissa.trailing_zeros();
        Ok(Self { sd, mantissa: mantissa >> zeros, exponent: exponent + zeros as i32 })
    }

    /// `s`.
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// The numbers with independent noise on each.
    pub fn added(&self, numbers: &[i128], source: &mut impl Rng) -> Vec<i128> {
        let mut bits = Bits::of(source);
        let mut noisy = Vec::with_capacity(numbers.len());
        for number in numbers {
            noisy.push(number.saturating_add(self.draw::<DIGIT>(&mut bits)));
        }
        noisy
    }

    fn draw<const DIGIT: u32>(&self, bits: &mut Bits<'_, impl Rng>) -> i128 {
        let mut normal = ExactNormal::<DIGIT>::draw(bits);
        // The first number of digits that can leave less than a whole number between the ends.
        let mut count = (self.exponent.max(0) as u32 / DIGIT + 1) as usize;
        loop {
            if let Some(size) = self.rounded(&mut normal, count, bits) {
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
    fn rounded<const DIGIT: u32>(
        &self,
        normal: &mut ExactNormal<DIGIT>,
        count: usize,
        bits: &mut Bits<'_, impl Rng>,
    ) -> Option<UBig> {
        let known = DIGIT as usize * count;
        let Ok(shift @ 1..) = usize::try_from(known as i64 - i64::from(self.exponent)) else { return None };
        let mantissa = UBig::from(self.mantissa);
        let low = ((UBig::from(normal.whole) << known) + normal.fraction.leading(count, bits)) * &mantissa;
        let half = UBig::ONE << (shift - 1);
        let high = &low + mantissa + &half - UBig::ONE;
        let (low, high) = ((low + half) >> shift, high >> shift);
        (low == high).then_some(low)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::super::enumeration::enumerate;
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
                let (least, truth) = (outcomes.of(&m), probability(sd, m));
                assert!(least <= truth + 1e-12 && truth <= least + outcomes.undecided + 1e-12, "{sd} {m}");
                // Strings that differ in the sign alone decide alike.
                assert_eq!(least, outcomes.of(&-m));
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
        assert!(noise(1e-300).added(&[7; 1000], &mut source).iter().all(|number| *number == 7));
        let sd = 90f64.exp2();
        let draws = noise(sd).added(&[0; 20_000], &mut source);
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
}
