//! The top-level command line. Each verb's arguments are in its own file, and shared groups are in `options`.

use clap::Parser;

use super::Verb;
use super::options::OutputFormat;
use dpgp_run::VERSION;

const EXAMPLES: &str = "\
Examples:
  dpgp run smith2021/toy                      an experiment that needs no download
  dpgp run --all --dry-run                    what is stored, what is left to compute, and how long it takes
  dpgp new --data energy.csv --ask            a spec for your own data; asks for each setting
  dpgp predict energy.toml --grid auto --out p.csv --map map.html   private predictions, certificate and map
  dpgp show --best --epsilon 1                the best methods of every leaderboard

Environment:
  DPGP_MIRROR   an offline mirror of the datasets      DPGP_STORE   where results are stored
  DPGP_DATA     the cache for downloads                DPGP_JOBS    threads
  DPGP_STATE    folder of your key and ledgers         an empty variable counts as unset
  NO_COLOR      no colours                             SLURM_CPUS_PER_TASK   threads, under Slurm
  COLUMNS       the width of tables and text [default: the terminal's; unlimited outside a terminal]

Exit codes:
  0 success   1 a check or audit failed, results disagree or are missing, or a budget is spent   2 wrong usage or spec
  3 data missing or with a wrong checksum   4 numerical failure   5 input or output error   70 a bug
  75 interrupted; run the same command to resume";

/// One line, so that the help fits a screen.
const ABOUT: &str = "Publish maps and predictions from data about people, with differential privacy";

/// Arguments of the program.
#[derive(Debug, Parser)]
#[command(name = "dpgp", version = VERSION, about = ABOUT, after_help = EXAMPLES)]
pub struct Arguments {
    /// The verb to run.
    #[command(subcommand)]
    pub verb: Verb,
    /// Output format
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub format: OutputFormat,
}
