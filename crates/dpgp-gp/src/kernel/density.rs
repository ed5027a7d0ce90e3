//! Lengthscales that follow the density of public inputs.

use nalgebra::DMatrix;

use dpgp_number::normal_pdf;

/// Per dimension l, `r_l(x) = 1 / (1/longest + rho_l(x_l) / points)` with the kernel density estimate
/// `rho_l(x) = sum_i N(x; x_il, bandwidth^2)` over the public inputs: about `points` inputs lie within
/// a lengthscale, and no lengthscale exceeds `longest`. The bandwidth and the longest lengthscale have units of the inputs.
///
/// Source: Smith et al. 2021, Section 3.1; the inputs are public, so no budget is spent.
#[derive(Debug, Clone)]
pub struct DensityLengthscale {
    inputs: Vec<Vec<f64>>,
    bandwidth: f64,
    points: f64,
    longest: f64,
}

impl DensityLengthscale {
    /// From the public inputs (n x d).
    pub fn new(inputs: &DMatrix<f64>, bandwidth: f64, points: f64, longest: f64) -> Self {
        let inputs = inputs.column_iter().map(|c| c.iter().copied().collect()).collect();
        Self { inputs, bandwidth, points, longest }
    }

    /// `r_l(x)` for the coordinate `x` along `dimension`.
    pub fn at(&self, dimension: usize, x: f64) -> f64 {
        let h = self.bandwidth;
        let density: f64 = self.inputs[dimension].iter().map(|&xi| normal_pdf((x - xi) / h) / h).sum();
        // Reciprocals add, so that the shorter of the two wins and the lengthscale has no kink.
        1.0 / (1.0 / self.longest + density / self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_from_all_inputs_the_lengthscale_is_the_longest() {
        let inputs = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 2.0]);
        let r = DensityLengthscale::new(&inputs, 1.0, 10.0, 50.0);
        assert!((r.at(0, 1e3) - 50.0).abs() < 1e-12);
        assert!(r.at(0, 1.0) < r.at(0, 3.0));
    }

    #[test]
    fn one_input_gives_the_closed_form() {
        let inputs = DMatrix::from_column_slice(1, 1, &[3.0]);
        let r = DensityLengthscale::new(&inputs, 2.0, 4.0, 8.0);
        let density = 1.0 / (2.0 * std::f64::consts::TAU.sqrt());
        assert!((r.at(0, 3.0) - 1.0 / (0.125 + density / 4.0)).abs() < 1e-14);
    }
}
