//! The memory limit of the process, its threads, and the random streams of a cell.

use std::path::Path;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::RunError;
use dpgp_data::rows::RowProgressBar;
use dpgp_linalg::run_alone;
use dpgp_task::{Cell, Experiment, ModelMemory, RandomStreams};

/// Assumed memory where the system does not say: 16 GiB.
const UNKNOWN: u64 = 16 << 30;

/// The bytes that this process may still take: what Linux has without swapping, and no more than its control group and its limit on
/// addresses (`ulimit -v`) leave. Where the system says nothing, 16 GiB.
fn available_memory() -> u64 {
    let machine = read("/proc/meminfo".as_ref()).and_then(|text| parse_available_memory(&text));
    let group =
        read("/proc/self/cgroup".as_ref()).and_then(|text| control_group_memory_left(&text, "/sys/fs/cgroup".as_ref()));
    let [limits, status] = ["/proc/self/limits", "/proc/self/status"].map(|path| read(path.as_ref()));
    let process = limits.zip(status).and_then(|(limits, status)| parse_address_space_left(&limits, &status));
    machine.into_iter().chain(group).chain(process).min().unwrap_or(UNKNOWN)
}

/// Fails if the matrices of a model are too large for this machine.
///
/// # Errors
/// [`RunError::Spec`] at the model.
pub fn ensure_memory(experiment: &Experiment, memory: Option<ModelMemory>) -> Result<(), RunError> {
    let Some(memory) = memory else { return Ok(()) };
    let fits = memory.check(available_memory());
    Ok(fits.map_err(|fault| Box::new(experiment.error_at_key_path(&fault.path, fault.problem)))?)
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn number(path: &Path) -> Option<u64> {
    read(path)?.trim().parse().ok()
}

/// `MemAvailable` of `/proc/meminfo`.
fn parse_available_memory(text: &str) -> Option<u64> {
    parse_kib_as_bytes(text, "MemAvailable:")
}

/// A line that counts in KiB, as bytes.
fn parse_kib_as_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit on addresses less those in use; none if there is no limit.
fn parse_address_space_left(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(parse_kib_as_bytes(status, "VmSize:")?))
}

/// The limit of a control group (version 2) less what it holds; files that were read and can be dropped do not count.
fn control_group_memory_left(groups: &str, root: &Path) -> Option<u64> {
    let name = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = root.join(name);
    let (limit, held) = (number(&folder.join("memory.max"))?, number(&folder.join("memory.current"))?);
    let stat = read(&folder.join("memory.stat")).unwrap_or_default();
    let dropped = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok());
    Some(limit.saturating_sub(held.saturating_sub(dropped.unwrap_or(0))))
}

/// A bounded number of threads. A program makes one pool and lends it to all that computes in parallel, so that no two parts
/// compete for the cores.
///
/// ```
/// let pool = dpgp_run::WorkerPool::new(2)?;
/// assert_eq!(pool.map_in_parallel(&[10, 20, 30], |number, item| number + item), [10, 21, 32]);
/// # Ok::<(), dpgp_run::RunError>(())
/// ```
#[derive(Debug)]
pub struct WorkerPool {
    threads: rayon::ThreadPool,
    shows_rows: bool,
}

impl WorkerPool {
    /// The most threads that a pool has.
    pub const MOST: usize = 1024;

    /// A pool of `jobs` threads, at least one and at most [`WorkerPool::MOST`].
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
    pub fn with_row_progress(self, shows_rows: bool) -> Self {
        Self { shows_rows, ..self }
    }

    /// The bar for work on so many expected rows; none if it is not wanted.
    pub fn row_progress_bar(&self, what: &'static str, expected: Option<u64>) -> Option<RowProgressBar> {
        self.shows_rows.then(|| RowProgressBar::stderr(what, expected))
    }

    /// Applies `work` to each item and its number, with results in the order of the items. A thread takes one item at a
    /// time. A single item may use all threads for its cells and products of matrices.
    pub fn map_in_parallel<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
        if let [only] = items {
            return vec![self.threads.install(|| run_alone(|| work(0, only)))];
        }
        self.threads
            .install(|| items.par_iter().enumerate().with_max_len(1).map(|(number, item)| work(number, item)).collect())
    }

    /// The threads themselves, for sums over streamed rows.
    pub fn threads(&self) -> &rayon::ThreadPool {
        &self.threads
    }
}

/// The streams of one replicate of the block that a cell belongs to.
pub fn random_streams(cell: &Cell, seed: u32, replicate: u32) -> RandomStreams {
    RandomStreams { seed, data: cell.data_id().to_string(), block: cell.block_id().to_string(), replicate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_says_what_there_is() {
        let text = "MemTotal:       32617424 kB\nMemFree:  1 kB\nMemAvailable:   23739488 kB\n";
        assert_eq!(parse_available_memory(text), Some(23_739_488 * 1024));
        assert_eq!(parse_available_memory("MemTotal: 5 kB\n"), None);
    }

    #[test]
    fn a_process_may_have_a_limit_on_addresses() {
        let limits =
            "Max data size     unlimited    unlimited   bytes\nMax address space 5000000   unlimited    bytes\n";
        assert_eq!(
            parse_address_space_left(limits, "VmPeak:  9 kB\nVmSize:\t 1000 kB\n"),
            Some(5_000_000 - 1000 * 1024)
        );
        assert_eq!(parse_address_space_left(&limits.replace("5000000", "unlimited"), "VmSize: 1 kB\n"), None);
        assert_eq!(parse_address_space_left("Max address space 10 20 bytes\n", "VmSize: 1 kB\n"), Some(0));
    }

    #[test]
    fn a_control_group_may_allow_less() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("job/7");
        std::fs::create_dir_all(&folder).unwrap();
        let put =
            [("memory.max", "1000\n"), ("memory.current", "600\n"), ("memory.stat", "anon 200\ninactive_file 350\n")];
        put.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        assert_eq!(control_group_memory_left("0::/job/7\n", root.path()), Some(1000 - (600 - 350)));
        std::fs::write(folder.join("memory.max"), "max\n").unwrap();
        assert_eq!(control_group_memory_left("0::/job/7\n", root.path()), None);
        assert_eq!(control_group_memory_left("4:memory:/job/7\n", root.path()), None);
    }
}
