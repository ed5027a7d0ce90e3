//! Models that variational inference can fit.

/// A Bayesian model with independent rows and an unconstrained parameter `z` (dimension d). A constrained parameter
/// is transformed by the model, which then adds the log-Jacobian of the transformation to its prior.
pub trait Model: Sync {
    /// The dimension d of `z`.
    fn dimension(&self) -> usize;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// `log p(row | z)`; its gradient in `z` is written to `gradient` (d). A row's value and gradient depend on no other row: that
    /// is what clipping rests on.
    fn log_likelihood(&self, row: usize, z: &[f64], gradient: &mut [f64]) -> f64;

    /// `log p(z)` on the unconstrained scale; its gradient is written to `gradient` (d).
    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64;

    /// The log joint density of all rows and `z`; its gradient is written to `gradient` (d).
    fn log_joint(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = self.log_prior(z, gradient);
        let mut one = vec![0.0; z.len()];
        for row in 0..self.rows() {
            value += self.log_likelihood(row, z, &mut one);
            gradient.iter_mut().zip(&one).for_each(|(sum, g)| *sum += g);
        }
        value
    }
}
