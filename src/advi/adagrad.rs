//! AdaGrad with a window.

/// Gradients that the window remembers.
const WINDOW: usize = 10;
/// What is added to the sum of squares.
const OFFSET: f64 = 0.1;

/// `theta -= rate g / sqrt(sum of the last 10 g^2 + 0.1)`, elementwise.
#[derive(Debug, Clone)]
pub struct WindowedAdaGrad {
    rate: f64,
    /// The last squared gradients, the oldest overwritten (WINDOW x parameters).
    squares: Vec<Vec<f64>>,
    step: usize,
}

impl WindowedAdaGrad {
    /// For so many parameters.
    pub fn new(rate: f64, parameters: usize) -> Self {
        Self { rate, squares: vec![vec![0.0; parameters]; WINDOW], step: 0 }
    }

    /// One step down a gradient.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        let oldest = &mut self.squares[self.step % WINDOW];
        oldest.iter_mut().zip(gradient).for_each(|(square, g)| *square = g * g);
        self.step += 1;
        for (i, (parameter, g)) in parameters.iter_mut().zip(gradient).enumerate() {
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
