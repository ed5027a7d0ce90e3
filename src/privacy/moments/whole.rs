//! Fourier moments in whole numbers.

use nalgebra::DVector;
use rand::Rng;

use super::frequencies::is_zero;
use super::lattice_row::{LatticeRow, TARGET_BITS};
use super::phases::{BITS, PhaseTable};
use super::{Frequencies, MomentsDesign, MomentsNoise};
use crate::gp::sites::{NoisyFeatures, SummedFeatures};
use crate::number::{OutOfRange, Positive};
use crate::privacy::RoundedGaussian;

/// The moments of rows on a lattice: `b` in units of `2^-60 R`, `T` of `2^-40`, `q` of `2^-40 R^2`.
///
/// Sums are exact, in any order: an entry of n rows is less than `2^62 n`.
///
/// Obligation: a row's vector of weighted entries, `sqrt(u_j) y e_j` and `sqrt(t_k) e_k`, is off from that of real cosines by at most
/// `eta = 2^-39 sqrt(sum_k 2 t_k + R^2 sum_j 2 u_j)`, since each entry of a table is off by less than 2 units and `|y| <= R`; `y` and `y^2` are
/// exact. So replacing a row moves the release by at most `D + 2 eta` ([`MomentsDesign::lattice_sensitivity`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeMoments {
    rows: usize,
    weighted: Vec<i128>,
    plain: Vec<i128>,
    squares: i128,
}

impl WholeMoments {
    /// Of rows; the table has the period of the design.
    pub fn new(design: &MomentsDesign, table: &PhaseTable, rows: &[LatticeRow]) -> Self {
        let mut moments = Self { rows: rows.len(), weighted: Vec::new(), plain: Vec::new(), squares: 0 };
        moments.weighted = sums(&design.frequencies, table, rows, |row| row.target);
        moments.plain = sums(&design.pairs, table, rows, |_| 1);
        moments.squares = rows.iter().map(|row| i128::from(row.target).pow(2)).sum();
        moments
    }

    /// In real units.
    pub fn real(&self, bound: f64) -> SummedFeatures {
        let units = Units::of(bound);
        SummedFeatures {
            rows: self.rows,
            weighted: DVector::from_iterator(
                self.weighted.len(),
                self.weighted.iter().map(|b| *b as f64 * units.weighted),
            ),
            plain: DVector::from_iterator(
                self.plain.len(),
                self.plain.iter().map(|t| *t as f64 * units.plain),
            ),
            squares: self.squares as f64 * units.squares,
        }
    }

    /// With exactly rounded noise on each number.
    ///
    /// Obligation: the noise is that of [`MomentsDesign::lattice_noise`], so that this is a function of a Gaussian mechanism with
    /// `mu = 1 / sigma`.
    ///
    /// # Errors
    /// [`OutOfRange`] for noise beyond 128 bits, or of zero.
    pub fn release(
        &self,
        noise: &MomentsNoise,
        bound: f64,
        source: &mut impl Rng,
    ) -> Result<NoisyFeatures, OutOfRange> {
        let units = Units::of(bound);
        let noisy = Self {
            rows: self.rows,
            weighted: added(&self.weighted, noise.weighted.as_slice(), units.weighted, source)?,
            plain: added(&self.plain, noise.plain.as_slice(), units.plain, source)?,
            squares: added(&[self.squares], &[noise.squares], units.squares, source)?[0],
        };
        Ok(noise.stated(noisy.real(bound)))
    }
}

/// What a unit of each whole number is worth.
struct Units {
    weighted: f64,
    plain: f64,
    squares: f64,
}

impl Units {
    fn of(bound: f64) -> Self {
        let (phase, target) = (f64::from(-BITS).exp2(), f64::from(-TARGET_BITS).exp2() * bound);
        Self { weighted: phase * target, plain: phase, squares: target * target }
    }
}

/// The sums over rows of each frequency's cosine and sine, times a whole number; for the zero of the cosine alone.
fn sums(
    frequencies: &Frequencies,
    table: &PhaseTable,
    rows: &[LatticeRow],
    factor: impl Fn(&LatticeRow) -> i64,
) -> Vec<i128> {
    let mut sums = Vec::new();
    for frequency in frequencies.vectors() {
        let (mut cosines, mut sines) = (0i128, 0i128);
        for row in rows {
            let phase = table.at(frequency, &row.cells);
            cosines += i128::from(factor(row)) * i128::from(phase.cosine);
            sines += i128::from(factor(row)) * i128::from(phase.sine);
        }
        sums.push(cosines);
        sums.extend((!is_zero(frequency)).then_some(sines));
    }
    sums
}

fn added(numbers: &[i128], sds: &[f64], unit: f64, source: &mut impl Rng) -> Result<Vec<i128>, OutOfRange> {
    let mut noisy = Vec::with_capacity(numbers.len());
    for (number, sd) in numbers.iter().zip(sds) {
        noisy.extend(RoundedGaussian::new(Positive::new(sd / unit)?)?.added(&[*number], source));
    }
    Ok(noisy)
}

impl MomentsDesign {
    /// `D + 2 eta`, the sensitivity of [`WholeMoments`].
    pub fn lattice_sensitivity(&self) -> f64 {
        let bound = self.rule.bound();
        let entries = 2.0 * self.pair_weights.iter().sum::<f64>()
            + 2.0 * bound * bound * self.weights.iter().sum::<f64>();
        let error = 2.0 * f64::from(-BITS).exp2() * entries.sqrt();
        self.rule.sensitivity() + 2.0 * error
    }

    /// Noise of `sigma` sensitivities on the lattice.
    pub fn lattice_noise(&self, sigma: f64) -> MomentsNoise {
        MomentsNoise::new(self, sigma * self.lattice_sensitivity())
    }
}
