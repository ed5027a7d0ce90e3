//! The setting of a program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::{CellMeasurements, MeasurableTask, ReplicateJob, TaskError, TaskRequirements};
use dpgp_mechanisms::Sections;
use dpgp_number::{Finite, Positive};
use dpgp_spec::setting::rules::{check_range, fail};
use dpgp_spec::setting::{CheckResult, SpecProblem};

/// A program that is run once for each cell and replicate, in the folder of the spec. It reads one JSON object from standard input, with
/// the values of `with`, a seed and the path of the data, and writes one JSON object with its metrics as the last line of standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandTask {
    /// The program and its arguments.
    pub run: Vec<String>,
    /// Files beside the spec that the program consists of, by names or patterns such as `lib/*.py`. A cell is computed again when they change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The metrics that it returns.
    pub metrics: Vec<String>,
    /// Those metrics that differ from run to run, such as times: they are shown, but neither compared with printed numbers nor checked.
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
    /// Values that are passed to it; axes of the grid may set them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub with: BTreeMap<String, Value>,
    /// How long it may run, as a number and `s`, `min` or `h`.
    // Not written, as `secondary`.
    #[serde(default, skip_serializing)]
    pub timeout: Timeout,
    /// Environment variables to pass on. PATH, HOME, LANG and TMPDIR are always passed.
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
    /// Who claims it, for example the package.
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
    /// What a seed depends on beside the replicate: what the program is told. How it is started and what it consists of are no part of it, so
    /// that a mended program meets the same draws.
    pub fn seed_material(&self) -> String {
        serde_json::json!([self.with, self.guarantee]).to_string()
    }

    /// The program and its arguments, in a line.
    pub fn command_line(&self) -> String {
        self.run.join(" ")
    }
}

impl TaskRequirements for CommandTask {
    fn check(&self, setting: &Sections) -> CheckResult {
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
            check_range("task.command.guarantee.delta", possible, "from 0 to below 1", delta.get())?;
            if by.trim().is_empty() {
                return fail("task.command.guarantee.by", SpecProblem::Empty);
            }
        }
        if setting.model.is_some() {
            let why = "is not read by task.command; pass values to the program with task.command.with";
            return fail("model", SpecProblem::Shape(why.to_owned()));
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

    fn secondary_metrics(&self) -> &[String] {
        &self.secondary
    }
}

impl MeasurableTask for CommandTask {
    fn measure_cells(&self, _: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        Err(TaskError::NeedsFolder)
    }
}
