//! The nearest point of a simplex.

use nalgebra::DVector;

/// The point of `{x >= 0, sum x = total}` that is nearest to v: `max(v - c, 0)` with the one shift c that makes the sum right.
/// Cost `n log n`. Source: Held, Wolfe and Crowder 1974.
///
/// ```
/// use dpgp_linalg::onto_simplex;
/// use nalgebra::DVector;
/// let nearest = onto_simplex(&DVector::from_column_slice(&[3.0, 2.0, -5.0]), 3.0);
/// assert_eq!(nearest.as_slice(), [2.0, 1.0, 0.0]);
/// ```
pub fn onto_simplex(v: &DVector<f64>, total: f64) -> DVector<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest point is where no feasible direction leads closer: `(v - x)'(z - x) <= 0` for every vertex z.
    #[test]
    fn no_vertex_leads_closer() {
        for seed in 0..20 {
            let v = DVector::from_fn(7, |i, _| (3.0 * (seed * 7 + i) as f64).sin() * 4.0);
            let x = onto_simplex(&v, 2.5);
            assert!((x.sum() - 2.5).abs() < 1e-13 && x.min() >= 0.0);
            for vertex in 0..7 {
                let mut towards = -&x;
                towards[vertex] += 2.5;
                assert!((&v - &x).dot(&towards) < 1e-12, "{seed} {vertex}");
            }
        }
    }
}
