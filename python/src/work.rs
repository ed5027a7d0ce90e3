//! Runs long work on another thread, so that the interpreter stays free and Ctrl-C can stop it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dpgp::prelude::WorkerPool;
use pyo3::prelude::*;

use crate::errors::Failure;

/// The interval between checks for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// The time for stopped work to end. After it, nobody waits for the work any longer.
const GRACE: Duration = Duration::from_millis(700);

/// The first process that did work. The threads that the library shares among its calls belong to that process: a process forked from
/// it has none of them, and would wait for them forever.
static FIRST: AtomicU32 = AtomicU32::new(0);

/// Whether work may go on.
#[derive(Debug, Default)]
pub struct Gate {
    state: AtomicU8,
    stop: AtomicBool,
}

const OPEN: u8 = 0;
const STOPPED: u8 = 1;
const CHARGING: u8 = 2;

impl Gate {
    /// Whether somebody pressed Ctrl-C.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag itself.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Begins a step that must be completed. Returns false if the work was stopped before.
    pub fn charge(&self) -> bool {
        self.state.compare_exchange(OPEN, CHARGING, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Stops the work, unless it has begun a step that must be completed.
    fn stop(&self) -> bool {
        self.stop.store(true, Ordering::Relaxed);
        self.state.compare_exchange(OPEN, STOPPED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// Does work on a thread of its own. A `KeyboardInterrupt` or another exception of a signal handler stops it.
///
/// # Errors
/// The failure of the work, or the exception of the handler.
pub fn beside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Gate) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let gate = Arc::new(Gate::default());
    let (of_work, (sender, receiver)) = (Arc::clone(&gate), channel());
    // The receiver is shared with closures that run without the interpreter.
    let receiver = Mutex::new(receiver);
    let thread = std::thread::Builder::new().name("dpgp".to_owned());
    let forked = is_forked();
    let spawned = thread.spawn(move || {
        let done = if forked { on_own_threads(|| work(&of_work)) } else { work(&of_work) };
        drop(sender.send(done));
    });
    spawned.map_err(|cause| Failure::other(cause.to_string()))?;
    loop {
        match py.detach(|| wait(&receiver, GLANCE)) {
            Ok(done) => return Ok(done?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::other("this is a bug in dpgp; please report it").into());
            }
        }
        if let Err(interrupt) = py.check_signals() {
            // A release that is being charged is written to its ledger first.
            let grace = if gate.stop() { GRACE } else { 60 * GRACE };
            drop(py.detach(|| wait(&receiver, grace)));
            return Err(interrupt);
        }
    }
}

/// Whether this process was forked from one that had worked before.
fn is_forked() -> bool {
    let here = std::process::id();
    let first = FIRST.compare_exchange(0, here, Ordering::SeqCst, Ordering::SeqCst);
    first.is_err_and(|first| first != here)
}

/// Does work on new threads.
fn on_own_threads<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    WorkerPool::new(jobs(None))?.threads().install(work)
}

/// The result that the work sent within some time.
fn wait<T>(receiver: &Mutex<Receiver<T>>, time: Duration) -> Result<T, RecvTimeoutError> {
    match receiver.lock() {
        Ok(receiver) => receiver.recv_timeout(time),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    }
}

/// The number of threads: as many as requested, or else one for each core.
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}
