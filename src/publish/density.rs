//! Kernel densities of samples.

/// Points at which a density is evaluated.
const POINTS: usize = 81;

/// The Gaussian kernel density of some samples from the least to the largest of them, as pairs of value and density;
/// its bandwidth is Silverman's. Samples that are all equal have none.
pub(super) fn density(samples: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if low == high {
        return Vec::new();
    }
    let width = bandwidth(&sorted).max((high - low) / POINTS as f64);
    let norm = 1.0 / (sorted.len() as f64 * width * (2.0 * std::f64::consts::PI).sqrt());
    let at = |i: usize| {
        let value = low + (high - low) * i as f64 / (POINTS - 1) as f64;
        let kernels = sorted.iter().map(|sample| (-0.5 * ((value - sample) / width).powi(2)).exp());
        (value, norm * kernels.sum::<f64>())
    };
    (0..POINTS).map(at).collect()
}

/// Silverman's rule: 0.9 min(sd, interquartile range / 1.34) n^(-1/5).
fn bandwidth(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let quantile = |q: f64| sorted[((n - 1.0) * q).round() as usize];
    let range = (quantile(0.75) - quantile(0.25)) / 1.34;
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
        assert!(found.iter().all(|(x, d)| (d - logistic(*x)).abs() < 0.01), "{found:?}");
        assert_eq!(
            (found[0].0, found[POINTS - 1].0),
            (samples[0], samples[999]),
            "nothing beyond the samples"
        );
    }

    #[test]
    fn equal_samples_have_no_density() {
        assert!(density(&[0.5; 10]).is_empty() && density(&[]).is_empty());
        assert!(density(&[0.0, 1.0]).iter().all(|(_, d)| d.is_finite() && *d > 0.0));
    }
}
