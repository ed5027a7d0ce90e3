//! Ctrl-C, SIGTERM and SIGHUP: finish what is in flight, store it, stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::CliError;
use super::output::complain;

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 75;

/// A flag that the first signal sets. The second ends the process at once; what was stored stays stored.
pub fn watch_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let refused = CliError::io(Path::new("signal handler"));
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(&refused)?;
    if !ignores_hangup() {
        signals.handle().add_signal(SIGHUP).map_err(&refused)?;
    }
    let flag = Arc::clone(&stop);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || watch(signals, &flag))
        .map_err(refused)?;
    Ok(stop)
}

/// Whether the program was started to outlive its terminal, as `nohup` does. Only Linux tells.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

fn watch(mut signals: Signals, stop: &AtomicBool) {
    for _ in signals.forever() {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        complain("stopping: blocks in flight are finished and stored first; again to stop at once");
    }
}
