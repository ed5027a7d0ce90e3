//! Noisy observations of a damped oscillation.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::Rows;

/// The ends of the interval that inputs come from.
const HALF_WIDTH: f64 = 4.0;

/// Training points with `x ~ U(-4, 4)` and `y = sin(2 x) / (2 x) + N(0, noise^2)`; then `grid` test points at
/// equal distances from -4 to 4, with noise, and the same without. Source: Honkela 2021, Section 6.1.
pub fn sinc(points: usize, noise: f64, grid: usize, rng: &mut impl Rng) -> Rows {
    let mut rows = Rows { inputs: vec![Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let x = HALF_WIDTH * (2.0 * rng.random::<f64>() - 1.0);
        rows.push_noisy(x, noise, rng);
    }
    let at: Vec<f64> =
        (0..grid).map(|i| -HALF_WIDTH + 2.0 * HALF_WIDTH * i as f64 / (grid - 1) as f64).collect();
    at.iter().for_each(|&x| rows.push_noisy(x, noise, rng));
    rows.targets.extend(at.iter().map(|&x| function(x)));
    rows.inputs[0].extend(at);
    rows
}

impl Rows {
    fn push_noisy(&mut self, x: f64, noise: f64, rng: &mut impl Rng) {
        let z: f64 = StandardNormal.sample(rng);
        self.inputs[0].push(x);
        self.targets.push(function(x) + noise * z);
    }
}

fn function(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (2.0 * x).sin() / (2.0 * x) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn training_rows_then_noisy_then_true_ones() {
        let rows = sinc(4000, 0.1, 9, &mut Pcg64::from_seed([1; 32]));
        assert_eq!((rows.inputs[0].len(), rows.targets.len()), (4018, 4018));
        let residual = |i: usize| rows.targets[i] - function(rows.inputs[0][i]);
        let sd = ((0..4000).map(|i| residual(i).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!((sd - 0.1).abs() < 4.0 * 0.1 / 8000f64.sqrt());
        assert_eq!(rows.inputs[0][4000..4009], rows.inputs[0][4009..]);
        assert_eq!(rows.inputs[0][4009..], [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(rows.targets[4013], 1.0);
        assert!((rows.targets[4014] - 2f64.sin() / 2.0).abs() < 1e-16);
        assert!((4000..4009).all(|i| residual(i) != 0.0));
    }
}
