//! Gaussian noise, from the very matrices that it was sampled with.

use std::cell::RefCell;
use std::sync::Arc;

use super::finding::{Check, Found, short};
use super::normal::exact_delta;
use crate::linalg::{largest, largest_quadratic_norm, largest_solved_norm};
use crate::privacy::Statistic;
use crate::privacy::accounting::Relation;
use crate::task::LinearRelease;
use nalgebra::DMatrix;

/// Columns whose norm is computed in higher precision where there are many: those with the largest in ordinary one.
const WORST: usize = 8;

/// Releases of linear maps of the targets one after the other: the shift of the worst neighbour is the root of the sum
/// of squares of those of each place, which bounds any adaptive sequence (Dong, Roth and Su 2022, Corollary 2).
pub(super) fn linear(
    places: &[Vec<LinearRelease>],
    (scale, change): (f64, f64),
    (epsilon, delta): (f64, f64),
) -> Check {
    let of = |release: &LinearRelease| {
        if release.factor.nrows() != release.columns.nrows() || !release.factor.is_square() {
            return f64::INFINITY;
        }
        largest_solved_norm(&release.factor, &release.columns)
    };
    let of_place = |place: &Vec<LinearRelease>| largest(place.iter().map(of)).powi(2);
    let leverage = places.iter().map(of_place).sum::<f64>().sqrt();
    let releases: usize = places.iter().map(Vec::len).sum();
    let columns = largest(places.iter().flatten().map(|release| release.columns.ncols() as f64));
    let note = format!(
        "|L^-1 b| <= {} over all of up to {columns} columns of {releases} releases, in 106 bits",
        short(leverage)
    );
    Check::delta(exact_delta(change * leverage / scale, epsilon), delta, note)
}

/// How far mean functions move at most, in the norm of their Hilbert space when one target moves by 1: cells that share a
/// design share the computation.
#[derive(Debug, Default)]
pub(super) struct FunctionNorms {
    known: RefCell<Vec<(Arc<MeanFunction>, f64)>>,
}

/// The weights of a mean function (m x n), and the covariance of its basis (m x m).
type MeanFunction = (DMatrix<f64>, DMatrix<f64>);

impl FunctionNorms {
    /// In higher precision for the columns with the largest norms.
    fn of(&self, mean: &Arc<MeanFunction>) -> f64 {
        let known = self.known.borrow().iter().find(|(of, _)| Arc::ptr_eq(of, mean)).map(|known| known.1);
        known.unwrap_or_else(|| {
            let (weights, gram) = &**mean;
            let moved = gram * weights;
            let square = |j: usize| moved.column(j).dot(&weights.column(j));
            let mut order: Vec<(f64, usize)> = (0..weights.ncols()).map(|j| (square(j), j)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0));
            let worst: Vec<usize> = order.iter().take(WORST).map(|(_, j)| *j).collect();
            let norm = largest_quadratic_norm(gram, &weights.select_columns(&worst));
            self.known.borrow_mut().push((Arc::clone(mean), norm));
            norm
        })
    }
}

/// A sample of a process on a mean function: the shift is the change of the function in the norm of its Hilbert space.
pub(super) fn function(
    (mean, norms): (&Arc<MeanFunction>, &FunctionNorms),
    (scale, change): (f64, f64),
    (epsilon, delta): (f64, f64),
) -> Check {
    let (norm, columns) = (norms.of(mean), mean.0.ncols());
    let note = format!(
        "one target moves the function by {} in its Hilbert space, in 106 bits for the {} worst of {columns}",
        short(change * norm),
        WORST.min(columns)
    );
    Check::delta(exact_delta(change * norm / scale, epsilon), delta, note)
}

/// Noise on counts: a record moves one bin by 1, a replaced one two.
pub(super) fn counts(sd: f64, bins: usize, relation: Relation, (epsilon, delta): (f64, f64)) -> Check {
    let moved = match relation {
        Relation::AddRemove => 1.0,
        Relation::ReplaceOne => bins.min(2) as f64,
    };
    let note = format!("{moved} of {bins} bins move by 1, noise sd {}", short(sd));
    Check::delta(exact_delta(f64::sqrt(moved) / sd, epsilon), delta, note)
}

/// Noise on a statistic of each bin: the shift of the worst corner of the targets.
pub(super) fn statistics(
    statistic: Statistic,
    bins: &[(usize, f64)],
    change: f64,
    (epsilon, delta): (f64, f64),
) -> Check {
    let shift = largest(bins.iter().map(|&(records, sd)| moves(statistic, records, change) / sd));
    let note = format!("the worst of {} bins, by its extreme targets", bins.len());
    Check::delta(exact_delta(shift, epsilon), delta, note)
}

/// How far the statistic of so many records moves, when one of them goes from one end to the other while the rest are at
/// the ends.
fn moves(statistic: Statistic, records: usize, change: f64) -> f64 {
    let at = |high: usize| {
        let targets: Vec<f64> = (0..records).map(|i| if i < high { change } else { 0.0 }).collect();
        statistic.of(&targets).unwrap_or(0.0)
    };
    let middle = records / 2;
    let ends = [0, middle.saturating_sub(1), middle, records.saturating_sub(1)];
    largest(ends.into_iter().filter(|high| *high < records).map(|high| (at(high + 1) - at(high)).abs()))
}

/// Means of values that one record moves by `range / rows` each, all at once.
pub(super) fn means(
    (sd, means): (f64, usize),
    (range, rows): (f64, usize),
    (epsilon, delta): (f64, f64),
) -> Check {
    let shift = (means as f64).sqrt() * range / rows as f64 / sd;
    let note = format!("a validation record moves {means} means by {} each", short(range / rows as f64));
    let delta_found = exact_delta(shift, epsilon);
    let check = Check::delta(delta_found, delta, note);
    Check { found: Found::DeltaAtMost(delta_found), ..check }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Verdict;

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
        let release = |second: f64| LinearRelease {
            columns: columns.clone(),
            factor: DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, second]),
        };
        let check = |second| linear(&[vec![release(second)]], (4.0, 1.0), (1.0, 0.01));
        assert_eq!(check(1.0).verdict, Verdict::Holds);
        assert_eq!(check(0.0).found, Found::Delta(1.0));
        let flat = LinearRelease { columns, factor: DMatrix::from_row_slice(1, 1, &[1.0]) };
        assert_eq!(linear(&[vec![flat]], (4.0, 1.0), (1.0, 0.01)).verdict, Verdict::Broken);
    }

    #[test]
    fn a_second_release_adds_up() {
        let release = LinearRelease { columns: DMatrix::identity(1, 1), factor: DMatrix::identity(1, 1) };
        let check = linear(&[vec![release.clone()], vec![release]], (2.0, 1.0), (1.0, 0.5));
        assert_eq!(check.found, Found::Delta(exact_delta(0.5f64.sqrt(), 1.0)));
    }
}
