//! The request to a program and its answer, as JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Value;

use super::{CommandTask, ProgramClaim};
use crate::{AuditableCertificate, CellMeasurements, FigureFrame};
use dpgp_accounting::{Guarantee, UncheckedClaim};

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
    /// The data of the spec; null without any.
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
    /// Tables of numbers by name: columns by name.
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
                    .fold(FigureFrame::new(&name), |frame, (column, values)| frame.with_column(column, values)),
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
