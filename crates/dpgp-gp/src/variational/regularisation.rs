//! What is added to the diagonal so that a noisy matrix stays positive definite.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rules for lambda, in units where the noise variance of the model is 1. `E_b` is the symmetric noise on B
/// with standard deviation `sd_b` on the diagonal and `sd_b / sqrt 2` elsewhere; its norm exceeds lambda with a
/// probability of about rho. Source: Wang 2018, Lemma 6, a union bound; for `Tight` the theory of random
/// matrices, Tracy and Widom 1996.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Regularisation {
    /// `sd_b sqrt(m ln(2 m^2 / rho)) (m + 1) / (2 m)`: Honkela 2021, Eq. 10, as printed. It takes the mean
    /// variance of the entries outside the root: too small on few points (`m = 2, 3`), 40 % too large at m = 256.
    Printed {
        /// The probability.
        rho: f64,
    },
    /// `sd_b sqrt(m ln(2 m^2 / rho) (m + 1) / (2 m))`: the same with the variance inside the root, a bound for
    /// `m >= 2`.
    Inside {
        /// The probability.
        rho: f64,
    },
    /// `sd_b (sqrt(2 m) + 1.43 m^(-1/6))`: the edge of the semicircle plus the 99 % quantile of the Tracy-Widom
    /// law of real symmetric matrices (2.02 over sqrt 2); rho = 0.01.
    Tight,
}

impl Regularisation {
    /// Lambda for m inducing inputs.
    ///
    /// ```
    /// use dpgp_gp::variational::Regularisation;
    /// // m = 1, rho = 2 / e: sqrt(1 ln e) times a share of (1 + 1) / 2.
    /// let rho = 2.0 / std::f64::consts::E;
    /// assert!((Regularisation::Printed { rho }.lambda(1, 3.0) - 3.0).abs() < 1e-14);
    /// assert!((Regularisation::Tight.lambda(1, 1.0) - (2f64.sqrt() + 1.43)).abs() < 1e-15);
    /// ```
    pub fn lambda(self, m: usize, sd_b: f64) -> f64 {
        let m = m as f64;
        // The mean variance of the entries over that of the diagonal ones: m entries of 1 and `m^2 - m` of 1/2.
        let share = (m + 1.0) / (2.0 * m);
        sd_b * match self {
            Self::Printed { rho } => union(m, rho).sqrt() * share,
            Self::Inside { rho } => (union(m, rho) * share).sqrt(),
            Self::Tight => (2.0 * m).sqrt() + 1.43 * m.powf(-1.0 / 6.0),
        }
    }
}

/// The bound on the squared norm, over the variance of an entry, that fails with probability rho.
fn union(m: f64, rho: f64) -> f64 {
    m * (2.0 * m * m / rho).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    /// Smallest eigenvalues of simulated noise, rising.
    fn smallest(m: usize, draws: usize) -> Vec<f64> {
        let mut stream = Pcg64::from_seed([m as u8; 32]);
        let mut draw = || {
            let mut e = DMatrix::<f64>::zeros(m, m);
            for i in 0..m {
                for j in 0..=i {
                    let z: f64 = StandardNormal.sample(&mut stream);
                    let entry = if i == j { z } else { z / 2f64.sqrt() };
                    (e[(i, j)], e[(j, i)]) = (entry, entry);
                }
            }
            e.symmetric_eigenvalues().min()
        };
        let mut all: Vec<f64> = (0..draws).map(|_| draw()).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// At most 1 % of the spectra reach below the tight bound, up to two standard errors, and it is close: 15 %
    /// less is no bound.
    #[test]
    fn the_tight_bound_holds_and_is_close() {
        for (m, draws) in
            [(2, 20_000), (3, 20_000), (5, 20_000), (9, 8_000), (15, 4_000), (32, 2_000), (64, 1_000)]
        {
            let spectra = smallest(m, draws);
            let beyond = |lambda: f64| spectra.iter().filter(|v| **v < -lambda).count() as f64 / draws as f64;
            let lambda = Regularisation::Tight.lambda(m, 1.0);
            let error = (0.01 * 0.99 / draws as f64).sqrt();
            assert!(beyond(lambda) <= 0.01 + 2.0 * error, "m = {m}: {}", beyond(lambda));
            assert!(beyond(0.85 * lambda) > 0.01, "m = {m} is loose: {}", beyond(0.85 * lambda));
        }
    }

    #[test]
    fn the_printed_rule_fails_on_few_points_and_is_loose_on_many() {
        let spectra = smallest(3, 20_000);
        let printed = Regularisation::Printed { rho: 0.01 }.lambda(3, 1.0);
        let inside = Regularisation::Inside { rho: 0.01 }.lambda(3, 1.0);
        let beyond = |lambda: f64| spectra.iter().filter(|v| **v < -lambda).count();
        assert!(beyond(printed) > 200 && beyond(inside) < 200, "{} {}", beyond(printed), beyond(inside));
        let ratio =
            Regularisation::Printed { rho: 0.01 }.lambda(256, 1.0) / Regularisation::Tight.lambda(256, 1.0);
        assert!((1.35..1.45).contains(&ratio), "{ratio}");
        // At m = 9, as in Figures 1 and 3 of the paper, it fails with probability 0.0066: three standard errors about it.
        let nine = Regularisation::Printed { rho: 0.01 }.lambda(9, 1.0);
        let share = smallest(9, 8_000).iter().filter(|v| **v < -nine).count() as f64 / 8_000.0;
        assert!((0.0039..0.0093).contains(&share), "{share}");
    }
}
