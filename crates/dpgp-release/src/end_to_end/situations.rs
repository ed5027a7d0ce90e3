//! Situations and neighbours at the limits of the rules, for runs of the program itself.

use dpgp_spec::setting::{DataSetting, PersonRowChoiceBasis};
use dpgp_task::CellSetting;

use super::FileCells;

/// A filter of a spec.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedFilter {
    /// The column.
    pub column: String,
    /// The values that pass are above this.
    pub above: f64,
}

/// A situation in which the program runs on neighbours, and how it changes the user's command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourRunSituation {
    /// Its name; empty for the command as the user gives it.
    pub name: &'static str,
    /// Arguments of the command.
    pub arguments: Vec<String>,
    /// A filter that none of the user's rows passes.
    pub filter: Option<AddedFilter>,
    /// Another delta.
    pub delta: Option<f64>,
}

/// A budget too small for any release.
const NO_BUDGET: [&str; 4] = ["--budget-epsilon", "1e-6", "--budget-delta", "1e-12"];

/// Lists the situations in which a refusal must not depend on private rows: a spent budget, a filter that no row passes, and
/// `delta = 1 / rows`.
pub fn neighbour_run_situations(setting: &CellSetting, rows: &FileCells) -> Vec<NeighbourRunSituation> {
    let allowed = || vec!["--allow-caveats".to_owned()];
    let mut all = vec![
        NeighbourRunSituation { arguments: allowed(), ..NeighbourRunSituation::default() },
        NeighbourRunSituation {
            name: "with a spent budget",
            arguments: allowed().into_iter().chain(NO_BUDGET.map(str::to_owned)).collect(),
            ..NeighbourRunSituation::default()
        },
    ];
    if setting.privacy.mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs {
        return all;
    }
    let filter = setting.data.inputs.iter().find_map(|column| {
        let above = rows.column_maximum(column).filter(|_| !setting.data.encode.contains_key(column))?;
        Some(AddedFilter { column: column.clone(), above })
    });
    all.extend(filter.map(|filter| NeighbourRunSituation {
        name: "with a filter that no row passes",
        arguments: allowed(),
        filter: Some(filter),
        delta: None,
    }));
    let delta = (1.0 / rows.row_count() as f64).min(0.5);
    all.push(NeighbourRunSituation {
        name: "with delta = 1 / rows",
        delta: Some(delta),
        ..NeighbourRunSituation::default()
    });
    all
}

/// Makes neighbours at the limits of the rules. One row lies beyond all others, holds an unknown word or class, counts as part of a record,
/// lacks a cell (if such rows are dropped), or is removed (if the number of rows is private).
pub fn edge_case_neighbours(setting: &CellSetting, rows: &FileCells, size_is_private: bool) -> Vec<FileCells> {
    let data = &setting.data;
    let (target, mut all) = (data.target_column(), Vec::new());
    if setting.privacy.mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs {
        all.extend(
            data.encode
                .contains_key(target)
                .then(|| rows.clone().with_cell_text(0, target, "a word that is not listed")),
        );
        return all;
    }
    all.push(move_first_row_beyond_others(data, rows));
    for column in data.encode.keys() {
        all.push(rows.clone().with_cell_text(0, column, "a word that is not listed"));
    }
    if !data.encode.contains_key(target) {
        all.extend(["0.5", "-1", "1e12"].map(|cell| rows.clone().with_cell_text(0, target, cell)));
    }
    if data.drops_missing() {
        all.push(rows.clone().with_cell_text(0, target, "NA"));
    }
    if size_is_private {
        all.extend([rows.without_row(0), rows.without_row(rows.row_count().saturating_sub(1))]);
    }
    all
}

/// Moves the first row beyond all others, so that only it passes a filter.
fn move_first_row_beyond_others(data: &DataSetting, rows: &FileCells) -> FileCells {
    let columns = data.inputs.iter().filter(|column| !data.encode.contains_key(*column));
    columns.fold(rows.clone(), |moved, column| match rows.column_maximum(column) {
        Some(greatest) => moved.with_cell_text(0, column, &format!("{:?}", greatest + 1.0)),
        None => moved,
    })
}
