//! Option groups that several verbs share, among them the ledger of a release.
//!
//! Also checks of output paths, counts in words, and shell completion of experiments, datasets and files.

use std::ffi::OsStr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::CliError;
use super::output::print_stderr;
use dpgp_fs::{append_suffix, refuse_links};
use dpgp_number::OutOfRangeError;
use dpgp_release::ledger::{BudgetSetting, ChargeReceipt, LedgerAccount, LedgerOptions};
use dpgp_report::{CommittedResults, ResultsSource, ensure_no_links};
use dpgp_run::{DataLocations, ExperimentRunner, Project, RunError, StateFolder, WorkerPool};
use dpgp_spec::is_changed_experiment_name;
use dpgp_task::Experiment;

/// Makes options conflict with others, if `arg` is one of them.
///
/// An option that needs another one also conflicts with all that the other one conflicts with. The parser does not see this: it waives
/// the need, and would ignore the option in silence.
pub(super) fn add_option_conflicts(arg: Arg, options: &[&str], others: &'static [&'static str]) -> Arg {
    if options.contains(&arg.get_id().as_str()) { arg.conflicts_with_all(others) } else { arg }
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Human-readable text.
    Text,
    /// JSON, for scripts.
    Json,
}

/// Where datasets are found.
#[derive(Debug, Args)]
pub struct DataLocationArguments {
    /// A directory of datasets laid out like the cache; files are used in place
    #[arg(long, env = "DPGP_MIRROR", value_name = "DIR")]
    pub mirror: Option<PathBuf>,
    /// The cache for downloads [default: data/cache]
    #[arg(id = "cache", long = "data", env = "DPGP_DATA", value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Never download; fail if data are missing
    #[arg(long)]
    pub offline: bool,
}

/// The choice of experiments.
#[derive(Debug, Args)]
pub struct ExperimentSelection {
    /// An experiment (smith2021/table1), a prefix (smith2021), a tag, or the path of a spec
    #[arg(required_unless_present_any = ["all", "quick"], value_name = "NAME", add = experiment_completer())]
    pub names: Vec<String>,
    /// All shipped experiments
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Use the reduced settings of each spec's [quick] table; without names, selects all experiments
    #[arg(long)]
    pub quick: bool,
}

/// The folder of finished results.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// Folder for finished results [default: data/store]
    #[arg(id = "store", long = "store", env = "DPGP_STORE", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// Options of the computation.
#[derive(Debug, Args)]
pub struct ComputeArguments {
    /// Number of threads [default: SLURM_CPUS_PER_TASK, else one per core]
    #[arg(long, env = "DPGP_JOBS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// No progress bars
    #[arg(long)]
    pub quiet: bool,
}

/// The folder of tables and figures.
#[derive(Debug, Args)]
pub struct ResultsArguments {
    /// Folder for tables and figures [default: results/ in the project]
    #[arg(id = "results", long = "results", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl DataLocationArguments {
    /// Opens the project of the working directory. Prints a note if the project is in a parent folder.
    pub fn project(&self) -> Result<Project, RunError> {
        let Self { mirror, cache, offline } = self;
        let local_urls = DataLocations::environment_allows_local_urls();
        let (mirror, cache, offline) = (mirror.clone(), cache.clone(), *offline);
        Ok(announce_project(Project::open(&DataLocations { mirror, cache, offline, local_urls })?))
    }
}

/// Prints which project is used if it is in a parent of the working directory.
pub fn announce_project(project: Project) -> Project {
    if project.is_in_parent_folder() {
        print_stderr(&format!("using the project in {}, above this folder", project.root().display()));
    }
    project
}

impl ExperimentSelection {
    /// Loads the selected experiments.
    pub fn experiments(&self, project: &Project) -> Result<Vec<Experiment>, RunError> {
        project.select_experiments(&self.names, self.quick)
    }
}

impl StoreArguments {
    /// Returns the folder: the named one, else the project's own.
    pub fn folder(&self, project: &Project) -> PathBuf {
        let named = self.directory.clone().filter(|directory| !directory.as_os_str().is_empty());
        named.unwrap_or_else(|| project.path_inside("data/store"))
    }

    /// Opens a study with this store. Warns on standard error about damaged parts of the store.
    pub fn study<'p>(&self, project: &'p Project) -> Result<ExperimentRunner<'p>, RunError> {
        let study = ExperimentRunner::open(project, &self.folder(project))?;
        study.store().warnings().iter().for_each(|warning| print_stderr(&format!("warning: {warning}")));
        Ok(study)
    }
}

impl ResultsArguments {
    /// Returns the folder: the named one, else the project's own.
    pub fn folder(&self, project: &Project) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| project.path_inside("results"))
    }

    /// Returns the output folder of an experiment. Fails if a symbolic link leads to it or is in it, unless the user named that link.
    ///
    /// A run with a seed other than the spec's has a folder of its own, unless the user named a folder: such a run must not replace
    /// the results that others compare with.
    pub fn output_folder(
        &self,
        project: &Project,
        experiment: &Experiment,
        seed: Option<u32>,
    ) -> Result<PathBuf, CliError> {
        let mut folder = self.folder(project).join(experiment.relative_results_folder());
        if let Some(seed) = seed.filter(|seed| *seed != experiment.meta.seed && self.directory.is_none()) {
            folder = match is_changed_experiment_name(&experiment.name) {
                true => folder.join(format!("seed-{seed}")),
                false => folder.join(format!("changed/seed-{seed}")),
            };
        }
        ensure_no_links(self.folder_with_links_refused_below(project), &folder)?;
        Ok(folder)
    }

    /// Returns the output path of a page about all experiments, after the check of [`Self::output_folder`].
    pub fn output_page_path(&self, project: &Project, name: &str) -> Result<PathBuf, CliError> {
        let path = self.folder(project).join(name);
        refuse_links(self.folder_with_links_refused_below(project), &path).map_err(CliError::io_error_at(&path))?;
        Ok(path)
    }

    /// Returns the folder below which links are refused: the one that the user named, or else the project's.
    fn folder_with_links_refused_below<'a>(&'a self, project: &'a Project) -> &'a Path {
        self.directory.as_deref().unwrap_or(project.root())
    }

    /// Reads the committed results of an experiment from the folder, else the results shipped with the program.
    pub fn read_committed(&self, project: &Project, experiment: &Experiment) -> Result<CommittedResults, CliError> {
        let folder = self.folder(project);
        let found = self.folder_with_shipped_fallback(&folder, project).read(experiment)?;
        found.ok_or_else(|| CliError::NoTables(folder.join(experiment.relative_results_folder()).display().to_string()))
    }

    /// Reads the committed results, and warns on standard error if they are from another version of the spec.
    pub fn read_committed_warning_if_stale(
        &self,
        project: &Project,
        experiment: &Experiment,
    ) -> Result<CommittedResults, CliError> {
        let committed = self.read_committed(project, experiment)?;
        if committed.is_stale(experiment) {
            let name = &experiment.name;
            let table = self.folder(project).join(experiment.relative_results_folder()).join("table.csv");
            print_stderr(&format!(
                "warning: {} is from another version of the spec {name}; use `dpgp run {name}` to update it",
                table.display()
            ));
        }
        Ok(committed)
    }

    /// Returns the source of results: the folder, plus the shipped results if no folder was named and the project is the shipped one.
    pub fn folder_with_shipped_fallback<'a>(&self, folder: &'a Path, project: &Project) -> ResultsSource<'a> {
        ResultsSource { folder, is_shipped: self.directory.is_none() && project.has_shipped_experiments() }
    }
}

impl ComputeArguments {
    /// Returns the number of threads: from the option, else from Slurm, else one per core.
    pub fn thread_count(&self) -> usize {
        let said = self.jobs.map(usize::from).or_else(slurm_core_count);
        said.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Makes the thread pool.
    pub fn pool(&self) -> Result<WorkerPool, RunError> {
        WorkerPool::new(self.thread_count())
    }
}

/// Returns the number of cores that Slurm gives each task.
fn slurm_core_count() -> Option<usize> {
    let cores: NonZeroU16 = std::env::var("SLURM_CPUS_PER_TASK").ok()?.parse().ok()?;
    Some(usize::from(cores.get()))
}

/// The ledger of a release, and its budget.
#[derive(Debug, Args)]
pub struct ReleaseLedgerArguments {
    /// Ledger of all releases from these rows; created if missing [default: the one for these rows in the state folder]
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Do not charge this release to a ledger; the certificate says so
    #[arg(long, conflicts_with_all = ["ledger", "budget_epsilon", "budget_delta", "other_people"])]
    no_ledger: bool,
    /// Limit on the combined epsilon of all releases; once set, it cannot be changed
    #[arg(long, value_name = "E", requires = "budget_delta", allow_negative_numbers = true)]
    budget_epsilon: Option<f64>,
    /// Limit on the combined delta of all releases
    #[arg(long, value_name = "D", requires = "budget_epsilon", allow_negative_numbers = true)]
    budget_delta: Option<f64>,
    /// Use a separate ledger: these rows only look like rows of earlier data, but belong to other people
    #[arg(long)]
    other_people: bool,
}

impl ReleaseLedgerArguments {
    /// Lists the named ledger and its lock file, which a release may create.
    pub(super) fn ledger_and_lock_files(&self) -> Vec<PathBuf> {
        let ledger = self.ledger.iter();
        ledger.flat_map(|ledger| [ledger.clone(), append_suffix(ledger, ".lock")]).collect()
    }

    /// Opens the place of the ledgers, or returns `None` with --no-ledger.
    pub(super) fn open_ledger_place(&self) -> Result<Option<LedgerOptions>, CliError> {
        if self.no_ledger {
            return Ok(None);
        }
        let state = StateFolder::open().map_err(RunError::from)?;
        let budget = self.budget_epsilon.zip(self.budget_delta);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        Ok(Some(LedgerOptions { state, file: self.ledger.clone(), budget, other_people: self.other_people }))
    }
}

/// Opens the existing ledgers to read them; writes nothing.
pub(super) fn existing_ledger_place() -> Result<Option<LedgerOptions>, CliError> {
    let state = StateFolder::open_existing().map_err(RunError::from)?;
    Ok(state.map(|state| LedgerOptions { state, file: None, budget: None, other_people: false }))
}

/// Describes the ledger after a release.
pub(super) fn balance_text(receipt: Option<&ChargeReceipt>, delta: f64) -> String {
    let Some(ChargeReceipt { ledger, account, others, shared, .. }) = receipt else {
        return "no ledger: this release is not recorded, but its privacy loss adds to that of other releases from these rows\n"
            .to_owned();
    };
    let mut text = format!("ledger {}: {}\n", ledger.display(), account_text(account, delta));
    if *shared {
        text.push_str("this ledger covers several files that share rows\n");
    }
    for other in others {
        text.push_str(&format!("ledger also charged, because it covers some of these rows: {}\n", other.display()));
    }
    text
}

/// Writes what was spent to four decimals, or to two digits where it is so small that these would be zeros.
fn spent_number(spent: f64) -> String {
    if spent > 0.0 && spent < 5e-4 { format!("{spent:.1e}") } else { format!("{spent:.4}") }
}

/// Describes the privacy loss of all releases of a ledger at `delta`, and what is left of the budget.
pub(super) fn account_text(account: &LedgerAccount, delta: f64) -> String {
    let LedgerAccount { releases, budget, mu, open } = account;
    let releases = if *releases == 1 { "1 release has".to_owned() } else { format!("{releases} releases have") };
    // At the budget's own delta: at a smaller one, more epsilon than the whole budget can be left.
    let left = account.spent_squared_mu_share().zip(budget.and_then(|budget| account.epsilon_left(budget.delta)));
    let mut text = match (budget, left) {
        (Some(budget), Some((share, left))) => {
            let left = match left {
                left if left < 5e-5 => "nothing is left".to_owned(),
                left => format!("left for one more release at the delta of the budget: epsilon = {left:.4}"),
            };
            format!(
                "{releases} spent epsilon = {} at delta = {delta:?}, {:.1} % of the budget epsilon = {:?}, delta = {:?} (in mu^2, \
                 because epsilons do not add up); {left}",
                spent_number(account.epsilon_spent(delta)),
                100.0 * share,
                budget.epsilon,
                budget.delta,
            )
        }
        _ => format!(
            "{releases} spent epsilon = {} at delta = {delta:?} (mu = {}); no budget is set, so the ledger accepts \
             every release (the next release can set a budget: --budget-epsilon E --budget-delta D)",
            spent_number(account.epsilon_spent(delta)),
            spent_number(*mu)
        ),
    };
    if let Some(reason) = open {
        text.push_str(&format!("; this is not the total: {reason}"));
    }
    text
}

/// Fails if two output paths lead to the same file: the second output would replace the first, or be refused after the charge.
/// Skips existing paths: existing files are refused elsewhere, and pipes and devices may be named twice.
pub fn ensure_distinct_paths(targets: &[PathBuf]) -> Result<(), CliError> {
    let mut seen = Vec::new();
    for target in targets.iter().filter(|target| !target.exists()) {
        let file = resolve_links(target);
        if seen.contains(&file) {
            return Err(CliError::NamedTwice(target.clone()));
        }
        seen.push(file);
    }
    Ok(())
}

/// Resolves the links in the path of a file that does not exist yet.
fn resolve_links(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.map_or_else(|| path.clone(), |folder| folder.join(path.file_name().unwrap_or_default()))
}

/// The variable that a completion script sets to ask for candidates. An empty value counts as unset.
pub const ASKED: &str = "DPGP_COMPLETE";

/// Completes names of experiments and paths of specs.
pub fn experiment_completer() -> ArgValueCompleter {
    ArgValueCompleter::new(complete_experiments_or_files)
}

/// Completes names of datasets.
pub fn dataset_completer() -> ArgValueCompleter {
    ArgValueCompleter::new(complete_dataset_names)
}

fn complete_experiments_or_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = matching_candidates(experiment_names().unwrap_or_default(), current);
    found.extend(PathCompleter::file().complete(current));
    found
}

fn experiment_names() -> Result<Vec<String>, RunError> {
    let project = Project::open(&DataLocations::default())?;
    Ok(project.specs()?.iter().map(|spec| spec.name.clone()).collect())
}

fn complete_dataset_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let project = Project::open(&DataLocations::default());
    let names = project.map(|project| project.manifest.names().map(str::to_owned).collect());
    matching_candidates(names.unwrap_or_default(), current)
}

/// Keeps the names that begin with the typed text.
fn matching_candidates(names: Vec<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    names.into_iter().filter(|name| name.starts_with(&*typed)).map(CompletionCandidate::new).collect()
}

/// Returns a parser of an option that is a number of this type.
pub fn parse_number<T: Clone + Send + Sync + 'static>(
    checked: fn(f64) -> Result<T, OutOfRangeError>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
        checked(number).map_err(|error| error.to_string())
    }
}
