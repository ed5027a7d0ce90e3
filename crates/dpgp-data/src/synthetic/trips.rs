//! Trips like those of a bike share.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

/// The columns: degrees, degrees, hours since midnight, minutes. Trips of a real bike share have the same names.
pub const TRIP_COLUMNS: [&str; 4] = ["start_latitude", "start_longitude", "hour_of_day", "minutes"];

/// Trips of a batch.
pub const TRIP_BATCH: usize = 65_536;

/// The first trips of a batch, by column. Every batch has a stream of its own, so that any can be made without those
/// before it. Numbers have six decimals at most, and so are the same in a text file.
///
/// Starts lie along Manhattan, more of them in its middle; half of the trips start in the rush hours at 8:30 and 17:30;
/// durations are log-normal about a mean that grows away from the middle and towards the evening.
pub fn trips(seed: u64, batch: u64, rows: usize) -> [Vec<f64>; 4] {
    let text = format!("v1|{seed}|trips|{batch}");
    let mut stream = Pcg64::from_seed(Sha256::digest(text.as_bytes()).into());
    let mut columns: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::with_capacity(rows));
    for _ in 0..rows {
        let trip = trip(&mut stream);
        columns.iter_mut().zip(trip).for_each(|(column, value)| column.push((value * 1e6).round() / 1e6));
    }
    columns
}

fn trip(stream: &mut Pcg64) -> [f64; 4] {
    let [along, across, spread, noise]: [f64; 4] = std::array::from_fn(|_| StandardNormal.sample(stream));
    let (along, across) = (along.clamp(-2.5, 2.5), across.clamp(-2.5, 2.5));
    let hour = match stream.random::<f64>() {
        u if u < 0.2 => 8.5 + spread,
        u if u < 0.5 => 17.5 + 1.5 * spread,
        _ => 6.0 + 18.0 * stream.random::<f64>(),
    };
    let hour = hour.rem_euclid(24.0).min(23.999_999);
    let mean =
        10.0 + 2.0 * (along * along + across * across).sqrt() + 3.0 * (-((hour - 18.0) / 3.0).powi(2)).exp();
    let latitude = 40.74 + 0.02 * along;
    let longitude = -73.985 + 0.013 * along + 0.008 * across;
    [latitude, longitude, hour, mean * (0.5 * noise).exp()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_repeat_and_differ() {
        assert_eq!(trips(1, 3, 50), trips(1, 3, 50));
        assert_ne!(trips(1, 3, 50), trips(1, 4, 50));
        assert_ne!(trips(1, 3, 50), trips(2, 3, 50));
        let (short, long) = (trips(1, 3, 20), trips(1, 3, 50));
        assert!(short.iter().zip(&long).all(|(short, long)| *short == long[..20]));
    }

    /// The means of the construction: half of the trips in rush hours, log-normal with sd 1/2 about 12 to 20 minutes.
    #[test]
    fn trips_are_where_and_when_they_should_be() {
        let [latitude, longitude, hour, minutes] = trips(1, 0, 40_000);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&latitude) - 40.74).abs() < 1e-3 && (mean(&longitude) + 73.985).abs() < 1e-3);
        assert!(hour.iter().all(|h| (0.0..24.0).contains(h)) && minutes.iter().all(|m| *m > 0.0));
        let share =
            |from: f64, to: f64| hour.iter().filter(|h| (from..to).contains(h)).count() as f64 / 40_000.0;
        assert!((share(7.5, 9.5) - (0.2 * 0.6827 + 0.5 * 2.0 / 18.0)).abs() < 0.015);
        assert!(share(0.0, 5.0) < 0.01);
        assert!((13.0..18.0).contains(&mean(&minutes)), "{}", mean(&minutes));
    }
}
