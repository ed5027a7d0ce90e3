//! Charged releases, kept until Python has received them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::errors::Failure;

/// How a release is asked for, and of which rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseRequest {
    pub epsilon: Option<f64>,
    pub ledger: bool,
    pub ledger_file: Option<PathBuf>,
    pub budget: Option<(f64, f64)>,
    pub other_people: bool,
    pub allow_caveats: bool,
    /// How often rows had been added.
    pub changes: u64,
}

/// Releases that were charged and drawn and did not reach the caller: Ctrl-C came in between, or a warning that is an
/// error.
#[derive(Debug, Clone, Default)]
pub struct PaidReleases(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    at_work: bool,
    releases: Vec<(ReleaseRequest, String)>,
}

/// A release that is at work, until this is dropped.
pub struct ReleaseAtWork(PaidReleases);

impl PaidReleases {
    /// The release that was asked for before in the same way and did not arrive.
    pub fn find(&self, asked: &ReleaseRequest) -> Option<String> {
        let kept = self.kept();
        kept.releases.iter().find(|(before, _)| before == asked).map(|(_, text)| text.clone())
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> Vec<String> {
        self.kept().releases.iter().map(|(_, text)| text.clone()).collect()
    }

    /// Begins a release.
    ///
    /// # Errors
    /// [`Failure`] while another one is at work, since what was asked for twice would be charged twice.
    pub fn begin(&self) -> Result<ReleaseAtWork, Failure> {
        let mut kept = self.kept();
        if kept.at_work {
            return Err(busy());
        }
        kept.at_work = true;
        drop(kept);
        Ok(ReleaseAtWork(self.clone()))
    }

    /// Forgets a release, which has arrived.
    pub fn forget(&self, text: &str) {
        self.kept().releases.retain(|(_, kept)| kept != text);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReleaseAtWork {
    /// Keeps what was drawn, whoever waits for it.
    pub fn keep(&self, asked: ReleaseRequest, text: &str) {
        self.0.kept().releases.push((asked, text.to_owned()));
    }
}

impl Drop for ReleaseAtWork {
    fn drop(&mut self) {
        self.0.kept().at_work = false;
    }
}

/// An interrupted release goes on for a while.
pub fn busy() -> Failure {
    Failure::other("an interrupted release of these sums is still running; try again in a moment")
}
