//! From targets in their own units to those of the model.

/// Clips to [low, high], subtracts a centre and divides by a scale, all public; then clips to [-bound, bound], which
/// sensitivities assume.
///
/// Obligation: whatever the targets are, also infinite ones, no target that is summed lies outside [-bound, bound].
///
/// ```
/// use dpgp::stream::Targets;
/// let targets = Targets { low: 0.0, high: 40.0, centre: 20.0, scale: 10.0, bound: 1.5 };
/// let mut values = [30.0, 40.0, f64::INFINITY];
/// assert_eq!((targets.apply(&mut values), values), (2, [1.0, 1.5, 1.5]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Targets {
    /// The least value of a target, in its own units.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// What is subtracted.
    pub centre: f64,
    /// Units of the target per unit of the model.
    pub scale: f64,
    /// The public bound, in units of the model.
    pub bound: f64,
}

impl Targets {
    /// Brings targets to the units of the model; returns how many were clipped.
    pub fn apply(&self, targets: &mut [f64]) -> u64 {
        let mut clipped = 0;
        for target in targets {
            let free = (*target - self.centre) / self.scale;
            let kept = (target.clamp(self.low, self.high) - self.centre) / self.scale;
            *target = kept.clamp(-self.bound, self.bound);
            // Either clip counts, and the comparison is exact: an unclipped target went through the same operations.
            clipped += u64::from(*target != free);
        }
        clipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clips_count() {
        let targets = Targets { low: 0.0, high: 40.0, centre: 20.0, scale: 10.0, bound: 1.5 };
        let mut values = [20.0, 30.0, 36.0, 50.0, -1.0, 5.0];
        assert_eq!(targets.apply(&mut values), 3);
        assert_eq!(values, [0.0, 1.0, 1.5, 1.5, -1.5, -1.5]);
    }
}
