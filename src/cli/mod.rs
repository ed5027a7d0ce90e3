//! The command line, with one file per verb. Each verb parses its arguments, calls the library and prints.

mod arguments;
mod audit;
mod audit_samples;
mod best;
mod check;
mod check_forms;
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
mod new_data;
mod new_questions;
mod new_rules;
mod options;
mod output;
mod output_schema;
mod pages;
mod paired_files;
mod paired_runs;
mod plan;
mod predict;
mod price;
mod release_types;
mod report;
mod run;
mod schema;
mod show;
mod stats;
mod table;
mod verify;
mod waiting;

use std::panic::PanicHookInfo;
use std::process::ExitCode;

use clap::Subcommand;

use arguments::Arguments;
use error::{BUG, CliError};
use output::complain;

use dpgp_data::is_decoding;

use audit::{AttackedRelease, AttackedSamples, AuditedExperiment};
use dpgp_report::{BibliographyEntry, Ranking};
use options::Format;
use output::{
    CheckedExperiment, CollectedExperiment, ComparedRow, CompletionScript, EmittedText, ExplainedExperiment,
    FetchedDataset, GeneratedRows, GradedExperiment, ListedDataset, ListedExperiment, ManualPage, NewSpec,
    PlannedExperiment, PrintedTables, RunExperiment, RunShard, ShownExperiment, VerifiedFile, WrittenReport,
};
use output_schema::Output;
use release_types::{
    CertificateFile, DrawnFile, LedgerOutput, PreviewOutput, PriceOutput, ReleasedHere, ReleasedToFile,
    SummedRows, VerifiedCertificate, VerifiedLedgerOutput,
};

/// Generates the subcommands, their dispatch and the schemas of their JSON output from a list of verbs.
macro_rules! verbs {
    ($(
        $(#[doc = $help:literal])* $verb:ident($module:ident::$arguments:ident)
        $(=> $($name:literal: $($printed:ty)|+),+)?;
    )*) => {
        /// The verbs.
        #[derive(Debug, Subcommand)]
        enum Verb {
            $($(#[doc = $help])* $verb(Box<$module::$arguments>),)*
        }

        impl Verb {
            fn run(&self, format: Format) -> Result<(), CliError> {
                match self {
                    $(Self::$verb(arguments) => $module::$module(arguments, format),)*
                }
            }

            /// Lists the JSON outputs of the verbs, with their types.
            fn outputs() -> Vec<Output> {
                vec![$($($(($name, |all| vec![$(all.subschema_for::<$printed>()),+]),)+)?)*]
            }
        }
    };
}

// To add a verb, add a module with a function of the same name, and an entry here: its line in `dpgp --help`, its arguments and the types
// of its JSON output.
verbs! {
    /// List the experiments: paper, artefact, dataset, cells, and whether the data are present
    List(list::ListArguments)
        => "list": Vec<ListedExperiment>;
    /// Show one experiment: its paper, its axes, and a summary of its results
    Show(show::ShowArguments)
        => "show": ShownExperiment;
    /// Run experiments and write their tables and figures (fetches missing data first)
    Run(run::RunArguments)
        => "run": RunExperiment | Vec<RunExperiment>,
            "run --shard": RunShard | Vec<RunShard>;
    /// Release private predictions at the points of a grid, with noise from the operating system
    Predict(predict::PredictArguments)
        => "predict": ReleasedHere | ReleasedToFile,
            "predict: FILE.certificate.json": CertificateFile,
            "predict --preview": PreviewOutput;
    /// Estimate the prediction error at each epsilon and setting, before any release
    Price(price::PriceArguments)
        => "price": PriceOutput;
    /// Draw predictions from `dpgp predict` as SVG, HTML or GeoJSON, with their guarantee
    Map(map::MapArguments)
        => "map": DrawnFile;
    /// Show how much of each budget is spent, or verify a ledger's integrity
    Ledger(ledger::LedgerVerb)
        => "ledger show": Vec<LedgerOutput>,
            "ledger verify": Vec<VerifiedLedgerOutput>;
    /// Show what a run would compute and how long it would take, without computing it
    Plan(plan::PlanArguments)
        => "plan": Vec<PlannedExperiment>;
    /// Explain why a run would compute each missing result
    Explain(explain::ExplainArguments)
        => "explain": Vec<ExplainedExperiment>;
    /// Recompute experiments and compare with the committed results, verdicts and claims
    Check(check::CheckArguments)
        => "check": Vec<CheckedExperiment>;
    /// Test the privacy guarantees of experiments with separate code
    Audit(audit::AuditArguments)
        => "audit": Vec<AuditedExperiment>,
            "audit --end-to-end": AttackedRelease,
            "audit --samples": AttackedSamples;
    /// Rank methods at an epsilon, from the committed tables
    Best(best::BestArguments)
        => "best": Vec<Ranking>;
    /// Print a committed table for a paper, with chosen axes as rows and columns
    Table(table::TableArguments)
        => "table": PrintedTables;
    /// Grade another implementation's results
    Grade(grade::GradeArguments)
        => "grade": GradedExperiment;
    /// Print BibTeX for the program, and for the papers and data of experiments
    Cite(cite::CiteArguments)
        => "cite": Vec<BibliographyEntry>;
    /// Compare the results of two folders or commits, changed rows first
    Diff(diff::DiffArguments)
        => "diff": Vec<ComparedRow>;
    /// Write one HTML page with every table, figure, claim and deviation
    Report(report::ReportArguments)
        => "report": WrittenReport;
    /// Merge the stores of several machines and write all complete tables
    Collect(collect::CollectArguments)
        => "collect": Vec<CollectedExperiment>;
    /// Print a Slurm job array, a Kubernetes Job or a Makefile that runs an experiment in shards
    Emit(emit::EmitArguments)
        => "emit": EmittedText;
    /// Sum rows for a private release, in shards if needed
    Stats(stats::StatsArguments)
        => "stats": SummedRows;
    /// Check a published release against its certificate: the file, the noise and the guarantee
    Verify(verify::VerifyArguments)
        => "verify": VerifiedCertificate;
    /// Write any number of synthetic bike-share trips
    Generate(generate::GenerateArguments)
        => "generate": GeneratedRows;
    /// List, fetch or verify datasets
    Data(data::DataArguments)
        => "data fetch": Vec<FetchedDataset>,
            "data list": Vec<ListedDataset>,
            "data verify": Vec<VerifiedFile>;
    /// Write a commented spec to start from
    New(new::NewArguments)
        => "new": NewSpec;
    /// Print the JSON Schema of a spec, of datasets.toml, or of JSON output
    Schema(schema::SchemaArguments);
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments)
        => "completions": CompletionScript;
    /// Print a manual page
    Man(man::ManArguments)
        => "man": ManualPage;
}

/// Parses the arguments, runs the verb and returns the exit code.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    interrupt::outlive_file_limits();
    environment::answer();
    outcome_code(dispatch(&environment::arguments()))
}

/// Reports a panic as a bug and exits with code 70.
///
/// The hook exits from the thread that panicked. Nothing may continue after a bug, and a thread that nobody joins must not hide one.
/// A panic inside the decoder is left alone: it means that the file is damaged.
fn report_bug(panic: &PanicHookInfo<'_>) {
    if is_decoding() {
        return;
    }
    complain(&panic.to_string());
    complain("error: this is a bug in dpgp; please report it with the command and the message above");
    std::process::exit(i32::from(BUG));
}

fn dispatch(arguments: &Arguments) -> Result<(), CliError> {
    if !matches!(arguments.verb, Verb::Run(_) | Verb::Check(_) | Verb::Audit(_)) {
        // If the signal thread cannot start, signals still end the program, but its temporary files remain.
        let _ = interrupt::end_at_signal();
    }
    arguments.verb.run(arguments.format)
}

fn outcome_code(outcome: Result<(), CliError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}
