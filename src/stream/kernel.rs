//! Covariances with the inducing inputs and their sums, many rows at a time.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;

use super::Sums;
use crate::linalg::{LANES, Lanes, add_outer_panels, exponential};

/// Rows whose covariances are held at a time: with m = 256 they fill a quarter of a second-level cache of 2 MB, which
/// leaves room for the sums.
const ROWS: usize = 256;

/// An exponentiated quadratic kernel `v exp(-sum_d (x_d - z_d)^2 / (2 l_d^2))` and m inducing inputs z.
#[derive(Debug, Clone)]
pub struct PackedKernel {
    variance: f64,
    /// `1 / (sqrt 2 l_d)`.
    scales: Vec<f64>,
    /// The scaled inducing inputs, eight at a time, by dimension; zeros fill the last eight.
    points: Vec<Vec<Lanes>>,
    size: usize,
}

/// Memory that one thread works in.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// The covariances of some rows, in panels of eight inducing inputs.
    panels: Vec<Lanes>,
    a: Vec<Lanes>,
    b: Vec<f64>,
}

impl PackedKernel {
    /// For inducing inputs (m x d), and a lengthscale for each dimension.
    pub fn new(variance: f64, lengthscales: &[f64], inducing: &DMatrix<f64>) -> Self {
        let scales: Vec<f64> = lengthscales.iter().map(|l| std::f64::consts::FRAC_1_SQRT_2 / l).collect();
        let points = scales.iter().enumerate().map(|(d, scale)| {
            let along: Vec<f64> = inducing.column(d).iter().map(|z| z * scale).collect();
            // Zeros fill the last lanes; what comes of them is cut off when sums are handed out.
            let lanes = along
                .chunks(LANES)
                .map(|chunk| Lanes(std::array::from_fn(|lane| chunk.get(lane).copied().unwrap_or_default())));
            lanes.collect()
        });
        Self { variance, points: points.collect(), size: inducing.nrows(), scales }
    }

    /// The number m of inducing inputs.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds rows to the sums: d columns of inputs and the targets, all of one length. Costs `n m (m + 1)` operations
    /// and n m exponentials. Every sum runs in the order of the rows, so that the same rows give the same bits.
    pub fn add(&self, inputs: &[&[f64]], targets: &[f64], sums: &mut Sums, scratch: &mut Scratch) {
        scratch.clear(self.size.div_ceil(LANES));
        for start in (0..targets.len()).step_by(ROWS) {
            let range = start..targets.len().min(start + ROWS);
            let inputs: Vec<&[f64]> = inputs.iter().map(|column| &column[range.clone()]).collect();
            scratch.add(self, &inputs, &targets[range]);
        }
        scratch.add_to(sums);
        sums.rows += targets.len() as u64;
        sums.squares += targets.iter().map(|y| y * y).sum::<f64>();
    }
}

impl Scratch {
    /// No sums, for so many panels.
    fn clear(&mut self, panels: usize) {
        self.panels.resize(panels * ROWS, Lanes::default());
        self.a.clear();
        self.a.resize(panels, Lanes::default());
        self.b.clear();
        self.b.resize((panels * LANES).pow(2), 0.0);
    }

    /// Adds some rows, at most [`ROWS`].
    fn add(&mut self, kernel: &PackedKernel, inputs: &[&[f64]], targets: &[f64]) {
        let panels = &mut self.panels[..self.a.len() * targets.len()];
        let level = Level::new();
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || fill(kernel, inputs, targets, panels, &mut self.a)
        ));
        add_outer_panels(&mut self.b, panels, targets.len());
    }

    /// Without what fills the last panel.
    fn add_to(&self, sums: &mut Sums) {
        let size = sums.a.len();
        let a = self.a.iter().flat_map(|lanes| lanes.0);
        sums.a.iter_mut().zip(a).for_each(|(sum, value)| *sum += value);
        for (j, column) in self.b.chunks_exact(self.a.len() * LANES).take(size).enumerate() {
            let mut sums = sums.b.column_mut(j);
            sums.iter_mut().zip(column).skip(j).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Writes the covariances of each row with all inducing inputs, and adds them times the target to `a`. Compiled for each
/// set of vector instructions, of which the processor's best is taken; all give the same numbers.
#[inline(always)]
fn fill(kernel: &PackedKernel, inputs: &[&[f64]], targets: &[f64], panels: &mut [Lanes], a: &mut [Lanes]) {
    for (p, (panel, sum)) in panels.chunks_exact_mut(targets.len()).zip(a).enumerate() {
        let mut total = sum.0;
        for (i, (out, y)) in panel.iter_mut().zip(targets).enumerate() {
            let mut k = [0.0; LANES];
            for ((column, points), scale) in inputs.iter().zip(&kernel.points).zip(&kernel.scales) {
                subtract_squares(column[i] * scale, &points[p].0, &mut k);
            }
            for (k, sum) in k.iter_mut().zip(&mut total) {
                *k = kernel.variance * exponential(*k);
                // Fused on every processor, in hardware or not: one rounding and the same bits.
                *sum = k.mul_add(*y, *sum);
            }
            out.0 = k;
        }
        sum.0 = total;
    }
}

#[inline(always)]
fn subtract_squares(x: f64, points: &[f64; LANES], out: &mut [f64; LANES]) {
    for (sum, z) in out.iter_mut().zip(points) {
        let distance = x - z;
        *sum = distance.mul_add(-distance, *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::variational::{Inducing, Statistics};
    use crate::kernel::{ExponentiatedQuadratic, Kernel as _};

    fn rows(n: usize) -> (DMatrix<f64>, Vec<f64>) {
        let inputs = DMatrix::from_fn(n, 2, |i, d| 2.0 * ((i * (d + 3)) as f64 * 0.37).sin());
        (inputs, (0..n).map(|i| (i as f64 * 0.11).cos()).collect())
    }

    fn sums(kernel: &PackedKernel, inputs: &DMatrix<f64>, targets: &[f64]) -> Sums {
        let columns: Vec<&[f64]> = inputs.as_slice().chunks_exact(targets.len()).collect();
        let mut sums = Sums::zero(kernel.size());
        kernel.add(&columns, targets, &mut sums, &mut Scratch::default());
        sums
    }

    /// Against plain sums over the rows with the kernel as the models know it.
    #[test]
    fn the_sums_are_those_of_the_definition() {
        for (m, n) in [(1, 5), (9, 700), (25, 1300)] {
            let z = DMatrix::from_fn(m, 2, |i, d| (i % 5) as f64 * 0.4 - (i / 5 + d) as f64 * 0.3);
            let exact = ExponentiatedQuadratic::isotropic(1.3, 0.6);
            let (inputs, targets) = rows(n);
            let found = sums(&PackedKernel::new(1.3, &[0.6, 0.6], &z), &inputs, &targets);
            let k = exact.matrix(&inputs, &z);
            let (a, b) = (k.transpose() * DMatrix::from_column_slice(n, 1, &targets), k.transpose() * &k);
            let statistics = found.statistics();
            assert!((&statistics.a - a.column(0)).amax() < 1e-12 * n as f64);
            assert!((&statistics.b - &b).amax() < 1e-13 * n as f64, "{}", (&statistics.b - &b).amax());
            assert_eq!(statistics.rows, n);
            let before = Statistics::new(&Inducing::new(&exact, &z).unwrap(), &inputs, &targets, 1.0);
            assert!((before.b - statistics.b).amax() < 1e-13 * n as f64);
        }
    }

    #[test]
    fn each_input_has_its_lengthscale() {
        let z = DMatrix::from_row_slice(1, 3, &[1.0, -2.0, 0.5]);
        let x = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 0.0]);
        let found = sums(&PackedKernel::new(2.0, &[1.0, 3.0, 0.25], &z), &x, &[3.0]);
        let expected = 2.0 * (-0.5f64 * (1.0 + 1.0 + 4.0)).exp();
        assert!((found.a[0] - 3.0 * expected).abs() < 1e-15);
        assert!((found.b[(0, 0)] - expected * expected).abs() < 1e-16);
        assert_eq!((found.rows, found.squares), (1, 9.0));
    }
}
