//! The nearest point of a simplex, and the point of a polytope that is nearest to the origin.

use nalgebra::{DMatrix, DVector};

use super::{Cholesky, LinalgError};

/// The point of `{x >= 0, sum x = total}` that is nearest to v: `max(v - c, 0)` with the one shift c that makes the sum right.
/// Cost `n log n`. Source: Held, Wolfe and Crowder 1974.
///
/// ```
/// use dpgp_linalg::project_onto_simplex;
/// use nalgebra::DVector;
/// let nearest = project_onto_simplex(&DVector::from_column_slice(&[3.0, 2.0, -5.0]), 3.0);
/// assert_eq!(nearest.as_slice(), [2.0, 1.0, 0.0]);
/// ```
pub fn project_onto_simplex(v: &DVector<f64>, total: f64) -> DVector<f64> {
    let mut sorted: Vec<f64> = v.iter().copied().collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (place, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (place + 1) as f64;
        // The largest entries stay positive; the first that does not ends the support.
        if *value <= candidate {
            break;
        }
        shift = candidate;
    }
    v.map(|value| (value - shift).max(0.0))
}

/// Steps relative to the number of vertices after which the search gives up tightening the answer.
const STEPS: usize = 50;

/// Weights `q >= 0`, `sum q = 1` that minimise `q' M q`: `M` (g x g) holds the inner products of the vertices.
/// The result meets `q' M q - min_g (M q)_g <= tolerance max_g M_gg`, which bounds the excess of `q' M q` over
/// its minimum by twice as much.
///
/// Source: Wolfe 1976, "Finding the nearest point in a polytope".
///
/// ```
/// use dpgp_linalg::minimise_quadratic_on_simplex;
/// use nalgebra::DMatrix;
/// // Of the segment from (1, 1) to (-1, 1) the middle, (0, 1), is nearest to the origin.
/// let q = minimise_quadratic_on_simplex(&DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 2.0]), 1e-12)?;
/// assert!(q.iter().all(|weight| (weight - 0.5).abs() < 1e-12));
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if `M` is not finite or not positive semidefinite.
pub fn minimise_quadratic_on_simplex(m: &DMatrix<f64>, tolerance: f64) -> Result<DVector<f64>, LinalgError> {
    let vertices = m.nrows();
    let slack = tolerance * m.diagonal().amax();
    let first = m.diagonal().imin();
    let mut corral = ConvexCombination { vertices: vec![first], weights: vec![1.0] };
    for _ in 0..STEPS * vertices {
        let slopes = corral.half_gradient(m);
        let value: f64 = corral.vertices.iter().zip(&corral.weights).map(|(&g, q)| q * slopes[g]).sum();
        let steepest = slopes.imin();
        // At the minimum over its affine hull the vertices of the corral have equal slopes: one of them is the steepest by
        // rounding alone, and taking it in again would go round for ever.
        if slopes[steepest] >= value - slack || corral.vertices.contains(&steepest) {
            break;
        }
        corral.vertices.push(steepest);
        corral.weights.push(0.0);
        corral.move_to_minimum(m)?;
    }
    let mut q = DVector::zeros(vertices);
    corral.vertices.iter().zip(&corral.weights).for_each(|(&g, weight)| q[g] = *weight);
    Ok(q)
}

/// A convex combination of vertices: those with positive weights.
struct ConvexCombination {
    vertices: Vec<usize>,
    weights: Vec<f64>,
}

impl ConvexCombination {
    /// `M q`, half the gradient of `q' M q` (g).
    fn half_gradient(&self, m: &DMatrix<f64>) -> DVector<f64> {
        let mut slopes = DVector::zeros(m.nrows());
        for (&g, &weight) in self.vertices.iter().zip(&self.weights) {
            slopes.axpy(weight, &m.column(g), 1.0);
        }
        slopes
    }

    /// Moves to the minimum over the affine hull, dropping vertices where the way leaves the simplex.
    fn move_to_minimum(&mut self, m: &DMatrix<f64>) -> Result<(), LinalgError> {
        loop {
            let target = self.affine_minimum_weights(m)?;
            // The part of the way to the target at which the first weight becomes zero.
            let moves = self.weights.iter().zip(&target);
            let ways = moves.map(|(q, t)| if *t <= 0.0 { q / (q - t) } else { 1.0 });
            let step = ways.fold(1.0, f64::min);
            self.weights.iter_mut().zip(&target).for_each(|(q, t)| *q += step * (t - *q));
            if step >= 1.0 {
                return Ok(());
            }
            self.drop_zero_vertices();
        }
    }

    /// Drops every vertex whose weight has come to zero, at least the lightest one.
    fn drop_zero_vertices(&mut self) {
        // The weight that met zero may miss it by rounding.
        let least = self.weights.iter().copied().fold(f64::INFINITY, f64::min).max(1e-14);
        let keep: Vec<bool> = self.weights.iter().map(|q| *q > least).collect();
        let mut flags = keep.iter();
        self.vertices.retain(|_| flags.next() == Some(&true));
        let mut flags = keep.iter();
        self.weights.retain(|_| flags.next() == Some(&true));
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|q| *q /= total);
    }

    /// The weights of the point of the affine hull that is nearest to the origin, `u / sum u` with `(M + s 1 1') u = 1`: where
    /// `M q = c 1` and `1' q = 1`, q is a multiple of u.
    fn affine_minimum_weights(&self, m: &DMatrix<f64>) -> Result<Vec<f64>, LinalgError> {
        let size = self.vertices.len();
        // M is singular where the hull holds the origin; the shift moves that, and changes `q' M q` by a constant only.
        let shift = m.diagonal().amax();
        let inner = DMatrix::from_fn(size, size, |i, j| m[(self.vertices[i], self.vertices[j])] + shift);
        let ones = DMatrix::from_element(size, 1, 1.0);
        let u = Cholesky::new("the Gram matrix of the moment cone", &inner)?.solve(&ones);
        let total = u.sum();
        Ok(u.iter().map(|v| v / total).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest point is where no feasible direction leads closer: `(v - x)'(z - x) <= 0` for every vertex z.
    #[test]
    fn no_vertex_leads_closer() {
        for seed in 0..20 {
            let v = DVector::from_fn(7, |i, _| (3.0 * (seed * 7 + i) as f64).sin() * 4.0);
            let x = project_onto_simplex(&v, 2.5);
            assert!((x.sum() - 2.5).abs() < 1e-13 && x.min() >= 0.0);
            for vertex in 0..7 {
                let mut towards = -&x;
                towards[vertex] += 2.5;
                assert!((&v - &x).dot(&towards) < 1e-12, "{seed} {vertex}");
            }
        }
    }

    /// The optimality conditions decide: every vertex lies on the far side of the plane through the nearest
    /// point.
    fn assert_optimal(points: &DMatrix<f64>) {
        let m = points.transpose() * points;
        let q = minimise_quadratic_on_simplex(&m, 1e-13).unwrap();
        assert!((q.sum() - 1.0).abs() < 1e-12 && q.min() >= 0.0);
        let nearest = points * &q;
        for vertex in points.column_iter() {
            assert!(vertex.dot(&nearest) >= nearest.norm_squared() - 1e-9 * m.diagonal().amax());
        }
    }

    #[test]
    fn optimal_inside_on_a_face_and_at_a_vertex() {
        assert_optimal(&DMatrix::from_row_slice(2, 3, &[1.0, -1.0, 0.2, -1.0, -1.0, 2.0]));
        assert_optimal(&DMatrix::from_row_slice(2, 3, &[1.0, -1.0, 0.0, 1.0, 1.5, 4.0]));
        assert_optimal(&DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 1.0, 2.0]));
    }

    #[test]
    fn optimal_on_points_of_a_curve_that_nearly_depend_on_each_other() {
        let curve = |i: usize, j: usize| (-0.5 * (0.125 * j as f64 - i as f64).powi(2)).exp() - 0.1 * (i as f64).cos();
        assert_optimal(&DMatrix::from_fn(8, 60, curve));
    }
}
