//! What is shown while blocks are computed.

use indicatif::{ProgressBar, ProgressStyle};

/// Told of every finished unit of work, from any thread.
pub trait Watcher: Sync {
    /// One more of `total` units is done.
    fn finished(&self, total: usize);
}

/// Shows nothing.
pub struct Quiet;

impl Watcher for Quiet {
    fn finished(&self, _: usize) {}
}

/// A bar on stderr; nothing where stderr is no terminal.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar with the experiment's name.
    pub fn new(name: &str) -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} blocks, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        Self { bar }
    }
}

impl Watcher for Bar {
    fn finished(&self, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.inc(1);
        if self.bar.position() >= total as u64 {
            self.bar.finish_and_clear();
        }
    }
}
