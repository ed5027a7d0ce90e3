//! A spinner for work without a progress bar.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use dpgp_data::escape_hidden_line;

/// A line on standard error with the current task and its elapsed time, shown only on a terminal and removed at the end.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    /// Shows the line, unless `quiet`.
    pub(super) fn start(what: &str, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let line = ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            .with_message(escape_hidden_line(what).into_owned());
        // Draw at once: the ticking thread may start after a short task has ended.
        line.tick();
        line.enable_steady_tick(Duration::from_millis(250));
        Self(line)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
