//! Groups of options that several verbs take.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::CliError;
use super::completed::experiments;
use super::output::complain;
use dpgp_fs::refuse_links;
use dpgp_report::{Committed, Shelf, ensure_no_links};
use dpgp_run::{DataPlaces, Pool, Project, RunError, Study};
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
    pub fn of(&self, project: &Project) -> Result<Vec<Experiment>, RunError> {
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
        let found = self.shelf(&folder, project).of(experiment)?;
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
    pub fn shelf<'a>(&self, folder: &'a Path, project: &Project) -> Shelf<'a> {
        Shelf { folder, is_shipped: self.directory.is_none() && project.is_shipped() }
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
