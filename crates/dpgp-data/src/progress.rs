//! What a user sees while files arrive.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::shown::{shown_line, shown_text};

/// Told how a download goes. One file at a time.
pub trait Progress: Send + Sync {
    /// A transfer of `file` begins; `total` bytes will come, if that is known. A retry begins again.
    fn start(&self, file: &str, total: Option<u64>);
    /// So many more bytes are there.
    fn advance(&self, bytes: u64);
    /// Something the user should know, such as why a download is tried again.
    fn note(&self, message: &str);
    /// The transfer is over, for better or worse.
    fn finish(&self);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _file: &str, _total: Option<u64>) {}
    fn advance(&self, _bytes: u64) {}
    fn note(&self, _message: &str) {}
    fn finish(&self) {}
}

/// A progress bar on standard error, drawn only if that is a terminal. Notes are printed in either case.
#[derive(Debug, Default)]
pub struct Bars {
    bar: Mutex<Option<ProgressBar>>,
}

impl Bars {
    /// Bars on standard error. Where the user asked for quiet, take [`Silent`] instead.
    #[must_use]
    pub fn stderr() -> Self {
        Self::default()
    }

    /// Runs `act` on the bar. A panic elsewhere does not spoil the bar, so a poisoned lock is taken as it is.
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Progress for Bars {
    fn start(&self, file: &str, total: Option<u64>) {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
            .with_style(style(total.is_some()))
            .with_message(shown_line(file).into_owned());
        self.with(|slot| *slot = Some(bar));
    }

    fn advance(&self, bytes: u64) {
        self.with(|slot| {
            if let Some(bar) = slot {
                bar.inc(bytes);
            }
        });
    }

    fn note(&self, message: &str) {
        self.with(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
        eprintln!("{}", shown_text(message));
    }

    fn finish(&self) {
        self.with(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }
}

fn style(total_known: bool) -> ProgressStyle {
    let template = if total_known {
        "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}"
    } else {
        "{msg} {spinner} {bytes} {bytes_per_sec}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
