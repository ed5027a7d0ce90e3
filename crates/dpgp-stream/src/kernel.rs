//! Covariances with the inducing inputs and their sums, many rows at a time, in whole numbers.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;

use super::KernelSums;
use dpgp_gp::variational::IntegerSumUnits;
use dpgp_linalg::{LANES, PanelColumn, add_outer_panels, exponential_of_nonpositive};

/// Rows whose covariances are held at a time: with m = 256 their three forms fill most of a second-level cache of 2 MB.
const ROWS: usize = 256;
/// Rows whose sums are exact in doubles: a product of two digits of 19 bits, so many times, is below `2^53`.
const EXACT: usize = 1 << 14;
/// Bits of a digit of a covariance, which has two.
const DIGIT: i32 = 18;
/// Bits of the lower digit of a target.
const TARGET_DIGIT: i32 = 20;

/// An exponentiated quadratic kernel `v exp(-sum_d (x_d - z_d)^2 / (2 l_d^2))` and m inducing inputs z, in whole numbers: a
/// correlation c in [0, 1] is `floor(2^36 c)`.
///
/// Obligation: the whole numbers of a row, as a vector, are at most `2^36 bound` long, whatever its inputs are. Proof: a vector
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
    whole: Vec<PanelColumn>,
    /// Their upper digits, their lower digits and the sums of both.
    high: Vec<PanelColumn>,
    low: Vec<PanelColumn>,
    both: Vec<PanelColumn>,
    /// The squared norm of each row.
    norms: Vec<f64>,
    a: Vec<DigitSums>,
    /// The outer products of the three forms.
    products: [Vec<f64>; 3],
}

/// Sums of the digits of eight correlations times those of targets.
#[derive(Debug, Clone, Copy, Default)]
struct DigitSums {
    high_high: PanelColumn,
    high_low: PanelColumn,
    low_high: PanelColumn,
    low_low: PanelColumn,
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
        let correlation = f64::from(-2 * DIGIT).exp2() * self.variance;
        IntegerSumUnits { a: correlation * target, b: correlation * correlation, squares: target * target }
    }

    /// Adds rows to the sums: d columns of inputs and the targets, at most `2^40` in size, all of one length. Costs about
    /// `3 n m (m + 1)` operations and n m exponentials.
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
                scratch.add_rows(self, &inputs, &targets[range]);
            }
            scratch.add_to(sums);
        }
        sums.rows += targets.len() as u64;
        sums.squares += targets.iter().map(|y| i128::from(*y).pow(2)).sum::<i128>();
    }
}

impl SumScratch {
    /// Empty sums for this number of panels.
    fn clear(&mut self, panels: usize) {
        for form in [&mut self.whole, &mut self.high, &mut self.low, &mut self.both] {
            form.resize(panels * ROWS, PanelColumn::default());
        }
        self.a.clear();
        self.a.resize(panels, DigitSums::default());
        for product in &mut self.products {
            product.clear();
            product.resize((panels * LANES).pow(2), 0.0);
        }
    }

    /// Adds some rows, at most [`ROWS`].
    fn add_rows(&mut self, kernel: &QuantizedKernel, inputs: &[&[f64]], targets: &[i64]) {
        let used = self.a.len() * targets.len();
        self.norms.clear();
        self.norms.resize(targets.len(), 0.0);
        let level = Level::new();
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || fill_correlations(kernel, inputs, &mut self.whole[..used], &mut self.norms)
        ));
        self.clip_row_norms(kernel);
        let digits: Vec<TargetDigits> = targets.iter().map(|y| TargetDigits::new(*y)).collect();
        let forms = CorrelationDigits {
            whole: &self.whole[..used],
            high: &mut self.high[..used],
            low: &mut self.low[..used],
            both: &mut self.both[..used],
        };
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || forms.split_and_accumulate(&digits, &mut self.a)
        ));
        let [high, low, both] = &mut self.products;
        add_outer_panels(high, &self.high[..used], targets.len());
        add_outer_panels(low, &self.low[..used], targets.len());
        add_outer_panels(both, &self.both[..used], targets.len());
    }

    /// Scales rows that may be longer than the bound to less than it.
    fn clip_row_norms(&mut self, kernel: &QuantizedKernel) {
        let rows = self.norms.len();
        let bound = f64::from(2 * DIGIT).exp2() * kernel.bound;
        for (row, norm) in self.norms.iter().enumerate() {
            // The margin of 2^-40 is more than the computed norm is off by, for any number of inducing inputs here.
            if norm.sqrt() * (1.0 + f64::from(-40).exp2()) <= bound {
                continue;
            }
            let factor = bound / norm.sqrt() * (1.0 - f64::from(-38).exp2());
            for panel in self.whole.chunks_exact_mut(rows).take(self.a.len()) {
                panel[row].0.iter_mut().for_each(|c| *c = (*c * factor).floor());
            }
        }
    }

    /// Puts the digits together, without what fills the last panel.
    fn add_to(&self, sums: &mut KernelSums) {
        let size = sums.a.len();
        let parts = self.a.iter().flat_map(DigitSums::totals);
        sums.a.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        let [high, low, both] = &self.products;
        let wide = self.a.len() * LANES;
        let places = (0..size).flat_map(|j| j * wide + j..j * wide + size);
        for (sum, place) in sums.b.iter_mut().zip(places) {
            // (h + l)(h' + l') - h h' - l l' = h l' + l h'.
            let mixed = both[place] - high[place] - low[place];
            *sum += (high[place] as i128) << (2 * DIGIT);
            *sum += ((mixed as i128) << DIGIT) + low[place] as i128;
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
        std::array::from_fn(|lane| {
            let upper = ((self.high_high.0[lane] as i128) << TARGET_DIGIT) + self.high_low.0[lane] as i128;
            let lower = ((self.low_high.0[lane] as i128) << TARGET_DIGIT) + self.low_low.0[lane] as i128;
            (upper << DIGIT) + lower
        })
    }
}

/// Writes the correlations of each row with all inducing inputs, in whole numbers, and the squared norm of each row. Compiled
/// for each set of vector instructions, of which the processor's best is taken; all give the same numbers.
#[inline(always)]
fn fill_correlations(kernel: &QuantizedKernel, inputs: &[&[f64]], panels: &mut [PanelColumn], norms: &mut [f64]) {
    let one = f64::from(2 * DIGIT).exp2();
    for (p, panel) in panels.chunks_exact_mut(norms.len()).enumerate() {
        for (i, (out, norm)) in panel.iter_mut().zip(norms.iter_mut()).enumerate() {
            let mut c = [0.0; LANES];
            for ((column, points), scale) in inputs.iter().zip(&kernel.points).zip(&kernel.scales) {
                subtract_squared_distances(column[i] * scale, &points[p].0, &mut c);
            }
            for c in &mut c {
                *c = (one * exponential_of_nonpositive(*c)).floor();
            }
            *norm += squared_norm(&c);
            out.0 = c;
        }
    }
}

/// The forms of the correlations of some rows.
struct CorrelationDigits<'a> {
    whole: &'a [PanelColumn],
    high: &'a mut [PanelColumn],
    low: &'a mut [PanelColumn],
    both: &'a mut [PanelColumn],
}

impl CorrelationDigits<'_> {
    /// Splits correlations into digits, and adds these times those of the targets to `a`. Every number and every sum is whole
    /// and below `2^53`, so that none is rounded.
    #[inline(always)]
    fn split_and_accumulate(self, targets: &[TargetDigits], a: &mut [DigitSums]) {
        let rows = targets.len();
        let (up, down) = (f64::from(DIGIT).exp2(), f64::from(-DIGIT).exp2());
        for (p, sums) in a.iter_mut().enumerate() {
            let mut total = *sums;
            for (i, y) in targets.iter().enumerate() {
                let place = p * rows + i;
                let whole = &self.whole[place].0;
                let (high, low, both) = (&mut self.high[place].0, &mut self.low[place].0, &mut self.both[place].0);
                for lane in 0..LANES {
                    high[lane] = (whole[lane] * down).floor();
                    low[lane] = whole[lane] - high[lane] * up;
                    both[lane] = high[lane] + low[lane];
                    total.high_high.0[lane] += high[lane] * y.high;
                    total.high_low.0[lane] += high[lane] * y.low;
                    total.low_high.0[lane] += low[lane] * y.high;
                    total.low_low.0[lane] += low[lane] * y.low;
                }
            }
            *sums = total;
        }
    }
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
            assert!((&statistics.a - a.column(0)).amax() < 4e-11 * n as f64);
            assert!((&statistics.b - &b).amax() < 5e-11 * n as f64, "{}", (&statistics.b - &b).amax());
            assert_eq!(statistics.rows, n);
            let before = SufficientStatistics::new(&InducingInputs::new(&exact, &z).unwrap(), &inputs, &targets, 1.0);
            assert!((before.b - statistics.b).amax() < 5e-11 * n as f64);
        }
    }

    /// A correlation in one dimension, in whole numbers.
    fn whole(kernel: &QuantizedKernel, x: f64, z: f64) -> i128 {
        let distance = x * kernel.scales[0] - z * kernel.scales[0];
        ((1u64 << 36) as f64 * exponential_of_nonpositive(-distance * distance)).floor() as i128
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
        let one = (1u128 << 36) as f64;
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
        assert!((statistics.a[0] - 3.0 * expected).abs() < 1e-9);
        assert!((statistics.b[(0, 0)] - expected * expected).abs() < 1e-9);
        assert_eq!((found.rows, found.squares as f64 * kernel.units(UNIT).squares), (1, 9.0));
    }
}
