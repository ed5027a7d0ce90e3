//! Ctrl-C, SIGTERM and SIGHUP: begin nothing more, store what ends within a moment, stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::CliError;
use super::output::complain;
use dpgp_fs::delete_temporary_files;

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 75;

/// How long blocks in flight have to end after the first signal.
const GRACE: Duration = Duration::from_millis(700);

/// A flag that the first signal sets. The second, or the end of the grace, ends the process; what was stored stays stored, as
/// after a kill.
pub fn watch_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_signals(move |signals| watch(signals, &flag))?;
    Ok(stop)
}

/// From here on the first signal ends the process, its temporary files deleted: for what keeps nothing on its way.
pub fn end_at_signal() -> Result<(), CliError> {
    on_signals(|mut signals| {
        if signals.forever().next().is_some() {
            complain("error: interrupted");
            stopped();
        }
    })
}

/// From here on a write beyond the most bytes that a file may have (`ulimit -f`) is an error, and ends the program with its exit code.
pub fn outlive_file_limits() {
    // A handler that does nothing but set a flag: without it the signal ends the process before it can say anything.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Hands the signals that end the program to a thread of their own.
fn on_signals(handle: impl FnOnce(Signals) + Send + 'static) -> Result<(), CliError> {
    let refused = CliError::io(Path::new("signal handler"));
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(&refused)?;
    if !ignores_hangup() {
        signals.handle().add_signal(SIGHUP).map_err(&refused)?;
    }
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || handle(signals)).map_err(refused)?;
    Ok(())
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
            stopped();
        }
        complain("stopping: blocks that end within a moment are stored first; again to stop at once");
        let waiting = std::thread::Builder::new().spawn(after_grace);
        if waiting.is_err() {
            after_grace();
        }
    }
}

fn after_grace() {
    std::thread::sleep(GRACE);
    complain("stopped: the blocks in flight are not stored; the same command goes on");
    stopped();
}

fn stopped() {
    delete_temporary_files();
    std::process::exit(i32::from(INTERRUPTED));
}
