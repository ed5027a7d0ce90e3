//! The command line as a whole. Each verb's own arguments stand in its file, groups that verbs share in `options`.

use clap::Parser;

use super::Verb;
use super::options::Format;
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
