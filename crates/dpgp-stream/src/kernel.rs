//! Covariances with the inducing inputs and their sums, many rows at a time, in whole numbers.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;

use super::KernelSums;
use dpgp_gp::variational::IntegerSumUnits;
use dpgp_linalg::{LANES, PanelColumn, add_outer_panels, exponential_of_nonpositive};

/// Bits of a correlation: a product of two, summed over 256 rows, is at most `2^52`, so that doubles add them exactly. Exact sums in
/// files are in this unit, so it is part of their identity: sums in another unit must not be added or released.
pub const CORRELATION_BITS: i32 = 22;
/// Rows whose sums are exact in doubles. With m = 256 their correlations fill a quarter of a second-level cache of 2 MB.
const ROWS: usize = 256;
/// Rows whose sums are exact in 64 bits.
const EXACT: usize = 1 << 14;
/// Bits of the lower digit of a target, which has two.
const TARGET_DIGIT: i32 = 20;
/// From this number to twice itself, doubles are consecutive whole numbers, and so are their bit patterns.
const WHOLE: f64 = (1u64 << 52) as f64;

/// An exponentiated quadratic kernel `v exp(-sum_d (x_d - z_d)^2 / (2 l_d^2))` and m inducing inputs z, in whole numbers: a
/// correlation c in [0, 1] is `2^22 c`, rounded to the nearest.
///
/// Obligation: the whole numbers of a row, as a vector, are at most `2^22 bound` long, whatever its inputs are. Proof: a vector
/// that may be longer by its computed norm, which is off by less than a share of `2^-40`, is scaled to less than that and its
/// fractions are dropped. So closed forms for vectors within the bound hold for these very numbers, with no share for rounding.
#[derive(Debug, Clone)]
pub struct QuantizedKernel {
    variance: f64,
    /// On the norm of the correlations of an input.
    bound: f64,
    /// `1 / (sqrt 2 l_d)`.
    scales: Vec<f64>,
    /// The scaled inducing inputs, eight at a time, by dimension.
    points: Vec<Vec<PanelColumn>>,
    size: usize,
}

/// Memory that one thread works in.
#[derive(Debug, Clone, Default)]
pub struct SumScratch {
    /// The correlations of some rows, in panels of eight inducing inputs.
    correlations: Vec<PanelColumn>,
    /// The squared norm of each row.
    norms: Vec<f64>,
    /// The outer products of some rows, from [`WHOLE`] on, and those of more rows.
    products: Vec<f64>,
    total: Vec<i64>,
}

/// Sums of eight correlations times the digits of targets.
#[derive(Debug, Clone, Copy, Default)]
struct DigitSums {
    high: PanelColumn,
    low: PanelColumn,
}

/// The digits of a target: `2^20 high + low`.
#[derive(Debug, Clone, Copy)]
struct TargetDigits {
    high: f64,
    low: f64,
}

impl QuantizedKernel {
    /// For inducing inputs (m x d), a lengthscale for each dimension, and a bound on the norm of the correlations of an input,
    /// which sensitivities assume; a share of `2^-40` of it is left to the rounding of their closed forms.
    pub fn new(variance: f64, lengthscales: &[f64], inducing: &DMatrix<f64>, bound: f64) -> Self {
        let scales: Vec<f64> = lengthscales.iter().map(|l| std::f64::consts::FRAC_1_SQRT_2 / l).collect();
        let points = scales.iter().enumerate().map(|(d, scale)| {
            let along: Vec<f64> = inducing.column(d).iter().map(|z| z * scale).collect();
            // Points that are infinitely far fill the last lanes: no input has a correlation with them.
            let lanes = along.chunks(LANES).map(|chunk| {
                PanelColumn(std::array::from_fn(|lane| chunk.get(lane).copied().unwrap_or(f64::INFINITY)))
            });
            lanes.collect()
        });
        let bound = bound * (1.0 - f64::from(-40).exp2());
        Self { variance, bound, points: points.collect(), size: inducing.nrows(), scales }
    }

    /// The number m of inducing inputs.
    pub fn inducing_count(&self) -> usize {
        self.size
    }

    /// Value of one unit in the sums, for targets in this unit.
    pub fn units(&self, target: f64) -> IntegerSumUnits {
        let correlation = f64::from(-CORRELATION_BITS).exp2() * self.variance;
        IntegerSumUnits { a: correlation * target, b: correlation * correlation, squares: target * target }
    }

    /// Adds rows to the sums: d columns of inputs and the targets, at most `2^40` in size, all of one length. Costs about
    /// `n m (m + 1)` operations and n m exponentials.
    pub fn add_rows_to_sums(
        &self,
        inputs: &[&[f64]],
        targets: &[i64],
        sums: &mut KernelSums,
        scratch: &mut SumScratch,
    ) {
        for first in (0..targets.len()).step_by(EXACT) {
            let end = targets.len().min(first + EXACT);
            scratch.clear(self.size.div_ceil(LANES));
            for start in (first..end).step_by(ROWS) {
                let range = start..end.min(start + ROWS);
                let inputs: Vec<&[f64]> = inputs.iter().map(|column| &column[range.clone()]).collect();
                scratch.add_rows(self, &inputs, &targets[range], &mut sums.a);
            }
            scratch.add_products_to(&mut sums.b, self.size);
        }
        sums.rows += targets.len() as u64;
        sums.squares += targets.iter().map(|y| i128::from(*y).pow(2)).sum::<i128>();
    }
}

impl SumScratch {
    /// Empty sums for this number of panels.
    fn clear(&mut self, panels: usize) {
        let entries = (panels * LANES).pow(2);
        self.correlations.resize(panels * ROWS, PanelColumn::default());
        self.products.clear();
        self.products.resize(entries, WHOLE);
        self.total.clear();
        self.total.resize(entries, 0);
    }

    /// Adds some rows, at most [`ROWS`].
    fn add_rows(&mut self, kernel: &QuantizedKernel, inputs: &[&[f64]], targets: &[i64], a: &mut [i128]) {
        let used = kernel.size.div_ceil(LANES) * targets.len();
        self.norms.clear();
        self.norms.resize(targets.len(), 0.0);
        let (level, correlations) = (Level::new(), &mut self.correlations[..used]);
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || fill_correlations(kernel, inputs, correlations, &mut self.norms)
        ));
        clip_row_norms(kernel, correlations, &self.norms);
        let digits: Vec<TargetDigits> = targets.iter().map(|y| TargetDigits::new(*y)).collect();
        for (panel, a) in correlations.chunks_exact(targets.len()).zip(a.chunks_mut(LANES)) {
            let sums = dispatch!(level, simd => simd.vectorize(
                #[inline(always)]
                || sum_times_digits(panel, &digits)
            ));
            a.iter_mut().zip(sums.totals()).for_each(|(sum, part)| *sum += part);
        }
        add_outer_panels(&mut self.products, correlations, targets.len());
        self.move_products_to_total(kernel.size);
    }

    /// Moves the products of the last rows to the total.
    fn move_products_to_total(&mut self, size: usize) {
        let wide = size.next_multiple_of(LANES);
        let columns = self.products.chunks_exact_mut(wide).zip(self.total.chunks_exact_mut(wide));
        for (j, (products, total)) in columns.enumerate().take(size) {
            for (product, total) in products[j..].iter_mut().zip(&mut total[j..]) {
                *total += (product.to_bits() - WHOLE.to_bits()) as i64;
                *product = WHOLE;
            }
        }
    }

    /// Adds the lower triangle of the total. The padding of the last panel is left out.
    fn add_products_to(&self, b: &mut [i128], size: usize) {
        let wide = size.next_multiple_of(LANES);
        let places = (0..size).flat_map(|j| j * wide + j..j * wide + size);
        b.iter_mut().zip(places).for_each(|(sum, place)| *sum += i128::from(self.total[place]));
    }
}

/// Scales rows that may be longer than the bound to less than it.
fn clip_row_norms(kernel: &QuantizedKernel, correlations: &mut [PanelColumn], norms: &[f64]) {
    let bound = f64::from(CORRELATION_BITS).exp2() * kernel.bound;
    for (row, norm) in norms.iter().enumerate() {
        // The margin of 2^-40 is more than the computed norm is off by, for any number of inducing inputs here.
        if norm.sqrt() * (1.0 + f64::from(-40).exp2()) <= bound {
            continue;
        }
        let factor = bound / norm.sqrt() * (1.0 - f64::from(-38).exp2());
        for panel in correlations.chunks_exact_mut(norms.len()) {
            panel[row].0.iter_mut().for_each(|c| *c = (*c * factor).floor());
        }
    }
}

impl TargetDigits {
    fn new(target: i64) -> Self {
        let high = target >> TARGET_DIGIT;
        Self { high: high as f64, low: (target - (high << TARGET_DIGIT)) as f64 }
    }
}

impl DigitSums {
    /// The eight sums.
    fn totals(&self) -> [i128; LANES] {
        std::array::from_fn(|lane| ((self.high.0[lane] as i128) << TARGET_DIGIT) + self.low.0[lane] as i128)
    }
}

/// Writes the correlations of each row with all inducing inputs, in whole numbers, and the squared norm of each row. Compiled
/// for each set of vector instructions, of which the processor's best is taken; all give the same numbers.
#[inline(always)]
fn fill_correlations(kernel: &QuantizedKernel, inputs: &[&[f64]], panels: &mut [PanelColumn], norms: &mut [f64]) {
    let one = f64::from(CORRELATION_BITS).exp2();
    for (p, panel) in panels.chunks_exact_mut(norms.len()).enumerate() {
        for (i, (out, norm)) in panel.iter_mut().zip(norms.iter_mut()).enumerate() {
            let mut c = [0.0; LANES];
            for ((column, points), scale) in inputs.iter().zip(&kernel.points).zip(&kernel.scales) {
                subtract_squared_distances(column[i] * scale, &points[p].0, &mut c);
            }
            for c in &mut c {
                *c = (one * exponential_of_nonpositive(*c)).round_ties_even();
            }
            *norm += squared_norm(&c);
            out.0 = c;
        }
    }
}

/// The sums of eight correlations times each digit of the targets, over at most [`ROWS`] rows: whole, and at most `2^50`.
#[inline(always)]
fn sum_times_digits(panel: &[PanelColumn], targets: &[TargetDigits]) -> DigitSums {
    let mut sums = DigitSums::default();
    for (c, y) in panel.iter().zip(targets) {
        for lane in 0..LANES {
            sums.high.0[lane] += c.0[lane] * y.high;
            sums.low.0[lane] += c.0[lane] * y.low;
        }
    }
    sums
}

/// By pairs, which leaves no sum waiting for the one before.
#[inline(always)]
fn squared_norm(c: &[f64; LANES]) -> f64 {
    let half: [f64; LANES / 2] = std::array::from_fn(|i| c[i].mul_add(c[i], c[i + 4] * c[i + 4]));
    (half[0] + half[2]) + (half[1] + half[3])
}

#[inline(always)]
fn subtract_squared_distances(x: f64, points: &[f64; LANES], out: &mut [f64; LANES]) {
    for (sum, z) in out.iter_mut().zip(points) {
        let distance = x - z;
        *sum = distance.mul_add(-distance, *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_gp::kernel::{ExponentiatedQuadratic, Kernel as _};
    use dpgp_gp::variational::{InducingInputs, SufficientStatistics};

    const UNIT: f64 = 1.0 / (1u64 << 38) as f64;

    fn rows(n: usize) -> (DMatrix<f64>, Vec<f64>) {
        let inputs = DMatrix::from_fn(n, 2, |i, d| 2.0 * ((i * (d + 3)) as f64 * 0.37).sin());
        (inputs, (0..n).map(|i| (i as f64 * 0.11).cos()).collect())
    }

    fn sums(kernel: &QuantizedKernel, inputs: &DMatrix<f64>, targets: &[f64]) -> KernelSums {
        let columns: Vec<&[f64]> = inputs.as_slice().chunks_exact(targets.len()).collect();
        let whole: Vec<i64> = targets.iter().map(|y| (y / UNIT) as i64).collect();
        let mut sums = KernelSums::zero(kernel.inducing_count());
        kernel.add_rows_to_sums(&columns, &whole, &mut sums, &mut SumScratch::default());
        sums
    }

    /// Against plain sums over the rows with the kernel as the models know it.
    #[test]
    fn the_sums_are_those_of_the_definition() {
        for (m, n) in [(1, 5), (9, 700), (25, 1300), (3, 40_000)] {
            let z = DMatrix::from_fn(m, 2, |i, d| (i % 5) as f64 * 0.4 - (i / 5 + d) as f64 * 0.3);
            let exact = ExponentiatedQuadratic::isotropic(1.3, 0.6);
            let (inputs, targets) = rows(n);
            let kernel = QuantizedKernel::new(1.3, &[0.6, 0.6], &z, (m as f64).sqrt());
            let statistics = sums(&kernel, &inputs, &targets).statistics(kernel.units(UNIT));
            let k = exact.matrix(&inputs, &z);
            let (a, b) = (k.transpose() * DMatrix::from_column_slice(n, 1, &targets), k.transpose() * &k);
            // A correlation is off by 2^-23, or by about 2^-22 if the bound cuts the row, and a product by twice as much.
            let off = 1.3 * f64::from(-22).exp2() * n as f64;
            assert!((&statistics.a - a.column(0)).amax() < off);
            assert!((&statistics.b - &b).amax() < 2.0 * 1.3 * off, "{}", (&statistics.b - &b).amax());
            assert_eq!(statistics.rows, n);
            let before = SufficientStatistics::new(&InducingInputs::new(&exact, &z).unwrap(), &inputs, &targets, 1.0);
            assert!((before.b - statistics.b).amax() < 2.0 * 1.3 * off);
        }
    }

    /// A correlation in one dimension, in whole numbers.
    fn whole(kernel: &QuantizedKernel, x: f64, z: f64) -> i128 {
        let distance = x * kernel.scales[0] - z * kernel.scales[0];
        ((1u64 << 22) as f64 * exponential_of_nonpositive(-distance * distance)).round_ties_even() as i128
    }

    /// The digits put together are the products of the whole numbers, without any rounding.
    #[test]
    fn digits_lose_nothing() {
        let z = DMatrix::from_row_slice(3, 1, &[0.0, 0.7, -1.1]);
        let (kernel, n) = (QuantizedKernel::new(1.0, &[0.9], &z, 2.0), 900);
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.77).sin() * 2.0).collect();
        let y: Vec<i64> = (0..n as i64).map(|i| (i - 450) * 2_443_359_172 + i).collect();
        let mut found = KernelSums::zero(3);
        kernel.add_rows_to_sums(&[&x], &y, &mut found, &mut SumScratch::default());
        let (mut a, mut b) = (vec![0i128; 3], Vec::new());
        for (j, sum) in a.iter_mut().enumerate() {
            *sum = x.iter().zip(&y).map(|(x, y)| whole(&kernel, *x, z[j]) * i128::from(*y)).sum();
            b.extend(
                (j..3).map(|i| x.iter().map(|x| whole(&kernel, *x, z[i]) * whole(&kernel, *x, z[j])).sum::<i128>()),
            );
        }
        assert_eq!((found.a, found.b), (a, b));
        assert_eq!(found.squares, y.iter().map(|y| i128::from(*y).pow(2)).sum::<i128>());
    }

    /// A bound below the norms, and inputs that reach it: what one row adds to B has at most the squared bound as its trace.
    #[test]
    fn no_row_is_longer_than_the_bound() {
        let z = DMatrix::from_fn(9, 1, |i, _| i as f64 * 0.2);
        let one = (1u128 << 22) as f64;
        for bound in [0.3, 1.0, 1.9, 2.6] {
            let kernel = QuantizedKernel::new(5.0, &[0.6], &z, bound);
            for x in [-3.0, 0.0, 0.5, 0.8, 2.0, f64::INFINITY] {
                let mut found = KernelSums::zero(9);
                kernel.add_rows_to_sums(&[&[x]], &[1], &mut found, &mut SumScratch::default());
                let trace: i128 = (0..9usize).map(|j| found.b[j * 9 - j * j.saturating_sub(1) / 2]).sum();
                assert!((trace as f64) <= (bound * one).powi(2), "{bound} {x}");
            }
        }
    }

    #[test]
    fn each_input_has_its_lengthscale() {
        let z = DMatrix::from_row_slice(1, 3, &[1.0, -2.0, 0.5]);
        let x = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 0.0]);
        let kernel = QuantizedKernel::new(2.0, &[1.0, 3.0, 0.25], &z, 1.0);
        let found = sums(&kernel, &x, &[3.0]);
        let expected = 2.0 * (-0.5f64 * (1.0 + 1.0 + 4.0)).exp();
        let statistics = found.statistics(kernel.units(UNIT));
        assert!((statistics.a[0] - 3.0 * expected).abs() < 2e-6);
        assert!((statistics.b[(0, 0)] - expected * expected).abs() < 2e-6);
        assert_eq!((found.rows, found.squares as f64 * kernel.units(UNIT).squares), (1, 9.0));
    }
}
