//! External programs as tasks: the requests to them and their answers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Value;

use crate::{
    AuditableCertificate, CellMeasurements, FigureTable, MeasurableTask, ReplicateJob, TaskError, TaskRequirements,
};
use dpgp_accounting::{Guarantee, UncheckedClaim};
use dpgp_mechanisms::CellSections;
use dpgp_number::{Finite, Positive};
use dpgp_spec::setting::rules::{check_range, fail};
use dpgp_spec::setting::{CheckResult, SpecProblem};

/// A program that is run once for each cell and replicate, in the folder of the spec. On standard input, it reads a JSON
/// object that holds the values of `with`, a seed and the path of the data. As the last line of standard output, it writes
/// a JSON object that holds its metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandTask {
    /// The program and its arguments.
    pub run: Vec<String>,
    /// The files of the program, as names or patterns such as `lib/*.py`, relative to the spec. A cell is computed again
    /// when one of them changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The metrics that the program returns.
    pub metrics: Vec<String>,
    /// The metrics that differ from run to run, such as times. They are shown, but neither compared with printed numbers
    /// nor checked.
    // Not written, since a result does not depend on it: what is written identifies results.
    #[serde(default, skip_serializing)]
    pub secondary: Vec<String>,
    /// The privacy guarantee that the program claims. It is not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<ProgramClaim>,
    /// Whether a cell is computed again when the first line of `PROGRAM --version` changes.
    // Not written: the line itself is part of what identifies results.
    #[serde(default, skip_serializing)]
    pub version: bool,
    /// Values that are passed to the program. Axes of the grid may set them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub with: BTreeMap<String, Value>,
    /// How long the program may run, for example `90 s`, `10 min` or `2 h`. Without it, 600 s.
    // Not written, as `secondary`.
    #[serde(default, skip_serializing)]
    pub timeout: Timeout,
    /// Environment variables to pass on to the program. PATH, HOME, LANG and TMPDIR are always passed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
}

/// A guarantee of differential privacy that a program claims for its answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramClaim {
    /// Epsilon, in nats.
    pub epsilon: Positive,
    /// Delta, a probability.
    #[serde(default = "zero_delta")]
    pub delta: Finite,
    /// Who or what claims the guarantee, for example the package.
    pub by: String,
}

fn zero_delta() -> Finite {
    Finite::ZERO
}

/// The longest time that a program may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timeout(Duration);

impl Default for Timeout {
    fn default() -> Self {
        Self(Duration::from_secs(600))
    }
}

impl Timeout {
    /// As a duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl TryFrom<String> for Timeout {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a time from 1 s to 1000 h, such as \"90 s\", \"10 min\" or \"2 h\"");
        let (number, unit) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "s" => Some(number),
            "min" => number.checked_mul(60),
            "h" => number.checked_mul(3600),
            _ => None,
        };
        let seconds = seconds.filter(|seconds| (1..=3_600_000).contains(seconds)).ok_or_else(wrong)?;
        Ok(Self(Duration::from_secs(seconds)))
    }
}

impl From<Timeout> for String {
    fn from(timeout: Timeout) -> Self {
        format!("{} s", timeout.0.as_secs())
    }
}

impl JsonSchema for Timeout {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timeout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^ *[0-9]+ +(s|min|h) *$" })
    }
}

impl CommandTask {
    /// What a program's seed depends on besides the seed of the experiment and the replicate: the keys `with` and `guarantee`. The
    /// command, its files and the data do not count, so a corrected program gets the same draws.
    pub fn seed_material(&self) -> String {
        serde_json::json!([self.with, self.guarantee]).to_string()
    }

    /// The program and its arguments, on one line.
    pub fn command_line_text(&self) -> String {
        self.run.join(" ")
    }
}

impl TaskRequirements for CommandTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        if self.run.first().is_none_or(String::is_empty) {
            return fail("task.command.run", SpecProblem::Empty);
        }
        if self.metrics.is_empty() || self.metrics.iter().any(String::is_empty) {
            return fail("task.command.metrics", SpecProblem::Empty);
        }
        let twice = |(place, metric): (usize, &String)| self.metrics[..place].contains(metric);
        if self.metrics.iter().enumerate().any(twice) {
            return fail("task.command.metrics", SpecProblem::Shape("names a metric twice".to_owned()));
        }
        if let Some(unknown) = self.secondary.iter().find(|metric| !self.metrics.contains(metric)) {
            let why = format!("names {unknown:?}, which is not in task.command.metrics");
            return fail("task.command.secondary", SpecProblem::Shape(why));
        }
        if let Some(ProgramClaim { delta, by, .. }) = &self.guarantee {
            let possible = (0.0..1.0).contains(&delta.get());
            check_range("task.command.guarantee.delta", possible, "at least 0 and below 1", delta.get())?;
            if by.trim().is_empty() {
                return fail("task.command.guarantee.by", SpecProblem::Empty);
            }
        }
        if setting.model.is_some() {
            let why = "is not read by task.command; pass values to the program with task.command.with. A program and a built-in task cannot share a \
                       spec: to rank a program beside built-in methods, use `dpgp data folds` and `dpgp show --best --with`";
            return fail("model", SpecProblem::Shape(why.to_owned()));
        }
        // The program gets the path of the file, and would read other rows than the spec says.
        let data = &setting.data;
        let unread = [
            ("data.filter", !data.filter.is_empty()),
            ("data.encode", !data.encode.is_empty()),
            ("data.draw", data.draw.is_some()),
            ("data.person", data.person.is_some()),
        ];
        if let Some((key, _)) = unread.into_iter().find(|(_, is_set)| *is_set) {
            let why =
                "is not read by task.command: the program gets the path of the file and must choose the rows itself";
            return fail(key, SpecProblem::Shape(why.to_owned()));
        }
        if setting.privacy.epsilon.get().is_finite() {
            let why = "is finite, but dpgp cannot certify what an external program does; omit [privacy]";
            return fail("privacy.epsilon", SpecProblem::Shape(why.to_owned()));
        }
        Ok(())
    }

    fn needs_inputs(&self) -> bool {
        false
    }

    fn can_count_rows(&self) -> bool {
        true
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        self.metrics.clone()
    }

    fn uncompared_metrics(&self) -> &[String] {
        &self.secondary
    }
}

impl MeasurableTask for CommandTask {
    fn measure_cells(&self, _: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        Err(TaskError::NeedsFolder)
    }
}

/// The request to a program, as one JSON object on standard input.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProgramRequest<'a> {
    /// The values of `task.command.with` in this cell.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub cell: &'a BTreeMap<String, Value>,
    /// A seed for this cell and replicate, below 2^63.
    pub seed: u64,
    /// The number of the replicate, starting from 0.
    pub replicate: u32,
    /// The claimed guarantee, from `task.command.guarantee`; null if none is claimed.
    pub guarantee: Option<&'a ProgramClaim>,
    /// The data of the spec; null if the spec has none.
    pub data: Option<&'a RequestData>,
    /// The path of an empty folder that is removed afterwards.
    pub folder: &'a Path,
}

/// A verified data file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequestData {
    /// The path of the file; for a dataset of several files, the path of the first.
    pub path: PathBuf,
    /// Its SHA-256; null for a file of the user's own.
    pub sha256: Option<String>,
    /// The paths of all files.
    pub files: Vec<PathBuf>,
}

/// The answer of a program, as one JSON object in the last line of standard output: metrics, each a number or a list of numbers
/// (for example one per fold), and optionally `frames` for figures.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProgramResponse {
    /// Tables of numbers, by name. Each table holds its columns by name.
    #[serde(default)]
    pub frames: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// The metrics.
    #[serde(flatten)]
    pub metrics: BTreeMap<String, MetricValues>,
}

/// The values of a metric.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MetricValues {
    /// One number.
    One(f64),
    /// Several numbers, which are summarised by a mean and a spread.
    Several(Vec<f64>),
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResponseError {
    /// Nothing was written.
    #[error("wrote nothing to standard output; its last line must be a JSON object with its metrics")]
    Nothing,
    /// The last line is no answer.
    #[error(
        "wrote {line:?} as its last line, which is not a JSON object of finite numbers and lists of them: {problem}. A run that has no \
         result, for example because it diverged, must exit with an error"
    )]
    NotJson {
        /// The line.
        line: String,
        /// What is wrong.
        problem: String,
    },
    /// A metric without a value.
    #[error("did not return the metric {metric:?} of task.command.metrics; it returned {answered}")]
    Missing {
        /// The metric.
        metric: String,
        /// What it returned, in words.
        answered: String,
    },
    /// An unknown key.
    #[error("returned {0:?}, which is not in task.command.metrics")]
    Unknown(String),
    /// A metric without numbers.
    #[error("returned no number for the metric {0:?}")]
    Empty(String),
}

/// The most letters of a line that a message shows.
const SHOWN: usize = 200;

impl CommandTask {
    /// Reads the answer in the last line of a program's output.
    ///
    /// ```
    /// use dpgp_task::CommandTask;
    /// let task: CommandTask = toml::from_str("run = [\"./mine\"]\nmetrics = [\"rmse\", \"seconds\"]")?;
    /// let answer = task.parse_response("fitting\n{\"rmse\": [0.5, 0.7], \"seconds\": 3}\n")?;
    /// assert_eq!(answer.metrics[0].values, [0.5, 0.7]);
    /// assert!(task.parse_response("{\"rmse\": 0.5}").is_err()); // without seconds
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ResponseError`].
    pub fn parse_response(&self, output: &str) -> Result<CellMeasurements, ResponseError> {
        let line = output.lines().rev().find(|line| !line.trim().is_empty()).ok_or(ResponseError::Nothing)?;
        let answer: ProgramResponse = serde_json::from_str(line).map_err(|error| ResponseError::NotJson {
            line: line.chars().take(SHOWN).collect(),
            problem: error.to_string(),
        })?;
        let ProgramResponse { frames, mut metrics } = answer;
        let mut measured = Vec::with_capacity(self.metrics.len());
        let answered: Vec<String> = metrics.keys().cloned().collect();
        for name in &self.metrics {
            let missing = || ResponseError::Missing {
                metric: name.clone(),
                answered: if answered.is_empty() { "none".to_owned() } else { answered.join(", ") },
            };
            let values = match metrics.remove(name).ok_or_else(missing)? {
                MetricValues::One(value) => vec![value],
                MetricValues::Several(values) => values,
            };
            if values.is_empty() {
                return Err(ResponseError::Empty(name.clone()));
            }
            measured.push((name.clone(), values));
        }
        if let Some((unknown, _)) = metrics.pop_first() {
            return Err(ResponseError::Unknown(unknown));
        }
        let mut drawn = Vec::with_capacity(frames.len());
        for (name, columns) in frames {
            drawn.push(
                columns
                    .into_iter()
                    .fold(FigureTable::new(&name), |frame, (column, values)| frame.with_column(column, values)),
            );
        }
        let claimed = self.guarantee.as_ref().map(|ProgramClaim { epsilon, delta, by }| UncheckedClaim {
            guarantee: Guarantee { epsilon: epsilon.get(), delta: delta.get() },
            by: by.clone(),
        });
        Ok(AuditableCertificate::from_unchecked_claim(claimed)
            .into_repeated_measurements(0.0, measured)
            .with_frames(drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each mistake of a program is told by its name.
    #[test]
    fn wrong_answers_are_told() {
        let task: CommandTask = toml::from_str("run = [\"./mine\"]\nmetrics = [\"rmse\"]").unwrap();
        let said = |output: &str| task.parse_response(output).unwrap_err().to_string();
        for (output, says) in [
            ("", "wrote nothing"),
            ("\n \n", "wrote nothing"),
            ("rmse = 3", "wrote \"rmse = 3\" as its last line, which is not a JSON object"),
            ("[1]", "not a JSON object"),
            ("{\"rmse\": \"low\"}", "not a JSON object of finite numbers"),
            ("{\"rmse\": NaN}", "not a JSON object"),
            ("{\"RMSE\": 1}", "did not return the metric \"rmse\" of task.command.metrics; it returned RMSE"),
            ("{\"rmse\": []}", "no number for the metric \"rmse\""),
            ("{\"rmse\": 1, \"mae\": 2}", "returned \"mae\", which is not in task.command.metrics"),
            ("{\"rmse\": 1}\ndone", "wrote \"done\" as its last line"),
        ] {
            assert!(said(output).contains(says), "{output:?}: {}", said(output));
        }
        let answer =
            task.parse_response("{\"rmse\": 2, \"frames\": {\"curve\": {\"x1\": [0, 1], \"mean\": [2, 3]}}}").unwrap();
        assert_eq!(answer.frames[0].column("mean").unwrap(), [2.0, 3.0]);
    }
}
