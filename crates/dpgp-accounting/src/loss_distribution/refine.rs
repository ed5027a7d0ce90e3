//! Encloses epsilon or delta between bounds on ever finer grids.

use std::convert::Infallible;

use super::composed::ComposedLossDistribution;
use super::discrete::DiscreteLossDistribution;
use super::loss_sum::LossSum;
use super::pair::{DominatingPair, GridOutputRange};
use crate::GivenEpsilonOrDelta;
use crate::root::{Bracket, BracketSearchRange, ValueAt};
use dpgp_number::normal_pdf;

/// Where the grid would reach beyond this log likelihood ratio of the components, a step reveals everything: no numbers
/// are attempted, which would overflow.
const MOST: f64 = 300.0;
/// Cells per standard deviation of the loss of one step, at first.
const CELLS: f64 = 8.0;
/// How often the grid is refined.
const REFINEMENTS: u32 = 6;
/// How much wider the cells become where the sum does not fit.
const COARSER: f64 = 4.0;
/// The most points of a grid.
const POINTS: usize = 1 << 21;

/// Deltas below this are not told apart.
const LEAST_DELTA: f64 = 1e-18;

/// When the refinement of a grid may stop: its bounds are close enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefinementStoppingRule {
    /// The distance of the bounds on epsilon, relative to the upper one.
    pub tolerance: f64,
    /// Bounds need not be close if the upper one is at most this.
    pub enough: f64,
}

impl RefinementStoppingRule {
    /// Bounds on the number that is not given.
    pub fn enclose_missing_parameter(self, pair: &DominatingPair, steps: u32, given: GivenEpsilonOrDelta) -> Enclosure {
        let mut best = trivial_enclosure(given);
        let range = grid_output_range(pair, steps, given);
        if (range.high - 0.5) / pair.sd.powi(2) > MOST {
            return best;
        }
        let deviation = loss_deviation(pair);
        let extent = 4.0 * (pair.loss(range.high) - pair.loss(range.low));
        // The finest grid that holds one step and, by its spread, the sum of all.
        let mut least = extent.max(32.0 * deviation * f64::from(steps).sqrt()) / POINTS as f64;
        let mut width = (deviation / CELLS).max(least);
        let mut centre = WindowCentre::from_given(given);
        for _ in 0..REFINEMENTS {
            let GridBounds { enclosure, fits } = compute_grid_bounds(pair, steps, given, width, range, centre);
            let before = best.upper - best.lower;
            best = best.intersect(enclosure);
            if !fits {
                // A few steps that reveal much reach further than the spread of one tells: only a coarser grid holds them.
                (least, width) = (2.0 * width, COARSER * width);
                continue;
            }
            let excess = self.relative_gap(best, given);
            if excess <= 1.0 || best.upper <= self.enough {
                break;
            }
            // A finer grid should bring the bounds closer. If it does not, or there is none, the losses of a few small samples may be so
            // skewed that their tail of probability delta lies far above epsilon. A window around the best upper bound so far reaches
            // down to epsilon.
            let is_narrower = before.is_infinite() || best.upper - best.lower <= 0.5 * before;
            match (given, centre) {
                (GivenEpsilonOrDelta::Delta(_), WindowCentre::Tail(_)) if width == least && best.upper.is_finite() => {
                    centre = WindowCentre::Mean(best.upper);
                }
                _ if width == least => break,
                (GivenEpsilonOrDelta::Delta(_), _) if !is_narrower => centre = WindowCentre::Mean(best.upper),
                _ => {}
            }
            width = (width * (0.8 / excess.sqrt()).max(0.125)).max(least);
        }
        best
    }

    /// The distance of the bounds in units of the tolerance; it falls with the square of the grid width. A relative error
    /// of delta is several times that of epsilon.
    fn relative_gap(self, Enclosure { lower, upper }: Enclosure, given: GivenEpsilonOrDelta) -> f64 {
        let factor = match given {
            GivenEpsilonOrDelta::Delta(_) => 1.0,
            GivenEpsilonOrDelta::Epsilon(_) if upper < LEAST_DELTA => return 0.0,
            GivenEpsilonOrDelta::Epsilon(_) => 5.0,
        };
        if upper > lower { (upper - lower) / (factor * self.tolerance * upper) } else { 0.0 }
    }
}

/// The enclosures that need no proof.
fn trivial_enclosure(given: GivenEpsilonOrDelta) -> Enclosure {
    match given {
        GivenEpsilonOrDelta::Delta(_) => Enclosure { lower: 0.0, upper: f64::INFINITY },
        GivenEpsilonOrDelta::Epsilon(_) => Enclosure { lower: 0.0, upper: 1.0 },
    }
}

/// The part of the line that the grid covers: beyond it lies a `P`-mass of at most `e^(-z^2 / 2)` on each side.
fn grid_output_range(pair: &DominatingPair, steps: u32, given: GivenEpsilonOrDelta) -> GridOutputRange {
    let delta = match given {
        GivenEpsilonOrDelta::Delta(delta) => delta,
        GivenEpsilonOrDelta::Epsilon(_) => LEAST_DELTA,
    };
    // e^(-z^2 / 2) = 1e-7 delta / T: the cut tails of all steps together are far below delta.
    let z = (2.0 * (f64::from(steps) / (1e-7 * delta)).ln()).sqrt();
    GridOutputRange { low: -z * pair.sd, high: 1.0 + z * pair.sd }
}

/// The standard deviation of the loss under `N(0, s^2)`.
fn loss_deviation(pair: &DominatingPair) -> f64 {
    let nodes = (-80..=80).map(|i| 0.05 * f64::from(i));
    let weighted = nodes.map(|z| (0.05 * normal_pdf(z), pair.loss(pair.sd * z)));
    let (mean, square) = weighted.fold((0.0, 0.0), |(m, s), (w, loss)| (m + w * loss, s + w * loss * loss));
    (square - mean * mean).max(0.0).sqrt()
}

/// Where the window of the sum lies.
#[derive(Debug, Clone, Copy)]
enum WindowCentre {
    /// Where the Chernoff bound of the sum's tail is this probability.
    Tail(f64),
    /// Around this loss.
    Mean(f64),
}

impl WindowCentre {
    fn from_given(given: GivenEpsilonOrDelta) -> Self {
        match given {
            GivenEpsilonOrDelta::Delta(delta) => Self::Tail(delta),
            GivenEpsilonOrDelta::Epsilon(epsilon) => Self::Mean(epsilon),
        }
    }

    fn choose_tilt(self, sum: &LossSum<'_>) -> f64 {
        match self {
            Self::Tail(delta) => sum.tilt_for_delta(delta),
            Self::Mean(epsilon) => sum.tilt_for_mean(epsilon),
        }
    }
}

/// The bounds that one grid gives.
struct GridBounds {
    enclosure: Enclosure,
    /// Whether the grid holds the sum of all steps, from both sides.
    fits: bool,
}

/// The bounds on a grid of this width, one from above and one from below, tilted alike.
fn compute_grid_bounds(
    pair: &DominatingPair,
    steps: u32,
    given: GivenEpsilonOrDelta,
    width: f64,
    range: GridOutputRange,
    centre: WindowCentre,
) -> GridBounds {
    let (above, below) = (
        DiscreteLossDistribution::discretise_dominating(pair, width, range),
        DiscreteLossDistribution::discretise_dominated(pair, width, range),
    );
    let (above, below) = (LossSum::new(&above, steps), LossSum::new(&below, steps));
    let tilt = centre.choose_tilt(&above);
    let (above, below) =
        (ComposedLossDistribution::new(&above, tilt, POINTS), ComposedLossDistribution::new(&below, tilt, POINTS));
    let fits = above.is_some() && below.is_some();
    // A window that does not fit leaves its side unknown; the other one still holds.
    let Enclosure { lower, upper } = trivial_enclosure(given);
    let enclosure = match given {
        GivenEpsilonOrDelta::Epsilon(epsilon) => Enclosure {
            lower: below.map_or(lower, |below| below.delta_lower_bound(epsilon)),
            upper: above.map_or(upper, |above| above.delta_upper_bound(epsilon)),
        },
        GivenEpsilonOrDelta::Delta(delta) => {
            let upper = above.map_or(upper, |above| epsilon_upper_bound(&above, delta));
            // From an infinite upper bound no lower one is looked for.
            let lower = below.map_or(lower, |below| epsilon_lower_bound(&below, delta, upper));
            Enclosure { lower, upper }
        }
    };
    GridBounds { enclosure, fits }
}

/// An epsilon where the upper bound on delta is at most `delta`; infinite if there is none in the window.
fn epsilon_upper_bound(above: &ComposedLossDistribution, delta: f64) -> f64 {
    // Logarithms: delta falls by powers of ten along epsilon.
    let mut excess = |epsilon: f64| Ok::<f64, Infallible>((above.delta_upper_bound(epsilon) / delta).ln());
    let (Ok(low), Ok(high)) =
        (ValueAt::evaluate(0.0, &mut excess), ValueAt::evaluate(above.largest_loss(), &mut excess));
    if low.value <= 0.0 {
        return 0.0;
    }
    if high.value > 0.0 {
        return f64::INFINITY;
    }
    let Ok(tight) = Bracket { low, high }.narrow(excess, 1e-10 * above.largest_loss());
    tight.high.x
}

/// An epsilon up to `upper` where the lower bound on delta exceeds `delta`; zero if none is seen. Far below the centre
/// of the window the bound is void, so it is approached from above.
fn epsilon_lower_bound(below: &ComposedLossDistribution, delta: f64, upper: f64) -> f64 {
    if !(upper > 0.0 && upper.is_finite()) {
        return 0.0;
    }
    let excess = |epsilon: f64| Ok::<f64, Infallible>((below.delta_lower_bound(epsilon) / delta).ln());
    let search = BracketSearchRange { start: upper, stride: 1e-5 * upper, least: 0.0, greatest: upper };
    let Ok(found) = Bracket::search(excess, search);
    match found.map(|bracket| bracket.narrow(excess, 1e-10 * upper)) {
        // The lower end, where the bound was seen to exceed delta.
        Some(Ok(bracket)) => bracket.low.x,
        None => 0.0,
    }
}

/// A lower and an upper bound on a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Enclosure {
    pub lower: f64,
    pub upper: f64,
}

impl Enclosure {
    /// Encloses the larger of two numbers.
    pub fn enclose_maximum(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Encloses a number that lies in both enclosures.
    pub fn intersect(self, other: Self) -> Self {
        Self { lower: f64::max(self.lower, other.lower), upper: f64::min(self.upper, other.upper) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::discrete::DiscreteLossDistribution;
    use super::super::loss_sum::LossSum;
    use super::*;
    use dpgp_number::normal_cdf;

    /// For full batches the loss at `x = s z` is `z / s - 1 / (2 s^2)`: normal with standard deviation `1 / s`.
    #[test]
    fn the_deviation_of_a_gaussian_is_known() {
        for sd in [0.5, 3.0, 20.0] {
            let found = loss_deviation(&DominatingPair { p: 1.0, q: 0.0, sd });
            // Beyond four standard deviations lies 1.1e-3 of the variance.
            assert!((found * sd - 1.0).abs() < 2e-3, "{sd}: {found}");
        }
    }

    /// Four full batches of little noise are one Gaussian with mu = 10: its delta at epsilon = 60 is
    /// `Phi(-1) - e^60 Phi(-11) = 0.15866 - 0.02183`, by tables of the error function. Their losses reach far beyond epsilon.
    #[test]
    fn a_few_steps_that_reveal_much_are_enclosed() {
        let refinement = RefinementStoppingRule { tolerance: 1e-3, enough: 0.0 };
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 0.2 };
        let Enclosure { lower, upper } =
            refinement.enclose_missing_parameter(&pair, 4, GivenEpsilonOrDelta::Epsilon(60.0));
        let exact = normal_cdf(-1.0) - 60f64.exp() * normal_cdf(-11.0);
        assert!((exact - 0.13683).abs() < 2e-5, "{exact}");
        assert!(lower <= exact && exact <= upper && upper - lower <= 6e-3 * exact, "{lower} {exact} {upper}");
    }

    /// For two small samples, epsilon is zero for a delta above the one at epsilon 0, and small for a smaller delta. In both cases the
    /// tail of probability delta lies far above epsilon.
    #[test]
    fn a_few_small_samples_are_enclosed() {
        let refinement = RefinementStoppingRule { tolerance: 1e-3, enough: 0.0 };
        let pair = DominatingPair { p: 0.0065, q: 0.0, sd: 1.0 };
        let skewed = DominatingPair { p: 0.0, q: 0.0025, sd: 0.9 };
        // The total variation of one step is p (2 Phi(1 / 2) - 1) = 0.0024890; that of two is at most twice that, 0.0049780.
        let enclose = |pair, delta| refinement.enclose_missing_parameter(pair, 2, GivenEpsilonOrDelta::Delta(delta));
        assert_eq!(enclose(&pair, 0.005), Enclosure { lower: 0.0, upper: 0.0 });
        // The exact values are from a Riemann sum over the outputs of both steps.
        for (pair, delta, exact) in [(&pair, 0.0035, 0.001_128_839), (&skewed, 1.4e-8, 0.004_786_461)] {
            let Enclosure { lower, upper } = enclose(pair, delta);
            assert!(lower <= exact && exact <= upper && upper - lower <= 1e-3 * upper, "{lower} {exact} {upper}");
        }
    }

    /// Bounds of 2 and 3 are a third apart.
    #[test]
    fn the_excess_counts_tolerances() {
        let refinement = RefinementStoppingRule { tolerance: 0.01, enough: 0.0 };
        let found = refinement.relative_gap(Enclosure { lower: 2.0, upper: 3.0 }, GivenEpsilonOrDelta::Delta(0.1));
        assert!((found - 100.0 / 3.0).abs() < 1e-12);
    }

    /// `z = (2 ln(4 / (1e-7 delta)))^(1/2)` is 7.61804640 at delta = 1e-5, and 10.85826153 at the least delta.
    #[test]
    fn the_range_covers_all_but_a_part_of_delta() {
        let pair = DominatingPair { p: 1.0, q: 0.0, sd: 2.0 };
        for (given, z) in
            [(GivenEpsilonOrDelta::Delta(1e-5), 7.618_046_400_1), (GivenEpsilonOrDelta::Epsilon(3.0), 10.858_261_526_2)]
        {
            let GridOutputRange { low, high } = grid_output_range(&pair, 4, given);
            assert!((low + 2.0 * z).abs() < 1e-9 && (high - 1.0 - 2.0 * z).abs() < 1e-9, "{low} {high}");
        }
    }

    /// Of delta five tolerances are one; bounds that are the same, or below all deltas, are close enough.
    #[test]
    fn an_excess_of_delta_is_a_fifth() {
        let refinement = RefinementStoppingRule { tolerance: 0.01, enough: 0.0 };
        let excess = |lower, upper, given| refinement.relative_gap(Enclosure { lower, upper }, given);
        assert!((excess(0.2, 0.3, GivenEpsilonOrDelta::Epsilon(1.0)) - 20.0 / 3.0).abs() < 1e-12);
        assert_eq!(excess(1e-20, 1e-19, GivenEpsilonOrDelta::Epsilon(1.0)), 0.0);
        assert_eq!(
            (excess(2.0, 2.0, GivenEpsilonOrDelta::Delta(0.1)), excess(0.5, 0.5, GivenEpsilonOrDelta::Epsilon(1.0))),
            (0.0, 0.0)
        );
    }

    /// One answer of randomised response, whose delta at epsilon is `(3 - e^epsilon) / 4`.
    fn answer(infinite: f64) -> ComposedLossDistribution {
        let step = DiscreteLossDistribution { first: -1, width: 3f64.ln(), masses: vec![0.25, 0.0, 0.75], infinite };
        ComposedLossDistribution::new(&LossSum::new(&step, 1), 1.0, 1 << 12).unwrap()
    }

    #[test]
    fn the_epsilon_of_a_delta_is_enclosed() {
        let answer = answer(0.0);
        for (delta, exact) in [(0.25, 2f64.ln()), (0.4, 1.4f64.ln()), (0.05, 2.8f64.ln())] {
            let least = epsilon_upper_bound(&answer, delta);
            assert!((0.0..1e-8).contains(&(least - exact)), "{delta}: {least}");
            let greatest = epsilon_lower_bound(&answer, delta, least + 0.25);
            assert!((0.0..1e-8).contains(&(exact - greatest)), "{delta}: {greatest}");
        }
    }

    #[test]
    fn some_deltas_have_no_epsilon() {
        assert_eq!(epsilon_upper_bound(&answer(0.0), 0.6), 0.0);
        assert_eq!(epsilon_upper_bound(&answer(0.01), 0.005), f64::INFINITY);
        assert_eq!(epsilon_lower_bound(&answer(0.0), 0.25, f64::INFINITY), 0.0);
        assert_eq!(epsilon_lower_bound(&answer(0.0), 0.6, 1.0), 0.0);
    }
}
