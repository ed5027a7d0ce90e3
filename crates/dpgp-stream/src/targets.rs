//! Converts targets to whole numbers.

/// Clips to [low, high], subtracts a centre and divides by a scale, all public; then clips to [-bound, bound], which
/// sensitivities assume, and counts in units of a power of two.
///
/// Obligation: whatever the targets are, also infinite ones, no whole number that is summed is larger than `bound` over the
/// unit: the clip is exact, a division by a power of two is, and the fraction is dropped.
///
/// ```
/// use dpgp_stream::TargetQuantizer;
/// let targets = TargetQuantizer { low: 0.0, high: 40.0, centre: 20.0, scale: 10.0, bound: 1.5 };
/// let whole = targets.quantize_targets(&[30.0, 40.0, f64::INFINITY]);
/// assert_eq!(whole.clipped, 2);
/// assert_eq!(whole.numbers.iter().map(|y| *y as f64 * targets.unit_value()).collect::<Vec<f64>>(), [1.0, 1.5, 1.5]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetQuantizer {
    /// The least value of a target, in its own units.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// The offset that is subtracted.
    pub centre: f64,
    /// Units of the target per unit of the model.
    pub scale: f64,
    /// The public bound, in units of the model.
    pub bound: f64,
}

/// Targets in units of their lattice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerTargets {
    /// Each at most `2^40` in size.
    pub numbers: Vec<i64>,
    /// How many were clipped.
    pub clipped: u64,
}

impl TargetQuantizer {
    /// The binary logarithm of the units of the lattice in the bound, to a power of two.
    pub const BITS: i32 = 40;

    /// Value of one unit, in units of the model: a power of two, the least one if the bound is as small.
    pub fn unit_value(&self) -> f64 {
        (self.bound.log2().ceil() - f64::from(Self::BITS)).exp2().max(f64::from_bits(1))
    }

    /// Targets in units of the lattice.
    pub fn quantize_targets(&self, targets: &[f64]) -> IntegerTargets {
        let rounding = self.rounding();
        let all: Vec<IntegerTarget> = targets.iter().map(|target| rounding.round(*target)).collect();
        let clipped = all.iter().map(|target| u64::from(target.clipped)).sum();
        IntegerTargets { numbers: all.iter().map(|target| target.number).collect(), clipped }
    }

    /// How one target after the other is rounded.
    pub(super) fn rounding(self) -> TargetRounding {
        let unit = self.unit_value();
        let inverse = Some(1.0 / unit).filter(|inverse| inverse.is_normal() && unit.is_normal());
        TargetRounding { targets: self, unit, inverse }
    }
}

/// A target in units of its lattice.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntegerTarget {
    pub number: i64,
    pub clipped: bool,
}

/// Rounds targets of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetRounding {
    targets: TargetQuantizer,
    unit: f64,
    /// Of the unit; none if that would not be exact.
    inverse: Option<f64>,
}

impl TargetRounding {
    #[inline]
    pub fn round(&self, target: f64) -> IntegerTarget {
        let TargetQuantizer { low, high, centre, scale, bound } = self.targets;
        let inside = clamp_keeping_nan(target, [low, high]);
        let scaled = (inside - centre) / scale;
        // Divisions are what a row costs here: a target that the first clip left alone needs no second one, and one by a power of two
        // is a product to the last bit.
        let free = if inside == target { scaled } else { (target - centre) / scale };
        let kept = clamp_keeping_nan(scaled, [-bound, bound]);
        let number = self.inverse.map_or_else(|| kept / self.unit, |inverse| kept * inverse) as i64;
        // Either clip counts, and the comparison is exact: an unclipped target went through the same operations.
        IntegerTarget { number, clipped: kept != free }
    }
}

/// The nearest number in an interval. NaN stays NaN. Each comparison is one instruction.
#[inline]
fn clamp_keeping_nan(number: f64, [low, high]: [f64; 2]) -> f64 {
    let number = if low > number { low } else { number };
    if high < number { high } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clips_count() {
        let targets = TargetQuantizer { low: 0.0, high: 40.0, centre: 20.0, scale: 10.0, bound: 1.5 };
        let whole = targets.quantize_targets(&[20.0, 30.0, 36.0, 50.0, -1.0, 5.0]);
        assert_eq!(whole.clipped, 3);
        let one = (1.0 / targets.unit_value()) as i64;
        assert_eq!(whole.numbers, [0, one, one * 3 / 2, one * 3 / 2, -one * 3 / 2, -one * 3 / 2]);
    }

    /// Units whose inverse is no number are divided by.
    #[test]
    fn the_least_bounds_have_units_too() {
        for bound in [f64::MIN_POSITIVE, 5e-324, 1e-300] {
            let targets = TargetQuantizer { low: -1.0, high: 1.0, centre: 0.0, scale: 1.0, bound };
            let whole = targets.quantize_targets(&[1.0, -1.0, 0.0]).numbers;
            assert!(whole[0] > 0 && whole[0] <= 1 << 40 && whole[1] == -whole[0] && whole[2] == 0, "{whole:?}");
        }
    }

    /// No whole number is larger than the bound, and no fraction is rounded up to it.
    #[test]
    fn the_bound_holds_to_the_last_bit() {
        for bound in [1.0, 1.5, 0.1, 3e-5, 1e9, 1.0 + f64::EPSILON] {
            let targets = TargetQuantizer { low: -1e300, high: 1e300, centre: 0.0, scale: 1.0, bound };
            let whole = targets.quantize_targets(&[bound, -bound, 1e300, bound.next_down(), 0.3 * bound]);
            assert!(whole.numbers.iter().all(|y| y.abs() <= 1 << 40 && y.abs() as f64 * targets.unit_value() <= bound));
            assert!((whole.numbers[4] as f64 * targets.unit_value() - 0.3 * bound).abs() <= targets.unit_value());
        }
    }
}
