//! The program itself, run on a file and on its neighbours, for `dpgp audit --end-to-end`: all that it prints and writes must be the
//! same, but for numbers with noise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CliError;
use super::paired_files::{AddedFilter, PairedContext};
use super::paired_files::{NoisyParts, files_without_noise};
use dpgp_evidence::AuditVerdict;
use dpgp_release::EndToEndCheck;
use dpgp_release::FileCells;
use dpgp_task::Experiment;

/// Names in the folder of a run.
const ROWS: &str = "rows.csv";
const LEDGER: &str = "ledger.toml";
const STATE: &str = "state";

/// A verb and the file that it is run on.
pub struct PairedPlan<'a> {
    /// The spec.
    pub experiment: &'a Experiment,
    /// The rows of the user's file.
    pub rows: FileCells,
    /// What neighbours have in their place.
    pub neighbours: Vec<FileCells>,
    /// The situations that both are compared in; the first is the command as the user gives it.
    pub contexts: Vec<PairedContext>,
    /// The points to predict at.
    pub points: Option<PairedPoints>,
    /// The verb and what follows the name of the spec.
    pub verb: PairedVerb,
}

/// Where points stand.
pub enum PairedPoints {
    /// In the user's file.
    File(PathBuf),
    /// In the text of a file.
    Text(String),
}

/// What is run.
pub struct PairedVerb {
    pub name: &'static str,
    pub arguments: Vec<String>,
    pub noisy: NoisyParts,
}

/// All that a run shows, by what it is.
type ShownPair = BTreeMap<String, String>;

impl PairedPlan<'_> {
    /// Runs the program on the file and on each neighbour, and compares.
    pub fn check(&self) -> Result<EndToEndCheck, CliError> {
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
            let also = if situations.is_empty() {
                String::new()
            } else {
                format!(", also {}", situations.join(", "))
            };
            let note = format!(
                "`dpgp {verb}` prints and writes the same of the file and of {runs} neighbours{also}, but for numbers with noise"
            );
            return Ok(EndToEndCheck::from_outcome(true, note));
        }
        let differ = differ.into_iter().collect::<Vec<_>>().join(", ");
        Ok(EndToEndCheck::from_outcome(false, format!("`dpgp {verb}` TELLS NEIGHBOURS APART by {differ}")))
    }

    /// What the program shows of some rows, in a folder of their own and with a key and a ledger of their own.
    fn run(&self, rows: &FileCells, context: &PairedContext) -> Result<ShownPair, CliError> {
        let folder = tempfile::tempdir().map_err(CliError::io(&std::env::temp_dir()))?;
        let (path, spec) = (folder.path(), self.spec_name());
        put(path, ROWS, &rows.csv(None, 1)?)?;
        put(path, &spec, &self.spec(context))?;
        let points = self.put_points(path)?;
        let program = std::env::current_exe().map_err(CliError::io(Path::new("this program")))?;
        let mut command = Command::new(program);
        command.args([self.verb.name, &spec]).args(&self.verb.arguments);
        if let Some(points) = &points {
            command.args(["--at", points]);
        }
        // A ledger in the state folder has a name that follows from the rows and the key.
        command.args(["--ledger", LEDGER, "--quiet", "--offline"]).args(&context.arguments);
        command.current_dir(path).env("DPGP_STATE", path.join(STATE)).stdin(Stdio::null());
        let output = command.output().map_err(CliError::io(Path::new("this program")))?;
        let lock = format!("{LEDGER}.lock");
        let apart = [ROWS, LEDGER, &lock, &spec, points.as_deref().unwrap_or_default()];
        let mut shown = files_without_noise(path, &apart, self.verb.noisy)?;
        let code = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
        let [out, err] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let named = [("the exit code", code), ("standard output", out), ("standard error", err)];
        shown.extend(named.map(|(name, text)| (name.to_owned(), text)));
        Ok(shown)
    }

    fn spec_name(&self) -> String {
        self.experiment.source.file().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The spec in a situation, which reads the rows beside it. One that is no TOML would not be an experiment.
    fn spec(&self, context: &PairedContext) -> String {
        let text = self.experiment.source.text();
        let Ok(mut spec) = text.parse::<toml::Table>() else { return text.to_owned() };
        if let Some(toml::Value::Table(data)) = spec.get_mut("data") {
            let path = toml::Table::from_iter([("path".to_owned(), ROWS.into())]);
            let csv = toml::Table::from_iter([("csv".to_owned(), path.into())]);
            data.insert("source".to_owned(), csv.into());
            if let Some(AddedFilter { column, above }) = &context.filter {
                let filters = data.entry("filter").or_insert_with(|| toml::Value::Array(Vec::new()));
                let filter =
                    [("column", column.as_str().into()), ("is", ">".into()), ("value", (*above).into())];
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

    /// Writes the points, if there are any, and returns the name of their file.
    fn put_points(&self, folder: &Path) -> Result<Option<String>, CliError> {
        let Some(points) = &self.points else { return Ok(None) };
        match points {
            PairedPoints::Text(text) => {
                put(folder, "points.csv", text)?;
                Ok(Some("points.csv".to_owned()))
            }
            PairedPoints::File(file) => {
                // The ending tells CSV from Parquet.
                let ending = file.extension().unwrap_or_default().to_string_lossy();
                let name = format!("points.{ending}");
                std::fs::copy(file, folder.join(&name)).map_err(CliError::io(file))?;
                Ok(Some(name))
            }
        }
    }
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(CliError::io(&path))
}
