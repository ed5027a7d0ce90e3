//! The situations in which a release and its neighbours are compared.

use dpgp_release::FileCells;
use dpgp_spec::setting::{ChosenBy, DataSetting};
use dpgp_task::Setting;

/// A filter, as a spec has it.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedFilter {
    pub column: String,
    pub above: f64,
}

/// What is different in a situation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairedContext {
    /// What it is called; nothing for the command as the user gives it.
    pub name: &'static str,
    /// Arguments of the command.
    pub arguments: Vec<String>,
    /// A filter that no row of the user's passes.
    pub filter: Option<AddedFilter>,
    /// Another delta.
    pub delta: Option<f64>,
}

/// A budget that holds no release.
const NO_BUDGET: [&str; 4] = ["--budget-epsilon", "1e-6", "--budget-delta", "1e-12"];

/// Where a refusal must not tell of private rows: a spent budget, a filter that nobody passes, and `delta = 1 / rows`.
pub fn contexts(setting: &Setting, rows: &FileCells) -> Vec<PairedContext> {
    let allowed = || vec!["--allow-caveats".to_owned()];
    let mut all = vec![
        PairedContext { arguments: allowed(), ..PairedContext::default() },
        PairedContext {
            name: "with a budget that is spent",
            arguments: allowed().into_iter().chain(NO_BUDGET.map(str::to_owned)).collect(),
            ..PairedContext::default()
        },
    ];
    if setting.privacy.mechanism.chosen_by() == ChosenBy::Inputs {
        return all;
    }
    let filter = setting.data.inputs.iter().find_map(|column| {
        let above = rows.greatest(column).filter(|_| !setting.data.encode.contains_key(column))?;
        Some(AddedFilter { column: column.clone(), above })
    });
    all.extend(filter.map(|filter| PairedContext {
        name: "with a filter that nobody passes",
        arguments: allowed(),
        filter: Some(filter),
        delta: None,
    }));
    let delta = (1.0 / rows.count() as f64).min(0.5);
    all.push(PairedContext { name: "with delta = 1 / rows", delta: Some(delta), ..PairedContext::default() });
    all
}

/// Neighbours at the edge of the rules. One row lies beyond all others, holds a word or a class that does not exist, stands for part of a
/// record, or lacks a cell (if such rows are dropped); or it is gone (if the number of rows is private).
pub fn odd_neighbours(setting: &Setting, rows: &FileCells, size_is_private: bool) -> Vec<FileCells> {
    let data = &setting.data;
    let mut all = Vec::new();
    if setting.privacy.mechanism.chosen_by() == ChosenBy::Inputs {
        all.extend(
            data.encode
                .contains_key(&data.target)
                .then(|| rows.clone().with_text(0, &data.target, "a word that is not listed")),
        );
        return all;
    }
    all.push(beyond(data, rows));
    for column in data.encode.keys() {
        all.push(rows.clone().with_text(0, column, "a word that is not listed"));
    }
    if !data.encode.contains_key(&data.target) {
        all.extend(["0.5", "-1", "1e12"].map(|cell| rows.clone().with_text(0, &data.target, cell)));
    }
    if data.drops_missing() {
        all.push(rows.clone().with_text(0, &data.target, "NA"));
    }
    if size_is_private {
        all.extend([rows.without(0), rows.without(rows.count().saturating_sub(1))]);
    }
    all
}

/// The first row moved beyond all others, so that it alone passes a filter.
fn beyond(data: &DataSetting, rows: &FileCells) -> FileCells {
    let columns = data.inputs.iter().filter(|column| !data.encode.contains_key(*column));
    columns.fold(rows.clone(), |moved, column| match rows.greatest(column) {
        Some(greatest) => moved.with_text(0, column, &format!("{:?}", greatest + 1.0)),
        None => moved,
    })
}
