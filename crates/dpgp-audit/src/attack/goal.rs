//! What a set of outputs proves.

/// A bound that is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// The greatest epsilon, at this delta.
    Epsilon { delta: f64 },
    /// The greatest delta, at this epsilon.
    Delta { epsilon: f64 },
}

impl Goal {
    /// What follows from a set that has at least the probability `p` under one input and at most `q` under the other.
    ///
    /// Obligation: an (epsilon, delta)-private mechanism has `p <= e^epsilon q + delta` for every set under neighbours; so
    /// `epsilon >= ln((p - delta) / q)` and `delta >= p - e^epsilon q`.
    pub fn proved(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Epsilon { delta } if p > delta => ((p - delta) / q).ln(),
            Self::Epsilon { .. } => f64::NEG_INFINITY,
            Self::Delta { epsilon } => p - epsilon.exp() * q,
        }
    }

    /// About what shares of outputs will prove: it chooses well enough, and proves nothing.
    pub fn promised(self, one: Share, other: Share) -> f64 {
        self.proved(one.about(-CAUTION), other.about(CAUTION))
    }
}

/// Standard deviations by which a share is distrusted where a set is chosen among many: about as far as bounds of high
/// confidence on a few times as many outputs lie off, so that the set chosen has the best bound, not the luckiest ratio.
const CAUTION: f64 = 2.4;

/// So many of so many outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub part: usize,
    pub of: usize,
}

impl Share {
    /// The end of the interval of Wilson 1927 that lies so many standard deviations off.
    fn about(self, deviations: f64) -> f64 {
        let (n, square) = (self.of as f64, deviations * deviations);
        let share = self.part as f64 / n;
        let spread = (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
        (share + square / (2.0 * n) + deviations * spread) / (1.0 + square / n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Randomised response at epsilon 1 tells exactly 1, and at epsilon 0 a delta of `p - q`.
    #[test]
    fn randomised_response_is_read_exactly() {
        let (p, q) = (0.731_058_578_630_004_9, 0.268_941_421_369_995_1);
        assert!((Goal::Epsilon { delta: 0.0 }.proved(p, q) - 1.0).abs() < 1e-12);
        assert!(Goal::Delta { epsilon: 1.0 }.proved(p, q).abs() < 1e-12);
        assert!((Goal::Delta { epsilon: 0.0 }.proved(p, q) - (p - q)).abs() < 1e-12);
        assert_eq!(Goal::Epsilon { delta: 0.8 }.proved(p, q), f64::NEG_INFINITY);
    }

    /// Wilson's interval of 1 in 10 at 1.96 standard deviations, from tables: 0.0179 to 0.4042.
    #[test]
    fn shares_are_distrusted() {
        let share = Share { part: 1, of: 10 };
        assert!((share.about(-1.96) - 0.0179).abs() < 1e-4 && (share.about(1.96) - 0.4042).abs() < 1e-4);
    }
}
