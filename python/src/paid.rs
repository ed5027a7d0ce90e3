//! Charged releases, kept until Python has received them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::errors::Failure;

/// The request for a release, and the state of its rows.
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

/// Releases that were charged and drawn but did not reach the caller, because of Ctrl-C or a warning raised as an
/// error.
#[derive(Debug, Clone, Default)]
pub struct PaidReleases(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    at_work: bool,
    releases: Vec<(ReleaseRequest, String)>,
}

/// A release that is running until this value is dropped.
pub struct ReleaseAtWork(PaidReleases);

impl PaidReleases {
    /// The release of an earlier identical request that did not arrive.
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
    /// [`Failure`] while another release is running, because a repeated request would be charged twice.
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
    /// Keeps the drawn release, whether or not anyone still waits for it.
    pub fn keep(&self, asked: ReleaseRequest, text: &str) {
        self.0.kept().releases.push((asked, text.to_owned()));
    }
}

impl Drop for ReleaseAtWork {
    fn drop(&mut self) {
        self.0.kept().at_work = false;
    }
}

/// The error while an interrupted release is still running.
pub fn busy() -> Failure {
    Failure::other("an interrupted release of these sums is still running; try again in a moment")
}
