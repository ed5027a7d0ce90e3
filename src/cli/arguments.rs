//! The top-level command line. Each verb's arguments are in its own file, and shared groups are in `options`.

use clap::Parser;

use super::Verb;
use super::options::Format;
use dpgp_run::VERSION;

const EXAMPLES: &str = "\
Examples:
  dpgp list                                   all experiments, and whether their data are present
  dpgp run smith2021/toy                      an experiment that needs no download
  dpgp run smith2021 --jobs 2                 all experiments of a paper, on two threads
  dpgp new my-study && dpgp run my-study.toml a spec of your own
  dpgp new --data energy.csv                  a spec for your own data, with blanks to fill in
  dpgp predict energy.toml --at grid.csv --out p.csv   private predictions, with a certificate
  dpgp map p.csv --out map.html               a map of them, with the guarantee
  dpgp ledger show energy.toml                releases from these rows, and the remaining budget
  dpgp plan --all                             stored results, work left to compute, and estimated time
  dpgp check --all                            recompute and compare with the committed results
  dpgp audit --all                            test the privacy claims of all experiments
  dpgp report --out report.html               every table and figure on one page
  dpgp data verify                            check the SHA-256 of every local dataset

Environment:
  DPGP_MIRROR   an offline mirror of the datasets      DPGP_STORE   where results are stored
  DPGP_DATA     the cache for downloads                DPGP_JOBS    threads
  DPGP_STATE    folder of your key and ledgers         an empty variable counts as unset
  NO_COLOR      no colours                             SLURM_CPUS_PER_TASK   threads, under Slurm
  COLUMNS       the width of tables and text [default: the terminal's; unlimited if not a terminal]

Exit codes:
  0 success   1 a check or audit failed, results disagree or are missing, or a budget is spent   2 wrong usage or spec
  3 data missing or with a wrong checksum   4 numerical failure   5 input or output error   70 a bug
  75 interrupted; run the same command to resume";

/// Publish maps and predictions from data about people, with differential privacy. Also reproduces five papers.
#[derive(Debug, Parser)]
#[command(name = "dpgp", version = VERSION, about, after_help = EXAMPLES)]
pub struct Arguments {
    /// The verb to run.
    #[command(subcommand)]
    pub verb: Verb,
    /// Output format
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub format: Format,
}
