//! Private selection from private candidates, with random stopping.

use rand::{Rng, RngExt};

use super::bisect::bisect;
use crate::number::{Budget, Delta, Epsilon};

/// How often candidates are drawn and what each may spend, so that the best of them is (epsilon, delta)-DP in
/// total.
///
/// With t the smaller root of `t (1 - ln t) = delta_total`: `delta = gamma^2 t^2 / 2`, `delta_2 = t`,
/// `epsilon = epsilon_total / 3 - sqrt(2 delta)`, and at most `T = ln(1/t) / gamma` draws, rounded up. Then
/// `epsilon_total = 3 epsilon + 3 sqrt(2 delta)` and `delta_total = sqrt(2 delta) ln(1/t) / gamma + t`.
/// Source: Liu and Talwar 2019, Theorem 3.4; Honkela 2021, Eqs. 20, 34 and 35.
///
/// ```
/// use dpgp::number::Budget;
/// use dpgp::privacy::PrivateSelection;
/// let selection = PrivateSelection::new(Budget::new(3.0, 1e-4)?, 0.01).expect("enough for a draw");
/// // Each draw has a third of epsilon, but for 1e-7; the stop comes after 100 draws on average and 1176 at the most.
/// assert!((selection.draw.epsilon.get() - 1.0).abs() < 1e-6);
/// assert_eq!(selection.most, 1176);
/// # Ok::<(), dpgp::number::OutOfRange>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateSelection {
    /// The probability of stopping after each draw.
    pub gamma: f64,
    /// The root t.
    pub root: f64,
    /// What one draw may spend.
    pub draw: Budget,
    /// The most draws.
    pub most: u32,
}

impl PrivateSelection {
    /// From the total budget; `None` where it leaves nothing for a draw.
    pub fn new(total: Budget, gamma: f64) -> Option<Self> {
        let root = root(total.delta.get());
        // sqrt(2 delta) of one draw, once from epsilon and T times from delta.
        let lost = gamma * root;
        let epsilon = Epsilon::new(total.epsilon.get() / 3.0 - lost).ok()?;
        let delta = Delta::new(0.5 * lost * lost).ok()?;
        let most = (-root.ln() / gamma).ceil() as u32;
        Some(Self { gamma, root, draw: Budget { epsilon, delta }, most })
    }

    /// The candidate with the greatest score among all that are drawn until the stop; `None` if every one was
    /// refused.
    ///
    /// Obligation: the stop must not depend on the candidates, so refused draws count as well, and the coin is thrown
    /// after each of them.
    pub fn select<T, R: Rng, E>(
        &self,
        stream: &mut R,
        mut draw: impl FnMut(&mut R) -> Result<Option<(f64, T)>, E>,
    ) -> Result<Option<T>, E> {
        let mut best: Option<(f64, T)> = None;
        for _ in 0..self.most {
            if let Some(candidate) = draw(stream)?
                && best.as_ref().is_none_or(|(score, _)| candidate.0 > *score)
            {
                best = Some(candidate);
            }
            if stream.random::<f64>() < self.gamma {
                break;
            }
        }
        Ok(best.map(|(_, candidate)| candidate))
    }
}

/// The smaller root of `t (1 - ln t) = delta`, by bisection on `ln t`, along which the left side rises on (0,
/// 1).
fn root(delta: f64) -> f64 {
    bisect(2.0 * delta.ln() - 2.0, 0.0, |log| log.exp() * (1.0 - log) > delta).low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// The figures of the protocol, computed independently: t0 = 7.8392e-6, delta = 3.0727e-15, T = 1176.
    #[test]
    fn figures_of_the_protocol() {
        let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.01).unwrap();
        assert!((selection.root / 7.8392e-6 - 1.0).abs() < 1e-5);
        assert!((selection.draw.delta.get() / 3.0727e-15 - 1.0).abs() < 2e-5);
        assert_eq!(selection.most, 1176);
        assert!((selection.draw.epsilon.get() - (1.0 - 7.8e-8)).abs() < 1e-9);
        let t = selection.root;
        assert!((t * (1.0 - t.ln()) / 1e-4 - 1.0).abs() < 1e-12);
        let total = selection.gamma * t * (-t.ln() / selection.gamma) + t;
        assert!((total / 1e-4 - 1.0).abs() < 1e-12);
        assert!(PrivateSelection::new(Budget::new(1e-9, 1e-4).unwrap(), 0.01).is_none());
    }

    #[test]
    fn the_greatest_score_wins_and_the_stop_is_geometric() {
        let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.05).unwrap();
        let mut stream = Pcg64::from_seed([9; 32]);
        let mut draws = 0;
        for _ in 0..2000 {
            let mut greatest = f64::NEG_INFINITY;
            let best = selection.select(&mut stream, |stream: &mut Pcg64| -> Result<_, ()> {
                draws += 1;
                let score: f64 = stream.random();
                if score > 0.5 {
                    greatest = greatest.max(score)
                };
                Ok((score > 0.5).then_some((score, score)))
            });
            assert_eq!(best.unwrap().unwrap_or(f64::NEG_INFINITY), greatest);
        }
        let mean = f64::from(draws) / 2000.0;
        assert!((mean - 20.0).abs() < 1.5, "{mean}");
    }
}
