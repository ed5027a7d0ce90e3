//! The certificate of a noise design, recomputed in 400-bit arithmetic from the very matrices used.

use dashu_float::FBig;
use dpgp::privacy::CloakingNoise;
use nalgebra::DMatrix;

type Wide = FBig;

const BITS: usize = 400;

fn wide(x: f64) -> Wide {
    Wide::try_from(x).unwrap().with_precision(BITS).value()
}

/// `max_i |L^-1 b_i|^2` over all columns and all directions of what is released.
pub fn largest_leverage(cloak: &CloakingNoise) -> f64 {
    let (factor, columns) = (cloak.noise_factor(), cloak.released_columns());
    assert_eq!(factor.nrows(), columns.nrows(), "a direction is released without noise");
    let norms = columns.column_iter().map(|c| squared_norm(factor, c.as_slice()));
    norms.fold(0.0, f64::max)
}

/// `|L^-1 b|^2` by forward substitution.
fn squared_norm(factor: &DMatrix<f64>, column: &[f64]) -> f64 {
    let mut solved: Vec<Wide> = Vec::with_capacity(column.len());
    for (i, b) in column.iter().enumerate() {
        let mut left = wide(*b);
        for (j, x) in solved.iter().enumerate() {
            left -= wide(factor[(i, j)]) * x;
        }
        solved.push(left / wide(factor[(i, i)]));
    }
    let total = solved.iter().map(|x| x * x).fold(wide(0.0), |a, b| a + b);
    total.to_f64().value()
}
