//! Powers under cyclic convolution, with a bound on the rounding error.

use std::f64::consts::TAU;

use nalgebra::Complex;

/// The `steps`-fold cyclic convolution of a non-negative vector with a sum of at most 1, by a fast Fourier
/// transform of length `n`, a power of two, and a bound on the Euclidean norm of the error.
///
/// Error: a transform errs by at most `e = 10 u log2(n)` of the norm (Higham 2002, Theorem 24.2: `u (mu + gamma_4 (sqrt 2 + mu)) / u`
/// per level, below 10 with roots good to `mu = 2u`). No entry of the spectrum exceeds 1, so powers of it err by
/// `T` times as much, and by `8 T u` from repeated squaring; norms shrink by `sqrt n` on the way back.
pub(super) fn convolution_power(values: &[f64], steps: u32) -> (Vec<f64>, f64) {
    let n = values.len();
    let roots = roots(n);
    let mut data: Vec<Complex<f64>> = values.iter().map(|v| Complex::new(*v, 0.0)).collect();
    transform(&mut data, &roots);
    // The inverse transform is the forward one of the conjugates, over n; the result is real, so it needs no conjugate.
    data.iter_mut().for_each(|z| *z = power(*z, steps).conj());
    transform(&mut data, &roots);
    let result: Vec<f64> = data.iter().map(|z| z.re / n as f64).collect();
    let level = 0.5 * f64::EPSILON;
    let transform_error = 10.0 * level * (n as f64).log2().max(1.0);
    let steps = f64::from(steps);
    let error = steps * transform_error * norm(values)
        + (transform_error + 8.0 * steps * level) * (norm(&result) + norm(values));
    // One per cent for the products of errors, which the bounds above leave out.
    (result, 1.01 * error)
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
fn roots(n: usize) -> Vec<Complex<f64>> {
    // Each by its own angle: repeated products would gather rounding errors.
    let angles = (0..n / 2).map(|k| -TAU * (k as f64 / n as f64));
    angles.map(|angle| Complex::new(angle.cos(), angle.sin())).collect()
}

/// The discrete Fourier transform in place, by decimation in time (Cooley and Tukey 1965).
fn transform(data: &mut [Complex<f64>], roots: &[Complex<f64>]) {
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
        let level: Vec<Complex<f64>> = roots.iter().step_by(n / (2 * half)).copied().collect();
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
    use super::*;

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
