//! Runs the program itself on a file and on its neighbours. Its output must be the same except for noisy numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use dpgp_claim_audit::AuditVerdict;
use dpgp_task::Experiment;

use super::situations::{AddedFilter, NeighbourRunSituation};
use super::{EndToEndCheck, FileCells};
use crate::ReleaseError;

/// Names in the folder of a run.
const ROWS: &str = "rows.csv";
const LEDGER: &str = "ledger.toml";
const STATE: &str = "state";

/// A verb, and the files to run it on.
pub struct NeighbourRunPlan<'a> {
    /// Makes a command that starts the program.
    pub program: fn() -> io::Result<Command>,
    /// The spec.
    pub experiment: &'a Experiment,
    /// The rows of the user's file.
    pub rows: FileCells,
    /// The rows of the neighbours.
    pub neighbours: Vec<FileCells>,
    /// The situations to compare in; the first is the command as the user gives it.
    pub contexts: Vec<NeighbourRunSituation>,
    /// The points to predict at.
    pub points: Option<NeighbourRunPoints>,
    /// The verb and its arguments.
    pub verb: NeighbourRunVerb,
}

/// The source of points.
pub enum NeighbourRunPoints {
    /// The user's file.
    File(PathBuf),
    /// The text of a file.
    Text(String),
}

/// A verb to run.
pub struct NeighbourRunVerb {
    /// Its name.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The noisy numbers that it writes.
    pub noisy: NoisyColumnsOrFields,
}

/// The visible output of a run, by name.
type VisibleOutput = BTreeMap<String, String>;

impl NeighbourRunPlan<'_> {
    /// Runs the program on the file and on each neighbour, and compares their output.
    ///
    /// # Errors
    /// [`ReleaseError::Io`] if the program cannot be run.
    pub fn run_and_compare(&self) -> Result<EndToEndCheck, ReleaseError> {
        let mut differ = BTreeSet::new();
        for context in &self.contexts {
            let before = self.run(&self.rows, context)?;
            if context.name.is_empty() && before["the exit code"] != "0" {
                let error = before["standard error"].trim();
                let note = format!("`dpgp {}` ends with an error: {error}", self.verb.name);
                return Ok(EndToEndCheck::new(AuditVerdict::NotAudited, note));
            }
            for neighbour in &self.neighbours {
                let after = self.run(neighbour, context)?;
                let names = before.keys().chain(after.keys());
                let names = names.filter(|name| before.get(*name) != after.get(*name));
                differ.extend(names.map(|name| format!("{name} {}", context.name).trim_end().to_owned()));
            }
        }
        let (verb, runs) = (self.verb.name, self.neighbours.len());
        if differ.is_empty() {
            let situations: Vec<&str> =
                self.contexts.iter().map(|context| context.name).filter(|name| !name.is_empty()).collect();
            let also = if situations.is_empty() { String::new() } else { format!(", also {}", situations.join(", ")) };
            let note = format!(
                "the output of `dpgp {verb}` is the same for the file and for {runs} neighbours{also}, apart from noisy numbers"
            );
            return Ok(EndToEndCheck::from_outcome(true, note));
        }
        let differ = differ.into_iter().collect::<Vec<_>>().join(", ");
        Ok(EndToEndCheck::from_outcome(false, format!("`dpgp {verb}` DISTINGUISHES NEIGHBOURS by {differ}")))
    }

    /// Runs the program on some rows, in a new folder with its own key and ledger, and returns its visible output.
    fn run(&self, rows: &FileCells, context: &NeighbourRunSituation) -> Result<VisibleOutput, ReleaseError> {
        let folder = tempfile::tempdir().map_err(ReleaseError::io(&std::env::temp_dir()))?;
        let (path, spec) = (folder.path(), self.spec_name());
        write_run_file(path, ROWS, &rows.csv(None, 1)?)?;
        write_run_file(path, &spec, &self.spec(context))?;
        let points = self.write_points_file(path)?;
        let mut command = (self.program)().map_err(ReleaseError::io(Path::new("this program")))?;
        command.args([self.verb.name, &spec]).args(&self.verb.arguments);
        if let Some(points) = &points {
            command.args(["--at", points]);
        }
        // Name the ledger, because one in the state folder would have a name that depends on the rows and the key.
        command.args(["--ledger", LEDGER, "--quiet", "--offline"]).args(&context.arguments);
        command.current_dir(path).env("DPGP_STATE", path.join(STATE)).stdin(Stdio::null());
        let output = command.output().map_err(ReleaseError::io(Path::new("this program")))?;
        let lock = format!("{LEDGER}.lock");
        let apart = [ROWS, LEDGER, &lock, &spec, points.as_deref().unwrap_or_default()];
        let mut shown = read_files_blanking_noise(path, &apart, self.verb.noisy)?;
        let code = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let named = [("the exit code", code), ("standard output", out), ("standard error", err)];
        shown.extend(named.map(|(name, text)| (name.to_owned(), text)));
        Ok(shown)
    }

    fn spec_name(&self) -> String {
        self.experiment.source.file().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Writes the spec for a situation, with the rows beside it. The spec is valid TOML, or it would not be an experiment.
    fn spec(&self, context: &NeighbourRunSituation) -> String {
        let text = self.experiment.source.text();
        let Ok(mut spec) = text.parse::<toml::Table>() else { return text.to_owned() };
        if let Some(toml::Value::Table(data)) = spec.get_mut("data") {
            let path = toml::Table::from_iter([("path".to_owned(), ROWS.into())]);
            let csv = toml::Table::from_iter([("csv".to_owned(), path.into())]);
            data.insert("source".to_owned(), csv.into());
            if let Some(AddedFilter { column, above }) = &context.filter {
                let filters = data.entry("filter").or_insert_with(|| toml::Value::Array(Vec::new()));
                let filter = [("column", column.as_str().into()), ("is", ">".into()), ("value", (*above).into())];
                let filter = filter.map(|(key, value): (&str, toml::Value)| (key.to_owned(), value));
                if let Some(filters) = filters.as_array_mut() {
                    filters.push(toml::Table::from_iter(filter).into());
                }
            }
        }
        if let (Some(toml::Value::Table(privacy)), Some(delta)) = (spec.get_mut("privacy"), context.delta) {
            privacy.insert("delta".to_owned(), delta.into());
        }
        spec.to_string()
    }

    /// Writes the points, if there are any, and returns the name of the file.
    fn write_points_file(&self, folder: &Path) -> Result<Option<String>, ReleaseError> {
        let Some(points) = &self.points else { return Ok(None) };
        match points {
            NeighbourRunPoints::Text(text) => {
                write_run_file(folder, "points.csv", text)?;
                Ok(Some("points.csv".to_owned()))
            }
            NeighbourRunPoints::File(file) => {
                // Keep the ending, which distinguishes CSV from Parquet.
                let ending = file.extension().unwrap_or_default().to_string_lossy();
                let name = format!("points.{ending}");
                std::fs::copy(file, folder.join(&name)).map_err(ReleaseError::io(file))?;
                Ok(Some(name))
            }
        }
    }
}

fn write_run_file(folder: &Path, name: &str, text: &str) -> Result<(), ReleaseError> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(ReleaseError::io(&path))
}

/// The noisy numbers in the files of a verb.
#[derive(Debug, Clone, Copy)]
pub enum NoisyColumnsOrFields {
    /// These columns of CSV files.
    Columns(&'static [&'static str]),
    /// These fields of JSON files.
    Fields(&'static [&'static str]),
}

/// Reads the files of a folder except those in `apart`, and replaces each noisy number by `#`.
fn read_files_blanking_noise(
    folder: &Path,
    apart: &[&str],
    noisy: NoisyColumnsOrFields,
) -> Result<BTreeMap<String, String>, ReleaseError> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(ReleaseError::io(folder))? {
        let path = entry.map_err(ReleaseError::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_dir() && !apart.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).map_err(ReleaseError::io(&path))?;
            files.insert(name, blank_noisy_numbers(&text, noisy));
        }
    }
    Ok(files)
}

fn blank_noisy_numbers(text: &str, noisy: NoisyColumnsOrFields) -> String {
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        // Count the bytes beside the value, such as blanks at the end.
        let beside = text.len() as i64 - format!("{value:#}").len() as i64;
        blank_noisy_fields(&mut value, noisy);
        return format!("{value:#}\n{beside} bytes");
    }
    match noisy {
        NoisyColumnsOrFields::Columns(names) => blank_columns(text, names).unwrap_or_else(|_| text.to_owned()),
        NoisyColumnsOrFields::Fields(_) => text.to_owned(),
    }
}

/// Blanks noisy fields. The id of a release is random, and digests of noisy numbers are as noisy as the numbers.
fn blank_noisy_fields(value: &mut Value, noisy: NoisyColumnsOrFields) {
    let names = if let NoisyColumnsOrFields::Fields(names) = noisy {
        names
    } else {
        &["predictions_sha256", "combinations_sha256"]
    };
    for name in names.iter().chain(&["release_id", "content_sha256"]) {
        if let Some(field) = value.get_mut(name) {
            blank_all_scalars(field);
        }
    }
}

/// Replaces every scalar of a JSON value by `#`. Lists keep their length, so a change of length stays visible.
fn blank_all_scalars(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(blank_all_scalars),
        Value::Object(all) => all.values_mut().for_each(blank_all_scalars),
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

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: NoisyColumnsOrFields = NoisyColumnsOrFields::Columns(&["mean"]);

    #[test]
    fn noisy_numbers_alone_are_taken_out() {
        let shown = blank_noisy_numbers("x,mean\n1,2.5\n2,-0.125\n", COLUMNS);
        assert_eq!(shown, blank_noisy_numbers("x,mean\n1,7\n2,1e300\n", COLUMNS));
        for other in ["x,mean\n1,2.5\n3,-0.125\n", "x,mean\n1,2.5\n", "x,mean\n1,2.5\n2,-0.125\n\n"] {
            assert_ne!(blank_noisy_numbers(other, COLUMNS), shown, "{other:?}");
        }
    }

    #[test]
    fn lists_of_noisy_numbers_keep_their_length() {
        let noisy = NoisyColumnsOrFields::Fields(&["counts"]);
        let shown = blank_noisy_numbers(r#"{"counts": [1, 23], "sd": 4.5}"#, noisy);
        assert!(shown.contains("\"sd\": 4.5") && !shown.contains("23"), "{shown}");
        assert_ne!(blank_noisy_numbers(r#"{"counts": [1, 23, 4], "sd": 4.5}"#, noisy), shown);
        assert_ne!(blank_noisy_numbers("{\"counts\": [1, 23], \"sd\": 4.5} ", noisy), shown);
        let digest = |digest: &str| blank_noisy_numbers(&format!(r#"{{"predictions_sha256": "{digest}"}}"#), COLUMNS);
        assert_eq!(digest("00"), digest("ff"));
    }
}
