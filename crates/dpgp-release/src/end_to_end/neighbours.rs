//! Replaces records to make neighbouring datasets.

use crate::sum_rows::columns_to_read;
use crate::sums_model::SumsReleaseMethod;
use crate::{AnyPlannedSumsRelease, PlannedSumsRelease, PredictionRequest, ReleaseError};
use dpgp_accounting::NeighbourRelation;
use dpgp_accounting::{Certificate, Neighbours};
use dpgp_mechanisms::HistogramSetting;
use dpgp_spec::setting::{NormaliseSetting, PersonRowChoiceBasis};
use dpgp_task::{CellSetting, Sample};

/// Rows whose record is replaced.
const ROWS: usize = 6;

/// Where the inputs of a record go that is private as a whole.
const PLACES: [f64; 2] = [0.0, 1e3];

/// A cell of a file that a neighbour has another number in.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedCell {
    /// The column.
    pub column: String,
    /// The number.
    pub value: f64,
}

/// Some of so many rows, evenly from the first to the last.
pub(super) fn evenly_spaced_rows(rows: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..ROWS).map(|place| place * rows.saturating_sub(1) / (ROWS - 1)).collect();
    // Few rows are chosen several times.
    chosen.dedup();
    chosen
}

impl PredictionRequest<'_> {
    /// The sample with one record replaced, or all of one person, for some rows and all ways to replace them.
    pub(super) fn neighbouring_samples(&self, relation: Option<Neighbours>) -> Vec<Sample> {
        let sample = self.sample();
        let moved: &[f64] = if hides_inputs(relation) { &PLACES } else { &PLACES[..1] };
        let mut neighbours = Vec::new();
        for row in evenly_spaced_rows(sample.row_count()) {
            for way in 0..self.extreme_targets(relation, 0.0).len() {
                for place in moved {
                    let mut neighbour = sample.clone();
                    for row in sample.rows_of_same_person(row) {
                        neighbour.targets[row] = self.extreme_targets(relation, sample.targets[row])[way];
                        neighbour.inputs.row_mut(row).add_scalar_mut(*place);
                    }
                    neighbours.push(neighbour);
                }
            }
        }
        neighbours
    }

    /// Targets at both ends of the range of a neighbour. Beyond the bounds, clipping must hold them.
    fn extreme_targets(&self, relation: Option<Neighbours>, target: f64) -> Vec<f64> {
        let NormaliseSetting::Bounds { low, high, .. } = *self.setting().normalise else { return Vec::new() };
        let width = high.get() - low.get();
        match relation {
            // A metric: the target may move by less than the width.
            Some(Neighbours::OneTargetChanges(change)) if change < width => {
                vec![target - change, target + change]
            }
            _ => vec![low.get() - 1e6 * width, high.get() + 1e6 * width, f64::MAX],
        }
    }

    /// What a neighbour may have in a row of the file with this target: the cells of one neighbour, then those of
    /// another.
    pub fn replaced_cells(&self, relation: Option<Neighbours>, target: f64) -> Vec<Vec<ReplacedCell>> {
        let column = self.setting().data.target_column();
        let mut all = Vec::new();
        for value in self.extreme_targets(relation, target) {
            all.push(vec![ReplacedCell { column: column.to_owned(), value }]);
        }
        all
    }

    /// Whether a neighbour may have another number of rows.
    pub fn hides_row_count(&self) -> bool {
        hides_row_count(self.setting())
    }

    /// What a release would claim.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release.
    pub fn claimed_certificate(&self) -> Result<Certificate, ReleaseError> {
        Ok(self.prepare_release(self.sample())?.certificate)
    }
}

/// Whether whole records are private. Then all numbers follow from noisy sums.
fn hides_inputs(relation: Option<Neighbours>) -> bool {
    matches!(relation, Some(Neighbours::OneRecord(_)))
}

/// Whether the number of rows is private, and the guarantee covers a row less.
fn hides_row_count(setting: &CellSetting) -> bool {
    let mechanism = &setting.privacy.mechanism;
    match mechanism.downcast::<HistogramSetting>() {
        _ if mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs => false,
        Some(histogram) => histogram.relation == NeighbourRelation::AddRemove && histogram.most_per_row.is_none(),
        None => !setting.data.keeps_all_rows(),
    }
}

impl AnyPlannedSumsRelease<'_> {
    /// Whether a neighbour may have another number of rows.
    pub fn hides_row_count(&self) -> bool {
        match self {
            Self::Surface(streamed) => hides_row_count(streamed.setting()),
            Self::Moments(streamed) => hides_row_count(streamed.setting()),
            Self::Classes(streamed) => hides_row_count(streamed.setting()),
            Self::Counts(streamed) => hides_row_count(streamed.setting()),
        }
    }

    /// The columns that are read of a file, each once.
    pub fn distinct_columns_to_read(&self) -> Vec<String> {
        match self {
            Self::Surface(streamed) => columns_to_read(&streamed.setting().data),
            Self::Moments(streamed) => columns_to_read(&streamed.setting().data),
            Self::Classes(streamed) => columns_to_read(&streamed.setting().data),
            Self::Counts(streamed) => columns_to_read(&streamed.setting().data),
        }
    }

    /// What a neighbour may have in the place of a record, in the order of the columns.
    pub fn replaced_cells(&self, record: &[f64]) -> Vec<Vec<ReplacedCell>> {
        match self {
            Self::Surface(streamed) => streamed.replaced_cells(record),
            Self::Moments(streamed) => streamed.replaced_cells(record),
            Self::Classes(streamed) => streamed.replaced_cells(record),
            Self::Counts(streamed) => streamed.replaced_cells(record),
        }
    }

    /// The fields of a file that are noisy or follow from what is.
    pub fn noisy_fields(&self) -> &'static [&'static str] {
        match self {
            Self::Surface(streamed) => streamed.noisy_fields(),
            Self::Moments(streamed) => streamed.noisy_fields(),
            Self::Classes(streamed) => streamed.noisy_fields(),
            Self::Counts(streamed) => streamed.noisy_fields(),
        }
    }
}

impl<M: SumsReleaseMethod> PlannedSumsRelease<'_, M> {
    fn replaced_cells(&self, record: &[f64]) -> Vec<Vec<ReplacedCell>> {
        let names = columns_to_read(&self.setting().data);
        let mut all = Vec::new();
        for replaced in self.method().extreme_replacements(record) {
            let cells = names.iter().cloned().zip(replaced);
            all.push(cells.map(|(column, value)| ReplacedCell { column, value }).collect());
        }
        all
    }

    fn noisy_fields(&self) -> &'static [&'static str] {
        M::NOISY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_rows::{TWO_ROWS, with_request};
    use dpgp_accounting::NeighbourRelation;

    const REPLACED: Option<Neighbours> = Some(Neighbours::OneRecord(NeighbourRelation::ReplaceOne));

    fn changes(by: f64) -> Option<Neighbours> {
        Some(Neighbours::OneTargetChanges(by))
    }

    #[test]
    fn rows_are_replaced_evenly() {
        assert_eq!(evenly_spaced_rows(11), [0, 2, 4, 6, 8, 10]);
        assert_eq!(evenly_spaced_rows(8), [0, 1, 2, 4, 5, 7]);
        assert_eq!(evenly_spaced_rows(3), [0, 1, 2]);
        assert_eq!((evenly_spaced_rows(1), evenly_spaced_rows(0)), (vec![0], vec![0]));
    }

    /// A target moves by what is protected, or beyond the bounds where that is all of their width.
    #[test]
    fn targets_move_as_far_as_neighbours_may() {
        with_request(TWO_ROWS, |request| assert_eq!(request.extreme_targets(changes(3.0), 4.0), [1.0, 7.0]));
        with_request(TWO_ROWS, |request| {
            let cells = request.replaced_cells(changes(3.0), 4.0);
            let cell = |value| vec![ReplacedCell { column: "y".to_owned(), value }];
            assert_eq!(cells, [cell(1.0), cell(7.0)]);
        });
        with_request(TWO_ROWS, |request| {
            let whole = [changes(10.0), changes(11.0), REPLACED, None];
            let found = whole.map(|relation| request.extreme_targets(relation, 4.0));
            assert!(found.iter().all(|targets| targets == &[2.0 - 1e7, 12.0 + 1e7, f64::MAX]), "{found:?}");
        });
    }

    /// Inputs move only where they are private.
    #[test]
    fn neighbours_differ_in_one_row() {
        with_request(TWO_ROWS, |request| {
            let found: Vec<(Vec<f64>, Vec<f64>)> = request
                .neighbouring_samples(changes(3.0))
                .into_iter()
                .map(|sample| (sample.inputs.column(0).iter().copied().collect(), sample.targets))
                .collect();
            let expected = [[1.0, 5.0], [7.0, 5.0], [4.0, 2.0], [4.0, 8.0]];
            assert_eq!(found, expected.map(|targets| (vec![0.0, 1.0], targets.to_vec())));
        });
        with_request(TWO_ROWS, |request| {
            let found = request.neighbouring_samples(REPLACED);
            let inputs = found.iter().map(|sample| [sample.inputs[0], sample.inputs[1]]);
            let first = [[0.0, 1.0], [1e3, 1.0]].repeat(3);
            let second = [[0.0, 1.0], [0.0, 1001.0]].repeat(3);
            assert_eq!(inputs.collect::<Vec<_>>(), [first, second].concat());
            assert_eq!(found[0].targets, [2.0 - 1e7, 5.0]);
            assert_eq!(found[11].targets, [4.0, f64::MAX]);
        });
    }
}
