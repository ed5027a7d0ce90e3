//! The loss of all steps together, by powers under cyclic convolution. It bounds delta at any epsilon and
//! includes the rounding error.

use std::f64::consts::TAU;

use nalgebra::Complex;

use super::loss_sum::LossSum;

/// Nats by which the mass outside the window is below 1, under the tilt.
const OUTSIDE: f64 = 30.0;

/// The distribution of a sum of losses near its upper tail.
///
/// The losses are tilted by `e^(t l - K(t))`, so that the sum is centred where it matters and rounding is relative to
/// the tail (Keich 2005), summed by one Fourier power on a window of grid points, and tilted back:
///
/// `delta(epsilon) = infinite + e^(T K(t)) sum_l y(l) e^(-t l) (1 - e^(epsilon - l))_+`
///
/// with the tilted masses `y` of the sum. What falls outside the window is folded into it and bounded by Chernoff.
#[derive(Debug)]
pub(super) struct ComposedLossDistribution {
    /// Loss of the first point of the window.
    bottom: f64,
    width: f64,
    tails: Vec<TailSums>,
    tilt: f64,
    /// `T K(t)`.
    log_scale: f64,
    /// Bound on the Euclidean norm of the error of `masses`.
    norm_error: f64,
    /// Bound on the relative error of the tilts and sums.
    relative_error: f64,
    infinite: f64,
}

impl ComposedLossDistribution {
    /// Tilts and sums; at most `limit` grid points are used, which may fail to hold the window: then `None`.
    pub fn new(sum: &LossSum<'_>, tilt: f64, limit: usize) -> Option<Self> {
        let width = sum.step.width;
        let bottom = (sum.chernoff_quantile_bound(tilt, -1.0, OUTSIDE) / width).floor();
        let top = (sum.chernoff_quantile_bound(tilt, 1.0, OUTSIDE) / width).ceil();
        let points = (top - bottom + 2.0).max(2.0);
        if points > limit as f64 {
            return None;
        }
        // The transform is cyclic: grid points are counted modulo n, and the window is turned to the front afterwards.
        let n = (points as usize).next_power_of_two();
        let cumulant = sum.step_cumulant(tilt).value;
        let mut folded = vec![0.0; n];
        let mut largest_exponent = 0.0f64;
        for (i, (loss, mass)) in sum.step.losses_with_masses().enumerate().filter(|(_, (_, mass))| *mass > 0.0) {
            let exponent = tilt * loss - cumulant;
            largest_exponent = largest_exponent.max(exponent.abs() + mass.ln().abs());
            folded[(sum.step.first + i as i64).rem_euclid(n as i64) as usize] += (exponent + mass.ln()).exp();
        }
        let (mut masses, norm_error) = convolution_power(&folded, sum.steps);
        masses.rotate_left((bottom as i64).rem_euclid(n as i64) as usize);
        let steps = f64::from(sum.steps);
        // Each exponent is rounded relative to its size, each step of the sums from the top by at most 4 units, and the T-fold
        // product multiplies relative errors by T.
        let log_scale = steps * cumulant;
        let span = tilt * (bottom.abs() + n as f64) * width + log_scale.abs() + n as f64;
        let relative_error = 4.0 * f64::EPSILON * (steps * (largest_exponent + 8.0) + span);
        // A union bound: some step has an infinite loss with at most T times the probability of one.
        let infinite = steps * sum.step.infinite;
        let bottom = bottom * width;
        let tails = TailSums::from_masses(&masses, width, |i| log_scale - tilt * (bottom + i as f64 * width));
        Some(Self { bottom, width, tails, tilt, log_scale, norm_error, relative_error, infinite })
    }

    /// The largest loss in the window.
    pub fn largest_loss(&self) -> f64 {
        self.bottom + (self.tails.len() - 1) as f64 * self.width
    }

    /// An upper bound on the delta of the losses at `epsilon`.
    pub fn delta_upper_bound(&self, epsilon: f64) -> f64 {
        let (sum, error) = self.weighted_tail_sum_and_error(epsilon);
        let beyond =
            (self.log_largest_tail_weight(epsilon) - self.tilt * (self.largest_loss() - epsilon).max(0.0) - OUTSIDE)
                .exp();
        // Every error is added: delta is at most 1 anyway.
        (self.infinite + (sum + error) * (1.0 + self.relative_error) + beyond).min(1.0)
    }

    /// A lower bound on the delta of the losses at `epsilon`.
    pub fn delta_lower_bound(&self, epsilon: f64) -> f64 {
        let (sum, error) = self.weighted_tail_sum_and_error(epsilon);
        // Mass from beyond either end of the window was folded into it and must not count.
        let folded = (self.log_largest_tail_weight(epsilon) - OUTSIDE).exp() * 2.0;
        (self.infinite + (sum - error) * (1.0 - self.relative_error) - folded).max(0.0)
    }

    /// `T K(t) - t epsilon`: the logarithm of the largest weight of a mass above epsilon.
    fn log_largest_tail_weight(&self, epsilon: f64) -> f64 {
        self.log_scale - self.tilt * epsilon
    }

    /// The sum over the window, and a bound on what rounding of the transform does to it: the product of the norms of
    /// weights and errors (Cauchy and Schwarz). The weights fall at least as fast as `e^(-t l)`, so their squares sum to at most a
    /// geometric series.
    fn weighted_tail_sum_and_error(&self, epsilon: f64) -> (f64, f64) {
        let start = (((epsilon - self.bottom) / self.width).floor() + 1.0).max(0.0) as usize;
        let Some(tail) = self.tails.get(start) else { return (0.0, 0.0) };
        let over = (self.bottom + start as f64 * self.width - epsilon).max(0.0);
        let largest = (self.log_largest_tail_weight(epsilon) - self.tilt * over).exp();
        let squares = ((self.tails.len() - start) as f64).min(-(-2.0 * self.tilt * self.width).exp_m1().recip());
        (tail.hockey_stick(over), self.norm_error * largest * squares.sqrt())
    }
}

/// Sums over a grid point of the window and all above it, with the masses `m` of the losses: those of the sum without tilt.
#[derive(Debug, Clone, Copy, Default)]
struct TailSums {
    /// `sum_j m_j`.
    mass: f64,
    /// `sum_j m_j (1 - e^(l - l_j))`, with the loss l of the grid point.
    excess: f64,
}

impl TailSums {
    /// The sums at each grid point, from the top. One point further down, each `1 - e^(l - l_j)` is `(1 - e^-w)` and `e^-w` of what
    /// it was: no difference cancels.
    fn from_masses(tilted: &[f64], width: f64, log_weight: impl Fn(usize) -> f64) -> Vec<Self> {
        let (share, kept) = (-(-width).exp_m1(), (-width).exp());
        let mut tails = vec![Self::default(); tilted.len()];
        let mut above = Self::default();
        for (i, (tail, mass)) in tails.iter_mut().zip(tilted).enumerate().rev() {
            // True masses are not negative, so cutting rounding errors below zero only moves them closer.
            let own = if *mass > 0.0 { mass * log_weight(i).exp() } else { 0.0 };
            *tail = Self { mass: above.mass + own, excess: share * above.mass + kept * above.excess };
            above = *tail;
        }
        tails
    }

    /// `sum_j m_j (1 - e^(epsilon - l_j))` for an epsilon this far below the grid point.
    fn hockey_stick(&self, over: f64) -> f64 {
        -(-over).exp_m1() * self.mass + (-over).exp() * self.excess
    }
}

/// The `steps`-fold cyclic convolution of a non-negative vector with a sum of at most 1, by a fast Fourier
/// transform of length `n`, a power of two, and a bound on the Euclidean norm of the error.
///
/// Error: a transform errs by at most `e = 10 u log2(n)` of the norm (Higham 2002, Theorem 24.2: `u (mu + gamma_4 (sqrt 2 + mu)) /
/// u` per level, below 10 with roots good to `mu = 4.2u`, also where the last level joins two halves of real numbers, which adds
/// once more). No entry of the spectrum exceeds 1, so powers of it err by `T` times as much, and by `8 T u` from repeated squaring;
/// norms shrink by `sqrt n` on the way back.
fn convolution_power(values: &[f64], steps: u32) -> (Vec<f64>, f64) {
    let n = values.len();
    let roots = roots_of_unity(n);
    let mut spectrum = transform_real(values, &roots);
    spectrum.iter_mut().for_each(|z| *z = power(*z, steps));
    let result = transform_back_to_real(&spectrum, &roots);
    let level = 0.5 * f64::EPSILON;
    let transform_error = 10.0 * level * (n as f64).log2().max(1.0);
    let steps = f64::from(steps);
    let error = steps * transform_error * norm(values)
        + (transform_error + 8.0 * steps * level) * (norm(&result) + norm(values));
    // One per cent for the products of errors, which the bounds above leave out.
    (result, 1.01 * error)
}

/// The first half of the spectrum of n real numbers, of frequencies 0 to n / 2; the other half is its conjugate.
///
/// The numbers at even and odd places are the real and imaginary parts of n / 2 complex ones. With their spectrum Z and `m = n / 2`,
/// `(Z_k + Z_(m-k)*) / 2` is that of the even places and `(Z_k - Z_(m-k)*) / (2 i)` that of the odd ones, which a last level joins.
fn transform_real(values: &[f64], roots: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let half = values.len() / 2;
    if half == 0 {
        return vec![Complex::new(values[0], 0.0)];
    }
    let mut pairs: Vec<Complex<f64>> = values.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
    fast_fourier_transform(&mut pairs, roots);
    let joined = (0..=half).map(|k| {
        let (one, other) = (pairs[k % half], pairs[(half - k) % half].conj());
        let odd = (one - other) * Complex::new(0.0, -0.5);
        let root = roots.get(k).copied().unwrap_or(Complex::new(-1.0, 0.0));
        (one + other) * 0.5 + odd * root
    });
    joined.collect()
}

/// The n real numbers of a spectrum: [`transform_real`] backwards.
fn transform_back_to_real(spectrum: &[Complex<f64>], roots: &[Complex<f64>]) -> Vec<f64> {
    let half = spectrum.len() - 1;
    if half == 0 {
        return vec![spectrum[0].re];
    }
    // The inverse transform is the conjugate of the forward one of the conjugates, over n / 2.
    let parts = (0..half).map(|k| {
        let (one, other) = (spectrum[k], spectrum[half - k].conj());
        let (even, odd) = ((one + other) * 0.5, (one - other) * 0.5 * roots[k].conj());
        (even + odd * Complex::i()).conj()
    });
    let mut pairs: Vec<Complex<f64>> = parts.collect();
    fast_fourier_transform(&mut pairs, roots);
    pairs.iter().flat_map(|z| [z.re / half as f64, -z.im / half as f64]).collect()
}

/// The Euclidean norm.
fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn power(mut base: Complex<f64>, mut exponent: u32) -> Complex<f64> {
    let mut result = Complex::new(1.0, 0.0);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= base;
        }
        base *= base;
        exponent /= 2;
    }
    result
}

/// `e^(-2 pi i k / n)` for `k < n / 2`.
fn roots_of_unity(n: usize) -> Vec<Complex<f64>> {
    // Each by its own angle: repeated products would gather rounding errors.
    let angles = (0..n / 2).map(|k| -TAU * (k as f64 / n as f64));
    angles.map(|angle| Complex::new(angle.cos(), angle.sin())).collect()
}

/// The discrete Fourier transform in place, by decimation in time (Cooley and Tukey 1965), with roots of unity of this or a longer
/// length.
fn fast_fourier_transform(data: &mut [Complex<f64>], roots: &[Complex<f64>]) {
    let n = data.len();
    let bits = n.trailing_zeros();
    for i in 1..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            data.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let level: Vec<Complex<f64>> = roots.iter().step_by(roots.len() / half).copied().collect();
        for block in data.chunks_exact_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            for ((a, b), root) in even.iter_mut().zip(odd).zip(&level) {
                let turned = *b * root;
                (*a, *b) = (*a + turned, *a - turned);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::discrete::DiscreteLossDistribution;
    use super::*;

    /// Randomised response: a loss of ln 3 has the probability 3/4, one of -ln 3 1/4.
    fn response(infinite: f64) -> DiscreteLossDistribution {
        DiscreteLossDistribution { first: -1, width: 3f64.ln(), masses: vec![0.25, 0.0, 0.75], infinite }
    }

    /// Of four answers the losses 4 ln 3, 2 ln 3 and 0 have the probabilities 81, 108 and 54 of 256, so that from `e^epsilon` of 1 to 9
    /// delta is `(81 - e^epsilon + 108 - 12 e^epsilon) / 256`.
    #[test]
    fn four_answers_have_a_closed_form() {
        let step = response(0.0);
        let sum = LossSum::new(&step, 4);
        for tilt in [0.2, 1.0, 2.5] {
            let composed = ComposedLossDistribution::new(&sum, tilt, 1 << 12).unwrap();
            assert!(composed.largest_loss() >= 4.0 * step.width - 1e-12);
            for epsilon in [0.25, 1.0, 2.0] {
                let exact = (189.0 - 13.0 * f64::exp(epsilon)) / 256.0;
                let (lower, upper) = (composed.delta_lower_bound(epsilon), composed.delta_upper_bound(epsilon));
                assert!(lower <= exact && exact <= upper, "{tilt} {epsilon}: {lower} {exact} {upper}");
                assert!(upper - lower < 1e-8, "{tilt} {epsilon}: {lower} {upper}");
            }
            // Nothing is beyond all losses.
            assert!(composed.delta_upper_bound(4.5) < 1e-9 && composed.delta_lower_bound(4.5) == 0.0);
        }
    }

    /// A step that reveals all with probability 1/100 does so in one of four with at most 4/100.
    #[test]
    fn infinite_losses_add_up() {
        let (step, same) = (response(0.0), response(0.01));
        let [without, with] =
            [&step, &same].map(|step| ComposedLossDistribution::new(&LossSum::new(step, 4), 1.0, 1 << 12).unwrap());
        assert!((with.delta_upper_bound(1.0) - without.delta_upper_bound(1.0) - 0.04).abs() < 1e-12);
        assert!((with.delta_lower_bound(1.0) - without.delta_lower_bound(1.0) - 0.04).abs() < 1e-12);
    }

    #[test]
    fn a_window_may_not_fit() {
        let step = response(0.0);
        assert!(ComposedLossDistribution::new(&LossSum::new(&step, 4), 1.0, 4).is_none());
    }

    /// At tilt 1 the cumulant is `ln(7/3)`; the longer exponent is that of the negative loss, `ln 3 + ln(7/3)`, beside `ln 4` of its mass.
    #[test]
    fn rounding_is_bounded_by_exponents_and_span() {
        let step = response(0.0);
        let composed = ComposedLossDistribution::new(&LossSum::new(&step, 4), 1.0, 1 << 12).unwrap();
        let (width, points) = (3f64.ln(), composed.tails.len() as f64);
        assert!((composed.largest_loss() - composed.bottom - (points - 1.0) * width).abs() < 1e-12);
        let cumulant = (7.0f64 / 3.0).ln();
        assert!((composed.log_scale - 4.0 * cumulant).abs() < 1e-14);
        let exponent = width + cumulant + 4f64.ln();
        let span = composed.bottom.abs() + points * width + 4.0 * cumulant + points;
        let bound = 4.0 * f64::EPSILON * (4.0 * (exponent + 8.0) + span);
        assert!((composed.relative_error / bound - 1.0).abs() < 1e-12, "{:e} {bound:e}", composed.relative_error);
    }

    /// One mass of 1/2 at a loss of 2, of which a tilt of 1/2 leaves `e^(30 - 1 / 2 - 1 / 2)` at epsilon 1, times `1 - 1 / e`; its
    /// error is weighed alike, but for that factor, both are a quarter wrong, and what is beyond the window is
    /// `e^(30 - 1 / 2 - 1 / 2 - 30)`.
    #[test]
    fn errors_are_weighed_like_masses() {
        let composed = ComposedLossDistribution {
            bottom: 0.0,
            width: 1.0,
            tails: TailSums::from_masses(&[0.0, 0.0, 0.5], 1.0, |i| -3.0 - 0.5 * i as f64),
            tilt: 0.5,
            log_scale: -3.0,
            norm_error: 0.125,
            relative_error: 0.25,
            infinite: 0.0625,
        };
        let (mass, error) = (0.5 * (-4f64).exp() * (1.0 - (-1f64).exp()), 0.125 * (-4f64).exp());
        let upper = 0.0625 + (mass + error) * 1.25 + (-34f64).exp();
        let lower = 0.0625 + (mass - error) * 0.75 - 2.0 * (-33.5f64).exp();
        assert!((composed.delta_upper_bound(1.0) - upper).abs() < 1e-15, "{} {upper}", composed.delta_upper_bound(1.0));
        assert!((composed.delta_lower_bound(1.0) - lower).abs() < 1e-15, "{} {lower}", composed.delta_lower_bound(1.0));
        let scaled = ComposedLossDistribution {
            log_scale: 30.0,
            tails: vec![TailSums::default(); 3],
            norm_error: 0.0,
            ..composed
        };
        assert!(
            (scaled.delta_upper_bound(1.0) - 0.0625 - (-1f64).exp()).abs() < 1e-15,
            "{}",
            scaled.delta_upper_bound(1.0)
        );
    }

    fn directly(values: &[f64], steps: u32) -> Vec<f64> {
        let n = values.len();
        let mut result = vec![0.0; n];
        result[0] = 1.0;
        for _ in 0..steps {
            let mut next = vec![0.0; n];
            for (i, a) in result.iter().enumerate() {
                for (j, b) in values.iter().enumerate() {
                    next[(i + j) % n] += a * b;
                }
            }
            result = next;
        }
        result
    }

    #[test]
    fn convolutions_are_those_of_the_definition() {
        for n in [1, 2, 8, 64] {
            let raw: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 11) as f64).collect();
            let total: f64 = raw.iter().sum();
            let values: Vec<f64> = raw.iter().map(|v| v / total).collect();
            for steps in [1, 2, 13] {
                let (found, bound) = convolution_power(&values, steps);
                let squares = found.iter().zip(directly(&values, steps)).map(|(f, e)| (f - e).powi(2));
                let error = squares.sum::<f64>().sqrt();
                assert!(error <= bound && bound < 1e-12, "{n} {steps}: {error:e} > {bound:e}");
            }
        }
    }

    /// A one at the front stays one, with norm 1. For 13 steps on 8 points a transform errs by `10 * 3 = 30` roundings, all by
    /// `13 * 30 + (30 + 8 * 13) * 2 = 658`.
    #[test]
    fn the_error_counts_transforms_and_powers() {
        let mut one = [0.0; 8];
        one[0] = 1.0;
        let (found, bound) = convolution_power(&one, 13);
        assert_eq!(found, one);
        assert!((bound / (1.01 * 658.0 * 0.5 * f64::EPSILON) - 1.0).abs() < 1e-12, "{bound:e}");
    }
}
