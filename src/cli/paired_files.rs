//! Output files of compared runs, and the situations in which a release and its neighbours are compared.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::CliError;
use dpgp_release::FileCells;
use dpgp_spec::setting::{DataSetting, RowChoiceBasis};
use dpgp_task::CellSetting;

/// The noisy numbers in the files of a verb.
#[derive(Debug, Clone, Copy)]
pub enum NoisyParts {
    /// These columns of CSV files.
    Columns(&'static [&'static str]),
    /// These fields of JSON files.
    Fields(&'static [&'static str]),
}

/// Reads the files of a folder, and replaces each noisy number by a sign.
pub fn files_without_noise(
    folder: &Path,
    apart: &[&str],
    noisy: NoisyParts,
) -> Result<BTreeMap<String, String>, CliError> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(CliError::io(folder))? {
        let path = entry.map_err(CliError::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_dir() && !apart.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).map_err(CliError::io(&path))?;
            files.insert(name, without_noise(&text, noisy));
        }
    }
    Ok(files)
}

fn without_noise(text: &str, noisy: NoisyParts) -> String {
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        // Count the bytes beside the value, such as blanks at the end.
        let beside = text.len() as i64 - format!("{value:#}").len() as i64;
        blank_fields(&mut value, noisy);
        return format!("{value:#}\n{beside} bytes");
    }
    match noisy {
        NoisyParts::Columns(names) => blank_columns(text, names).unwrap_or_else(|_| text.to_owned()),
        NoisyParts::Fields(_) => text.to_owned(),
    }
}

/// Blanks noisy fields. The id of a release is random, and digests of noisy numbers are as noisy as the numbers.
fn blank_fields(value: &mut Value, noisy: NoisyParts) {
    let names =
        if let NoisyParts::Fields(names) = noisy { names } else { &["predictions_sha256", "combinations_sha256"] };
    for name in names.iter().chain(&["release_id", "content_sha256"]) {
        if let Some(field) = value.get_mut(name) {
            blank(field);
        }
    }
}

/// Blanks a value. Lists keep their length.
fn blank(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(blank),
        Value::Object(all) => all.values_mut().for_each(blank),
        other => *other = Value::from("#"),
    }
}

fn blank_columns(text: &str, names: &[&str]) -> Result<String, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let (mut lines, mut beside) = (format!("{headers:?}\n"), text.len());
    for record in reader.records() {
        let record = record?;
        let noisy = headers.iter().zip(&record).filter(|(name, _)| names.contains(name));
        beside -= noisy.map(|(_, cell)| cell.len()).sum::<usize>();
        let cells = headers.iter().zip(&record);
        let cells: Vec<&str> = cells.map(|(name, cell)| if names.contains(&name) { "#" } else { cell }).collect();
        lines.push_str(&format!("{cells:?}\n"));
    }
    // The byte count covers empty lines, which are not records.
    Ok(format!("{lines}{beside} bytes"))
}

/// A filter of a spec.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedFilter {
    pub column: String,
    pub above: f64,
}

/// A situation, and its differences from the user's command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourRunContext {
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
pub fn contexts(setting: &CellSetting, rows: &FileCells) -> Vec<NeighbourRunContext> {
    let allowed = || vec!["--allow-caveats".to_owned()];
    let mut all = vec![
        NeighbourRunContext { arguments: allowed(), ..NeighbourRunContext::default() },
        NeighbourRunContext {
            name: "with a spent budget",
            arguments: allowed().into_iter().chain(NO_BUDGET.map(str::to_owned)).collect(),
            ..NeighbourRunContext::default()
        },
    ];
    if setting.privacy.mechanism.row_choice_basis() == RowChoiceBasis::Inputs {
        return all;
    }
    let filter = setting.data.inputs.iter().find_map(|column| {
        let above = rows.column_maximum(column).filter(|_| !setting.data.encode.contains_key(column))?;
        Some(AddedFilter { column: column.clone(), above })
    });
    all.extend(filter.map(|filter| NeighbourRunContext {
        name: "with a filter that no row passes",
        arguments: allowed(),
        filter: Some(filter),
        delta: None,
    }));
    let delta = (1.0 / rows.row_count() as f64).min(0.5);
    all.push(NeighbourRunContext {
        name: "with delta = 1 / rows",
        delta: Some(delta),
        ..NeighbourRunContext::default()
    });
    all
}

/// Makes neighbours at the limits of the rules. One row lies beyond all others, holds an unknown word or class, counts as part of a record,
/// lacks a cell (if such rows are dropped), or is removed (if the number of rows is private).
pub fn edge_case_neighbours(setting: &CellSetting, rows: &FileCells, size_is_private: bool) -> Vec<FileCells> {
    let data = &setting.data;
    let (target, mut all) = (data.target_column(), Vec::new());
    if setting.privacy.mechanism.row_choice_basis() == RowChoiceBasis::Inputs {
        all.extend(
            data.encode
                .contains_key(target)
                .then(|| rows.clone().with_cell_text(0, target, "a word that is not listed")),
        );
        return all;
    }
    all.push(move_first_row_outside(data, rows));
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
fn move_first_row_outside(data: &DataSetting, rows: &FileCells) -> FileCells {
    let columns = data.inputs.iter().filter(|column| !data.encode.contains_key(*column));
    columns.fold(rows.clone(), |moved, column| match rows.column_maximum(column) {
        Some(greatest) => moved.with_cell_text(0, column, &format!("{:?}", greatest + 1.0)),
        None => moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: NoisyParts = NoisyParts::Columns(&["mean"]);

    #[test]
    fn noisy_numbers_alone_are_taken_out() {
        let shown = without_noise("x,mean\n1,2.5\n2,-0.125\n", COLUMNS);
        assert_eq!(shown, without_noise("x,mean\n1,7\n2,1e300\n", COLUMNS));
        for other in ["x,mean\n1,2.5\n3,-0.125\n", "x,mean\n1,2.5\n", "x,mean\n1,2.5\n2,-0.125\n\n"] {
            assert_ne!(without_noise(other, COLUMNS), shown, "{other:?}");
        }
    }

    #[test]
    fn lists_of_noisy_numbers_keep_their_length() {
        let noisy = NoisyParts::Fields(&["counts"]);
        let shown = without_noise(r#"{"counts": [1, 23], "sd": 4.5}"#, noisy);
        assert!(shown.contains("\"sd\": 4.5") && !shown.contains("23"), "{shown}");
        assert_ne!(without_noise(r#"{"counts": [1, 23, 4], "sd": 4.5}"#, noisy), shown);
        assert_ne!(without_noise("{\"counts\": [1, 23], \"sd\": 4.5} ", noisy), shown);
        let digest = |digest: &str| without_noise(&format!(r#"{{"predictions_sha256": "{digest}"}}"#), COLUMNS);
        assert_eq!(digest("00"), digest("ff"));
    }
}
