//! The command line, with one file per verb. Each verb parses its arguments, calls the library and prints.

mod account;
mod audit;
mod audit_samples;
mod best;
mod check;
mod cite;
mod collect;
mod completions;
mod data;
mod diff;
mod emit;
mod environment;
mod error;
mod explain;
mod generate;
mod grade;
mod interrupt;
mod ledger;
mod list;
mod man;
mod map;
mod new;
mod new_ask;
mod options;
mod output;
mod plan;
mod predict;
mod predict_together;
mod preview;
mod published;
mod release_types;
mod report;
mod run;
mod schema;
mod show;
mod sum;
mod table;
mod tradeoff;
mod verify;

use std::panic::PanicHookInfo;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use environment::Invocation;
use error::{BUG, CliError};
use output::print_stderr;

use dpgp_data::is_thread_decoding_parquet;

use audit::{EndToEndAuditOutput, ExperimentAuditOutput, SampleAuditOutput};
use dpgp_report::{BibliographyEntry, Ranking};
use options::OutputFormat;
use output::{
    CompletionsOutput, ComputedGuaranteeOutput, DataFetchOutput, DataFoldsOutput, DataListOutput, DataVerifyOutput,
    DiffRowOutput, EmitOutput, ExperimentCheckOutput, ExperimentCollectOutput, ExperimentExplainOutput,
    ExperimentGradeOutput, ExperimentListOutput, ExperimentPlanOutput, ExperimentRunOutput, ExperimentShowOutput,
    GenerateOutput, ManOutput, NewSpecOutput, ReportOutput, ShardRunOutput, TableOutput,
};
use release_types::{
    CertificateFileContents, LedgerOutput, LedgerVerifyOutput, MapOutput, PredictOutput, PredictToFileOutput,
    PreviewOutput, SumOutput, TradeoffOutput, VerifyOutput,
};
use schema::VerbOutputSchemas;

const EXAMPLES: &str = "\
Examples:
  dpgp run smith2021/toy                      an experiment that needs no download
  dpgp run --all --dry-run                    what is stored, what is left to compute, and how long it will take
  dpgp new --data energy.csv --ask            a spec for your own data; asks for each setting
  dpgp predict energy.toml --grid temperature=-5..25:61 --out p.csv --map map.html   predictions, certificate, map
  dpgp show --best --epsilon 1                the best methods of every leaderboard

Environment (an empty variable counts as unset):
  DPGP_MIRROR   an offline mirror of the datasets      DPGP_STORE   where results are stored
  DPGP_DATA     the cache for downloads                DPGP_JOBS    the number of threads
  DPGP_STATE    the folder of your key and ledgers     NO_COLOR     no colours
  SLURM_CPUS_PER_TASK   the number of threads under Slurm, unless DPGP_JOBS is set
  COLUMNS       the width of tables and text [default: the terminal's; unlimited outside a terminal]

Exit codes:
  0 success   1 a check or audit failed, results disagree or are missing, or a budget is spent   2 wrong usage or spec
  3 data missing or with a wrong checksum   4 numerical failure   5 input or output error   70 a bug
  75 interrupted; run the same command to resume";

/// One line, so that the help fits a screen.
const ABOUT: &str = "Publish maps and predictions from data about people, with differential privacy";

/// Arguments of the program.
#[derive(Debug, Parser)]
#[command(name = "dpgp", version = dpgp_run::VERSION, about = ABOUT, after_help = EXAMPLES)]
struct Arguments {
    /// The verb to run.
    #[command(subcommand)]
    verb: Verb,
    /// Output format
    #[arg(long, value_enum, default_value = "text", global = true)]
    format: OutputFormat,
}

/// Generates the subcommands, their groups in the help, their dispatch and the schemas of their JSON output from a list of verbs.
macro_rules! verbs {
    ($($group:literal {$(
        $(#[$attribute:meta])* $verb:ident($module:ident::$arguments:ident)
        $(=> $($name:literal: $($printed:ty)|+),+)?;
    )*})*) => {
        /// The verbs.
        #[derive(Debug, Subcommand)]
        enum Verb {
            $($($(#[$attribute])* $verb(Box<$module::$arguments>),)*)*
        }

        impl Verb {
            /// The groups of the help: the heading, and the names of the verbs as declared.
            const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($verb)),*])),*];

            fn run(&self, format: OutputFormat) -> Result<(), CliError> {
                match self {
                    $($(Self::$verb(arguments) => $module::$module(arguments, format),)*)*
                }
            }

            /// Lists the JSON outputs of the verbs, with their types.
            fn json_outputs() -> Vec<VerbOutputSchemas> {
                vec![$($($($(($name, |all| vec![$(all.subschema_for::<$printed>()),+]),)+)?)*)*]
            }
        }
    };
}

// To add a verb, add a module with a function of the same name, and an entry here: its group and line in `dpgp --help`, its arguments and
// the types of its JSON output. The last group has no lines of its own: verbs that a flag of another verb replaces.
verbs! {
    "Release your own data" {
        /// Write a spec for your data, or a template
        New(new::NewArguments)
            => "new": NewSpecOutput;
        /// Estimate the error at each epsilon, before any release
        #[command(alias = "price")]
        Tradeoff(tradeoff::TradeoffArguments)
            => "tradeoff": TradeoffOutput;
        /// Release private predictions, with a certificate and a map
        Predict(predict::PredictArguments)
            => "predict": PredictOutput | PredictToFileOutput,
                "predict: FILE.certificate.json": CertificateFileContents,
                "predict --preview": PreviewOutput;
        /// Show how much budget releases have spent, or check a ledger
        Ledger(ledger::LedgerCommandArguments)
            => "ledger show": Vec<LedgerOutput>,
                "ledger verify": Vec<LedgerVerifyOutput>;
    }
    "Reproduce papers" {
        /// List the experiments, and say whether their data are present
        List(list::ListArguments)
            => "list": Vec<ExperimentListOutput>;
        /// Run experiments; write their tables and figures
        Run(run::RunArguments)
            => "run": ExperimentRunOutput | Vec<ExperimentRunOutput>,
                "run --shard": ShardRunOutput | Vec<ShardRunOutput>;
        /// Recompute experiments and compare with the committed results
        Check(check::CheckArguments)
            => "check": Vec<ExperimentCheckOutput>;
        /// Show an experiment, its table, its best methods or its citation
        Show(show::ShowArguments)
            => "show": ExperimentShowOutput;
        /// Write all tables, figures and claims to one HTML page
        Report(report::ReportArguments)
            => "report": ReportOutput;
    }
    "Review" {
        /// Check a published release against its certificate
        Verify(verify::VerifyArguments)
            => "verify": VerifyOutput;
        /// Test privacy claims against the sampled noise
        Audit(audit::AuditArguments)
            => "audit": Vec<ExperimentAuditOutput>,
                "audit --end-to-end": EndToEndAuditOutput,
                "audit --samples": SampleAuditOutput;
        /// Grade another implementation's results
        Grade(grade::GradeArguments)
            => "grade": ExperimentGradeOutput;
    }
    "More" {
        /// Draw predictions as SVG, HTML or GeoJSON, with their guarantee
        Map(map::MapArguments)
            => "map": MapOutput;
        /// Compute the epsilon or delta of several releases, or of many steps
        Account(account::AccountArguments)
            => "account": ComputedGuaranteeOutput;
        /// Sum rows for a private release, in shards if needed
        #[command(alias = "stats")]
        Sum(sum::SumArguments)
            => "sum": SumOutput;
        /// Compare the results of two folders or commits
        Diff(diff::DiffArguments)
            => "diff": Vec<DiffRowOutput>;
        /// List, fetch or verify datasets
        Data(data::DataArguments)
            => "data fetch": Vec<DataFetchOutput>,
                "data folds": DataFoldsOutput,
                "data list": Vec<DataListOutput>,
                "data verify": Vec<DataVerifyOutput>;
        /// Write any number of synthetic bike-share trips
        Generate(generate::GenerateArguments)
            => "generate": GenerateOutput;
        /// Merge the stores of several machines and write all complete tables
        Collect(collect::CollectArguments)
            => "collect": Vec<ExperimentCollectOutput>;
        /// Print a Slurm job array, a Kubernetes Job or a Makefile that runs an experiment in shards
        Emit(emit::EmitArguments)
            => "emit": EmitOutput;
        /// Print the JSON Schema of a spec, of datasets.toml, or of JSON output
        Schema(schema::SchemaArguments);
        /// Print a completion script for a shell
        Completions(completions::CompletionsArguments)
            => "completions": CompletionsOutput;
        /// Print a manual page
        Man(man::ManArguments)
            => "man": ManOutput;
    }
    "" {
        /// Show what a run would compute and how long it would take (as `dpgp run --dry-run`)
        #[command(hide = true)]
        Plan(plan::PlanArguments)
            => "plan": Vec<ExperimentPlanOutput>;
        /// Explain why each result that is not stored must be computed (as `dpgp run --dry-run --why`)
        #[command(hide = true)]
        Explain(explain::ExplainArguments)
            => "explain": Vec<ExperimentExplainOutput>;
        /// Rank methods at an epsilon, from the committed tables (as `dpgp show --best`)
        #[command(hide = true)]
        Best(best::BestArguments)
            => "best": Vec<Ranking>;
        /// Print a committed table for a paper, with chosen axes as rows and columns (as `dpgp show --table`)
        #[command(hide = true)]
        Table(table::TableArguments)
            => "table": TableOutput;
        /// Print BibTeX for the program, and for the papers and data of experiments (as `dpgp show --cite`)
        #[command(hide = true)]
        Cite(cite::CiteArguments)
            => "cite": Vec<BibliographyEntry>;
    }
}

/// Parses the arguments of this process, runs the verb and returns the exit code.
pub fn main() -> ExitCode {
    ExitCode::from(run_invocation(Invocation::from_process_arguments()))
}

/// Like [`main`], but for a program that was started in another way, such as from Python. Call it once per process: it handles the
/// signals and panics of the process, and invalid arguments end the process.
pub fn run_invocation(invocation: Invocation) -> u8 {
    std::panic::set_hook(Box::new(report_panic_and_exit));
    interrupt::ignore_file_size_signal();
    let invocation = invocation.remember();
    if invocation.answer_completions() {
        return 0;
    }
    print_error_and_exit_code(dispatch(&invocation.parse_arguments()))
}

/// Reports a panic as a bug and exits with code 70.
///
/// The hook exits from the thread that panicked. Nothing may continue after a bug, and a thread that nobody joins must not hide one.
/// A panic inside the decoder is left alone: it means that the file is damaged.
fn report_panic_and_exit(panic: &PanicHookInfo<'_>) {
    if is_thread_decoding_parquet() {
        return;
    }
    print_stderr(&panic.to_string());
    print_stderr("error: this is a bug in dpgp; please report it with the command and the message above");
    std::process::exit(i32::from(BUG));
}

fn dispatch(arguments: &Arguments) -> Result<(), CliError> {
    if !matches!(arguments.verb, Verb::Run(_) | Verb::Check(_) | Verb::Audit(_)) {
        // If the signal thread cannot start, signals still end the program, but its temporary files remain.
        let _ = interrupt::exit_on_signal();
    }
    arguments.verb.run(arguments.format)
}

fn print_error_and_exit_code(outcome: Result<(), CliError>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(error) if error.is_broken_pipe() => 0,
        Err(error) => {
            print_stderr(&format!("error: {error}"));
            error.exit_code()
        }
    }
}
