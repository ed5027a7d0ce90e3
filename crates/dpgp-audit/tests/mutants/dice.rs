//! The random numbers of mutants.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64;

/// A random stream, and the laws that mutants draw from.
///
/// Real noise is rounded to multiples of [`LATTICE`]. Added to whole numbers it is exact, so that its last bits tell nothing and
/// the law is that of rounded real noise: a mutant is broken by what it is named for, not by floating-point arithmetic.
#[derive(Debug)]
pub(super) struct NoiseSampler {
    stream: Pcg64,
}

/// The distance of two values of real noise: sums with whole numbers up to 2^22 are exact.
const LATTICE: f64 = 1.0 / (1u64 << 30) as f64;

impl NoiseSampler {
    pub fn new(stream: Pcg64) -> Self {
        Self { stream }
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        self.stream.random()
    }

    /// One of the numbers 0 to `sides - 1`, each as likely as another.
    pub fn side(&mut self, sides: usize) -> usize {
        self.stream.random_range(0..sides)
    }

    /// Whether what has this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A uniform number at most this far from zero.
    pub fn within(&mut self, reach: f64) -> f64 {
        on_lattice(reach * (2.0 * self.uniform() - 1.0))
    }

    /// An exponential number that is not rounded, of mean 1.
    pub fn raw_exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.stream)
    }

    /// A normal number that is not rounded.
    pub fn raw_normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.stream)
    }

    /// A Laplace number that is not rounded, of scale 1.
    pub fn raw_laplace(&mut self) -> f64 {
        let size = self.raw_exponential();
        if self.happens(0.5) { size } else { -size }
    }

    /// An exponential number of this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        on_lattice(mean * self.raw_exponential())
    }

    /// A Laplace number of this scale.
    pub fn laplace(&mut self, scale: f64) -> f64 {
        on_lattice(scale * self.raw_laplace())
    }

    /// A normal number of this standard deviation.
    pub fn gaussian(&mut self, sd: f64) -> f64 {
        on_lattice(sd * self.raw_normal())
    }

    /// A whole number k with a probability proportional to `exp(-epsilon |k|)`: the difference of two geometric numbers, which
    /// are exponential ones rounded down.
    pub fn geometric(&mut self, epsilon: f64) -> f64 {
        (self.raw_exponential() / epsilon).floor() - (self.raw_exponential() / epsilon).floor()
    }

    /// Pushes each answer with Laplace noise of this scale.
    pub fn add_laplace(&mut self, answers: &[f64], scale: f64, out: &mut Vec<f64>) {
        out.extend(answers.iter().map(|answer| answer + self.laplace(scale)));
    }

    /// Pushes each answer with Gaussian noise of this standard deviation.
    pub fn add_gaussian(&mut self, answers: &[f64], sd: f64, out: &mut Vec<f64>) {
        out.extend(answers.iter().map(|answer| answer + self.gaussian(sd)));
    }

    /// A place, with a probability proportional to its weight.
    pub fn place(&mut self, weights: &[f64]) -> f64 {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        let past = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        past.unwrap_or(weights.len() - 1) as f64
    }
}

fn on_lattice(x: f64) -> f64 {
    (x / LATTICE).round() * LATTICE
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const DRAWS: u32 = 100_000;

    fn mean(draw: impl Fn(&mut NoiseSampler) -> f64) -> f64 {
        let mut dice = NoiseSampler::new(Pcg64::seed_from_u64(7));
        (0..DRAWS).map(|_| draw(&mut dice)).sum::<f64>() / f64::from(DRAWS)
    }

    /// Means of squares: `2 b^2` of Laplace, `sd^2` of normal, `2 a / (1 - a)^2` of two-sided geometric numbers, a = e^-epsilon.
    #[test]
    fn laws_have_their_moments() {
        assert!((mean(|dice| dice.laplace(3.0).powi(2)) / 18.0 - 1.0).abs() < 0.04);
        assert!((mean(|dice| dice.gaussian(3.0).powi(2)) / 9.0 - 1.0).abs() < 0.03);
        assert!((mean(|dice| dice.exponential(3.0)) / 3.0 - 1.0).abs() < 0.02);
        let a = (-0.5f64).exp();
        assert!((mean(|dice| dice.geometric(0.5).powi(2)) / (2.0 * a / (1.0 - a).powi(2)) - 1.0).abs() < 0.04);
        assert!((mean(|dice| dice.place(&[1.0, 2.0, 5.0])) - 1.5).abs() < 0.02);
        assert!(mean(|dice| dice.laplace(3.0)).abs() < 0.06);
    }
}
