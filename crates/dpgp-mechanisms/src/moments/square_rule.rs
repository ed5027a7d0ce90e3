//! The sensitivity of Fourier moments.

use super::PairTable;
use dpgp_number::{OutOfRange, Positive};

/// Weights under which sums of cosines and sines have a sensitivity in closed form, in any dimension.
///
/// Released are, for frequencies j with weights `u_j` (`sum u_j = V_0`) and their sums and differences k with weights `t_k`,
/// `b_j = sum_i y_i e_j(x_i)`, `T_k = sum_i e_k(x_i)` with `e_j = (cos, sin)(2 pi j.x / P)`, and `q = sum_i y_i^2` with the weight `q_0`.
///
/// Obligation: one record (x, y) is replaced by any other, `|y| <= R`, inputs anywhere. With `kappa >= 1`, `c = kappa R^2 / (2 V_0)`,
/// `t` at most `c` times the coefficients of the square of `V(d) = sum_j u_j cos(2 pi j.d / P)` ([`PairTable::autoconvolution`]) and
/// `q_0` at most `(1 + 1 / kappa) V_0 / R^2`, the vector `(sqrt(u_j) b_j, sqrt(t_k) T_k, sqrt(q_0) q)` moves by at most
///
/// ```text
/// D = R sqrt(V_0 (2 + kappa + 1 / kappa)).
/// ```
///
/// *Proof.* As `cos a cos b + sin a sin b = cos(a - b)`, the squared distance depends on the inputs by `V = V(x - x')` alone:
/// `2 c (V_0^2 - V^2) + (y^2 + y'^2) V_0 - 2 y y' V + q_0 (y^2 - y'^2)^2`, where the constant term of `V^2` cancels. With `s = y + y'` and
/// `e = y - y'` it is `2 c (V_0^2 - V^2) + (s^2 / 2)(V_0 - V) + (e^2 / 2)(V_0 + V) + q_0 s^2 e^2`. As `|V| <= V_0` it rises with `|s|` and `|e|`,
/// and `|s| + |e| <= 2 R`; so let `|e| = R (1 + r)`, `|s| = R (1 - r)`, `-1 <= r <= 1`. Then it is
/// `R^2 V_0 (1 + r^2) + 2 R^2 r V + 2 c (V_0^2 - V^2) + q_0 R^4 (1 - r^2)^2`, concave in V and greatest at `V = V_0 r / kappa`, where it is
/// `R^2 V_0 (1 + kappa + (1 + 1 / kappa) r^2) + q_0 R^4 (1 - r^2)^2`. That is convex in `r^2`, so that one of its ends is greatest:
/// `r^2 = 1` gives `D^2`, and `r^2 = 0` gives `R^2 V_0 (1 + kappa) + q_0 R^4`, `D^2` at most. Smaller weights and numbers that are left out
/// only take squares away.
///
/// A record that is left out, or comes in, moves less, so that the number of rows can be released with them, with the weight
/// `w_n = kappa R^2 V_0 / 2`: such a neighbour moves the four by at most `R^2 V_0 + c V_0^2 + w_n + q_0 R^4`, of which `c V_0^2 = w_n`, and so by
/// `R^2 V_0 (2 + kappa + 1 / kappa) = D^2`; one that is replaced does not move the number of rows.
///
/// With `kappa = 1` and no q this is Eq. 6 of Honkela 2021 for features of constant norm.
///
/// ```
/// use dpgp_number::Positive;
/// use dpgp_mechanisms::SquareRule;
/// let one = Positive::ONE;
/// assert_eq!(SquareRule::new(one, one, 1.0)?.sensitivity(), 2.0);
/// assert!(SquareRule::new(one, one, 0.9).is_err());
/// # Ok::<(), dpgp_number::OutOfRange>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquareRule {
    total: f64,
    bound: f64,
    kappa: f64,
}

impl SquareRule {
    /// For weights that add up to `total` (V_0), targets within `bound` (R), and kappa.
    ///
    /// # Errors
    /// [`OutOfRange`] unless kappa is at least 1 and finite: the proof needs it.
    pub fn new(total: Positive, bound: Positive, kappa: f64) -> Result<Self, OutOfRange> {
        if kappa >= 1.0 && kappa.is_finite() {
            return Ok(Self { total: total.get(), bound: bound.get(), kappa });
        }
        Err(OutOfRange::new("at least 1 and finite", kappa))
    }

    /// `D`.
    pub fn sensitivity(&self) -> f64 {
        self.bound * (self.total * (2.0 + self.kappa + 1.0 / self.kappa)).sqrt()
    }

    /// `c`, the weights of the plain sums over the coefficients of V^2.
    pub fn factor(&self) -> f64 {
        self.kappa * self.bound * self.bound / (2.0 * self.total)
    }

    /// `q_0`.
    pub fn square_weight(&self) -> f64 {
        (1.0 + 1.0 / self.kappa) * self.total / (self.bound * self.bound)
    }

    /// `w_n`, the weight of the number of rows where it is private.
    pub fn count_weight(&self) -> f64 {
        0.5 * self.kappa * self.bound * self.bound * self.total
    }

    /// R.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Kappa.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// `t_k` for these `u_j`.
    pub fn pair_weights(&self, table: &PairTable, weights: &[f64]) -> Vec<f64> {
        let factor = self.factor();
        table.autoconvolution(weights).into_iter().map(|coefficient| factor * coefficient).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// U = 4, R = 3, kappa = 2: `3 sqrt(4 (4 + 1/2))`, `2 * 9 / 8`, `3/2 * 4 / 9` and `9 * 4`.
    #[test]
    fn weights_follow_from_the_total() {
        let rule = SquareRule { total: 4.0, bound: 3.0, kappa: 2.0 };
        assert!((rule.sensitivity() - 3.0 * 18f64.sqrt()).abs() < 1e-12);
        assert_eq!((rule.factor(), rule.count_weight()), (2.25, 36.0));
        assert!((rule.square_weight() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!((rule.bound(), rule.kappa()), (3.0, 2.0));
    }
}
