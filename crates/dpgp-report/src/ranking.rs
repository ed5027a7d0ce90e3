//! The ranking of the methods of a leaderboard, from its committed table.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use super::grade::AddedMethod;
use super::report::{ENOUGH_REPLICATES, label_with_axis};
use super::results::CommittedResults;
use super::table::verdict::standard_error;
use dpgp_spec::{BestDirection, ExperimentAxis, SpreadKind, TableLayout};
use dpgp_task::{Experiment, TaskSetting};

/// The unit that a guarantee hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProtectedUnit {
    /// The target of a record; its inputs are public.
    Targets,
    /// A whole record.
    Records,
    /// All records of a person.
    Persons,
}

/// A word that names no unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a protected unit; use targets, records or persons")]
pub struct ProtectedUnitError(String);

impl ProtectedUnit {
    const ALL: [Self; 3] = [Self::Targets, Self::Records, Self::Persons];

    /// The unit in the sentence of a guarantee; none if it guarantees nothing.
    fn from_guarantee(guarantee: &str) -> Option<Self> {
        // A statement about a person also mentions their targets or records.
        let said = [
            (Self::Persons, ["one person"].as_slice()),
            (Self::Targets, &["one target", "the targets of"]),
            (Self::Records, &["one record", "one row"]),
        ];
        let mut found = said.iter().filter(|(_, words)| words.iter().any(|words| guarantee.contains(words)));
        found.next().map(|(hides, _)| *hides)
    }
}

impl fmt::Display for ProtectedUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Targets => "targets",
            Self::Records => "records",
            Self::Persons => "persons",
        })
    }
}

impl FromStr for ProtectedUnit {
    type Err = ProtectedUnitError;

    fn from_str(word: &str) -> Result<Self, ProtectedUnitError> {
        let found =
            Self::ALL.into_iter().find(|hides| hides.to_string().trim_end_matches('s') == word.trim_end_matches('s'));
        found.ok_or_else(|| ProtectedUnitError(word.to_owned()))
    }
}

/// The methods to compare.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankingFilter {
    /// Keeps only methods at this epsilon.
    pub epsilon: Option<f64>,
    /// Keeps only methods that hide this unit, and, for comparison, those that hide nothing or whose guarantee is not known.
    pub hides: Option<ProtectedUnit>,
}

/// The methods of one column of a leaderboard, the best first; those that guarantee nothing come last.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    /// The experiment.
    pub experiment: String,
    /// The labels of the column, for example `epsilon = 1`.
    pub column: String,
    /// The metric that is compared.
    pub metric: String,
    /// Whether the largest number is the best; if not, the smallest is.
    pub greatest: bool,
    /// The methods.
    pub methods: Vec<RankedMethod>,
}

/// A method of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RankedMethod {
    /// The rank, from 1; none if the value is undefined, if the exact delta exceeds the claim, or if only other methods guarantee something.
    pub place: Option<usize>,
    /// The labels of the method on the axes of the rows.
    pub method: String,
    /// The value of the metric.
    pub value: f64,
    /// The standard error of the metric over folds or replicates; zero where there is none.
    pub standard_error: f64,
    /// Whether it differs from the best by at most two standard errors of the difference, so that another run may reverse their order.
    pub level_with_best: bool,
    /// The unit that the method hides; none if the method guarantees nothing, or if its guarantee is not known.
    pub hides: Option<ProtectedUnit>,
    /// Whether dpgp computed the guarantee. For external programs and for numbers from others, the guarantee is not known.
    pub checked: bool,
    /// Whether the number comes from a table that the user added.
    pub added: bool,
    /// Its guarantee.
    pub guarantee: String,
}

impl Ranking {
    /// The rankings of an experiment, one for each column of its layout; none if its spec does not say which number is
    /// best. `others` are ranked together with the methods of the experiment.
    pub fn rank_all(
        experiment: &Experiment,
        committed: &CommittedResults,
        filter: &RankingFilter,
        others: &[AddedMethod],
    ) -> Vec<Self> {
        let Some(layout) = &experiment.layout else { return Vec::new() };
        let Some(best) = layout.best else { return Vec::new() };
        let board = MethodLeaderboard { experiment, committed, layout };
        let mut rankings: Vec<Self> = Vec::new();
        for row in committed.rows.iter().filter(|row| board.is_selected(row, filter)) {
            let (column, method) = (board.describe_row_labels(row, &layout.columns), board.method(row));
            match rankings.iter_mut().find(|ranking| ranking.column == column) {
                Some(ranking) => ranking.methods.push(method),
                None => rankings.push(Self {
                    experiment: experiment.name.clone(),
                    column,
                    metric: layout.metric.clone(),
                    greatest: best == BestDirection::Greatest,
                    methods: vec![method],
                }),
            }
        }
        for other in others {
            let column = board.describe_labels(&other.labels, &layout.columns);
            if let Some(ranking) = rankings.iter_mut().find(|ranking| ranking.column == column) {
                ranking.methods.push(board.added_method(other));
            }
        }
        // Methods that hide nothing only accompany others.
        rankings
            .retain(|ranking| filter.hides.is_none() || ranking.methods.iter().any(|method| method.hides.is_some()));
        rankings.iter_mut().for_each(Self::rank);
        rankings
    }

    /// The epsilons of the ranked rows, one for each row; none if the spec does not say which number is best.
    pub fn ranked_row_epsilons(experiment: &Experiment, committed: &CommittedResults) -> Vec<f64> {
        let Some(layout) = experiment.layout.as_ref().filter(|layout| layout.best.is_some()) else {
            return Vec::new();
        };
        let board = MethodLeaderboard { experiment, committed, layout };
        let all = RankingFilter::default();
        let rows = committed.rows.iter().filter(|row| board.is_selected(row, &all));
        rows.filter_map(|row| board.epsilon(row)).collect()
    }

    /// The method for comparison: the first that guarantees nothing, if others guarantee something.
    pub fn nonprivate_reference(&self) -> Option<&RankedMethod> {
        let last = self.methods.iter().find(|method| method.guarantees_nothing());
        last.filter(|_| self.methods.iter().any(|method| method.hides.is_some()))
    }

    /// Whether the user added a method.
    pub fn has_added_method(&self) -> bool {
        self.methods.iter().any(|method| method.added)
    }

    /// Whether the best method is worse than the one that guarantees nothing, or better by less than two standard errors of the
    /// difference.
    pub fn lacks_gain_over_nonprivate(&self) -> bool {
        let (Some(best), Some(reference)) = (self.methods.first(), self.nonprivate_reference()) else {
            return false;
        };
        let gain = if self.greatest { best.value - reference.value } else { reference.value - best.value };
        gain <= 2.0 * best.standard_error.hypot(reference.standard_error)
    }

    /// Sorts the methods and gives them places. A method whose exact delta exceeds its claim has lost its place already.
    fn rank(&mut self) {
        let some_private = self.methods.iter().any(|method| method.hides.is_some());
        if some_private {
            for method in self.methods.iter_mut().filter(|method| method.guarantees_nothing()) {
                method.place = None;
            }
        }
        let sign = if self.greatest { -1.0 } else { 1.0 };
        self.methods.sort_by(|a, b| {
            let places = a.place.is_none().cmp(&b.place.is_none());
            places.then((sign * a.value).total_cmp(&(sign * b.value)))
        });
        let Some((best, error)) =
            self.methods.first().filter(|m| m.place.is_some()).map(|m| (m.value, m.standard_error))
        else {
            return;
        };
        for (i, method) in self.methods.iter_mut().enumerate() {
            let Some(place) = &mut method.place else { continue };
            *place = i + 1;
            method.level_with_best = (method.value - best).abs() <= 2.0 * method.standard_error.hypot(error);
        }
    }
}

impl RankedMethod {
    /// What the method hides, in a word or two.
    pub fn protected_unit_text(&self) -> String {
        match self.hides {
            Some(hides) => hides.to_string(),
            None if self.checked => "nothing".to_owned(),
            None => "not checked".to_owned(),
        }
    }

    /// Whether the method is known to hide nothing.
    fn guarantees_nothing(&self) -> bool {
        self.hides.is_none() && self.checked
    }
}

/// A leaderboard and where its numbers stand.
struct MethodLeaderboard<'a> {
    experiment: &'a Experiment,
    committed: &'a CommittedResults,
    layout: &'a TableLayout,
}

impl MethodLeaderboard<'_> {
    fn number(&self, row: &[String], column: &str) -> Option<f64> {
        self.committed.field(row, column).parse().ok()
    }

    fn is_selected(&self, row: &[String], filter: &RankingFilter) -> bool {
        let hides = ProtectedUnit::from_guarantee(self.committed.field(row, "guarantee"));
        self.committed.field(row, "metric") == self.layout.metric
            && filter.epsilon.is_none_or(|epsilon| self.has_epsilon(row, epsilon))
            && (filter.hides.is_none() || hides.is_none() || hides == filter.hides)
    }

    /// Whether a row belongs to an epsilon. If epsilon is an axis, the label decides, even for methods without a guarantee.
    fn has_epsilon(&self, row: &[String], epsilon: f64) -> bool {
        let own = self.epsilon(row);
        match self.epsilon_axis() {
            Some(_) => own == Some(epsilon),
            None => own.is_none_or(|own| own == epsilon || own.is_infinite()),
        }
    }

    /// The axis of epsilon; for external programs, the axis named `epsilon`.
    fn epsilon_axis(&self) -> Option<&ExperimentAxis> {
        let mut axes = self.experiment.axes.iter();
        axes.find(|axis| axis.path == "privacy.epsilon").or_else(|| self.axis("epsilon"))
    }

    fn epsilon(&self, row: &[String]) -> Option<f64> {
        match self.epsilon_axis() {
            Some(axis) => self.committed.label(row, axis).parse().ok(),
            None => self.number(row, "epsilon"),
        }
    }

    fn describe_row_labels(&self, row: &[String], axes: &[String]) -> String {
        let named_axes = axes.iter().filter_map(|name| self.axis(name));
        let labels = named_axes.map(|axis| label_with_axis(axis, self.committed.label(row, axis)));
        labels.collect::<Vec<_>>().join(", ")
    }

    /// The same description, from labels in the order of the axes.
    fn describe_labels(&self, labels: &[String], axes: &[String]) -> String {
        let all = self.experiment.axes.iter();
        let places = axes.iter().filter_map(|name| all.clone().position(|axis| axis.name == *name));
        let named =
            places.filter_map(|place| Some(label_with_axis(self.experiment.axes.get(place)?, labels.get(place)?)));
        named.collect::<Vec<_>>().join(", ")
    }

    fn added_method(&self, other: &AddedMethod) -> RankedMethod {
        RankedMethod {
            place: Some(0),
            method: self.describe_labels(&other.labels, &self.layout.rows),
            value: other.value,
            standard_error: other.standard_error,
            level_with_best: false,
            hides: None,
            checked: false,
            added: true,
            guarantee: "not checked".to_owned(),
        }
    }

    /// Whether the guarantees of the rows are those of our own code.
    fn has_computed_guarantees(&self) -> bool {
        let tasks = self.experiment.cells.iter().map(|cell| &cell.setting().task);
        !tasks.into_iter().any(|task| matches!(**task, TaskSetting::Command(_) | TaskSetting::Given(_)))
    }

    /// The standard error of a row: that over replicates if there are enough, as in figures, else that of the row itself.
    fn standard_error(&self, row: &[String]) -> f64 {
        let [cell, metric] = ["cell", "metric"].map(|column| self.committed.field(row, column));
        let over_replicates = format!("{metric}-replicates");
        let is_same = |other: &&Vec<String>| {
            self.committed.field(other, "cell") == cell && self.committed.field(other, "metric") == over_replicates
        };
        let repeats = |row: &[String]| self.committed.field(row, "repeats").parse().unwrap_or(1);
        let other = self.committed.rows.iter().find(is_same).filter(|other| repeats(other) >= ENOUGH_REPLICATES);
        let row = other.map_or(row, Vec::as_slice);
        // A spread of a kind that this version does not know counts in full: no method is called better than it is.
        let kind = SpreadKind::from_name(self.committed.field(row, "spread_kind")).unwrap_or(SpreadKind::StandardError);
        standard_error(self.number(row, "spread"), kind, repeats(row))
    }

    fn axis(&self, name: &str) -> Option<&ExperimentAxis> {
        self.experiment.axes.iter().find(|axis| axis.name == name)
    }

    fn method(&self, row: &[String]) -> RankedMethod {
        let guarantee = self.committed.field(row, "guarantee");
        let [exact, claimed] = ["delta_exact", "delta"].map(|column| self.number(row, column));
        let exceeds = exact.zip(claimed).is_some_and(|(exact, claimed)| exact > claimed * (1.0 + 1e-9));
        let value = self.number(row, "value");
        RankedMethod {
            place: (!exceeds && value.is_some()).then_some(0),
            method: self.describe_row_labels(row, &self.layout.rows),
            value: value.unwrap_or(f64::NAN),
            standard_error: self.standard_error(row),
            level_with_best: false,
            hides: ProtectedUnit::from_guarantee(guarantee),
            checked: self.has_computed_guarantees(),
            added: false,
            guarantee: guarantee.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::NeighbourRelation;
    use dpgp_accounting::{Neighbours, PrivacyUnit};

    #[test]
    fn every_guarantee_says_whom_it_hides() {
        let person = PrivacyUnit::Person { column: "rider".to_owned(), rows: 3, records_per_row: 1 };
        let row = PrivacyUnit::Row { records: 4 };
        let target = Neighbours::OneTargetChanges(2.0);
        let records = [NeighbourRelation::ReplaceOne, NeighbourRelation::AddRemove].map(Neighbours::OneRecord);
        assert_eq!(
            ProtectedUnit::from_guarantee(&PrivacyUnit::Record.describe_neighbours(target)),
            Some(ProtectedUnit::Targets)
        );
        assert_eq!(ProtectedUnit::from_guarantee(&row.describe_neighbours(target)), Some(ProtectedUnit::Targets));
        for record in records {
            assert_eq!(
                ProtectedUnit::from_guarantee(&PrivacyUnit::Record.describe_neighbours(record)),
                Some(ProtectedUnit::Records)
            );
            assert_eq!(ProtectedUnit::from_guarantee(&row.describe_neighbours(record)), Some(ProtectedUnit::Records));
            assert_eq!(
                ProtectedUnit::from_guarantee(&person.describe_neighbours(record)),
                Some(ProtectedUnit::Persons)
            );
        }
        assert_eq!(ProtectedUnit::from_guarantee(&person.describe_neighbours(target)), Some(ProtectedUnit::Persons));
        assert_eq!(ProtectedUnit::from_guarantee("none"), None);
    }
}
