//! Roots of falling functions, on the safe side.

/// A place with the value of a function there.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueAt {
    pub x: f64,
    pub value: f64,
}

impl ValueAt {
    /// Evaluates `f` at `x`.
    pub fn evaluate<E>(x: f64, f: &mut impl FnMut(f64) -> Result<f64, E>) -> Result<Self, E> {
        Ok(Self { x, value: f(x)? })
    }
}

/// An interval with the values of a function at its ends: positive at the lower, not positive at the upper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub low: ValueAt,
    pub high: ValueAt,
}

/// Where a bracket is looked for: from `start` by growing strides, between two limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct BracketSearchRange {
    pub start: f64,
    pub stride: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Bracket {
    /// The first bracket that the strides find; `None` where the function keeps its sign up to the limit.
    pub fn search<E>(mut f: impl FnMut(f64) -> Result<f64, E>, search: BracketSearchRange) -> Result<Option<Self>, E> {
        let mut at = ValueAt::evaluate(search.start, &mut f)?;
        let (upwards, mut stride) = (at.value > 0.0, search.stride);
        let end = if upwards { search.greatest } else { search.least };
        while at.x != end {
            let x = if upwards { (at.x + stride).min(end) } else { (at.x - stride).max(end) };
            let next = ValueAt::evaluate(x, &mut f)?;
            if (next.value > 0.0) != upwards {
                let (low, high) = if upwards { (at, next) } else { (next, at) };
                return Ok(Some(Self { low, high }));
            }
            at = next;
            // Doubling reaches any root in a number of steps that grows with its logarithm alone.
            stride *= 2.0;
        }
        Ok(None)
    }

    /// Narrows the bracket to a width of at most `tolerance` by the ITP method: superlinear where the function is
    /// smooth, and never more than ten evaluations slower than bisection. Infinite values are bisected.
    /// Source: Oliveira and Takahashi 2020, Algorithm 1, with kappa_2 = 2 and n_0 = 10.
    ///
    /// Obligation: the value at `high` was seen to be not positive, so a bound that is read off there holds, however
    /// little the function is like a line.
    pub fn narrow<E>(mut self, mut f: impl FnMut(f64) -> Result<f64, E>, tolerance: f64) -> Result<Self, E> {
        let kappa = 0.2 / self.width();
        let mut radius = tolerance * (9.0 + (self.width() / tolerance).log2().ceil().max(0.0)).exp2();
        while self.width() > tolerance {
            let x = self.next_point(kappa, radius - 0.5 * self.width());
            // At the resolution of the numbers nothing lies inside any more.
            if x <= self.low.x || x >= self.high.x {
                break;
            }
            let next = ValueAt::evaluate(x, &mut f)?;
            *(if next.value > 0.0 { &mut self.low } else { &mut self.high }) = next;
            radius *= 0.5;
        }
        Ok(self)
    }

    fn width(&self) -> f64 {
        self.high.x - self.low.x
    }

    /// Interpolates, truncates towards the middle, and projects onto the ball around the middle.
    fn next_point(&self, kappa: f64, radius: f64) -> f64 {
        let (ValueAt { x: a, value: fa }, ValueAt { x: b, value: fb }) = (self.low, self.high);
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
    use std::cell::Cell;

    use super::*;

    fn clamped_cube(x: f64, calls: &Cell<usize>) -> Result<f64, ()> {
        calls.set(calls.get() + 1);
        Ok((2.0 - x * x * x).clamp(-5.0, 1.5))
    }

    #[test]
    fn the_upper_end_is_safe_and_close() {
        let calls = Cell::new(0);
        let search = BracketSearchRange { start: 9.0, stride: 1.0, least: -50.0, greatest: 50.0 };
        let bracket = Bracket::search(|x| clamped_cube(x, &calls), search).unwrap().unwrap();
        let found = bracket.narrow(|x| clamped_cube(x, &calls), 1e-12).unwrap();
        let root = 2f64.cbrt();
        assert!(found.low.x < root && root <= found.high.x && found.high.x - root < 1e-12);
        assert!(calls.get() < 25, "{calls:?}");
    }

    /// How often a falling function is asked on `[0, unit]`, its places counted in that unit.
    fn calls_in_units_of(unit: f64) -> usize {
        let calls = Cell::new(0);
        let low = ValueAt::evaluate(0.0, &mut |x| falling(x / unit, &calls)).unwrap();
        let bracket = Bracket { low, high: ValueAt::evaluate(unit, &mut |x| falling(x / unit, &calls)).unwrap() };
        bracket.narrow(|x| falling(x / unit, &calls), 1e-12 * unit).unwrap();
        calls.get()
    }

    fn falling(x: f64, calls: &Cell<usize>) -> Result<f64, ()> {
        calls.set(calls.get() + 1);
        Ok(0.2 - (1.0 + 9.0 * x).ln())
    }

    /// Powers of two change no digit of a place, so that the way to a root is the same in every unit.
    #[test]
    fn units_change_no_step() {
        let calls = [1e-3f64, 1.0, 1e3].map(|unit| calls_in_units_of(unit.log2().round().exp2()));
        assert!(calls[0] == calls[1] && calls[1] == calls[2] && calls[0] < 20, "{calls:?}");
    }

    #[test]
    fn infinite_values_and_missing_roots() {
        let search = BracketSearchRange { start: 0.0, stride: 1.0, least: -8.0, greatest: 8.0 };
        let found = Bracket::search(step, search).unwrap().unwrap().narrow(step, 1e-9).unwrap();
        assert!((found.high.x - 0.3).abs() < 1e-9);
        assert!(Bracket::search(|_| Ok::<f64, ()>(1.0), search).unwrap().is_none());
    }

    fn step(x: f64) -> Result<f64, ()> {
        Ok(if x < 0.3 { f64::INFINITY } else { f64::NEG_INFINITY })
    }

    fn cliff(x: f64, calls: &Cell<usize>) -> Result<f64, ()> {
        calls.set(calls.get() + 1);
        Ok(if x < 0.9 { 1e9 * (0.9 - x) } else { -1e-9 })
    }

    /// A cliff beside a plain, where chords help nothing: thirty halvings and ten more.
    #[test]
    fn no_function_takes_many_more_steps_than_bisection() {
        let calls = Cell::new(0);
        let low = ValueAt::evaluate(0.0, &mut |x| cliff(x, &calls)).unwrap();
        let bracket = Bracket { low, high: ValueAt::evaluate(1.0, &mut |x| cliff(x, &calls)).unwrap() };
        let found = bracket.narrow(|x| cliff(x, &calls), 1e-9).unwrap();
        assert!(found.low.x <= 0.9 && 0.9 <= found.high.x && found.width() <= 1e-9);
        assert!(calls.get() <= 42, "{calls:?}");
    }
}
