//! Fourier moments in whole numbers.

use nalgebra::DVector;
use rand::Rng;
use rayon::prelude::*;

use super::frequencies::{BITS, PhaseTable, is_zero};
use super::{FourierMomentsDesign, FourierMomentsNoise, Frequencies};
use dpgp_gp::sites::{FeatureSums, LatticeCellCountAndSum, LatticeCountsAndSums, NoisyFeatureSums};
use dpgp_noise::RoundedGaussian;
use dpgp_number::{OutOfRangeError, Positive};

/// The moments of rows on a lattice, for targets in a unit h: `b` in units of `2^-40 h`, `T` of `2^-40`, `q` of `h^2`.
///
/// Sums are exact, in any order: an entry of n rows is less than `2^62 n`.
///
/// Obligation: a row's vector of weighted entries, `sqrt(u_j) y e_j` and `sqrt(t_k) e_k`, is off from that of real cosines by at most
/// `eta = 2^-39 sqrt(sum_k 2 t_k + R^2 sum_j 2 u_j)`, since each entry of a table is off by less than 2 units and `|y| <= R`; `y` and `y^2` are
/// exact. So replacing a row moves the release by at most `D + 2 eta` ([`FourierMomentsDesign::lattice_sensitivity`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerFourierMoments {
    rows: u64,
    weighted: Vec<i128>,
    plain: Vec<i128>,
    squares: i128,
}

/// Sums at one frequency over the rows of a cell.
#[derive(Clone, Copy)]
enum SummedQuantity {
    Targets,
    Rows,
}

impl SummedQuantity {
    fn value(self, cell: &LatticeCellCountAndSum) -> i128 {
        match self {
            Self::Targets => i128::from(cell.targets),
            Self::Rows => i128::from(cell.rows),
        }
    }
}

impl IntegerFourierMoments {
    /// Of rows.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless the period of the design is a whole number of cells that a table holds.
    pub fn new(design: &FourierMomentsDesign, rows: &LatticeCountsAndSums) -> Result<Self, OutOfRangeError> {
        let table = PhaseTable::for_lattice(rows.lattice, design.period)?;
        if table.period() != design.period {
            return Err(OutOfRangeError::new("a whole number of cells", design.period));
        }
        let located = LocatedCells::new(rows);
        Ok(Self {
            rows: rows.rows,
            weighted: located.sum_waves(&design.frequencies, &table, SummedQuantity::Targets),
            plain: located.sum_waves(&design.pairs, &table, SummedQuantity::Rows),
            squares: rows.squares,
        })
    }

    /// In real units, for this unit of targets.
    pub fn to_real_units(&self, unit: f64) -> FeatureSums {
        let units = IntegerUnits::new(unit);
        FeatureSums {
            rows: usize::try_from(self.rows).unwrap_or(usize::MAX),
            weighted: DVector::from_iterator(
                self.weighted.len(),
                self.weighted.iter().map(|b| *b as f64 * units.weighted),
            ),
            plain: DVector::from_iterator(self.plain.len(), self.plain.iter().map(|t| *t as f64 * units.plain)),
            squares: self.squares as f64 * units.squares,
        }
    }

    /// With exactly rounded noise on each number, for this unit of targets.
    ///
    /// Obligation: the noise is that of [`FourierMomentsDesign::lattice_noise`], so that this is a function of a Gaussian mechanism with
    /// `mu = 1 / sigma`. The number of rows gets noise if the noise has an entry for it; otherwise it is public.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for noise beyond 128 bits, or of zero.
    pub fn release(
        &self,
        noise: &FourierMomentsNoise,
        unit: f64,
        source: &mut impl Rng,
    ) -> Result<NoisyFeatureSums, OutOfRangeError> {
        let units = IntegerUnits::new(unit);
        let rows = match noise.rows {
            Some(sd) => add_rounded_noise(&[i128::from(self.rows)], &[sd], 1.0, source)?[0].max(1),
            None => i128::from(self.rows),
        };
        let noisy = Self {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            weighted: add_rounded_noise(&self.weighted, noise.weighted.as_slice(), units.weighted, source)?,
            plain: add_rounded_noise(&self.plain, noise.plain.as_slice(), units.plain, source)?,
            squares: add_rounded_noise(&[self.squares], &[noise.squares], units.squares, source)?[0],
        };
        Ok(noise.attach_variances(noisy.to_real_units(unit)))
    }
}

/// Value of one unit of each whole number.
struct IntegerUnits {
    weighted: f64,
    plain: f64,
    squares: f64,
}

impl IntegerUnits {
    fn new(unit: f64) -> Self {
        let phase = f64::from(-BITS).exp2();
        Self { weighted: phase * unit, plain: phase, squares: unit * unit }
    }
}

/// Cells with their coordinates.
struct LocatedCells<'a> {
    cells: &'a [LatticeCellCountAndSum],
    /// The cell along each input, a list for each.
    coordinates: Vec<Vec<usize>>,
}

/// An input that a frequency turns with.
struct NonzeroDimension<'a> {
    /// The phase at each of its cells.
    phases: Vec<usize>,
    /// Its cell for each cell of the box that holds rows.
    cells: &'a [usize],
}

impl<'a> LocatedCells<'a> {
    fn new(rows: &'a LatticeCountsAndSums) -> Self {
        let mut coordinates = vec![Vec::with_capacity(rows.cells.len()); rows.lattice.dimensions()];
        for cell in &rows.cells {
            let along = rows.lattice.coordinates(cell.place);
            coordinates.iter_mut().zip(along).for_each(|(list, cell)| list.push(cell as usize));
        }
        Self { cells: &rows.cells, coordinates }
    }

    /// The sums of each frequency's cosine and sine, times what is summed; for the zero of the cosine alone.
    fn sum_waves(&self, frequencies: &Frequencies, table: &PhaseTable, factor: SummedQuantity) -> Vec<i128> {
        let vectors = frequencies.vectors().par_iter();
        let pairs: Vec<Vec<i128>> = vectors.map(|frequency| self.sum_wave(frequency, table, factor)).collect();
        pairs.into_iter().flatten().collect()
    }

    /// The inputs whose entry is not zero: no other turns a phase.
    fn nonzero_dimensions(&self, frequency: &[i64], table: &PhaseTable) -> Vec<NonzeroDimension<'_>> {
        let inputs = frequency.iter().zip(&self.coordinates).filter(|(entry, _)| **entry != 0);
        inputs.map(|(entry, cells)| NonzeroDimension { phases: table.phases_along_input(*entry), cells }).collect()
    }

    fn sum_wave(&self, frequency: &[i64], table: &PhaseTable, factor: SummedQuantity) -> Vec<i128> {
        let turning = self.nonzero_dimensions(frequency, table);
        let (mut cosines, mut sines) = (0i128, 0i128);
        for (place, cell) in self.cells.iter().enumerate() {
            let phase =
                table.cosine_and_sine_at_phase(turning.iter().map(|input| input.phases[input.cells[place]]).sum());
            cosines += factor.value(cell) * i128::from(phase.cosine);
            sines += factor.value(cell) * i128::from(phase.sine);
        }
        if is_zero(frequency) { vec![cosines] } else { vec![cosines, sines] }
    }
}

pub(super) fn add_rounded_noise(
    numbers: &[i128],
    sds: &[f64],
    unit: f64,
    source: &mut impl Rng,
) -> Result<Vec<i128>, OutOfRangeError> {
    let mut noisy = Vec::with_capacity(numbers.len());
    for (number, sd) in numbers.iter().zip(sds) {
        noisy.extend(RoundedGaussian::new(Positive::new(sd / unit)?)?.add_noise(&[*number], source));
    }
    Ok(noisy)
}

impl FourierMomentsDesign {
    /// `D + 2 eta`, the sensitivity of [`IntegerFourierMoments`].
    pub fn lattice_sensitivity(&self) -> f64 {
        let bound = self.rule.target_bound();
        let entries =
            2.0 * self.pair_weights.iter().sum::<f64>() + 2.0 * bound * bound * self.weights.iter().sum::<f64>();
        let error = 2.0 * f64::from(-BITS).exp2() * entries.sqrt();
        self.rule.sensitivity() + 2.0 * error
    }

    /// Noise of `sigma` sensitivities on the lattice.
    pub fn lattice_noise(&self, sigma: f64) -> FourierMomentsNoise {
        FourierMomentsNoise::new(self, sigma * self.lattice_sensitivity())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    /// Noise of 3 in units of 1/2 is noise of 6 on whole numbers, whose mean square over 4000 is within 5 standard errors of 36.
    #[test]
    fn noise_is_in_units_of_the_numbers() {
        let mut stream = Pcg64::seed_from_u64(9);
        let noisy = add_rounded_noise(&[100; 4000], &[3.0; 4000], 0.5, &mut stream).unwrap();
        let square = noisy.iter().map(|x| ((x - 100) as f64).powi(2)).sum::<f64>() / 4000.0;
        assert!((square / 36.0 - 1.0).abs() < 0.12, "{square}");
    }

    /// One of each whole number, for targets in units of 3.
    #[test]
    fn whole_numbers_have_units() {
        let whole =
            IntegerFourierMoments { rows: 7, weighted: vec![1 << 40, 1 << 41], plain: vec![3 << 40], squares: 5 };
        let real = whole.to_real_units(3.0);
        assert_eq!((real.rows, real.weighted.as_slice(), real.plain.as_slice()), (7, &[3.0, 6.0][..], &[3.0][..]));
        assert_eq!(real.squares, 45.0);
    }

    /// Rows in cells (1, 6) and (7, 2) of a lattice of 8 by 8: sums of targets and of rows over the midpoints, to two units of `2^-40` a row.
    #[test]
    fn sums_are_those_of_rows_at_midpoints() {
        use dpgp_gp::sites::Lattice;
        let lattice = Lattice::new(8, 2);
        let frequencies = Frequencies::from_vectors([vec![0, 0], vec![0, 1], vec![1, 0], vec![1, -2]]);
        let weights = vec![0.4, 0.3, 0.2, 0.1];
        let design =
            FourierMomentsDesign::from_weights(frequencies, weights, lattice.nearest_whole_cell_period(1.5), 4.0, 2.0)
                .unwrap();
        let points = [[1.5 / 8.0, 6.5 / 8.0], [7.5 / 8.0, 2.5 / 8.0]];
        let (targets, rows) = ([5i64, -3], [2u64, 1]);
        let cells = (0..2).map(|i| LatticeCellCountAndSum {
            place: lattice.cell_index(&points[i]),
            rows: rows[i],
            targets: targets[i],
        });
        let counted = LatticeCountsAndSums { lattice, rows: 3, cells: cells.collect(), squares: 22 };
        let found = IntegerFourierMoments::new(&design, &counted).unwrap().to_real_units(1.0);
        let inputs = nalgebra::DMatrix::from_row_slice(3, 2, &[points[0], points[0], points[1]].concat());
        let expected = design.compute_moments(&inputs, &[2.0, 3.0, -3.0]);
        assert!((found.weighted - expected.weighted).amax() < 1e-11);
        assert!((found.plain - expected.plain).amax() < 1e-11);
        assert_eq!((found.rows, found.squares), (3, 22.0));
        let off = FourierMomentsDesign { period: 1.49, ..design };
        assert!(IntegerFourierMoments::new(&off, &counted).is_err());
    }
}
