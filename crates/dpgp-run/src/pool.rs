//! The threads of the program.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::RunError;
use dpgp_data::rows::RowMeter;

/// A bounded number of threads. A program makes one pool and lends it to all that computes in parallel, so that no two parts
/// compete for the cores.
///
/// ```
/// let pool = dpgp_run::Pool::new(2)?;
/// assert_eq!(pool.each(&[10, 20, 30], |number, item| number + item), [10, 21, 32]);
/// # Ok::<(), dpgp_run::RunError>(())
/// ```
#[derive(Debug)]
pub struct Pool {
    threads: rayon::ThreadPool,
    shows_rows: bool,
}

impl Pool {
    /// The most threads that a pool has.
    pub const MOST: usize = 1024;

    /// A pool of `jobs` threads, at least one and at most [`Pool::MOST`].
    ///
    /// # Errors
    /// [`RunError::Threads`] if the system gives no threads.
    pub fn new(jobs: usize) -> Result<Self, RunError> {
        let jobs = jobs.clamp(1, Self::MOST);
        let threads = ThreadPoolBuilder::new().num_threads(jobs).build();
        let threads = threads.map_err(|cause| RunError::Threads { jobs, cause })?;
        Ok(Self { threads, shows_rows: false })
    }

    /// The same, with a bar on a terminal while rows are read.
    #[must_use]
    pub fn showing_rows(self, shows_rows: bool) -> Self {
        Self { shows_rows, ..self }
    }

    /// The bar for what is done with rows, of which so many are expected; none where it is not wanted.
    pub fn row_meter(&self, what: &'static str, expected: Option<u64>) -> Option<RowMeter> {
        self.shows_rows.then(|| RowMeter::stderr(what, expected))
    }

    /// What becomes of each item and its number, in the order of the items. A thread takes one item at a time.
    pub fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
        self.threads.install(|| {
            items.par_iter().enumerate().with_max_len(1).map(|(number, item)| work(number, item)).collect()
        })
    }

    /// The threads themselves, for sums over streamed rows.
    pub fn threads(&self) -> &rayon::ThreadPool {
        &self.threads
    }
}
