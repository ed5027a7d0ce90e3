//! The command line: one file per verb. Each parses, calls the rooms below and prints.

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

/// Makes of a list of verbs the subcommands, what runs each and the schemas of what it prints as JSON.
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

            /// What each verb prints as JSON.
            fn outputs() -> Vec<Output> {
                vec![$($($(($name, |all| vec![$(all.subschema_for::<$printed>()),+]),)+)?)*]
            }
        }
    };
}

// A verb is a module above, with a function of its name, and an entry here: its line in `dpgp --help`, its arguments, and what it prints
// as JSON.
verbs! {
    /// List the experiments: paper, artefact, dataset, cells, and whether the data are here
    List(list::ListArguments)
        => "list": Vec<ListedExperiment>;
    /// Show one experiment: what it reproduces, its axes, and what its results say
    Show(show::ShowArguments)
        => "show": ShownExperiment;
    /// Run experiments and write their tables and figures; missing data are fetched first
    Run(run::RunArguments)
        => "run": RunExperiment | Vec<RunExperiment>,
            "run --shard": RunShard | Vec<RunShard>;
    /// Release private predictions at the points of a grid, from the operating system's randomness
    Predict(predict::PredictArguments)
        => "predict": ReleasedHere | ReleasedToFile,
            "predict: FILE.certificate.json": CertificateFile,
            "predict --preview": PreviewOutput;
    /// Say what predictions would err by at each epsilon and setting, before anything is released
    Price(price::PriceArguments)
        => "price": PriceOutput;
    /// Draw what `dpgp predict` wrote, as SVG, as a page or as GeoJSON, with what is guaranteed of it
    Map(map::MapArguments)
        => "map": DrawnFile;
    /// Show what releases about some rows have spent together, or verify that nobody changed what counts them
    Ledger(ledger::LedgerVerb)
        => "ledger show": Vec<LedgerOutput>,
            "ledger verify": Vec<VerifiedLedgerOutput>;
    /// Say what a run would compute and how long that takes; computes nothing
    Plan(plan::PlanArguments)
        => "plan": Vec<PlannedExperiment>;
    /// Say for each result that is not stored why it has to be computed
    Explain(explain::ExplainArguments)
        => "explain": Vec<ExplainedExperiment>;
    /// Recompute experiments and compare with the committed results, verdicts and claims
    Check(check::CheckArguments)
        => "check": Vec<CheckedExperiment>;
    /// Recompute what experiments guarantee from what they sample
    Audit(audit::AuditArguments)
        => "audit": Vec<AuditedExperiment>,
            "audit --end-to-end": AttackedRelease,
            "audit --samples": AttackedSamples;
    /// Say which methods are best at an epsilon, from the committed tables
    Best(best::BestArguments)
        => "best": Vec<Ranking>;
    /// Print a committed table with the axes that are asked for at the left and at the top, for a paper
    Table(table::TableArguments)
        => "table": PrintedTables;
    /// Judge somebody else's table of an experiment by the verdicts that ours have
    Grade(grade::GradeArguments)
        => "grade": GradedExperiment;
    /// Print BibTeX of the program, and of the papers and data of experiments
    Cite(cite::CiteArguments)
        => "cite": Vec<BibliographyEntry>;
    /// Put two result trees or commits side by side, what changed first
    Diff(diff::DiffArguments)
        => "diff": Vec<ComparedRow>;
    /// Write one HTML page with every table, figure, claim and deviation
    Report(report::ReportArguments)
        => "report": WrittenReport;
    /// Merge the stores of several machines and write the tables that are complete
    Collect(collect::CollectArguments)
        => "collect": Vec<CollectedExperiment>;
    /// Print a job array for Slurm, a Kubernetes Job or a Makefile that runs an experiment in shards
    Emit(emit::EmitArguments)
        => "emit": EmittedText;
    /// Sum up rows of any number for a surface, in shards if need be, and release it with privacy
    Stats(stats::StatsArguments)
        => "stats": SummedRows;
    /// Check a published release by its certificate: the file, the noise and the guarantee
    Verify(verify::VerifyArguments)
        => "verify": VerifiedCertificate;
    /// Write trips like those of a bike share, as many as asked for
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
    /// Print the JSON Schema of a spec, of datasets.toml, or of what verbs print as JSON
    Schema(schema::SchemaArguments);
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments)
        => "completions": CompletionScript;
    /// Print a page of the manual
    Man(man::ManArguments)
        => "man": ManualPage;
}

/// Parses the arguments, runs the verb and maps its outcome to an exit code.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    interrupt::outlive_file_limits();
    environment::answer();
    outcome_code(dispatch(&environment::arguments()))
}

/// Says that a panic is our mistake, and ends the program with the exit code of a bug.
///
/// The hook itself ends it, on whichever thread the panic happened: nothing may go on after a bug, and
/// threads that nobody waits for must not hide it. A panic of the decoder of a damaged file is an error of that file.
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
        // Without a thread for signals they end the program all the same, but leave its temporary files.
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
