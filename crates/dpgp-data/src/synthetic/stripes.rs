//! Diagonal stripes of two classes.

use rand::{Rng, RngExt};

use super::Rows;

/// The side of the square.
const SIDE: f64 = 10.0;
/// The width of a stripe along either axis.
const STRIPE: f64 = 5.0;

/// Training points with `x1 ~ U(0, 10)` and a density of x2 that falls linearly to zero at 10, of class 1 where
/// `(x1 + x2) mod 10 < 5`, else 0, flipped with probability `flips`; then `grid` x `grid` test points at the middles of
/// equal squares, with their true classes.
///
/// With u uniform, `x2 = 10 (1 - sqrt(u))` has the density `(10 - x2) / 50`.
pub fn stripes(points: usize, flips: f64, grid: usize, rng: &mut impl Rng) -> Rows {
    let mut rows = Rows { inputs: vec![Vec::new(), Vec::new()], targets: Vec::new() };
    for _ in 0..points {
        let x = [SIDE * rng.random::<f64>(), SIDE * (1.0 - rng.random::<f64>().sqrt())];
        let flipped = rng.random::<f64>() < flips;
        rows.push(x, if flipped { 1.0 - class(x) } else { class(x) });
    }
    for (i, j) in (0..grid).flat_map(|i| (0..grid).map(move |j| (i, j))) {
        let x = [i, j].map(|i| SIDE * (i as f64 + 0.5) / grid as f64);
        rows.push(x, class(x));
    }
    rows
}

fn class(x: [f64; 2]) -> f64 {
    if (x[0] + x[1]) % (2.0 * STRIPE) < STRIPE { 1.0 } else { 0.0 }
}

impl Rows {
    fn push(&mut self, x: [f64; 2], target: f64) {
        self.inputs.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
        self.targets.push(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn stripes_are_as_described() {
        let rows = stripes(4000, 0.05, 10, &mut Pcg64::from_seed([3; 32]));
        let test = &rows.targets[4000..];
        assert_eq!((test.len(), test.iter().sum::<f64>()), (100, 50.0));
        let flipped =
            (0..4000).filter(|&i| rows.targets[i] != class([rows.inputs[0][i], rows.inputs[1][i]])).count();
        assert!((flipped as f64 / 4000.0 - 0.05).abs() < 4.0 * (0.05f64 * 0.95 / 4000.0).sqrt());
        // The mean of x2 under the density (10 - x) / 50 is 10/3, its variance 50/9.
        let mean = rows.inputs[1][..4000].iter().sum::<f64>() / 4000.0;
        assert!((mean - 10.0 / 3.0).abs() < 4.0 * (50.0f64 / 9.0 / 4000.0).sqrt(), "{mean}");
    }
}
