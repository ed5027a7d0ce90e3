//! What `dpgp stats` says about the sums that it made.

use serde_json::{Value, json};

use super::CliError;
use super::arguments::Format;
use super::output::{print, print_json};
use super::stats::StatsArguments;

/// What is said about some sums.
pub(super) struct Report {
    /// For programs.
    pub facts: Value,
    /// For people.
    pub text: String,
    /// The time that they took.
    pub seconds: f64,
    /// The rows and the number m of inducing inputs, if there are any.
    pub work: Option<(u64, usize)>,
    /// What the ledger holds after the release.
    pub balance: String,
}

impl Report {
    /// Prints it.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be printed.
    pub fn print(mut self, arguments: &StatsArguments, format: Format) -> Result<(), CliError> {
        if format == Format::Json {
            self.facts["out"] = json!(arguments.out);
            self.facts["release"] = json!(arguments.release);
            if arguments.timings {
                self.facts["seconds"] = json!(self.seconds);
            }
            return print_json(&self.facts);
        }
        if arguments.timings {
            self.text += &self.timing();
        }
        for path in arguments.out.iter().chain(&arguments.release) {
            self.text += &format!("written to {}\n", path.display());
        }
        print(&(self.text + &self.balance))
    }

    fn timing(&self) -> String {
        let seconds = self.seconds;
        let Some((rows, m)) = self.work else { return format!("{seconds:.3} s\n") };
        let speed = rows as f64 * (m * m) as f64 / seconds / 1e9;
        format!("{seconds:.3} s, {speed:.1} GFLOP/s counted as rows times {m}^2\n")
    }
}
