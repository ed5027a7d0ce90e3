//! The mode of the posterior.

use super::Model;

/// Iterations after which the search gives up.
const MOST: usize = 10_000;

/// Maximises the log joint density by gradient ascent with Barzilai-Borwein steps and backtracking, until the largest
/// element of the gradient is below `tolerance`. None if it does not get there.
///
/// The step is `s's / s't` for the change s of z and the fall t of the gradient: the inverse curvature along s. Source:
/// Barzilai and Borwein 1988.
pub fn mode(model: &dyn Model, tolerance: f64) -> Option<Vec<f64>> {
    let d = model.dimension();
    let (mut z, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    let mut value = model.log_joint(&z, &mut gradient);
    // The curvature grows with the number of rows.
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
        let change: Vec<f64> = next.iter().zip(&z).map(|(a, b)| a - b).collect();
        let falls = gradient.iter().zip(&next_gradient).map(|(before, after)| before - after);
        let moved: f64 = change.iter().map(|s| s * s).sum();
        let turned: f64 = change.iter().zip(falls).map(|(s, t)| s * t).sum();
        // Where the gradient does not fall along the way there is no curvature to go by, and steps grow.
        step = if turned > 0.0 { moved / turned } else { 2.0 * step };
        (z, value, gradient) = (next, next_value, next_gradient);
    }
    None
}
