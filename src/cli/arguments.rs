//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  dpgp list                                   all experiments and whether their data are here
  dpgp run smith2021/toy                      an experiment that needs no download
  dpgp run smith2021 --jobs 2                 all experiments of a paper, on two threads
  dpgp run my-study.toml --results out        a spec of your own
  dpgp check --all                            recompute and compare with the committed results
  dpgp data verify                            hash every dataset that is here

Exit codes:
  0 done   1 a check failed   2 wrong usage or spec   3 data missing or with a wrong checksum
  4 numerical failure   5 input or output   70 a bug";

/// Reproduce, certify and extend works on differentially private Gaussian processes.
#[derive(Debug, Parser)]
#[command(name = "dpgp", version, about, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the experiments: paper, artefact, dataset, cells, and whether the data are here
    List(ListArguments),
    /// Run experiments and write their tables and figures; missing data are fetched first
    Run(RunArguments),
    /// Recompute experiments and compare with the committed results, verdicts and claims
    Check(CheckArguments),
    /// List, fetch or verify datasets
    Data(DataArguments),
}

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
    #[arg(long = "data", env = "DPGP_DATA", value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Never download; missing data are an error
    #[arg(long)]
    pub offline: bool,
}

/// `dpgp list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    /// Where datasets are found.
    pub places: Places,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Which experiments, and how they are computed.
#[derive(Debug, Args)]
pub struct Selection {
    /// An experiment (smith2021/table1), a prefix (smith2021), a tag, or the path of a spec
    #[arg(required_unless_present_any = ["all", "quick"], value_name = "NAME")]
    pub names: Vec<String>,
    /// All shipped experiments
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Where results are [default: the project's results]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Only experiments that are not tagged "slow"; without names, all of them
    #[arg(long)]
    pub quick: bool,
    /// Threads [default: one per core]
    #[arg(long, env = "DPGP_JOBS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// No progress bars
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    /// Where datasets are found.
    pub places: Places,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// `dpgp run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    /// Which experiments.
    pub selection: Selection,
    /// Use this seed instead of the spec's
    #[arg(long, value_name = "S")]
    pub seed: Option<u32>,
}

/// `dpgp check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    #[command(flatten)]
    /// Which experiments.
    pub selection: Selection,
    /// Largest relative difference of two numbers that counts as the same
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = tolerance)]
    pub tolerance: f64,
}

/// `dpgp data`.
#[derive(Debug, Args)]
pub struct DataArguments {
    /// What to do with datasets.
    #[command(subcommand)]
    pub verb: DataVerb,
}

/// The verbs of `dpgp data`.
#[derive(Debug, Subcommand)]
pub enum DataVerb {
    /// List the datasets: files, sizes, licences, and whether they are here
    List(DataSelection),
    /// Download datasets into the cache and verify their SHA-256
    Fetch(DataSelection),
    /// Hash the datasets that are here and compare with the manifest
    Verify(DataSelection),
}

/// Which datasets.
#[derive(Debug, Args)]
pub struct DataSelection {
    /// Names of datasets [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    /// Where datasets are found.
    pub places: Places,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// No progress bars
    #[arg(long)]
    pub quiet: bool,
}

/// A relative tolerance: finite and not negative.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("must be a finite number that is not negative".to_owned()),
    }
}
