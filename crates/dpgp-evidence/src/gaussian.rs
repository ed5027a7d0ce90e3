//! Gaussian noise, from the very matrices that it was sampled with.
//!
//! Each check bounds the shift of the worst pair of neighbours in standard deviations of the noise; its exact delta at
//! the claimed epsilon is then compared with the claim. Norms are computed in 106 bits, since the factors are graded.

use std::cell::RefCell;
use std::sync::Arc;

use nalgebra::DMatrix;

use crate::finding::{Check, Found};
use dpgp_accounting::Guarantee;
use dpgp_accounting::Relation;
use dpgp_audit::exact_delta;
use dpgp_audit::short;
use dpgp_linalg::{largest, largest_quadratic_norm, largest_solved_norm};
use dpgp_mechanisms::LinearRelease;
use dpgp_mechanisms::Statistic;

/// Columns whose norm is computed in higher precision where there are many: those with the largest in ordinary one.
const WORST: usize = 8;

/// How noise and private targets were scaled: a shift is a change over the noise, so that the units cancel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaling {
    /// The factor of the noise, `sigma change`, in units of the targets.
    pub noise: f64,
    /// The most that a target moves.
    pub change: f64,
}

/// Releases of linear maps of the targets one after the other.
///
/// Obligation: a target that moves by `change` shifts release i by `change |L^-1 b|` standard deviations, b its column;
/// the shift of the worst neighbour is the root of the sum of squares of the largest at each place, which bounds any
/// adaptive sequence (Dong, Roth and Su 2022, Corollary 3.3).
pub(super) fn linear(places: &[Vec<LinearRelease>], scaling: Scaling, claim: Guarantee) -> Check {
    let squares = places.iter().map(|place| largest(place.iter().map(leverage)).powi(2));
    let leverage = squares.sum::<f64>().sqrt();
    let releases: usize = places.iter().map(Vec::len).sum();
    let columns = largest(places.iter().flatten().map(|release| release.columns.ncols() as f64));
    let note = format!(
        "|L^-1 b| <= {} over all of up to {columns} columns of {releases} releases, in 106 bits",
        short(leverage)
    );
    Check::delta(scaling.change * leverage / scaling.noise, claim, note)
}

/// The greatest `|L^-1 b|` over the columns of a release.
fn leverage(release: &LinearRelease) -> f64 {
    // A factor that is not square leaves a direction without noise.
    if release.factor.nrows() != release.columns.nrows() || !release.factor.is_square() {
        return f64::INFINITY;
    }
    largest_solved_norm(&release.factor, &release.columns)
}

/// The norms of mean functions that are known: how far they move at most, in the norm of their Hilbert space when one target moves by 1: cells that share a
/// design share the computation.
#[derive(Debug, Default)]
pub(super) struct FunctionNorms {
    known: RefCell<Vec<(Arc<WeightsAndGram>, f64)>>,
}

/// The weights of a mean function (m x n), and the covariance of its basis (m x m).
type WeightsAndGram = (DMatrix<f64>, DMatrix<f64>);

impl FunctionNorms {
    fn of(&self, mean: &Arc<WeightsAndGram>) -> f64 {
        let known = self.known.borrow().iter().find(|(of, _)| Arc::ptr_eq(of, mean)).map(|known| known.1);
        known.unwrap_or_else(|| {
            let norm = largest_norm(&mean.0, &mean.1);
            self.known.borrow_mut().push((Arc::clone(mean), norm));
            norm
        })
    }
}

/// `max_j sqrt([A' K A]_jj)`, in higher precision for the columns with the largest norms.
fn largest_norm(weights: &DMatrix<f64>, gram: &DMatrix<f64>) -> f64 {
    let moved = gram * weights;
    let squares = (0..weights.ncols()).map(|j| (moved.column(j).dot(&weights.column(j)), j));
    let mut order: Vec<(f64, usize)> = squares.collect();
    // Ordinary precision orders well enough: columns that rounding swaps have norms that agree to rounding.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let worst: Vec<usize> = order.iter().take(WORST).map(|(_, j)| *j).collect();
    largest_quadratic_norm(gram, &weights.select_columns(&worst))
}

/// A sample of a process on a mean function.
///
/// Obligation: the shift is the change of the function in the norm of its Hilbert space over the scale of the process, at
/// any finite set of inputs (Hall, Rinaldo and Wasserman 2013, Corollary 9).
pub(super) fn function(
    mean: &Arc<WeightsAndGram>,
    norms: &FunctionNorms,
    scaling: Scaling,
    claim: Guarantee,
) -> Check {
    let (norm, columns) = (norms.of(mean), mean.0.ncols());
    let note = format!(
        "one target moves the function by {} in its Hilbert space, in 106 bits for the {} worst of {columns}",
        short(scaling.change * norm),
        WORST.min(columns)
    );
    Check::delta(scaling.change * norm / scaling.noise, claim, note)
}

/// Noise on counts: a record moves one bin by 1, a replaced one two bins, where there are two. Several records of one row or
/// person move them furthest if all are in one bin.
pub(super) fn counts(sd: f64, bins: usize, relation: Relation, records: u64, claim: Guarantee) -> Check {
    let moved = match relation {
        Relation::AddRemove => 1.0,
        Relation::ReplaceOne => bins.min(2) as f64,
    };
    let note = format!("{moved} of {bins} bins move by {records}, noise sd {}", short(sd));
    Check::delta(f64::sqrt(moved) * records as f64 / sd, claim, note)
}

/// Noise on a statistic of each bin, for bins with so many records and this standard deviation: the shift of the worst
/// corner of the targets. A target lies in one bin, so shifts of several bins do not add up.
pub(super) fn statistics(
    statistic: Statistic,
    bins: &[(usize, f64)],
    change: f64,
    claim: Guarantee,
) -> Check {
    let shift = largest(bins.iter().map(|&(records, sd)| moves(statistic, records, change) / sd));
    Check::delta(shift, claim, format!("the worst of {} bins, by its extreme targets", bins.len()))
}

/// How far the statistic of so many records moves, when one of them goes from one end to the other while the rest are at
/// the ends. Mean and median are monotone in every target, so no other targets move them further.
pub(super) fn moves(statistic: Statistic, records: usize, change: f64) -> f64 {
    let middle = records / 2;
    let ends = [0, middle.saturating_sub(1), middle, records.saturating_sub(1)];
    let moves = ends.into_iter().filter(|high| *high < records).filter_map(|high| {
        let before = statistic.of(&at_the_ends(records, high, change))?;
        Some((statistic.of(&at_the_ends(records, high + 1, change))? - before).abs())
    });
    largest(moves)
}

/// So many targets, of which the first `high` are at the upper end of `[0, change]`.
fn at_the_ends(records: usize, high: usize, change: f64) -> Vec<f64> {
    (0..records).map(|i| if i < high { change } else { 0.0 }).collect()
}

/// Means of values that one record moves by `range / rows` each, all at once: `sqrt(means)` times as far in all. The
/// values of a record need not all be at their ends together, so this is a bound.
pub(super) fn means(sd: f64, means: usize, range: f64, rows: usize, claim: Guarantee) -> Check {
    let shift = (means as f64).sqrt() * range / rows as f64 / sd;
    let note = format!("a validation record moves {means} means by {} each", short(range / rows as f64));
    Check { found: Found::DeltaAtMost(exact_delta(shift, claim.epsilon)), ..Check::delta(shift, claim, note) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuditVerdict;

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 0.01 };

    #[test]
    fn statistics_move_as_far_as_they_can() {
        assert_eq!(moves(Statistic::Mean, 4, 2.0), 0.5);
        assert_eq!(moves(Statistic::Median, 5, 2.0), 2.0);
        assert_eq!(moves(Statistic::Median, 4, 2.0), 1.0);
        assert_eq!(moves(Statistic::Median, 1, 2.0), 2.0);
    }

    /// Noise in one of two directions only is no protection of the other.
    #[test]
    fn a_direction_without_noise_is_a_break() {
        let columns = DMatrix::from_column_slice(2, 1, &[1.0, 1.0]);
        let with = |second: f64| LinearRelease {
            columns: columns.clone(),
            factor: DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, second]),
        };
        let flat = LinearRelease { columns: columns.clone(), factor: DMatrix::from_row_slice(1, 1, &[1.0]) };
        let scaling = Scaling { noise: 4.0, change: 1.0 };
        let [covered, open, flat] =
            [with(1.0), with(0.0), flat].map(|release| linear(&[vec![release]], scaling, CLAIM));
        assert_eq!(covered.verdict, AuditVerdict::Holds);
        assert_eq!(open.found, Found::Delta(1.0));
        assert_eq!(flat.verdict, AuditVerdict::Broken);
    }

    #[test]
    fn a_second_release_adds_up() {
        let release = LinearRelease { columns: DMatrix::identity(1, 1), factor: DMatrix::identity(1, 1) };
        let places = [vec![release.clone()], vec![release]];
        let check = linear(&places, Scaling { noise: 2.0, change: 1.0 }, CLAIM);
        assert_eq!(check.found, Found::Delta(exact_delta(0.5f64.sqrt(), 1.0)));
    }
}
