//! What a user sees of work whose steps are not counted.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use dpgp_data::shown_line;

/// A line on standard error that says what is done and since when, drawn only if that is a terminal; it goes away at the end.
pub(super) struct Waiting(ProgressBar);

impl Waiting {
    /// The line; none where the user asked for quiet.
    pub(super) fn on(what: &str, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let line = ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            .with_message(shown_line(what).into_owned());
        // The thread of steady ticks may begin after work that is soon done.
        line.tick();
        line.enable_steady_tick(Duration::from_millis(250));
        Self(line)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
