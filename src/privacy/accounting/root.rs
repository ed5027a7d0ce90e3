//! Roots of falling functions, on the safe side.

/// An interval with the values of a function at its ends: positive at the lower, not positive at the upper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub low: (f64, f64),
    pub high: (f64, f64),
}

impl Bracket {
    /// Steps from `start` by growing strides until the ends of a bracket are found, within `limits`.
    pub fn search<E>(
        mut f: impl FnMut(f64) -> Result<f64, E>,
        (start, stride): (f64, f64),
        limits: (f64, f64),
    ) -> Result<Option<Self>, E> {
        let mut at = (start, f(start)?);
        let (upwards, mut stride) = (at.1 > 0.0, stride);
        let end = if upwards { limits.1 } else { limits.0 };
        while at.0 != end {
            let x = if upwards { (at.0 + stride).min(end) } else { (at.0 - stride).max(end) };
            let next = (x, f(x)?);
            if (next.1 > 0.0) != upwards {
                return Ok(Some(if upwards {
                    Self { low: at, high: next }
                } else {
                    Self { low: next, high: at }
                }));
            }
            at = next;
            stride *= 2.0;
        }
        Ok(None)
    }

    /// Narrows the bracket to a width of at most `tolerance` by the ITP method: superlinear where the function is
    /// smooth, and never more than ten evaluations slower than bisection. Infinite values are bisected.
    /// Source: Oliveira and Takahashi 2020, Algorithm 1, with kappa_2 = 2 and n_0 = 10.
    pub fn narrow<E>(mut self, mut f: impl FnMut(f64) -> Result<f64, E>, tolerance: f64) -> Result<Self, E> {
        let kappa = 0.2 / self.width();
        let mut radius = tolerance * (9.0 + (self.width() / tolerance).log2().ceil().max(0.0)).exp2();
        while self.width() > tolerance {
            let x = self.next_point(kappa, radius - 0.5 * self.width());
            if x <= self.low.0 || x >= self.high.0 {
                break;
            }
            let value = f(x)?;
            if value > 0.0 {
                self.low = (x, value);
            } else {
                self.high = (x, value);
            }
            radius *= 0.5;
        }
        Ok(self)
    }

    fn width(&self) -> f64 {
        self.high.0 - self.low.0
    }

    /// Interpolates, truncates towards the middle, and projects onto the ball around the middle.
    fn next_point(&self, kappa: f64, radius: f64) -> f64 {
        let ((a, fa), (b, fb)) = (self.low, self.high);
        let middle = 0.5 * (a + b);
        let chord = (fb * a - fa * b) / (fb - fa);
        if !chord.is_finite() {
            return middle;
        }
        let (away, shift) = (middle - chord, kappa * self.width() * self.width());
        let moved = if shift <= away.abs() { chord + shift.copysign(away) } else { middle };
        moved.clamp(middle - radius.max(0.0), middle + radius.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_end_is_safe_and_close() {
        let mut calls = 0;
        let mut f = |x: f64| -> Result<f64, ()> {
            calls += 1;
            Ok((2.0 - x * x * x).clamp(-5.0, 1.5))
        };
        let bracket = Bracket::search(&mut f, (9.0, 1.0), (-50.0, 50.0)).unwrap().unwrap();
        let found = bracket.narrow(&mut f, 1e-12).unwrap();
        let root = 2f64.cbrt();
        assert!(found.low.0 < root && root <= found.high.0 && found.high.0 - root < 1e-12);
        assert!(calls < 25, "{calls}");
    }

    #[test]
    fn infinite_values_and_missing_roots() {
        let f = |x: f64| -> Result<f64, ()> { Ok(if x < 0.3 { f64::INFINITY } else { f64::NEG_INFINITY }) };
        let found = Bracket::search(f, (0.0, 1.0), (-8.0, 8.0)).unwrap().unwrap().narrow(f, 1e-9).unwrap();
        assert!((found.high.0 - 0.3).abs() < 1e-9);
        let up = |_: f64| -> Result<f64, ()> { Ok(1.0) };
        assert!(Bracket::search(up, (0.0, 1.0), (-8.0, 8.0)).unwrap().is_none());
    }
}
