//! Kernel densities of samples.

use dpgp_plot::Spot;

/// Points at which a density is evaluated.
const POINTS: usize = 81;

/// The Gaussian kernel density of some samples from the least to the largest of them: a density y at each value x. Its
/// bandwidth is Silverman's. Samples that are all equal have none.
pub fn density(samples: &[f64]) -> Vec<Spot> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if low == high {
        return Vec::new();
    }
    let width = bandwidth(&sorted).max((high - low) / POINTS as f64);
    let norm = 1.0 / (sorted.len() as f64 * width * (2.0 * std::f64::consts::PI).sqrt());
    let values = (0..POINTS).map(|i| low + (high - low) * i as f64 / (POINTS - 1) as f64);
    values
        .map(|value| {
            let kernels = sorted.iter().map(|sample| (-0.5 * ((value - sample) / width).powi(2)).exp());
            Spot::new(value, norm * kernels.sum::<f64>())
        })
        .collect()
}

/// Silverman's rule: 0.9 min(sd, interquartile range / 1.34) n^(-1/5).
fn bandwidth(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let [low, high] = [0.25, 0.75].map(|q| sorted[((n - 1.0) * q).round() as usize]);
    let range = (high - low) / 1.34;
    0.9 * (if range > 0.0 { sd.min(range) } else { sd }) * n.powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_of_logistic_quantiles_is_near_the_logistic_density() {
        let quantile = |i: usize| ((i as f64 + 0.5) / (1000.0 - i as f64 - 0.5)).ln();
        let samples: Vec<f64> = (0..1000).map(quantile).collect();
        let found = density(&samples);
        let logistic = |x: f64| (-x).exp() / (1.0 + (-x).exp()).powi(2);
        assert!(found.iter().all(|at| (at.y - logistic(at.x)).abs() < 0.01), "{found:?}");
        assert_eq!(
            (found[0].x, found[POINTS - 1].x),
            (samples[0], samples[999]),
            "nothing beyond the samples"
        );
    }

    #[test]
    fn equal_samples_have_no_density() {
        assert!(density(&[0.5; 10]).is_empty() && density(&[]).is_empty());
        assert!(density(&[0.0, 1.0]).iter().all(|at| at.y.is_finite() && at.y > 0.0));
    }
}
