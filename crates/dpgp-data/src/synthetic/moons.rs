//! Two interleaved half circles.

use std::f64::consts::PI;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::Rows;

/// The radius of either half circle.
const RADIUS: f64 = 0.8;

/// Points of two classes (0 and 1, with equal probability) on two half circles of radius 0.8 that hold each
/// other, the upper one centred at (-0.4, -0.2) and the lower one at (0.4, 0.2), plus `N(0, noise^2)` in either
/// coordinate: within the square of side 2.4 around the origin but for the noise.
pub fn moons(points: usize, noise: f64, rng: &mut impl Rng) -> Rows {
    let mut rows = Rows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let lower = rng.random::<f64>() < 0.5;
        let angle = PI * rng.random::<f64>();
        let sign = if lower { -1.0 } else { 1.0 };
        let centre = [-0.5 * sign * RADIUS, -0.25 * sign * RADIUS];
        let on = [angle.cos(), angle.sin()].map(|v| sign * v * RADIUS);
        rows.targets.push(f64::from(lower));
        for d in 0..2 {
            let z: f64 = StandardNormal.sample(rng);
            rows.inputs[d].push(centre[d] + on[d] + noise * z);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn points_lie_on_their_half_circle() {
        let rows = moons(500, 0.0, &mut Pcg64::from_seed([1; 32]));
        for i in 0..500 {
            let sign = 1.0 - 2.0 * rows.targets[i];
            let (x, y) = (rows.inputs[0][i] + 0.4 * sign, rows.inputs[1][i] + 0.2 * sign);
            assert!((x.hypot(y) - 0.8).abs() < 1e-12 && sign * y > -1e-12);
        }
        let ones = rows.targets.iter().sum::<f64>();
        assert!((ones - 250.0).abs() < 50.0);
    }
}
