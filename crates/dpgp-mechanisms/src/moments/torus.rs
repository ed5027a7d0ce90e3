//! The spectrum of a kernel at each frequency, and the Gram matrix of waves.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector};

use super::Frequencies;
use super::frequencies::{AxisWaves, Waves, canonical_half_space_vector, is_zero};
use dpgp_gp::kernel::{BoxKernel, ExponentiatedQuadraticTerm};
use dpgp_gp::sites::{GramEntry, GramMap, GramMapTerm, PublicReferenceModel};

/// The kernel of a reference on a torus.
pub(super) struct TorusKernel<'a> {
    reference: &'a PublicReferenceModel,
    period: f64,
    masses: SpectralMassSource,
}

/// Where spectral masses come from.
enum SpectralMassSource {
    /// By the spectral densities of the exponentiated quadratic kernels that it is the sum of.
    Density(Vec<ExponentiatedQuadraticTerm>),
    /// By a table.
    Table(SpectralMassTable),
}

impl<'a> TorusKernel<'a> {
    pub fn new(reference: &'a PublicReferenceModel, period: f64) -> Self {
        let masses = match reference.kernel.exponentiated_quadratic_terms() {
            Some(parts) => SpectralMassSource::Density(parts),
            None => SpectralMassSource::Table(SpectralMassTable::new(&reference.kernel, period)),
        };
        Self { reference, period, masses }
    }

    /// The mass at `j + sign k`, and the variance of the mean at the zero.
    pub fn spectral_mass(&self, j: &[i64], k: &[i64], sign: i64) -> f64 {
        let turns: Vec<i64> = j.iter().zip(k).map(|(a, b)| a + sign * b).collect();
        let mass = match &self.masses {
            SpectralMassSource::Density(parts) => parts.iter().map(|part| self.spectral_density(part, &turns)).sum(),
            SpectralMassSource::Table(table) => self.reference.kernel.variance() * table.spectral_mass(&turns),
        };
        if turns.iter().all(|turn| *turn == 0) { mass + self.reference.bias } else { mass }
    }

    /// The spectral density over `P^d`; along an input that the kernel does not depend on all of it is at zero.
    fn spectral_density(&self, part: &ExponentiatedQuadraticTerm, turns: &[i64]) -> f64 {
        let mut density = part.variance;
        for (turn, lengthscale) in turns.iter().zip(&part.lengthscales) {
            if lengthscale.is_infinite() {
                density *= f64::from(*turn == 0);
                continue;
            }
            let frequency = TAU * lengthscale * *turn as f64 / self.period;
            let height = TAU.sqrt() * lengthscale / self.period;
            density *= height * (-0.5 * frequency * frequency).exp();
        }
        density
    }
}

/// The masses of the correlations of a kernel, repeated with the period: `M^-d sum_i c(d_i) prod_l cos(2 pi j_l i_l / M)` over the M^d
/// points `d_i` of a grid over a period, each coordinate between a half period on either side. The kernels of specs are even in
/// each input, so that cosines are enough.
struct SpectralMassTable {
    masses: Vec<f64>,
    /// Frequencies along an input, from zero.
    width: usize,
}

/// Points of the grid along each of one to four inputs; half of them is more than the greatest frequency that is asked for.
const POINTS: [usize; 4] = [256, 64, 32, 16];

impl SpectralMassTable {
    fn new(kernel: &BoxKernel, period: f64) -> Self {
        let dimensions = kernel.dimensions();
        let points = POINTS[dimensions.clamp(1, POINTS.len()) - 1];
        let width = points / 2;
        let waves = DMatrix::from_fn(width, points, |j, i| {
            (TAU * (j * i % points) as f64 / points as f64).cos() / points as f64
        });
        let mut masses = periodic_grid_correlations(kernel, period, points);
        for _ in 0..dimensions {
            let rest = masses.len() / points;
            let along = &waves * DMatrix::from_vec(points, rest, masses);
            // The first input goes to the end, and the next comes first.
            masses = along.transpose().as_slice().to_vec();
        }
        Self { masses: masses.into_iter().map(|mass| mass.max(0.0)).collect(), width }
    }

    /// Zero beyond the table.
    fn spectral_mass(&self, turns: &[i64]) -> f64 {
        let mut place = 0;
        for turn in turns.iter().rev() {
            let turn = turn.unsigned_abs() as usize;
            if turn >= self.width {
                return 0.0;
            }
            place = place * self.width + turn;
        }
        self.masses[place]
    }
}

/// Of a displacement at each point of the grid with zero; the first coordinate moves fastest.
fn periodic_grid_correlations(kernel: &BoxKernel, period: f64, points: usize) -> Vec<f64> {
    let (dimensions, correlations) = (kernel.dimensions(), kernel.correlation_kernel(1.0));
    let zero = vec![0.0; dimensions];
    let count = (0..dimensions).fold(1, |count, _| count * points);
    let mut values = Vec::with_capacity(count);
    for place in 0..count {
        let (mut rest, mut displacement) = (place, Vec::with_capacity(dimensions));
        for _ in 0..dimensions {
            let turn = rest % points;
            displacement.push(period * turn.min(points - turn) as f64 / points as f64);
            rest /= points;
        }
        values.push(correlations.value(&displacement, &zero));
    }
    values
}

/// The cosine or the sine of a frequency: a feature.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaveKind {
    Cosine,
    Sine,
}

/// The features of some frequencies, each with its frequency.
struct TorusWave<'a> {
    frequency: &'a [i64],
    wave: WaveKind,
}

impl Frequencies {
    /// How the Gram matrix of these waves follows from the plain sums of others, where they were released, for inputs that are
    /// spread like the sites (G x d).
    ///
    /// With `C(k) = sum_i cos(2 pi k.x_i / P)` and S(k) the same of sines, `C(0) = n`, `S(0) = 0`:
    ///
    /// ```text
    /// cos i cos j = (C(i - j) + C(i + j)) / 2,    sin i sin j = (C(i - j) - C(i + j)) / 2,    sin i cos j = (S(i + j) + S(i - j)) / 2.
    /// ```
    pub fn gram_map(&self, released: &Self, sites: &DMatrix<f64>, period: f64) -> GramMap {
        let features = self.list_waves();
        let mut builder =
            GramBuilder { constant: DMatrix::zeros(features.len(), features.len()), sums: BTreeMap::new() };
        for (row, one) in features.iter().enumerate() {
            for (column, other) in features.iter().enumerate() {
                builder.add_product(row, column, one, other);
            }
        }
        let places = released.cosine_column_indices();
        let mut sums = Vec::new();
        let axes = AxisWaves::new(builder.sums.keys().map(Vec::as_slice), sites, period);
        for (vector, entries) in builder.sums {
            let Waves { cosines, sines } = axes.waves_of_vector(&vector);
            let place = places.get(vector.as_slice());
            for (wave, (entries, column)) in entries.into_iter().zip([cosines, sines]).enumerate() {
                let column = DVector::from_vec(column);
                let released = place.map(|place| place + wave);
                sums.push(GramMapTerm { mean: column.mean(), variance: column.variance(), released, entries });
            }
        }
        GramMap { constant: builder.constant, sums }
    }

    /// The features in the order of their columns.
    fn list_waves(&self) -> Vec<TorusWave<'_>> {
        let mut features = Vec::new();
        for frequency in &self.vectors {
            features.push(TorusWave { frequency, wave: WaveKind::Cosine });
            features.extend((!is_zero(frequency)).then_some(TorusWave { frequency, wave: WaveKind::Sine }));
        }
        features
    }

    /// The column of the cosine of each frequency.
    fn cosine_column_indices(&self) -> BTreeMap<&[i64], usize> {
        let (mut places, mut next) = (BTreeMap::new(), 0);
        for vector in &self.vectors {
            places.insert(vector.as_slice(), next);
            next += if is_zero(vector) { 1 } else { 2 };
        }
        places
    }
}

/// The coefficients of a Gram matrix.
struct GramBuilder {
    constant: DMatrix<f64>,
    /// For each frequency the entries of the matrices of its cosine and of its sine.
    sums: BTreeMap<Vec<i64>, [Vec<GramEntry>; 2]>,
}

impl GramBuilder {
    /// The product of two features, in sums of waves.
    fn add_product(&mut self, row: usize, column: usize, one: &TorusWave<'_>, other: &TorusWave<'_>) {
        let (sum, difference) = (signed_frequency_sum(one, other, 1), signed_frequency_sum(one, other, -1));
        // The halves of the waves of the sum and of the difference of the frequencies.
        let (wave, of_sum, of_difference) = match (one.wave, other.wave) {
            (WaveKind::Cosine, WaveKind::Cosine) => (WaveKind::Cosine, 0.5, 0.5),
            (WaveKind::Sine, WaveKind::Sine) => (WaveKind::Cosine, -0.5, 0.5),
            (WaveKind::Sine, WaveKind::Cosine) => (WaveKind::Sine, 0.5, 0.5),
            (WaveKind::Cosine, WaveKind::Sine) => (WaveKind::Sine, 0.5, -0.5),
        };
        self.add_wave(sum, wave, GramEntry { row, column, factor: of_sum });
        self.add_wave(difference, wave, GramEntry { row, column, factor: of_difference });
    }

    /// A multiple of the wave of a frequency, whose sine turns its sign with it.
    fn add_wave(&mut self, frequency: Vec<i64>, wave: WaveKind, entry: GramEntry) {
        if is_zero(&frequency) {
            if wave == WaveKind::Cosine {
                self.constant[(entry.row, entry.column)] += entry.factor;
            }
            return;
        }
        let turned = canonical_half_space_vector(frequency.clone());
        let sign = if wave == WaveKind::Sine && turned != frequency { -1.0 } else { 1.0 };
        let entries = &mut self.sums.entry(turned).or_default()[usize::from(wave == WaveKind::Sine)];
        let factor = sign * entry.factor;
        // The two waves of a product with the constant are one and the same.
        match entries.iter_mut().find(|known| (known.row, known.column) == (entry.row, entry.column)) {
            Some(known) => known.factor += factor,
            None => entries.push(GramEntry { factor, ..entry }),
        }
    }
}

/// `i + sign j`.
fn signed_frequency_sum(one: &TorusWave<'_>, other: &TorusWave<'_>, sign: i64) -> Vec<i64> {
    one.frequency.iter().zip(other.frequency).map(|(i, j)| i + sign * j).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str, dimensions: usize) -> BoxKernel {
        BoxKernel::new(&toml::from_str(text).unwrap(), vec![1.0; dimensions]).unwrap()
    }

    /// The table of a kernel that fades within the period is its spectral density, in one and two dimensions.
    #[test]
    fn tables_are_densities() {
        for dimensions in [1, 2] {
            let kernel = kernel("eq = { variance = 2.0, lengthscale = 0.15 }", dimensions);
            let reference = PublicReferenceModel {
                rows: 1,
                bound: 1.0,
                bias: 0.25,
                kernel: kernel.clone(),
                noise_variance: 1.0,
                concentration: 1.0,
            };
            let (closed, table) = (TorusKernel::new(&reference, 1.6), SpectralMassTable::new(&kernel, 1.6));
            for turns in [vec![0, 0], vec![3, 0], vec![1, -4]] {
                let (turns, none) = (&turns[..dimensions], vec![0; dimensions]);
                let bias = if turns.iter().all(|turn| *turn == 0) { 0.25 } else { 0.0 };
                let expected = closed.spectral_mass(turns, &none, 1) - bias;
                assert!((2.0 * table.spectral_mass(turns) - expected).abs() < 1e-6, "{turns:?} {expected}");
            }
        }
    }

    /// A function of the first input and one of both: off the axes only the pair has masses.
    #[test]
    fn additive_kernels_have_the_masses_of_their_parts() {
        let text = "additive = { lengthscales = [0.2, 0.3], variances = [1.5, 0.0], pairs = [{ inputs = [0, 1], variance = 0.5 }] }";
        let alone = kernel("eq = { variance = 1.5, lengthscale = 0.2 }", 1);
        let pair = kernel("eq-ard = { variance = 0.5, lengthscales = [0.2, 0.3] }", 2);
        let references = [kernel(text, 2), alone, pair].map(|kernel| PublicReferenceModel {
            rows: 1,
            bound: 1.0,
            bias: 0.0,
            kernel,
            noise_variance: 1.0,
            concentration: 1.0,
        });
        let [both, alone, pair] = [0, 1, 2].map(|which| TorusKernel::new(&references[which], 1.6));
        for turns in [[0, 0], [2, 0], [0, 1], [-1, 3]] {
            let expected = pair.spectral_mass(&turns, &[0, 0], 1)
                + if turns[1] == 0 { alone.spectral_mass(&turns[..1], &[0], 1) } else { 0.0 };
            assert!((both.spectral_mass(&turns, &[0, 0], 1) - expected).abs() < 1e-15, "{turns:?}");
        }
    }

    /// `exp(-r / l)` has the density `2 l / (1 + (2 pi l xi)^2)`, whose masses add up to nearly all of its variance.
    #[test]
    fn rough_kernels_have_heavy_tails() {
        let matern = kernel("matern = { smoothness = \"1/2\", variance = 1.0, lengthscales = [0.1] }", 1);
        let table = SpectralMassTable::new(&matern, 1.6);
        for turn in [0, 1, 5, 20] {
            let expected = 0.2 / 1.6 / (1.0 + (TAU * 0.1 * f64::from(turn) / 1.6).powi(2));
            let found = table.spectral_mass(&[i64::from(turn)]);
            assert!((found / expected - 1.0).abs() < 0.05, "{turn}: {found} {expected}");
        }
        assert_eq!(table.spectral_mass(&[500]), 0.0);
    }

    /// A wave of a third of the period has its mass there and nowhere between.
    #[test]
    fn periodic_kernels_have_lines() {
        let text = "periodic = { variance = 1.0, lengthscale = 2.0, period = 0.5 }";
        let table = SpectralMassTable::new(&kernel(text, 1), 1.5);
        assert!(table.spectral_mass(&[3]) > 0.05 && table.spectral_mass(&[0]) > 0.5);
        assert!(table.spectral_mass(&[1]) < 1e-12 && table.spectral_mass(&[2]) < 1e-12);
    }

    /// In one dimension the mass at `j + sign k` is `2 sqrt(2 pi) l / P exp(-(2 pi l j / P)^2 / 2)`, and the mean adds to the zero.
    #[test]
    fn masses_are_those_of_sums_and_differences() {
        let reference = PublicReferenceModel {
            rows: 1,
            bound: 1.0,
            bias: 0.25,
            kernel: kernel("eq = { variance = 2.0, lengthscale = 0.15 }", 1),
            noise_variance: 1.0,
            concentration: 1.0,
        };
        let torus = TorusKernel::new(&reference, 1.6);
        let density = |turn: f64| {
            let turned = TAU * 0.15 * turn / 1.6;
            2.0 * TAU.sqrt() * 0.15 / 1.6 * (-0.5 * turned * turned).exp()
        };
        assert!((torus.spectral_mass(&[2], &[1], 1) / density(3.0) - 1.0).abs() < 1e-12);
        assert!((torus.spectral_mass(&[2], &[1], -1) / density(1.0) - 1.0).abs() < 1e-12);
        assert!((torus.spectral_mass(&[2], &[2], -1) / (density(0.0) + 0.25) - 1.0).abs() < 1e-12);
    }

    fn rough(variance: f64) -> PublicReferenceModel {
        let text = format!("matern = {{ smoothness = \"1/2\", variance = {variance}, lengthscales = [0.1] }}");
        PublicReferenceModel {
            rows: 1,
            bound: 1.0,
            bias: 0.0,
            kernel: kernel(&text, 1),
            noise_variance: 1.0,
            concentration: 1.0,
        }
    }

    /// Tables are of correlations: the variance multiplies them.
    #[test]
    fn rough_masses_grow_with_the_variance() {
        let [one, five] = [rough(1.0), rough(5.0)];
        let masses = [&one, &five].map(|reference| TorusKernel::new(reference, 1.6).spectral_mass(&[2], &[1], 1));
        assert!(masses[0] > 0.0 && (masses[1] / masses[0] - 5.0).abs() < 1e-12, "{masses:?}");
    }
}

#[cfg(test)]
mod gram_map_tests {
    use super::*;

    /// From exact sums follows the Gram matrix of the features themselves.
    #[test]
    fn sums_of_waves_are_products_of_waves() {
        let rows = DMatrix::from_fn(9, 3, |i, l| (0.37 * (i * i + 1) as f64 * (l + 1) as f64).fract());
        let frequencies =
            Frequencies::from_vectors([vec![0, 0, 0], vec![1, 0, 0], vec![0, 2, 0], vec![1, -1, 0], vec![0, 0, 3]]);
        let pairs = super::super::FrequencyPairTable::new(&frequencies).frequencies;
        let map = frequencies.gram_map(&pairs, &rows, 1.3);
        let sums = pairs.features(&rows, 1.3).row_sum();
        let mut gram = map.constant * 9.0;
        for sum in &map.sums {
            let total = sums[sum.released.unwrap()];
            // The rows stand for the sites here.
            assert!((total - 9.0 * sum.mean).abs() < 1e-12);
            sum.entries.iter().for_each(|entry| gram[(entry.row, entry.column)] += total * entry.factor);
        }
        let features = frequencies.features(&rows, 1.3);
        assert!((gram - features.transpose() * features).amax() < 1e-12);
        // A sum that was not released has no place.
        let some = frequencies.gram_map(&Frequencies::from_vectors([vec![1, 0, 0]]), &rows, 1.3);
        assert_eq!(some.sums.iter().filter(|sum| sum.released.is_some()).count(), 2);
    }
}
