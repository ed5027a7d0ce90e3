//! The program itself, run on a file and on its neighbours, for `dpgp audit --end-to-end`: all that it prints and writes must be the
//! same, but for numbers with noise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CliError;
use super::paired_files::{FileCells, NoisyParts, files_without_noise};
use crate::audit::AuditVerdict;
use crate::release::{EndToEndCheck, ReplacedCell};
use crate::task::Experiment;

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
    /// Rows that have other cells in a neighbour.
    pub replaced: Vec<ReplacedRow>,
    /// The points to predict at.
    pub points: Option<Points>,
    /// The verb and what follows the name of the spec.
    pub verb: PairedVerb,
}

/// A row with other cells.
pub struct ReplacedRow {
    pub row: usize,
    pub cells: Vec<ReplacedCell>,
}

/// Where points stand.
pub enum Points {
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
type Shown = BTreeMap<String, String>;

impl PairedPlan<'_> {
    /// Runs the program on the file and on each neighbour, and compares.
    pub fn check(&self) -> Result<EndToEndCheck, CliError> {
        let before = self.run(&self.rows)?;
        if before["the exit code"] != "0" {
            let note =
                format!("`dpgp {}` ends with an error: {}", self.verb.name, before["standard error"].trim());
            return Ok(EndToEndCheck::new(AuditVerdict::NotAudited, note));
        }
        let mut differ = BTreeSet::new();
        for ReplacedRow { row, cells } in &self.replaced {
            let after = self.run(&self.rows.with(*row, cells))?;
            let names = before.keys().chain(after.keys());
            differ.extend(names.filter(|name| before.get(*name) != after.get(*name)).cloned());
        }
        let (verb, runs) = (self.verb.name, self.replaced.len());
        if differ.is_empty() {
            let note = format!(
                "`dpgp {verb}` prints and writes the same of the file and of {runs} neighbours, but for numbers with noise"
            );
            return Ok(EndToEndCheck::of(true, note));
        }
        let differ = differ.into_iter().collect::<Vec<_>>().join(", ");
        Ok(EndToEndCheck::of(false, format!("`dpgp {verb}` TELLS NEIGHBOURS APART by {differ}")))
    }

    /// What the program shows of some rows, in a folder of their own and with a key and a ledger of their own.
    fn run(&self, rows: &FileCells) -> Result<Shown, CliError> {
        let folder = tempfile::tempdir().map_err(CliError::io(&std::env::temp_dir()))?;
        let (path, spec) = (folder.path(), self.spec_name());
        put(path, ROWS, &rows.csv(None, 1)?)?;
        put(path, &spec, &self.spec())?;
        let points = self.put_points(path)?;
        let program = std::env::current_exe().map_err(CliError::io(Path::new("this program")))?;
        let mut command = Command::new(program);
        command.args([self.verb.name, &spec]).args(&self.verb.arguments);
        if let Some(points) = &points {
            command.args(["--at", points]);
        }
        // A ledger in the state folder has a name that follows from the rows and the key.
        command.args(["--ledger", LEDGER, "--allow-caveats", "--quiet", "--offline"]);
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

    /// The spec, which reads the rows beside it. One that is no TOML would not be an experiment.
    fn spec(&self) -> String {
        let text = self.experiment.source.text();
        let Ok(mut spec) = text.parse::<toml::Table>() else { return text.to_owned() };
        if let Some(toml::Value::Table(data)) = spec.get_mut("data") {
            let path = toml::Table::from_iter([("path".to_owned(), ROWS.into())]);
            let csv = toml::Table::from_iter([("csv".to_owned(), path.into())]);
            data.insert("source".to_owned(), csv.into());
        }
        spec.to_string()
    }

    /// Writes the points, if there are any, and returns the name of their file.
    fn put_points(&self, folder: &Path) -> Result<Option<String>, CliError> {
        let Some(points) = &self.points else { return Ok(None) };
        match points {
            Points::Text(text) => {
                put(folder, "points.csv", text)?;
                Ok(Some("points.csv".to_owned()))
            }
            Points::File(file) => {
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
