//! Exactly rounded Gaussian noise against probabilities of 60 digits.

use dpgp::number::Positive;
use dpgp::privacy::RoundedGaussian;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::support::golden::golden;

/// The probability that a chi-square of `freedom` degrees exceeds `found`, by the cube root that is close to normal (Wilson
/// and Hilferty 1931); off by less than 1e-3 in the middle, and right in order of magnitude in the tails.
fn p_value(found: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    let z = ((found / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Chi-square of the draws at each of the scales.
fn p_values(draws: usize) -> Vec<f64> {
    let golden = golden("rounded_gaussian");
    let mut found = Vec::new();
    for (number, case) in golden["cases"].as_array().unwrap().iter().enumerate() {
        let sd = Positive::new(case["sd"].as_f64().unwrap()).unwrap();
        let ends: Vec<i128> =
            case["up_to"].as_array().unwrap().iter().map(|end| i128::from(end.as_i64().unwrap())).collect();
        let cells = case["probability"].as_array().unwrap();
        let mut counts = vec![0u64; cells.len()];
        let (noise, mut source) = (RoundedGaussian::new(sd).unwrap(), Pcg64::seed_from_u64(number as u64));
        for _ in 0..draws.div_ceil(1000) {
            for draw in noise.add_noise(&[0; 1000], &mut source) {
                counts[ends.partition_point(|end| *end < draw)] += 1;
            }
        }
        let all = counts.iter().sum::<u64>() as f64;
        let mut square = 0.0;
        for (count, cell) in counts.iter().zip(cells) {
            let expected = all * cell.as_f64().unwrap();
            square += (*count as f64 - expected).powi(2) / expected;
        }
        found.push(p_value(square, cells.len() as f64 - 1.0));
    }
    found
}

#[test]
fn draws_have_the_exact_law() {
    let found = p_values(200_000);
    assert_eq!(found.len(), 12);
    assert!(found.iter().all(|p| (1e-3..0.999).contains(p)), "{found:?}");
}

/// The same with ten million draws of each scale; a minute or two.
#[test]
#[ignore = "takes minutes"]
fn many_draws_have_the_exact_law() {
    let found = p_values(10_000_000);
    assert!(found.iter().all(|p| (1e-3..0.999).contains(p)), "{found:?}");
}
