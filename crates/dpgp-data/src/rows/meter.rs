//! What a user sees while rows are read or written.

use std::fmt;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of a whole bar.
const STEPS: u64 = 1000;

/// A bar on standard error, drawn only if that is a terminal: rows that are done, how many in a second, and the time left.
pub struct RowMeter {
    bar: ProgressBar,
    start: Instant,
    /// How many rows will come, if that is known.
    expected: Option<u64>,
    rows: u64,
}

impl RowMeter {
    /// A bar that says what is done with the rows.
    #[must_use]
    pub fn stderr(what: &'static str, expected: Option<u64>) -> Self {
        let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}");
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            .with_prefix(what);
        Self { bar, start: Instant::now(), expected, rows: 0 }
    }

    /// So many more rows are done. How far that is follows from the rows expected, else from `share`, such as that of the bytes.
    pub fn advance(&mut self, rows: u64, share: f64) {
        self.rows += rows;
        let share = self.expected.map_or(share, |all| self.rows as f64 / all.max(1) as f64).min(1.0);
        self.bar.set_position((share * STEPS as f64) as u64);
        self.bar.set_message(Pace { rows: self.rows, elapsed: self.start.elapsed(), share }.to_string());
    }
}

impl Drop for RowMeter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How far the rows are.
struct Pace {
    rows: u64,
    elapsed: Duration,
    /// Of the work.
    share: f64,
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, elapsed, share } = self;
        // Not infinite, and no speed of the first moment.
        let speed = *rows as f64 / elapsed.as_secs_f64().max(1e-3);
        write!(f, "{} rows, {} rows/s", HumanCount(*rows), HumanCount(speed as u64))?;
        if *share > 0.0 {
            let left = Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / share);
            write!(f, ", {} left", HumanDuration(left.unwrap_or(Duration::MAX)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_and_time_left() {
        let elapsed = Duration::from_secs(20);
        let text = Pace { rows: 3_000_000, elapsed, share: 0.25 }.to_string();
        assert_eq!(text, "3,000,000 rows, 150,000 rows/s, 60 seconds left");
        let text = Pace { rows: 0, elapsed: Duration::ZERO, share: 0.0 }.to_string();
        assert_eq!(text, "0 rows, 0 rows/s");
    }
}
