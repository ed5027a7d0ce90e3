//! The command line as a whole. Each verb's own arguments stand in its file, groups that verbs share in `options`.

use clap::{Parser, Subcommand};

use super::audit::AuditArguments;
use super::best::BestArguments;
use super::check::CheckArguments;
use super::cite::CiteArguments;
use super::collect::CollectArguments;
use super::completions::CompletionsArguments;
use super::data::DataArguments;
use super::diff::DiffArguments;
use super::emit::EmitArguments;
use super::explain::ExplainArguments;
use super::generate::GenerateArguments;
use super::grade::GradeArguments;
use super::ledger::LedgerVerb;
use super::list::ListArguments;
use super::man::ManArguments;
use super::map::MapArguments;
use super::new::NewArguments;
use super::options::Format;
use super::plan::PlanArguments;
use super::predict::PredictArguments;
use super::price::PriceArguments;
use super::report::ReportArguments;
use super::run::RunArguments;
use super::schema::SchemaArguments;
use super::show::ShowArguments;
use super::stats::StatsArguments;
use super::table::TableArguments;
use super::verify::VerifyArguments;
use dpgp_run::VERSION;

const EXAMPLES: &str = "\
Examples:
  dpgp list                                   all experiments and whether their data are here
  dpgp run smith2021/toy                      an experiment that needs no download
  dpgp run smith2021 --jobs 2                 all experiments of a paper, on two threads
  dpgp new my-study && dpgp run my-study.toml a spec of your own
  dpgp new --data energy.csv                  a spec for your own data, to be filled in
  dpgp predict energy.toml --at grid.csv --out p.csv   private predictions, with a certificate
  dpgp map p.csv --out map.html               a picture of them, with the guarantee
  dpgp ledger show energy.toml                what was released about these rows, and what is left of the budget
  dpgp plan --all                             what is stored, what a run would compute, and how long that takes
  dpgp check --all                            recompute and compare with the committed results
  dpgp audit --all                            whether what was run keeps what it claims
  dpgp report --out report.html               every table and figure on one page
  dpgp data verify                            hash every dataset that is here

Environment:
  DPGP_MIRROR   an offline mirror of the datasets      DPGP_STORE   where results are stored
  DPGP_DATA     the cache for downloads                DPGP_JOBS    threads
  DPGP_STATE    the key of your data, and ledgers      one that is empty counts as unset
  NO_COLOR      no colours                             SLURM_CPUS_PER_TASK   threads, under Slurm
  COLUMNS       the width of tables and sentences [default: that of the terminal; without one there is no end]

Exit codes:
  0 done   1 a check or an audit failed, results disagree or are missing   2 wrong usage or spec   3 data missing or with a wrong checksum
  4 numerical failure   5 input or output   70 a bug   75 interrupted; the same command goes on";

/// Reproduce, certify and extend works on differentially private Gaussian processes.
#[derive(Debug, Parser)]
#[command(name = "dpgp", version = VERSION, about, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// How to print
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub format: Format,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the experiments: paper, artefact, dataset, cells, and whether the data are here
    List(ListArguments),
    /// Show one experiment: what it reproduces, its axes, and what its results say
    Show(ShowArguments),
    /// Run experiments and write their tables and figures; missing data are fetched first
    Run(RunArguments),
    /// Release private predictions at the points of a grid, from the operating system's randomness
    Predict(Box<PredictArguments>),
    /// Say what predictions would err by at each epsilon and setting, before anything is released
    Price(PriceArguments),
    /// Draw what `dpgp predict` wrote, as SVG, as a page or as GeoJSON, with what is guaranteed of it
    Map(MapArguments),
    /// Show what releases about some rows have spent together, or verify that nobody changed what counts them
    Ledger(LedgerVerb),
    /// Say what a run would compute and how long that takes; computes nothing
    Plan(PlanArguments),
    /// Say for each result that is not stored why it has to be computed
    Explain(ExplainArguments),
    /// Recompute experiments and compare with the committed results, verdicts and claims
    Check(CheckArguments),
    /// Recompute what experiments guarantee from what they sample
    Audit(AuditArguments),
    /// Say which methods are best at an epsilon, from the committed tables
    Best(BestArguments),
    /// Print a committed table with the axes that are asked for at the left and at the top, for a paper
    Table(TableArguments),
    /// Judge somebody else's table of an experiment by the verdicts that ours have
    Grade(GradeArguments),
    /// Print BibTeX of the program, and of the papers and data of experiments
    Cite(CiteArguments),
    /// Put two result trees or commits side by side, what changed first
    Diff(DiffArguments),
    /// Write one HTML page with every table, figure, claim and deviation
    Report(ReportArguments),
    /// Merge the stores of several machines and write the tables that are complete
    Collect(CollectArguments),
    /// Print a job array for Slurm, a Kubernetes Job or a Makefile that runs an experiment in shards
    Emit(EmitArguments),
    /// Sum up rows of any number for a surface, in shards if need be, and release it with privacy
    Stats(StatsArguments),
    /// Check a published release by its certificate: the file, the noise and the guarantee
    Verify(VerifyArguments),
    /// Write trips like those of a bike share, as many as asked for
    Generate(GenerateArguments),
    /// List, fetch or verify datasets
    Data(DataArguments),
    /// Write a commented spec to start from
    New(NewArguments),
    /// Print the JSON Schema of a spec, of datasets.toml, or of what verbs print as JSON
    Schema(SchemaArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print a page of the manual
    Man(ManArguments),
}
