//! The least of a quadratic model within a radius, by conjugate gradients.

use nalgebra::DMatrix;

use super::quadratic::Quadratic;

/// Most products with the Hessian for one step.
const PRODUCTS: usize = 150;
/// Products before the gain of the last one matters.
const FIRST_PRODUCTS: usize = 4;
/// A product that gains less than this share of what was gained so far ends the step.
const LITTLE_GAIN: f64 = 0.02;

/// A step and what the model says of it.
pub(super) struct Advance {
    pub direction: DMatrix<f64>,
    /// By how much half the error should fall.
    pub predicted: f64,
    pub at_boundary: bool,
    pub products: usize,
}

/// Where the method stands: the step and its image, the residual and the next direction.
struct Search<'a> {
    model: &'a Quadratic<'a>,
    radius_squared: f64,
    step: DMatrix<f64>,
    image: DMatrix<f64>,
    residual: DMatrix<f64>,
    direction: DMatrix<f64>,
    /// `<residual, preconditioned residual>`.
    height: f64,
    /// Squared lengths of the step and the direction, and their product, in the metric.
    length: f64,
    along: f64,
    stride: f64,
}

impl Search<'_> {
    /// One conjugate step; true if it ended at the boundary of the region.
    fn advance(&mut self) -> bool {
        let image = self.model.hessian(&self.direction);
        let curvature = self.direction.dot(&image);
        let size = self.height / curvature;
        let after = self.length + 2.0 * size * self.along + size * size * self.stride;
        if curvature > 0.0 && after < self.radius_squared {
            self.take(size, &image);
            self.length = after;
            self.turn(size);
            return false;
        }
        let rest = self.along * self.along + self.stride * (self.radius_squared - self.length);
        self.take((rest.max(0.0).sqrt() - self.along) / self.stride, &image);
        true
    }

    fn take(&mut self, size: f64, image: &DMatrix<f64>) {
        add(&mut self.step, size, &self.direction);
        add(&mut self.image, size, image);
        add(&mut self.residual, size, image);
    }

    /// The next conjugate direction.
    fn turn(&mut self, size: f64) {
        let scaled = self.model.precondition(&self.residual);
        let height = self.residual.dot(&scaled);
        let share = height / self.height;
        self.along = share * (self.along + size * self.stride);
        self.stride = height + share * share * self.stride;
        self.direction *= share;
        add(&mut self.direction, -1.0, &scaled);
        self.height = height;
    }

    /// By how much the model falls.
    fn predicted(&self) -> f64 {
        -self.model.gradient.dot(&self.step) - 0.5 * self.step.dot(&self.image)
    }
}

/// Minimises the model within a radius of the metric, until the residual is `accuracy` times the gradient.
/// `scaled` is the preconditioned gradient. Source: Steihaug 1983, SIAM J. Numer. Anal. 20(3).
pub(super) fn minimise(
    model: &Quadratic<'_>,
    scaled: DMatrix<f64>,
    radius_squared: f64,
    accuracy: f64,
) -> Advance {
    let height = model.gradient.dot(&scaled);
    let zero = DMatrix::zeros(scaled.nrows(), scaled.ncols());
    let mut search = Search {
        model,
        radius_squared,
        step: zero.clone(),
        image: zero,
        residual: model.gradient.clone(),
        direction: -scaled,
        height,
        length: 0.0,
        along: 0.0,
        stride: height,
    };
    let (mut products, mut predicted, mut at_boundary) = (0, 0.0, false);
    while products < PRODUCTS {
        at_boundary = search.advance();
        products += 1;
        let gained = search.predicted() - predicted;
        predicted += gained;
        let enough = products > FIRST_PRODUCTS && gained < LITTLE_GAIN * predicted;
        // Rounding can leave a residual that is no number or points backwards.
        let more = search.height > accuracy * accuracy * height;
        if at_boundary || enough || !more {
            break;
        }
    }
    Advance { direction: search.step, predicted, at_boundary, products }
}

/// `to += size from`.
fn add(to: &mut DMatrix<f64>, size: f64, from: &DMatrix<f64>) {
    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to += size * from);
}
