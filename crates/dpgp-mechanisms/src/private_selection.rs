//! Private selection from private candidates, with random stopping.

use rand::{Rng, RngExt};

use dpgp_number::bisect;
use dpgp_number::{Budget, Delta, Epsilon};

/// How often candidates are drawn and what each may spend, so that the best of them is (epsilon, delta)-DP in
/// total.
///
/// With t the smaller root of `t (1 - ln t) = delta_total`: `delta = gamma^2 t^2 / 2`, `delta_2 = t`,
/// `epsilon = epsilon_total / 3 - sqrt(2 delta)`, and at most `T = ln(1/t) / gamma` draws, rounded up. Then
/// `epsilon_total = 3 epsilon + 3 sqrt(2 delta)` and `delta_total = sqrt(2 delta) ln(1/t) / gamma + t`.
/// Source: Liu and Talwar 2019, Theorem 3.4; Honkela 2021, Eqs. 20, 34 and 35.
///
/// ```
/// use dpgp_number::Budget;
/// use dpgp_mechanisms::PrivateSelection;
/// let selection = PrivateSelection::new(Budget::new(3.0, 1e-4)?, 0.01).expect("enough for a draw");
/// // Each draw has a third of epsilon, but for 1e-7; the stop comes after 100 draws on average and 1176 at the most.
/// assert!((selection.draw.epsilon.get() - 1.0).abs() < 1e-6);
/// assert_eq!(selection.most, 1176);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateSelection {
    /// The probability of stopping after each draw.
    pub gamma: f64,
    /// The root t.
    pub root: f64,
    /// Budget of one draw.
    pub draw: Budget,
    /// The most draws.
    pub most: u32,
}

impl PrivateSelection {
    /// From the total budget; `None` where it leaves nothing for a draw.
    pub fn new(total: Budget, gamma: f64) -> Option<Self> {
        let root = solve_smaller_root(total.delta.get());
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
fn solve_smaller_root(delta: f64) -> f64 {
    bisect(2.0 * delta.ln() - 2.0, 0.0, |log| log.exp() * (1.0 - log) > delta).low.exp()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    /// By a bisection with 30 digits `t (1 - ln t) = 1e-4` at t = 7.8392199675e-6, where ln(1/t) = 11.75637122.
    #[test]
    fn a_draw_has_what_the_total_leaves() {
        let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.1).unwrap();
        assert!((selection.root / 7.839_219_967_5e-6 - 1.0).abs() < 1e-9, "{:e}", selection.root);
        let lost = 0.1 * selection.root;
        assert!((selection.draw.epsilon.get() - (1.0 - lost)).abs() < 1e-15);
        assert!((selection.draw.delta.get() / (0.5 * lost * lost) - 1.0).abs() < 1e-12);
        assert_eq!(selection.most, 118);
        assert_eq!(PrivateSelection::new(Budget::new(1e-9, 0.5).unwrap(), 0.9), None);
    }

    /// By a bisection with 30 digits `t (1 - ln t) = 1/2` at t = 0.18668230885.
    #[test]
    fn the_root_is_found_at_a_large_delta() {
        let selection = PrivateSelection::new(Budget::new(3.0, 0.5).unwrap(), 0.1).unwrap();
        assert!((selection.root / 0.186_682_308_85 - 1.0).abs() < 1e-9, "{}", selection.root);
    }

    fn chosen(gamma: f64, most: u32, candidates: &[Option<f64>]) -> (Option<usize>, usize) {
        let selection =
            PrivateSelection { gamma, most, ..PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.5).unwrap() };
        let mut drawn = 0;
        let best = selection.select(&mut Pcg64::seed_from_u64(1), |_| {
            let place = drawn;
            drawn += 1;
            Ok::<_, ()>(candidates[place].map(|score| (score, place)))
        });
        (best.unwrap(), drawn)
    }

    /// The first of the best is taken; refused draws count; a coin that always stops leaves the first draw, one that never does, all.
    #[test]
    fn the_best_of_all_draws_is_taken() {
        let scores = [Some(1.0), None, Some(3.0), Some(2.0), Some(3.0)];
        assert_eq!(chosen(0.0, 5, &scores), (Some(2), 5));
        assert_eq!(chosen(1.0, 5, &scores), (Some(0), 1));
        assert_eq!(chosen(0.0, 2, &[None, None]), (None, 2));
    }
}
