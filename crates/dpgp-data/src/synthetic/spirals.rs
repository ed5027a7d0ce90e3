//! Intertwined spiral arms.

use std::f64::consts::TAU;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::Rows;

/// The least and the greatest distance from the origin.
const RADII: (f64, f64) = (0.15, 1.0);
/// Turns of an arm.
const TURNS: f64 = 0.35;

/// Points of as many classes as there are arms, with equal probabilities. Along an arm the distance from the
/// origin grows evenly from 0.15 to 1 over 0.35 turns; arms differ by a rotation. `N(0, noise^2)` is added to
/// either coordinate.
pub fn spirals(points: usize, arms: usize, noise: f64, rng: &mut impl Rng) -> Rows {
    let mut rows = Rows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let arm = rng.random_range(0..arms);
        let along = rng.random::<f64>();
        let radius = RADII.0 + (RADII.1 - RADII.0) * along;
        let angle = TAU * (TURNS * along + arm as f64 / arms as f64);
        rows.targets.push(arm as f64);
        for (column, at) in rows.inputs.iter_mut().zip([angle.cos(), angle.sin()]) {
            let z: f64 = StandardNormal.sample(rng);
            column.push(radius * at + noise * z);
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
    fn the_angle_follows_from_class_and_distance() {
        let rows = spirals(600, 3, 0.0, &mut Pcg64::from_seed([1; 32]));
        for i in 0..600 {
            let (x, y) = (rows.inputs[0][i], rows.inputs[1][i]);
            let turns = TURNS * (x.hypot(y) - RADII.0) / (RADII.1 - RADII.0) + rows.targets[i] / 3.0;
            let off = (y.atan2(x) / TAU - turns).rem_euclid(1.0);
            assert!(off.min(1.0 - off) < 1e-9);
        }
        for class in [0.0, 1.0, 2.0] {
            let count = rows.targets.iter().filter(|t| **t == class).count();
            assert!((150..250).contains(&count));
        }
    }
}
