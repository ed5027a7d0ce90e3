//! Whether two samples are too much alike to be of different people.

use std::f64::consts::PI;

use super::counted::{CountPair, CountedSample};

/// The exponents of which the best is taken.
const EXPONENTS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

impl CountedSample {
    /// The evidence that values were taken of the same rows, in bits: by chance there are `b` bits once in `2^b` times.
    ///
    /// Obligation: where two sets of rows were drawn independently of one population, whatever it is, their values have at least
    /// `b` bits with probability at most `2^-b`. Of a value that was seen `s` times in both together, given `s`, a binomial number
    /// was seen in one; both have the same number with probability `q <= C(s, s/2) / 2^s <= min(1/2, (pi s/2)^(-1/2))` if `s` is even, and
    /// never if it is odd. With `w = -log2 q` for each value that was seen equally often, and nothing for others, Chernoff's bound for the sum
    /// of these independent numbers holds at every exponent. Where all values are known, the last follows from the number of rows,
    /// which may be the same by design: one that tells most is left out.
    ///
    /// Rows that were not drawn but laid out, such as the hours of a year, are alike without being the same.
    pub(super) fn evidence(&self, other: &Self) -> f64 {
        let mut pairs: Vec<(f64, bool)> = self.pairs(other).filter_map(chance).collect();
        if self.is_complete() && other.is_complete() {
            let same = pairs.iter().enumerate().filter(|(_, (_, same))| *same);
            let telling = same.min_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other));
            if let Some((place, _)) = telling {
                pairs.swap_remove(place);
            }
        }
        let alike: f64 = pairs.iter().filter(|(_, same)| *same).map(|(chance, _)| -chance.log2()).sum();
        let bounds = EXPONENTS.map(|exponent| {
            let spread = pairs.iter().map(|(chance, _)| (1.0 - chance + chance.powf(1.0 - exponent)).log2());
            exponent * alike - spread.sum::<f64>()
        });
        bounds.into_iter().fold(0.0, f64::max)
    }

    /// The share that two columns have in common: 1 for equal ones, also where one is a fair part of the other, 0 for those without a
    /// common value. Shares are of so many rows each.
    pub(super) fn common(&self, rows: u64, other: &Self, of: u64) -> f64 {
        let (mut least, mut most) = (0.0, 0.0);
        for CountPair { one, other } in self.pairs(other) {
            let (one, other) = (one as f64 / rows as f64, other as f64 / of as f64);
            least += f64::min(one, other);
            most += f64::max(one, other);
        }
        if most > 0.0 { least / most } else { 0.0 }
    }
}

/// The chance that a value was seen equally often in both, and whether it was; nothing if it cannot be.
fn chance(pair: CountPair) -> Option<(f64, bool)> {
    let all = pair.one.saturating_add(pair.other);
    let even = all > 0 && all.is_multiple_of(2);
    even.then(|| ((PI * all as f64 / 2.0).powf(-0.5).min(0.5), pair.one == pair.other))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn sample(values: impl IntoIterator<Item = u64>) -> CountedSample {
        let mut sample = CountedSample::new(256);
        // An odd factor leaves distinct values distinct.
        values.into_iter().for_each(|value| {
            sample.insert(
                value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xff51_afd7_ed55_8ccd),
            )
        });
        sample
    }

    /// Twenty-one values that stand once in both are twenty bits, as so many flips of a coin; a binary column is hardly any.
    #[test]
    fn evidence_counts_coincidences() {
        let once = sample(0..21);
        let bits = once.evidence(&once);
        assert!((bits - 20.0).abs() < 1e-6, "{bits}");
        let binary = sample((0..1000).map(|row| row % 2));
        let bits = binary.evidence(&binary);
        assert!(bits < 6.0 && bits > 5.0, "{bits}");
        assert_eq!(once.evidence(&sample(100..121)), 0.0);
        // A half, and a copy with a tenth of other rows.
        assert!(sample(0..4000).evidence(&sample((0..4000).step_by(2))) > 60.0);
        assert!(sample(0..4000).evidence(&sample(400..4400)) > 60.0);
        // Ages: 80 values that stand about 12 times each, and fifty rows more.
        let mut random = Pcg64::seed_from_u64(3);
        let ages: Vec<u64> = (0..1000).map(|_| random.random_range(0..80)).collect();
        let more: Vec<u64> = (0..50).map(|_| random.random_range(0..80)).collect();
        let bits = sample(ages.iter().copied()).evidence(&sample(ages.iter().chain(&more).copied()));
        assert!(bits > 20.0, "{bits}");
    }

    /// Strangers of one population, however many values it has and however uneven they are: of a thousand pairs none has 20 bits.
    #[test]
    fn strangers_are_told_apart() {
        let mut random = Pcg64::seed_from_u64(7);
        for values in [2.0, 30.0, 500.0, 3000.0, 1e9] {
            for power in [1.0, 4.0] {
                let mut draw = |rows: u64| {
                    let drawn: Vec<u64> =
                        (0..rows).map(|_| (random.random::<f64>().powf(power) * values) as u64).collect();
                    sample(drawn)
                };
                let greatest =
                    (0..100).map(|trial| draw(1000).evidence(&draw(1000 - trial))).fold(0.0, f64::max);
                assert!(greatest < 12.0, "{values} {power}: {greatest}");
            }
        }
    }

    #[test]
    fn shares_are_of_rows() {
        let (all, half) = (sample((0..1000).map(|row| row % 4)), sample((0..500).map(|row| row % 4)));
        assert!((all.common(1000, &half, 500) - 1.0).abs() < 1e-9);
        let other = sample((0..1000).map(|row| if row < 900 { 0 } else { 1 }));
        assert!((all.common(1000, &other, 1000) - 0.35 / 1.65).abs() < 1e-9);
        assert_eq!(sample(0..9).common(9, &sample(10..19), 9), 0.0);
    }
}
