//! The pair of distributions that describes one step of Poisson sampling.

use crate::{NeighbourRelation, PrivacyEvent, Sampling};

/// `P = (1 - p) N(0, s^2) + p N(1, s^2)` against `Q = (1 - q) N(0, s^2) + q N(-1, s^2)`.
///
/// With sampling rate `r` and noise multiplier `s`: a record is removed for `(p, q) = (r, 0)`, added for `(0, r)` and
/// replaced for `(r, r)`. Each pair dominates the step for its neighbours, whatever the dimension and the other
/// records, in the sense of Zhu, Dong and Wang 2022, Definition 7, which composition preserves (Theorem 10).
///
/// Proof. Given which other records are sampled, up to a shift, `P = (1-p) N(0) + p N(a)`, `Q = (1-q) N(0) + q N(b)` with
/// `|a|, |b| <= 1`; mixing over the others is covered by joint convexity. By advanced joint convexity (Balle, Barthe
/// and Gaboardi 2018, Theorem 2) the hockey-stick divergence of order at least 1 of `P, Q` rises with that of `N(a)`
/// against a fixed mixture of `N(0)` and `N(b)`; after a shift by `-a`, of `N(0)` against a mixture of `N(c_i)`, with
/// `|c_i| <= r_i`, `r = (1, 2)`. That is a convex function of `sum_i w_i exp(G_i - Var(G_i) / 2)`, averaged over a Gaussian
/// vector `G` of covariances `c_i.c_j / s^2 <= r_i r_j / s^2`. By Kahane's inequality (Kahane 1985) it rises with the
/// covariances, and `r_i r_j` are those of the pair above, on one line with `a = 1`, `b = -1`. Orders below 1 are
/// those above 1 with `P` and `Q` swapped, and the swapped pair is of the same form. For `(r, 0)` and `(0, r)` the
/// order of `c` has `b = 0` or `a = 0`, with the same proof (also Mironov, Talwar and Zhang 2019, Theorem 4). QED
///
/// The pair is also attained, by a data set of zeros and contributions of 1 and -1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DominatingPair {
    /// The weight of the shifted component of `P`.
    pub p: f64,
    /// That of `Q`.
    pub q: f64,
    /// The standard deviation.
    pub sd: f64,
}

/// The part of the line that a grid covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridOutputRange {
    pub low: f64,
    pub high: f64,
}

impl DominatingPair {
    /// The pairs of an event that samples independently; `None` if it does not.
    pub fn pairs_of_event(event: &PrivacyEvent, relation: NeighbourRelation) -> Option<Vec<Self>> {
        let rate = match event.sampling.rate_one_as_full_batch() {
            Sampling::FullBatch => 1.0,
            Sampling::Poisson { rate } => rate,
            _ => return None,
        };
        let sd = event.noise_multiplier;
        Some(match relation {
            // Both orders of two Gaussians of one variance are the same pair, mirrored.
            NeighbourRelation::AddRemove if rate == 1.0 => vec![Self { p: 1.0, q: 0.0, sd }],
            NeighbourRelation::AddRemove => vec![Self { p: rate, q: 0.0, sd }, Self { p: 0.0, q: rate, sd }],
            NeighbourRelation::ReplaceOne => vec![Self { p: rate, q: rate, sd }],
        })
    }

    /// The privacy loss `ln(dP/dQ)` at `x`, in nats; it rises with `x`.
    pub fn loss(&self, x: f64) -> f64 {
        let variance = self.sd * self.sd;
        // Both densities relative to N(0, s^2): of P at x, and of Q, its mirror image, at -x.
        log_mixture_ratio(self.p, (x - 0.5) / variance) - log_mixture_ratio(self.q, (-x - 0.5) / variance)
    }

    /// Where the loss has a value: infinite beyond its range. With `w = e^((2x-1)/(2 s^2))` and `R = e^loss`,
    /// `p w^2 + (1 - p - R (1 - q)) w - R q e^(-1/s^2) = 0`.
    pub fn point_at_loss(&self, loss: f64) -> f64 {
        let ratio = loss.exp();
        // 1 - p - R (1 - q) is a small difference of numbers near 1 where the rates are small: R - 1 by expm1 then.
        let linear = if self.p.max(self.q) > 0.5 {
            (1.0 - self.p) - ratio * (1.0 - self.q)
        } else {
            -loss.exp_m1() - self.p + ratio * self.q
        };
        let constant = ratio * self.q * (-1.0 / (self.sd * self.sd)).exp();
        let root = (linear * linear + 4.0 * self.p * constant).sqrt();
        // The root without cancellation, by the sign of the linear term; w is positive.
        let w = match (constant > 0.0, linear >= 0.0) {
            (true, true) => 2.0 * constant / (linear + root),
            (false, true) => 0.0,
            (_, false) => (root - linear) / (2.0 * self.p),
        };
        self.sd * self.sd * w.ln() + 0.5
    }
}

/// `ln(1 - rate + rate e^t)`, to a few units in the last place of the larger of it and 1.
fn log_mixture_ratio(rate: f64, t: f64) -> f64 {
    match rate {
        0.0 => 0.0,
        1.0 => t,
        _ if rate > 0.5 => ((1.0 - rate) + rate * t.exp()).ln(),
        _ => (rate * t.exp_m1()).ln_1p(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(f64, f64); 6] = [(0.1, 0.0), (0.0, 0.1), (0.1, 0.1), (0.999, 0.999), (1.0, 0.0), (1.0, 1.0)];

    #[test]
    fn points_invert_losses() {
        for (p, q) in PAIRS {
            for sd in [0.1, 0.7, 9.0] {
                let pair = DominatingPair { p, q, sd };
                for x in [-2.0 * sd, -0.3 * sd, 0.0, 0.6 * sd, 1.0 + 3.0 * sd] {
                    let loss = pair.loss(x);
                    let again = pair.loss(pair.point_at_loss(loss));
                    assert!((again - loss).abs() <= 1e-13 * (1.0 + loss.abs()), "{pair:?} {x}: {loss} {again}");
                }
            }
        }
    }

    #[test]
    fn losses_have_a_range() {
        let removed = DominatingPair { p: 0.1, q: 0.0, sd: 1.0 };
        assert_eq!(removed.point_at_loss(-0.2), f64::NEG_INFINITY);
        let added = DominatingPair { p: 0.0, q: 0.1, sd: 1.0 };
        assert_eq!(added.point_at_loss(0.2), f64::INFINITY);
    }

    /// Two Gaussians are one pair, whichever is first; mixtures are two.
    #[test]
    fn pairs_are_those_of_the_relation() {
        let of = |sampling, relation| {
            let event = PrivacyEvent { noise_multiplier: 2.0, sampling, steps: 1 };
            let pairs = DominatingPair::pairs_of_event(&event, relation).unwrap();
            pairs.iter().map(|pair| (pair.p, pair.q, pair.sd)).collect::<Vec<_>>()
        };
        let sampled = Sampling::Poisson { rate: 0.25 };
        assert_eq!(of(Sampling::FullBatch, NeighbourRelation::AddRemove), [(1.0, 0.0, 2.0)]);
        assert_eq!(of(Sampling::FullBatch, NeighbourRelation::ReplaceOne), [(1.0, 1.0, 2.0)]);
        assert_eq!(of(sampled, NeighbourRelation::AddRemove), [(0.25, 0.0, 2.0), (0.0, 0.25, 2.0)]);
        assert_eq!(of(sampled, NeighbourRelation::ReplaceOne), [(0.25, 0.25, 2.0)]);
    }

    /// Where a rate is nearly 1 its complement counts: `ln(2^-40 + (1 - 2^-40) e^-30)`, with 50 digits.
    #[test]
    fn rates_near_one_keep_their_complement() {
        let rate = 1.0 - 2f64.powi(-40);
        assert!((log_mixture_ratio(rate, -30.0) + 27.627_954_890_145_907).abs() < 1e-12);
        assert!((log_mixture_ratio(rate, -26.0) + 25.836_169_145_111_302).abs() < 1e-12);
    }

    /// Small rates keep their digits: `1e-12 (e^(1/2) - 1)`.
    #[test]
    fn small_rates_keep_their_digits() {
        let expected = 1e-12 * 0.5f64.exp_m1();
        assert!((log_mixture_ratio(1e-12, 0.5) / expected - 1.0).abs() < 1e-11);
    }

    /// The whole weight on one component has its own logarithm, also beyond the numbers.
    #[test]
    fn a_single_component_does_not_overflow() {
        assert_eq!((log_mixture_ratio(1.0, 800.0), log_mixture_ratio(0.0, 800.0)), (800.0, 0.0));
    }
}
