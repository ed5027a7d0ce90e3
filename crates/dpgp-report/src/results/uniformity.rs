//! Whether p-values are uniform, as they are where nothing but chance makes them.

/// Fewer p-values tell nothing.
const LEAST: usize = 5;

/// The test of Kolmogorov and Smirnov on p-values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniformity {
    /// The largest distance between the share of p-values below a level and the level.
    pub distance: f64,
    /// How often it is as large by chance, if they are independent.
    pub p_value: f64,
}

impl Uniformity {
    /// Of some p-values; none for fewer than five.
    pub fn of(p_values: &[f64]) -> Option<Self> {
        let count = p_values.len();
        if count < LEAST {
            return None;
        }
        let mut sorted = p_values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (mut distance, all) = (0.0f64, count as f64);
        for (place, p) in sorted.iter().enumerate() {
            distance = distance.max(p - place as f64 / all).max((place + 1) as f64 / all - p);
        }
        Some(Self { distance, p_value: kolmogorov(distance, count) })
    }
}

/// `2 sum over k of (-1)^(k-1) exp(-2 k^2 x^2)` at `x = (sqrt n + .12 + .11 / sqrt n) D`, which is right to .01 from n = 5 on.
/// Source: Stephens 1970.
fn kolmogorov(distance: f64, count: usize) -> f64 {
    let root = (count as f64).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    // The series is of use where it converges; below, nearly every sample is as far away.
    if x < 0.3 {
        return 1.0;
    }
    let terms = (1..=20).map(|k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a table of Kolmogorov and Smirnov: D = .409 is exceeded with probability .05 at n = 10.
    #[test]
    fn uniformity_is_that_of_the_tables() {
        assert!((kolmogorov(0.409, 10) - 0.05).abs() < 0.005, "{}", kolmogorov(0.409, 10));
        let even: Vec<f64> = (0..20).map(|i| (f64::from(i) + 0.5) / 20.0).collect();
        assert!(Uniformity::of(&even).unwrap().p_value > 0.99);
        let piled: Vec<f64> = (0..20).map(|i| f64::from(i) / 200.0).collect();
        assert!(Uniformity::of(&piled).unwrap().p_value < 1e-6);
        // Where the series no longer converges, every sample is as far away.
        assert_eq!([0.0, 1e-6, 0.003].map(|distance| kolmogorov(distance, 10)), [1.0; 3]);
        assert_eq!(Uniformity::of(&[0.5]), None);
    }

    /// Of one p-value of .1 and four of .9 a fifth lies below .9: the distance is .7, on either side of the middle.
    #[test]
    fn the_distance_counts_both_sides() {
        for p_values in [[0.1, 0.9, 0.9, 0.9, 0.9], [0.9, 0.1, 0.1, 0.1, 0.1]] {
            let found = Uniformity::of(&p_values).unwrap().distance;
            assert!((found - 0.7).abs() < 1e-15, "{found}");
        }
    }
}
