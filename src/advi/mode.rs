//! The mode of the posterior.

use super::Model;

/// Iterations after which the search gives up.
const MOST: usize = 10_000;

/// Maximises the log joint density by gradient ascent with Barzilai-Borwein steps and backtracking, until the largest
/// element of the gradient is below `tolerance`. None if it does not get there.
pub fn mode(model: &dyn Model, tolerance: f64) -> Option<Vec<f64>> {
    let d = model.dimension();
    let (mut z, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    let mut value = model.log_joint(&z, &mut gradient);
    let mut step = 1.0 / model.rows().max(1) as f64;
    for _ in 0..MOST {
        if gradient.iter().all(|g| g.abs() <= tolerance) {
            return Some(z);
        }
        let mut next_gradient = vec![0.0; d];
        let (next, next_value) = loop {
            let next: Vec<f64> = z.iter().zip(&gradient).map(|(z, g)| z + step * g).collect();
            let next_value = model.log_joint(&next, &mut next_gradient);
            // A rounding error may look like a loss at the very top.
            if next_value >= value - 1e-12 * value.abs() {
                break (next, next_value);
            }
            step *= 0.5;
            if step < f64::MIN_POSITIVE {
                return None;
            }
        };
        let change = || next.iter().zip(&z).map(|(a, b)| a - b);
        let turn = || next_gradient.iter().zip(&gradient).map(|(a, b)| b - a);
        let (moved, turned): (f64, f64) =
            (change().map(|s| s * s).sum(), change().zip(turn()).map(|(s, t)| s * t).sum());
        step = if turned > 0.0 { moved / turned } else { 2.0 * step };
        (z, value, gradient) = (next, next_value, next_gradient);
    }
    None
}
