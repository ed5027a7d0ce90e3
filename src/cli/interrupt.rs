//! Ctrl-C and SIGTERM: finish what is in flight, store it, stop.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::CliError;

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 75;

/// A flag that the first signal sets. The second ends the process at once; what was stored stays stored.
///
/// # Errors
/// [`CliError::Io`] if the system refuses the handler.
pub fn watch_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let refused = |cause| CliError::Io { path: PathBuf::from("signal handler"), cause };
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(refused)?;
    let flag = Arc::clone(&stop);
    let watch = move || {
        for _ in signals.forever() {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            eprintln!("stopping: blocks in flight are finished and stored first; again to stop at once");
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch).map_err(refused)?;
    Ok(stop)
}
