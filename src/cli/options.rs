//! Groups of options that several verbs take.
//!
//! The ledger that a release is charged to, from the command line.
//!
//! Files that a command writes, before it does anything.
//!
//! Numbers of things in words.
//!
//! What a shell completes: the names of experiments and of datasets, beside files.

use std::ffi::OsStr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::CliError;
use super::output::complain;
use dpgp_fs::{refuse_links, with_ending};
use dpgp_release::ledger::{Account, BudgetSetting, LedgerPlace, Receipt};
use dpgp_report::{Committed, ResultsSource, ensure_no_links};
use dpgp_run::{DataPlaces, Pool, Project, RunError, StateFolder, Study};
use dpgp_task::Experiment;

/// How output is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For scripts.
    Json,
}

/// Where datasets are found.
#[derive(Debug, Args)]
pub struct Places {
    /// A directory that holds datasets in the layout of the cache; its files are used in place
    #[arg(long, env = "DPGP_MIRROR", value_name = "DIR")]
    pub mirror: Option<PathBuf>,
    /// The cache for downloads [default: data/cache]
    #[arg(id = "cache", long = "data", env = "DPGP_DATA", value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Never download; missing data are an error
    #[arg(long)]
    pub offline: bool,
}

/// Which experiments.
#[derive(Debug, Args)]
pub struct Selection {
    /// An experiment (smith2021/table1), a prefix (smith2021), a tag, or the path of a spec
    #[arg(required_unless_present_any = ["all", "quick"], value_name = "NAME", add = experiments())]
    pub names: Vec<String>,
    /// All shipped experiments
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// The reduced settings of each spec's [quick] table; without names, of all experiments
    #[arg(long)]
    pub quick: bool,
}

/// Where finished results are stored.
#[derive(Debug, Args)]
pub struct StorePlace {
    /// Where finished results are stored [default: data/store]
    #[arg(id = "store", long = "store", env = "DPGP_STORE", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// How experiments are computed.
#[derive(Debug, Args)]
pub struct Work {
    /// Threads [default: SLURM_CPUS_PER_TASK, else one per core]
    #[arg(long, env = "DPGP_JOBS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// No progress bars
    #[arg(long)]
    pub quiet: bool,
}

/// Where the tables and figures are.
#[derive(Debug, Args)]
pub struct ResultsPlace {
    /// Where results are [default: the project's results]
    #[arg(id = "results", long = "results", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl Places {
    /// The project around the working directory; one above it is told.
    pub fn project(&self) -> Result<Project, RunError> {
        let Self { mirror, cache, offline } = self;
        let local_urls = DataPlaces::lets_local_urls();
        let (mirror, cache, offline) = (mirror.clone(), cache.clone(), *offline);
        Ok(told(Project::open(&DataPlaces { mirror, cache, offline, local_urls })?))
    }
}

/// Says which project is used, where that is not plain to see.
pub fn told(project: Project) -> Project {
    if project.is_above() {
        complain(&format!("the project is in {}, above this folder", project.root().display()));
    }
    project
}

impl Selection {
    /// The experiments that are meant.
    pub fn experiments(&self, project: &Project) -> Result<Vec<Experiment>, RunError> {
        project.selected(&self.names, self.quick)
    }
}

impl StorePlace {
    /// The folder: the one named, else the project's own.
    pub fn folder(&self, project: &Project) -> PathBuf {
        let named = self.directory.clone().filter(|directory| !directory.as_os_str().is_empty());
        named.unwrap_or_else(|| project.own("data/store"))
    }

    /// A study with this store; what is torn in the store is said on standard error.
    pub fn study<'p>(&self, project: &'p Project) -> Result<Study<'p>, RunError> {
        let study = Study::open(project, &self.folder(project))?;
        study.store().warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        Ok(study)
    }
}

impl ResultsPlace {
    /// The folder: the one named, else the project's own.
    pub fn folder(&self, project: &Project) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| project.own("results"))
    }

    /// The folder of an experiment, to be written to: no link leads to it or stands in it, but where the user names a folder that is one.
    pub fn writable(&self, project: &Project, experiment: &Experiment) -> Result<PathBuf, CliError> {
        let results = self.folder(project);
        let folder = results.join(experiment.folder());
        ensure_no_links(self.vouched(project), &folder)?;
        Ok(folder)
    }

    /// The same of a page on all experiments.
    pub fn writable_page(&self, project: &Project, name: &str) -> Result<PathBuf, CliError> {
        let path = self.folder(project).join(name);
        refuse_links(self.vouched(project), &path).map_err(CliError::io(&path))?;
        Ok(path)
    }

    /// What the user vouches for: the folder that he names, else the project.
    fn vouched<'a>(&'a self, project: &'a Project) -> &'a Path {
        self.directory.as_deref().unwrap_or(project.root())
    }

    /// What was published of an experiment: in the folder, else what comes with the program with its own experiments.
    pub fn committed(&self, project: &Project, experiment: &Experiment) -> Result<Committed, CliError> {
        let folder = self.folder(project);
        let found = self.shelf(&folder, project).read(experiment)?;
        found.ok_or_else(|| CliError::NoTables(folder.join(experiment.folder()).display().to_string()))
    }

    /// The same for a verb that shows nothing else of them: results of another version of the spec are told on standard error.
    pub fn current(&self, project: &Project, experiment: &Experiment) -> Result<Committed, CliError> {
        let committed = self.committed(project, experiment)?;
        if committed.is_stale(experiment) {
            let name = &experiment.name;
            let table = self.folder(project).join(experiment.folder()).join("table.csv");
            complain(&format!(
                "warning: {} is not of this version of the spec {name}; `dpgp run {name}` makes it anew",
                table.display()
            ));
        }
        Ok(committed)
    }

    /// The folder with what comes with the program, where that has the same experiments and no folder was named.
    pub fn shelf<'a>(&self, folder: &'a Path, project: &Project) -> ResultsSource<'a> {
        ResultsSource { folder, is_shipped: self.directory.is_none() && project.is_shipped() }
    }
}

impl Work {
    /// The number of threads: as said, else as Slurm gave us, else one per core.
    pub fn jobs(&self) -> usize {
        let said = self.jobs.map(usize::from).or_else(slurm);
        said.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The one pool of the program.
    pub fn pool(&self) -> Result<Pool, RunError> {
        Pool::new(self.jobs())
    }
}

/// The cores that Slurm gave to each task.
fn slurm() -> Option<usize> {
    let cores: NonZeroU16 = std::env::var("SLURM_CPUS_PER_TASK").ok()?.parse().ok()?;
    Some(usize::from(cores.get()))
}

/// Which ledger, and its budget.
#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// The ledger of all releases about these rows; begun if it is not there [default: one in the state folder, found by the rows]
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Count this release in no ledger; its certificate says so
    #[arg(long, conflicts_with_all = ["ledger", "budget_epsilon", "budget_delta", "other_people"])]
    no_ledger: bool,
    /// The epsilon that all releases together keep; the first that is named holds
    #[arg(long, value_name = "E", requires = "budget_delta", allow_negative_numbers = true)]
    budget_epsilon: Option<f64>,
    /// The delta that all releases together keep
    #[arg(long, value_name = "D", requires = "budget_epsilon", allow_negative_numbers = true)]
    budget_delta: Option<f64>,
    /// Rows that also stand in other data are those of other people, who only look alike: count these data apart
    #[arg(long)]
    other_people: bool,
}

impl LedgerArguments {
    /// The files of the ledger that is named, which a release may begin.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let ledger = self.ledger.iter();
        ledger.flat_map(|ledger| [ledger.clone(), with_ending(ledger, ".lock")]).collect()
    }

    /// Where ledgers are; none with --no-ledger.
    pub(super) fn place(&self) -> Result<Option<LedgerPlace>, CliError> {
        if self.no_ledger {
            return Ok(None);
        }
        let state = StateFolder::open().map_err(RunError::from)?;
        let budget = self.budget_epsilon.zip(self.budget_delta);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        Ok(Some(LedgerPlace { state, file: self.ledger.clone(), budget, other_people: self.other_people }))
    }
}

/// The ledgers that are there, for what is read without a release: nothing is written.
pub(super) fn known_place() -> Result<Option<LedgerPlace>, CliError> {
    let state = StateFolder::existing().map_err(RunError::from)?;
    Ok(state.map(|state| LedgerPlace { state, file: None, budget: None, other_people: false }))
}

/// What the ledger holds after a release.
pub(super) fn balance(receipt: Option<&Receipt>, delta: f64) -> String {
    let Some(Receipt { ledger, account, others, shared, .. }) = receipt else {
        return "no ledger: this release is not counted, and those about the same rows add up\n".to_owned();
    };
    let mut text = format!("ledger {}: {}\n", ledger.display(), standing(account, delta));
    if *shared {
        text.push_str("releases of this ledger are about several files that have rows in common\n");
    }
    for other in others {
        text.push_str(&format!("also charged, since it counts some of these rows: {}\n", other.display()));
    }
    text
}

/// What the releases of a ledger have spent, and what is left.
pub(super) fn standing(account: &Account, delta: f64) -> String {
    let Account { releases, budget, mu, open } = account;
    let releases =
        if *releases == 1 { "1 release has".to_owned() } else { format!("{releases} releases have") };
    let left = account.share().zip(account.epsilon_left(delta));
    let mut text = match (budget, left) {
        (Some(budget), Some((share, left))) => format!(
            "{releases} spent {:.1} % of the budget epsilon = {:?}, delta = {:?}; left for one more release at delta = \
             {delta:?}: epsilon = {left:.4}",
            100.0 * share,
            budget.epsilon,
            budget.delta,
        ),
        _ => format!(
            "{releases} spent epsilon = {:.4} at delta = {delta:?} (mu = {mu:.4}); no budget is set, so that nothing refuses \
             the next one",
            account.epsilon_spent(delta)
        ),
    };
    if let Some(reason) = open {
        text.push_str(&format!("; that is not all that was spent: {reason}"));
    }
    text
}

/// Fails if two of the files are one: the second would replace the first, or be refused when the release is paid for. Files that
/// are there are refused on their own; pipes and devices may be named twice.
pub fn distinct(targets: &[PathBuf]) -> Result<(), CliError> {
    let mut seen = Vec::new();
    for target in targets.iter().filter(|target| !target.exists()) {
        let file = resolved(target);
        if seen.contains(&file) {
            return Err(CliError::NamedTwice(target.clone()));
        }
        seen.push(file);
    }
    Ok(())
}

/// The path of a file that is not there, without links.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.map_or_else(|| path.clone(), |folder| folder.join(path.file_name().unwrap_or_default()))
}

/// A number with what it counts, in the singular or the plural.
pub(super) fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// What a completion script sets to ask what could follow; an empty one counts as unset.
pub const ASKED: &str = "DPGP_COMPLETE";

/// Names of experiments, or paths of specs.
pub fn experiments() -> ArgValueCompleter {
    ArgValueCompleter::new(experiments_or_files)
}

/// Names of datasets.
pub fn datasets() -> ArgValueCompleter {
    ArgValueCompleter::new(dataset_names)
}

fn experiments_or_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = beginning(experiment_names().unwrap_or_default(), current);
    found.extend(PathCompleter::file().complete(current));
    found
}

fn experiment_names() -> Result<Vec<String>, RunError> {
    let project = Project::open(&DataPlaces::default())?;
    Ok(project.specs()?.iter().map(|spec| spec.name.clone()).collect())
}

fn dataset_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let project = Project::open(&DataPlaces::default());
    let names = project.map(|project| project.manifest.names().map(str::to_owned).collect());
    beginning(names.unwrap_or_default(), current)
}

/// The names that begin with what is typed; without a project none does.
fn beginning(names: Vec<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    names.into_iter().filter(|name| name.starts_with(&*typed)).map(CompletionCandidate::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2].map(|number| counted(number, "claim fails", "claims fail"));
        assert_eq!(said, ["0 claims fail", "1 claim fails", "2 claims fail"]);
    }
}
