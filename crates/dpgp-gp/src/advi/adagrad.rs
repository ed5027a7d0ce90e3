//! AdaGrad with a window: steps that adapt to the size of recent gradients. It is post-processing of noisy gradients, and so
//! costs no privacy.

/// Gradients that the window remembers.
const WINDOW: usize = 10;
/// What is added to the sum of squares. Gradients below its root make steps that are as small: noise alone does not move
/// a parameter by the whole rate.
const OFFSET: f64 = 0.1;

/// `theta -= rate g / sqrt(sum of the last 10 g^2 + 0.1)`, elementwise. Source: `adagrad_window` of PyMC3, on which
/// Jälkö, Dikmen and Honkela 2016 build.
///
/// ```
/// use dpgp_gp::advi::WindowedAdaGrad;
/// let mut theta = [1.0];
/// WindowedAdaGrad::new(0.5, 1).step(&mut theta, &[3.0]);
/// assert_eq!(theta[0], 1.0 - 0.5 * 3.0 / 9.1f64.sqrt());
/// ```
#[derive(Debug, Clone)]
pub struct WindowedAdaGrad {
    rate: f64,
    /// The last squared gradients, the oldest overwritten (WINDOW x parameters).
    squares: Vec<Vec<f64>>,
    step: usize,
}

impl WindowedAdaGrad {
    /// With a learning rate, for so many parameters.
    pub fn new(rate: f64, parameters: usize) -> Self {
        Self { rate, squares: vec![vec![0.0; parameters]; WINDOW], step: 0 }
    }

    /// One step down a gradient.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        // A ring: the newest squares take the place of the oldest ones.
        let oldest = &mut self.squares[self.step % WINDOW];
        oldest.iter_mut().zip(gradient).for_each(|(square, g)| *square = g * g);
        self.step += 1;
        for (i, (parameter, g)) in parameters.iter_mut().zip(gradient).enumerate() {
            // Added up anew: a running sum would keep the rounding of squares that have left the window.
            let sum: f64 = self.squares.iter().map(|squares| squares[i]).sum();
            *parameter -= self.rate * g / (sum + OFFSET).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_forgets() {
        let mut optimiser = WindowedAdaGrad::new(0.5, 1);
        let mut theta = [0.0];
        optimiser.step(&mut theta, &[3.0]);
        assert_eq!(theta[0], -0.5 * 3.0 / 9.1f64.sqrt());
        for _ in 0..10 {
            optimiser.step(&mut theta, &[1.0]);
        }
        let before = theta[0];
        optimiser.step(&mut theta, &[1.0]);
        assert_eq!(theta[0], before - 0.5 / 10.1f64.sqrt());
    }
}
