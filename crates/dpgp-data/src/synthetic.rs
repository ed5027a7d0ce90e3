//! Generated data: half circles, a damped oscillation, spiral arms, diagonal bands, and trips of a bike share.

use std::f64::consts::{PI, TAU};

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

/// Generated rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticRows {
    /// One list of numbers per input.
    pub inputs: Vec<Vec<f64>>,
    /// One target per row.
    pub targets: Vec<f64>,
}

/// The radius of either half circle.
const RADIUS: f64 = 0.8;

/// Points of two classes (0 and 1, with equal probability) on two half circles of radius 0.8 that hold each
/// other, the upper one centred at (-0.4, -0.2) and the lower one at (0.4, 0.2), plus `N(0, noise^2)` in either
/// coordinate: within the square of side 2.4 around the origin but for the noise.
pub fn generate_moons(points: usize, noise: f64, rng: &mut impl Rng) -> SyntheticRows {
    let mut rows = SyntheticRows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
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

/// The ends of the interval that inputs come from.
const HALF_WIDTH: f64 = 4.0;

/// Training points with `x ~ U(-4, 4)` and `y = sin(2 x) / (2 x) + N(0, noise^2)`; then `grid` test points at
/// equal distances from -4 to 4, with noise, and the same without. Source: Honkela 2021, Section 6.1.
pub fn generate_sinc(points: usize, noise: f64, grid: usize, rng: &mut impl Rng) -> SyntheticRows {
    let mut rows = SyntheticRows { inputs: vec![Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let x = HALF_WIDTH * (2.0 * rng.random::<f64>() - 1.0);
        rows.push_noisy_sinc_point(x, noise, rng);
    }
    let at: Vec<f64> = (0..grid).map(|i| -HALF_WIDTH + 2.0 * HALF_WIDTH * i as f64 / (grid - 1) as f64).collect();
    at.iter().for_each(|&x| rows.push_noisy_sinc_point(x, noise, rng));
    rows.targets.extend(at.iter().map(|&x| scaled_sinc(x)));
    rows.inputs[0].extend(at);
    rows
}

impl SyntheticRows {
    fn push_noisy_sinc_point(&mut self, x: f64, noise: f64, rng: &mut impl Rng) {
        let z: f64 = StandardNormal.sample(rng);
        self.inputs[0].push(x);
        self.targets.push(scaled_sinc(x) + noise * z);
    }
}

fn scaled_sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (2.0 * x).sin() / (2.0 * x) }
}

/// The least and the greatest distance from the origin.
const RADII: (f64, f64) = (0.15, 1.0);
/// Turns of an arm.
const TURNS: f64 = 0.35;

/// Points of as many classes as there are arms, with equal probabilities. Along an arm the distance from the
/// origin grows evenly from 0.15 to 1 over 0.35 turns; arms differ by a rotation. `N(0, noise^2)` is added to
/// either coordinate.
pub fn generate_spirals(points: usize, arms: usize, noise: f64, rng: &mut impl Rng) -> SyntheticRows {
    let mut rows = SyntheticRows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
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

/// The side of the square.
const SIDE: f64 = 10.0;
/// The width of a stripe along either axis.
const STRIPE: f64 = 5.0;

/// Training points with `x1 ~ U(0, 10)` and a density of x2 that falls linearly to zero at 10, of class 1 where
/// `(x1 + x2) mod 10 < 5`, else 0, flipped with probability `flips`; then `grid` x `grid` test points at the middles of
/// equal squares, with their true classes.
///
/// With u uniform, `x2 = 10 (1 - sqrt(u))` has the density `(10 - x2) / 50`.
pub fn generate_stripes(points: usize, flips: f64, grid: usize, rng: &mut impl Rng) -> SyntheticRows {
    let mut rows = SyntheticRows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let x = [SIDE * rng.random::<f64>(), SIDE * (1.0 - rng.random::<f64>().sqrt())];
        let flipped = rng.random::<f64>() < flips;
        rows.push(x, if flipped { 1.0 - stripe_class(x) } else { stripe_class(x) });
    }
    for (i, j) in (0..grid).flat_map(|i| (0..grid).map(move |j| (i, j))) {
        let x = [i, j].map(|i| SIDE * (i as f64 + 0.5) / grid as f64);
        rows.push(x, stripe_class(x));
    }
    rows
}

fn stripe_class(x: [f64; 2]) -> f64 {
    if (x[0] + x[1]) % (2.0 * STRIPE) < STRIPE { 1.0 } else { 0.0 }
}

impl SyntheticRows {
    fn push(&mut self, x: [f64; 2], target: f64) {
        self.inputs.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
        self.targets.push(target);
    }
}

/// The columns: degrees, degrees, hours since midnight, minutes. Trips of a real bike share have the same names.
pub const TRIP_COLUMNS: [&str; 4] = ["start_latitude", "start_longitude", "hour_of_day", "minutes"];

/// Trips of a batch.
pub const TRIP_BATCH: usize = 65_536;

/// The first trips of a batch, by column. Every batch has a stream of its own, so that any can be made without those
/// before it. Numbers have six decimals at most, and so are the same in a text file.
///
/// Starts lie along Manhattan, more of them in its middle; half of the trips start in the rush hours at 8:30 and 17:30;
/// durations are log-normal about a mean that grows away from the middle and towards the evening.
pub fn generate_trips(seed: u64, batch: u64, rows: usize) -> [Vec<f64>; 4] {
    let text = format!("v1|{seed}|trips|{batch}");
    let mut stream = Pcg64::from_seed(Sha256::digest(text.as_bytes()).into());
    let mut columns: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::with_capacity(rows));
    for _ in 0..rows {
        let trip = generate_trip(&mut stream);
        columns.iter_mut().zip(trip).for_each(|(column, value)| column.push((value * 1e6).round() / 1e6));
    }
    columns
}

fn generate_trip(stream: &mut Pcg64) -> [f64; 4] {
    let [along, across, spread, noise]: [f64; 4] = std::array::from_fn(|_| StandardNormal.sample(stream));
    let (along, across) = (along.clamp(-2.5, 2.5), across.clamp(-2.5, 2.5));
    let hour = match stream.random::<f64>() {
        u if u < 0.2 => 8.5 + spread,
        u if u < 0.5 => 17.5 + 1.5 * spread,
        _ => 6.0 + 18.0 * stream.random::<f64>(),
    };
    let hour = hour.rem_euclid(24.0).min(23.999_999);
    let mean = 10.0 + 2.0 * (along * along + across * across).sqrt() + 3.0 * (-((hour - 18.0) / 3.0).powi(2)).exp();
    let latitude = 40.74 + 0.02 * along;
    let longitude = -73.985 + 0.013 * along + 0.008 * across;
    [latitude, longitude, hour, mean * (0.5 * noise).exp()]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn points_lie_on_their_half_circle() {
        let rows = generate_moons(500, 0.0, &mut Pcg64::from_seed([1; 32]));
        for i in 0..500 {
            let sign = 1.0 - 2.0 * rows.targets[i];
            let (x, y) = (rows.inputs[0][i] + 0.4 * sign, rows.inputs[1][i] + 0.2 * sign);
            assert!((x.hypot(y) - 0.8).abs() < 1e-12 && sign * y > -1e-12);
        }
        let ones = rows.targets.iter().sum::<f64>();
        assert!((ones - 250.0).abs() < 50.0);
    }

    #[test]
    fn training_rows_then_noisy_then_true_ones() {
        let rows = generate_sinc(4000, 0.1, 9, &mut Pcg64::from_seed([1; 32]));
        assert_eq!((rows.inputs[0].len(), rows.targets.len()), (4018, 4018));
        let residual = |i: usize| rows.targets[i] - scaled_sinc(rows.inputs[0][i]);
        let sd = ((0..4000).map(|i| residual(i).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!((sd - 0.1).abs() < 4.0 * 0.1 / 8000f64.sqrt());
        assert_eq!(rows.inputs[0][4000..4009], rows.inputs[0][4009..]);
        assert_eq!(rows.inputs[0][4009..], [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(rows.targets[4013], 1.0);
        assert!((rows.targets[4014] - 2f64.sin() / 2.0).abs() < 1e-16);
        assert!((4000..4009).all(|i| residual(i) != 0.0));
    }

    #[test]
    fn the_angle_follows_from_class_and_distance() {
        let rows = generate_spirals(600, 3, 0.0, &mut Pcg64::from_seed([1; 32]));
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

    #[test]
    fn stripes_are_as_described() {
        let rows = generate_stripes(4000, 0.05, 10, &mut Pcg64::from_seed([3; 32]));
        let test = &rows.targets[4000..];
        assert_eq!((test.len(), test.iter().sum::<f64>()), (100, 50.0));
        let flipped =
            (0..4000).filter(|&i| rows.targets[i] != stripe_class([rows.inputs[0][i], rows.inputs[1][i]])).count();
        assert!((flipped as f64 / 4000.0 - 0.05).abs() < 4.0 * (0.05f64 * 0.95 / 4000.0).sqrt());
        // The mean of x2 under the density (10 - x) / 50 is 10/3, its variance 50/9.
        let mean = rows.inputs[1][..4000].iter().sum::<f64>() / 4000.0;
        assert!((mean - 10.0 / 3.0).abs() < 4.0 * (50.0f64 / 9.0 / 4000.0).sqrt(), "{mean}");
    }

    #[test]
    fn batches_repeat_and_differ() {
        assert_eq!(generate_trips(1, 3, 50), generate_trips(1, 3, 50));
        assert_ne!(generate_trips(1, 3, 50), generate_trips(1, 4, 50));
        assert_ne!(generate_trips(1, 3, 50), generate_trips(2, 3, 50));
        let (short, long) = (generate_trips(1, 3, 20), generate_trips(1, 3, 50));
        assert!(short.iter().zip(&long).all(|(short, long)| *short == long[..20]));
    }

    /// The means of the construction: half of the trips in rush hours, log-normal with sd 1/2 about 12 to 20 minutes.
    #[test]
    fn trips_are_where_and_when_they_should_be() {
        let [latitude, longitude, hour, minutes] = generate_trips(1, 0, 40_000);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&latitude) - 40.74).abs() < 1e-3 && (mean(&longitude) + 73.985).abs() < 1e-3);
        assert!(hour.iter().all(|h| (0.0..24.0).contains(h)) && minutes.iter().all(|m| *m > 0.0));
        let share = |from: f64, to: f64| hour.iter().filter(|h| (from..to).contains(h)).count() as f64 / 40_000.0;
        assert!((share(7.5, 9.5) - (0.2 * 0.6827 + 0.5 * 2.0 / 18.0)).abs() < 0.015);
        assert!(share(0.0, 5.0) < 0.01);
        assert!((13.0..18.0).contains(&mean(&minutes)), "{}", mean(&minutes));
    }
}
