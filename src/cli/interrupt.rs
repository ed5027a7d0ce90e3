//! Ctrl-C, SIGTERM and SIGHUP: start nothing more, store blocks that finish within a moment, and stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::CliError;
use super::output::print_stderr;
use dpgp_fs::delete_temporary_files;

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 75;

/// The time that running blocks have to finish after the first signal.
const GRACE: Duration = Duration::from_millis(700);

/// Returns a flag that the first signal sets. A second signal, or the end of the grace time, ends the process. Results that are
/// already stored are kept, as after a kill.
pub fn watch_signals() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    spawn_signal_handler(move |signals| handle_stop_signals(signals, &flag))?;
    Ok(stop)
}

/// Ends the process at the first signal, after deleting its temporary files. For verbs that store nothing while they run.
pub fn exit_on_signal() -> Result<(), CliError> {
    spawn_signal_handler(|mut signals| {
        if signals.forever().next().is_some() {
            print_stderr("error: interrupted");
            exit_interrupted();
        }
    })
}

/// Turns a write beyond the file size limit (`ulimit -f`) into an ordinary error with its exit code.
pub fn ignore_file_size_signal() {
    // The handler only sets a flag. Without it, the signal would end the process without a message.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Handles the signals that end the program on a separate thread.
fn spawn_signal_handler(handle: impl FnOnce(Signals) + Send + 'static) -> Result<(), CliError> {
    let refused = CliError::io_error_at(Path::new("signal handler"));
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(&refused)?;
    if !ignores_hangup() {
        signals.handle().add_signal(SIGHUP).map_err(&refused)?;
    }
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || handle(signals)).map_err(refused)?;
    Ok(())
}

/// Returns whether the program ignores SIGHUP, as under `nohup`. Works only on Linux.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

fn handle_stop_signals(mut signals: Signals, stop: &AtomicBool) {
    for _ in signals.forever() {
        if stop.swap(true, Ordering::Relaxed) {
            exit_interrupted();
        }
        print_stderr("stopping: blocks that finish within a second are stored; press Ctrl-C again to stop at once");
        let waiting = std::thread::Builder::new().spawn(exit_after_grace);
        if waiting.is_err() {
            exit_after_grace();
        }
    }
}

fn exit_after_grace() {
    std::thread::sleep(GRACE);
    print_stderr("stopped: unfinished blocks are not stored; run the same command to resume");
    exit_interrupted();
}

fn exit_interrupted() {
    delete_temporary_files();
    std::process::exit(i32::from(INTERRUPTED));
}
