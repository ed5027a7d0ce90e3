//! CoinPress: a private mean whose bounds tighten from step to step.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// The failure probability of the tail bound.
const BETA: f64 = 0.01;
/// The number that stands for `sqrt(ln(2 / beta))` in the clip.
const REACH: f64 = 3.0;

/// The radius within which a standard normal vector of d dimensions lies with probability `1 - beta`:
/// `sqrt(d + 2 sqrt(d ln(1/beta)) + 2 ln(1/beta))`. Source: Laurent and Massart 2000, Lemma 1.
pub fn normal_tail_radius(d: usize, beta: f64) -> f64 {
    let (d, log) = (d as f64, -beta.ln());
    (d + 2.0 * (d * log).sqrt() + 2.0 * log).sqrt()
}

/// One step, before it sees the data: it clips n rows of unit variance to a ball and releases their mean with noise.
///
/// Obligation: neighbours replace one row, which moves the mean by at most `2 clip / n`; noise of standard deviation
/// `sensitivity / sqrt(2 rho)` makes its release rho-zCDP (Bun and Steinke 2016, Proposition 1.6). The radius is another
/// matter: the true mean lies within it only with high probability, which can cost accuracy but never privacy.
///
/// The geometry follows the authors' own code: beta is 0.01, and 3 stands for `sqrt(ln(2/beta))`.
/// Source: Biswas, Dong, Kamath and Ullman 2020, Algorithm 1.
///
/// ```
/// use dpgp_mechanisms::CoinPressStepDesign;
/// let step = CoinPressStepDesign::new(100, 1, 10.0, 0.5);
/// // The noise of rho = 1/2 has the standard deviation of the sensitivity, 2 clip / n.
/// assert_eq!((step.sensitivity, step.sd), (2.0 * step.clip / 100.0, step.sensitivity));
/// assert!(step.next_radius < 10.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoinPressStepDesign {
    /// Rows are clipped to this distance from the centre.
    pub clip: f64,
    /// `2 clip / n`.
    pub sensitivity: f64,
    /// `sensitivity / sqrt(2 rho)`.
    pub sd: f64,
    /// The radius of the next step, `g sqrt(1/n + sd^2)` with the tail bound g.
    pub next_radius: f64,
}

impl CoinPressStepDesign {
    /// The step on n rows of d dimensions whose mean lies within `radius` of the centre, for `rho`-zCDP.
    pub fn new(n: usize, d: usize, radius: f64, rho: f64) -> Self {
        let tail = normal_tail_radius(d, BETA);
        // The lesser of two bounds on a row's distance from the centre: by the deviation along the radius, and by the
        // triangle inequality.
        let clip = (radius * radius + 2.0 * radius * REACH + tail * tail).sqrt().min(radius + tail);
        let sensitivity = 2.0 * clip / n as f64;
        let sd = sensitivity / (2.0 * rho).sqrt();
        Self { clip, sensitivity, sd, next_radius: tail * (1.0 / n as f64 + sd * sd).sqrt() }
    }
}

/// Splits rho over the steps of CoinPress: 3/4 for the last of `steps` and the rest evenly for the others; all for a single one.
pub fn split_coinpress_budget(steps: usize, rho: f64) -> Vec<f64> {
    if steps <= 1 {
        return vec![rho];
    }
    let mut shares = vec![0.25 * rho / (steps - 1) as f64; steps];
    shares[steps - 1] = 0.75 * rho;
    shares
}

/// The interval `centre +- radius` that a mean is thought to lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanInterval {
    /// The middle.
    pub centre: f64,
    /// Half the length.
    pub radius: f64,
}

/// The private mean of scalar values: each step clips them around the last centre and moves the centre to their
/// noisy mean. The values stay clipped for later steps, as in the authors' code; the mean returned lies outside
/// `centre +- radius` now and then.
///
/// Obligation: with shares that sum to rho it is rho-zCDP when one value is replaced, since each step is a
/// Gaussian mechanism given the releases of the former (composition: Bun and Steinke 2016, Lemma 2.3).
pub fn coinpress_mean(values: &mut [f64], within: MeanInterval, shares: &[f64], stream: &mut impl Rng) -> f64 {
    let MeanInterval { mut centre, mut radius } = within;
    let n = values.len();
    for &rho in shares {
        let step = CoinPressStepDesign::new(n, 1, radius, rho);
        let (low, high) = (centre - step.clip, centre + step.clip);
        // Four sums side by side, which the processor adds at once; their order is part of the result.
        let mut sums = [0.0; 4];
        let (fours, rest) = values.as_chunks_mut::<4>();
        for four in fours {
            clamp_and_add(four, &mut sums, low, high);
        }
        clamp_and_add(rest, &mut sums, low, high);
        let noise: f64 = StandardNormal.sample(stream);
        centre = sums.iter().sum::<f64>() / n as f64 + step.sd * noise;
        radius = step.next_radius;
    }
    centre
}

/// Clamps values and adds each to its sum.
#[inline(always)]
fn clamp_and_add(values: &mut [f64], sums: &mut [f64; 4], low: f64, high: f64) {
    for (value, sum) in values.iter_mut().zip(sums) {
        *value = value.clamp(low, high);
        *sum += *value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `d = 4`, `ln(1/beta) = 9`: `4 + 2 sqrt(36) + 18`.
    #[test]
    fn the_tail_bound_has_a_closed_form() {
        assert!((normal_tail_radius(4, f64::exp(-9.0)).powi(2) - 34.0).abs() < 1e-12);
    }

    /// With radius 4 and the tail g of one dimension the clip is the lesser of `sqrt(16 + 24 + g^2)` and `4 + g`; of radius 100 it is the
    /// former. At rho = 2 the noise is half the sensitivity.
    #[test]
    fn a_step_has_the_geometry_of_the_authors() {
        let tail = normal_tail_radius(1, 0.01);
        assert!((tail - (1.0 + 2.0 * 100f64.ln().sqrt() + 2.0 * 100f64.ln()).sqrt()).abs() < 1e-12);
        for radius in [0.5, 4.0, 100.0f64] {
            let step = CoinPressStepDesign::new(50, 1, radius, 2.0);
            let clip = f64::min((radius * radius + 6.0 * radius + tail * tail).sqrt(), radius + tail);
            assert!((step.clip / clip - 1.0).abs() < 1e-14, "{radius}: {}", step.clip);
            assert!((step.sensitivity / (clip / 25.0) - 1.0).abs() < 1e-14);
            assert!((step.sd / (clip / 50.0) - 1.0).abs() < 1e-14);
            let next = tail * (0.02 + (clip / 50.0).powi(2)).sqrt();
            assert!((step.next_radius / next - 1.0).abs() < 1e-14, "{radius}: {}", step.next_radius);
        }
    }

    #[test]
    fn the_last_step_has_most_of_rho() {
        assert_eq!(split_coinpress_budget(1, 2.0), [2.0]);
        assert_eq!(split_coinpress_budget(3, 2.0), [0.25, 0.25, 1.5]);
    }

    /// With hardly any noise the mean is that of the clipped values: of 0, 1, 2, 3, 4 and one far away.
    #[test]
    fn a_mean_is_that_of_clipped_values() {
        use rand::SeedableRng;
        let mut stream = rand_pcg::Pcg64::seed_from_u64(1);
        let mut values = [0.0, 1.0, 2.0, 3.0, 4.0, 1e9];
        let within = MeanInterval { centre: 2.0, radius: 10.0 };
        let high = 2.0 + CoinPressStepDesign::new(6, 1, 10.0, 1e12).clip;
        let mean = coinpress_mean(&mut values, within, &[1e12], &mut stream);
        assert!((mean - (10.0 + high) / 6.0).abs() < 1e-4, "{mean} {high}");
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, high]);
    }

    /// The noise of a step is the standard deviation times the next draw of the stream.
    #[test]
    fn noise_is_added_as_it_is_drawn() {
        use rand::SeedableRng;
        let mut streams = [0, 1].map(|_| rand_pcg::Pcg64::seed_from_u64(5));
        let within = MeanInterval { centre: 0.0, radius: 1.0 };
        let step = CoinPressStepDesign::new(5, 1, 1.0, 0.5);
        let mean = coinpress_mean(&mut [0.5; 5], within, &[0.5], &mut streams[0]);
        let drawn: f64 = StandardNormal.sample(&mut streams[1]);
        assert!((mean - 0.5 - step.sd * drawn).abs() < 1e-14, "{mean} {drawn}");
    }
}
