//! The locks of ledgers: one process at a time charges.

use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::error::LedgerError;
use super::time::utc;
use dpgp_fs::disk::DiskStep;
use dpgp_fs::with_ending;

/// How long a lock is waited for. A charge holds it for milliseconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// How often it is tried.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// Waits until no other process charges a ledger; the lock goes with the file that is returned, and with the process.
///
/// # Errors
/// [`LedgerError::Held`] if another process keeps it for longer than a charge takes, [`LedgerError::Io`].
pub(super) fn lock(path: &Path) -> Result<File, LedgerError> {
    lock_within(path, PATIENCE)
}

fn lock_within(path: &Path, patience: Duration) -> Result<File, LedgerError> {
    let path = with_ending(path, ".lock");
    let mut options = File::options();
    let mut lock =
        options.create(true).read(true).append(true).open(&path).map_err(LedgerError::io(&path))?;
    let (start, mut again) = (Instant::now(), false);
    loop {
        DiskStep::Lock { again }.taken().map_err(LedgerError::io(&path))?;
        again = true;
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(cause)) => return Err(LedgerError::io(&path)(cause)),
            Err(TryLockError::WouldBlock) if start.elapsed() >= patience => {
                let holder = std::fs::read_to_string(&path).unwrap_or_default();
                return Err(LedgerError::Held { path, holder: holder.trim().to_owned(), patience });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
    // Who holds it is said for people; a lock that cannot say it holds all the same.
    let _ = sign(&mut lock);
    Ok(lock)
}

/// Writes who holds a lock into its file.
fn sign(lock: &mut File) -> std::io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let (host, process) = (host.trim(), std::process::id());
    let place = if host.is_empty() { String::new() } else { format!(" on {host}") };
    writeln!(lock, "process {process}{place} since {}", utc(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.toml");
        let held = lock(&path).unwrap();
        let patience = Duration::from_millis(50);
        let Err(LedgerError::Held { holder, .. }) = lock_within(&path, patience) else {
            panic!("two have the lock");
        };
        assert!(holder.starts_with(&format!("process {}", std::process::id())), "{holder}");
        drop(held);
        assert!(lock_within(&path, patience).is_ok());
    }
}
