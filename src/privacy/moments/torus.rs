//! What a kernel has at each frequency.

use crate::gp::sites::SiteReference;

/// The kernel of a reference on a torus.
pub(super) struct Torus<'a> {
    pub reference: &'a SiteReference,
    pub period: f64,
}

impl Torus<'_> {
    /// The mass at `j + sign k`: the spectral density of the exponentiated quadratic there over `P^d`, and the variance of the mean at
    /// the zero.
    pub fn mass(&self, j: &[i64], k: &[i64], sign: i64) -> f64 {
        let (mut density, mut at_zero) = (self.reference.variance, true);
        for ((a, b), lengthscale) in j.iter().zip(k).zip(&self.reference.lengthscales) {
            let turns = a + sign * b;
            let frequency = std::f64::consts::TAU * lengthscale * turns as f64 / self.period;
            let height = std::f64::consts::TAU.sqrt() * lengthscale / self.period;
            density *= height * (-0.5 * frequency * frequency).exp();
            at_zero &= turns == 0;
        }
        if at_zero { density + self.reference.bias } else { density }
    }
}
