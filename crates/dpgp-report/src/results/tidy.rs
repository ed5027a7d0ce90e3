//! One table of an experiment and of its runs with changed settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::PublishError;

/// A folder of results, with the settings that a run changed.
struct RunTableWithChangedSettings {
    name: String,
    /// Keys and values of the changed settings.
    changes: Vec<(String, String)>,
    headings: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl RunTableWithChangedSettings {
    /// Reads a folder; none if it holds no table.
    fn read(folder: &Path, name: &str) -> Result<Option<Self>, PublishError> {
        let file = folder.join("table.csv");
        let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
        let wrong = |cause| PublishError::NotATable { path: file.clone(), cause };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headings = reader.headers().map_err(wrong)?.clone();
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
        let changed = manifest["changed"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let changes = changed.filter_map(|change| change.split_once(" = "));
        let changes = changes.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Ok(Some(Self { name: name.to_owned(), changes, headings, rows }))
    }
}

/// Writes all rows of a folder of results and of the changed runs below it as CSV: the name of the run, a column for each setting that any
/// run changed and that has none, empty where it is that of the spec, and the columns of the tables.
///
/// # Errors
/// [`PublishError::NotATable`] if a table cannot be read.
pub fn tidy_runs_csv(folder: &Path) -> Result<String, PublishError> {
    let mut runs = Vec::from_iter(RunTableWithChangedSettings::read(folder, "")?);
    let mut changed: Vec<PathBuf> =
        std::fs::read_dir(folder.join("changed")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    changed.sort();
    for run in changed {
        let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        runs.extend(RunTableWithChangedSettings::read(&run, &name)?);
    }
    let (mut keys, mut columns): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for run in &runs {
        let own = run.changes.iter().map(|(key, _)| key.as_str());
        keys.extend(own.filter(|key| !keys.contains(key)).collect::<Vec<_>>());
        let own = run.headings.iter().filter(|heading| *heading != "experiment");
        columns.extend(own.filter(|heading| !columns.contains(heading)).collect::<Vec<_>>());
    }
    // A change of an axis is in its own column already, row by row.
    keys.retain(|key| !columns.contains(key));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let io = |cause: std::io::Error| PublishError::io(folder, cause);
    let mut write = |record: Vec<&str>| writer.write_record(record).map_err(|cause| io(cause.into()));
    let headings = std::iter::once("run").chain(keys.iter().copied()).chain(columns.iter().copied());
    write(headings.collect())?;
    for run in &runs {
        let values =
            keys.iter().map(|key| run.changes.iter().find(|(own, _)| own == key).map_or("", |(_, value)| value));
        let start: Vec<&str> = std::iter::once(run.name.as_str()).chain(values).collect();
        let places: Vec<Option<usize>> =
            columns.iter().map(|column| run.headings.iter().position(|heading| heading == *column)).collect();
        for row in &run.rows {
            let cells = places.iter().map(|at| at.and_then(|at| row.get(at)).unwrap_or_default());
            write(start.iter().copied().chain(cells).collect())?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| io(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
