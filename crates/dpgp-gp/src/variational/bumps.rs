//! Products of Gaussian bumps around the points of a grid.

use nalgebra::{DMatrix, DVector};

/// `s_k exp(-|x - c_k|^2 / (2 w^2))` for the points `c_k` of a product grid, the last input fastest: the covariances of the exponentiated
/// quadratic kernel with inducing inputs on a grid, and the products of two of them
/// ([`InducingGrid`](super::InducingGrid)).
///
/// ```
/// use dpgp_gp::variational::Bumps;
/// use nalgebra::DMatrix;
/// let bumps = Bumps::new(vec![vec![0.0, 2.0]], 1.0, 3.0);
/// let features = bumps.features(&DMatrix::from_element(1, 1, 2.0));
/// assert_eq!(features[(0, 1)], 3.0);
/// assert!((features[(0, 0)] - 3.0 * (-2.0f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bumps {
    axes: Vec<Vec<f64>>,
    width: f64,
    scales: DVector<f64>,
}

impl Bumps {
    /// Around the points of the product of the axes, all of one width and scale.
    pub fn new(axes: Vec<Vec<f64>>, width: f64, scale: f64) -> Self {
        let size = axes.iter().map(Vec::len).product();
        Self { axes, width, scales: DVector::from_element(size, scale) }
    }

    /// Each times a number (k).
    pub fn scaled(mut self, scales: &DVector<f64>) -> Self {
        self.scales.component_mul_assign(scales);
        self
    }

    /// k.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What multiplies each (k).
    pub fn scales(&self) -> &DVector<f64> {
        &self.scales
    }

    /// Their values at the inputs (n x d), (n x k).
    pub fn features(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        self.rows(inputs, None)
    }

    /// Their second derivatives along an input (n x k).
    pub fn curvatures(&self, inputs: &DMatrix<f64>, along: usize) -> DMatrix<f64> {
        self.rows(inputs, Some(along))
    }

    /// A bound on the norm of all fourth derivatives `d^2/dx_i^2 d^2/dx_j^2`, at any input: `3 |s| / w^4`.
    ///
    /// Along one input that is `|r^4 - 6 r^2 + 3| exp(-r^2 / 2) <= 3` over `w^4`, along two the square of
    /// `|r^2 - 1| exp(-r^2 / 2) <= 1`.
    pub fn fourth_derivatives(&self) -> f64 {
        3.0 * self.scales.norm() / self.width.powi(4)
    }

    fn rows(&self, inputs: &DMatrix<f64>, curved: Option<usize>) -> DMatrix<f64> {
        let mut features = DMatrix::zeros(inputs.nrows(), self.len());
        for row in 0..inputs.nrows() {
            let mut values = vec![1.0];
            for (input, axis) in self.axes.iter().enumerate() {
                let along = self.along(axis, inputs[(row, input)], curved == Some(input));
                values = values.iter().flat_map(|value| along.iter().map(move |bump| value * bump)).collect();
            }
            for (place, value) in values.into_iter().enumerate() {
                features[(row, place)] = self.scales[place] * value;
            }
        }
        features
    }

    /// Of one input, or the second derivatives.
    fn along(&self, axis: &[f64], x: f64, curved: bool) -> Vec<f64> {
        let bumps = axis.iter().map(|centre| {
            let square = ((x - centre) / self.width).powi(2);
            let slope = if curved { (square - 1.0) / self.width.powi(2) } else { 1.0 };
            slope * (-0.5 * square).exp()
        });
        bumps.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bumps() -> Bumps {
        let scales = DVector::from_fn(6, |place, _| 1.0 + place as f64);
        Bumps::new(vec![vec![0.0, 1.0], vec![-1.0, 0.5, 2.0]], 0.7, 1.0).scaled(&scales)
    }

    fn difference(
        inputs: [f64; 2],
        along: usize,
        of: impl Fn(&DMatrix<f64>) -> DMatrix<f64>,
    ) -> DMatrix<f64> {
        let step = 1e-3;
        let [less, at, more] = [-step, 0.0, step].map(|moved| {
            let mut inputs = inputs;
            inputs[along] += moved;
            of(&DMatrix::from_row_slice(1, 2, &inputs))
        });
        (less + more - at * 2.0) / (step * step)
    }

    #[test]
    fn curvatures_are_second_differences() {
        let bumps = bumps();
        for along in 0..2 {
            let found = bumps.curvatures(&DMatrix::from_row_slice(1, 2, &[0.3, 0.9]), along);
            let expected = difference([0.3, 0.9], along, |x| bumps.features(x));
            assert!((found - &expected).amax() < 1e-4 * expected.amax());
        }
    }

    #[test]
    fn fourth_derivatives_are_within_their_bound() {
        let bumps = bumps();
        let mut most = 0.0f64;
        for place in 0..400 {
            let x = [-1.0 + 0.15 * f64::from(place % 20), -2.0 + 0.25 * f64::from(place / 20)];
            for (one, other) in [(0, 0), (0, 1), (1, 1)] {
                most = most.max(difference(x, one, |x| bumps.curvatures(x, other)).norm());
            }
        }
        let bound = bumps.fourth_derivatives();
        assert!(most <= bound && most > 0.3 * bound, "{most} {bound}");
    }
}
