//! Ctrl-C and SIGTERM: finish what is in flight, store it, stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::CliError;

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 75;

/// A flag that the first signal sets. The second ends the process at once; what was stored stays stored.
pub fn watch_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let refused = CliError::io(Path::new("signal handler"));
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(&refused)?;
    let flag = Arc::clone(&stop);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || watch(signals, &flag))
        .map_err(refused)?;
    Ok(stop)
}

fn watch(mut signals: Signals, stop: &AtomicBool) {
    for _ in signals.forever() {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        eprintln!("stopping: blocks in flight are finished and stored first; again to stop at once");
    }
}
