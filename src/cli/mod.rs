//! The command line: one file per verb. Each parses, calls the rooms below and prints.

mod arguments;
mod audit;
mod audit_end_to_end;
mod audit_samples;
mod audit_types;
mod best;
mod check;
mod check_forms;
mod cite;
mod collect;
mod completed;
mod completions;
mod counted;
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
mod ledger_options;
mod list;
mod man;
mod map;
mod map_file;
mod new;
mod new_ask;
mod new_columns;
mod new_data;
mod new_questions;
mod new_rules;
mod options;
mod output;
mod output_schema;
mod output_types;
mod pages;
mod paired_contexts;
mod paired_files;
mod paired_runs;
mod paired_verbs;
mod plan;
mod points;
mod predict;
mod predict_from;
mod preview;
mod price;
mod release_types;
mod report;
mod run;
mod schema;
mod show;
mod stats;
mod table;
mod targets;
mod unknown_option;
mod verify;
mod waiting;

use std::panic::PanicHookInfo;
use std::process::ExitCode;

use arguments::{Arguments, Verb};
use error::{BUG, CliError};
use output::complain;

use dpgp_data::is_decoding;

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
    let format = arguments.format;
    if !matches!(arguments.verb, Verb::Run(_) | Verb::Check(_) | Verb::Audit(_)) {
        // Without a thread for signals they end the program all the same, but leave its temporary files.
        let _ = interrupt::end_at_signal();
    }
    match &arguments.verb {
        Verb::List(list) => list::list(list, format),
        Verb::Run(run) => run::run(run, format),
        Verb::Plan(plan) => plan::plan(plan, format),
        Verb::Explain(explain) => explain::explain(explain, format),
        Verb::Predict(predict) => predict::predict(predict, format),
        Verb::Price(price) => price::price(price, format),
        Verb::Map(map) => map::map(map, format),
        Verb::Ledger(ledger) => ledger::ledger(ledger, format),
        Verb::Check(check) => check::check(check, format),
        Verb::Audit(audit) => audit::audit(audit, format),
        Verb::Best(best) => best::best(best, format),
        Verb::Show(show) => show::show(show, format),
        Verb::Cite(cite) => cite::cite(cite, format),
        Verb::Grade(grade) => grade::grade(grade, format),
        Verb::Diff(diff) => diff::diff(diff, format),
        Verb::Report(report) => report::report(report, format),
        Verb::Collect(collect) => collect::collect(collect, format),
        Verb::Emit(emit) => emit::emit(emit, format),
        Verb::Stats(stats) => stats::stats(stats, format),
        Verb::Verify(verify) => verify::verify(verify, format),
        Verb::Generate(generate) => generate::generate(generate, format),
        Verb::Table(table) => table::table(table, format),
        Verb::Data(data) => data::data(data, format),
        Verb::New(new) => new::new(new, format),
        Verb::Schema(schema) => schema::schema(schema, format),
        Verb::Completions(completions) => completions::completions(completions, format),
        Verb::Man(man) => man::man(man, format),
    }
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
