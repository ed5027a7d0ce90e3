//! `dpgp emit`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, StoreArguments};
use super::output::{EmitOutput, print_json, print_raw_unless_terminal, write_new};
use crate::cli::options::experiment_completer;
use dpgp_data::rows::is_cloud_address;

const EXAMPLES: &str = "\
The output has a fixed number of shards. All shards write to one store, without locks. If you run a shard again, it computes only
the results that it has not stored.

Examples:
  dpgp emit slurm smith2021/table1 --shards 8 > job.sh
  bash job.sh --time=1:00:00        submits the array and then a collector; passes arguments to sbatch
  dpgp emit slurm beyond/citibike-scale --shards 8 --stats trips.parquet > sums.sh
  dpgp emit make smith2021/table1 --shards 4 --out Makefile && make -j4
  dpgp emit k8s my.toml --shards 20 --image registry.example/dpgp:1 | kubectl apply -f -";

/// Arguments of `dpgp emit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EmitArguments {
    /// The scheduler that runs the shards
    #[arg(value_enum)]
    target: Scheduler,
    /// An experiment, or the path of a spec
    #[arg(value_name = "NAME", add = experiment_completer())]
    name: String,
    /// Number of parts to split the work into
    #[arg(long, value_name = "N")]
    shards: NonZeroU32,
    #[command(flatten)]
    store: StoreArguments,
    /// Cores for each shard
    #[arg(long, value_name = "N", default_value = "1")]
    cpus: NonZeroU32,
    /// Sum the rows of these files (`dpgp sum`) instead of running the experiment; slurm and make only
    #[arg(long, value_name = "FILE", num_args = 1..)]
    stats: Vec<PathBuf>,
    /// The container image (k8s)
    #[arg(long, default_value = "dpgp")]
    image: String,
    /// Write to this new file or pipe; never overwrites an existing file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Schedulers that run shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    /// A job array, followed by a collector job
    Slurm,
    /// An Indexed Job of Kubernetes
    K8s,
    /// A Makefile
    Make,
}

impl Scheduler {
    /// Returns a path as tasks see it. Tasks of Kubernetes have a volume in place of the working directory.
    fn path_in_task(self, path: &Path) -> String {
        let whole = PathBuf::from(absolute_path_text(path));
        let here = std::env::current_dir().unwrap_or_default();
        let inside = whole.strip_prefix(&here).ok().filter(|_| matches!(self, Self::K8s));
        inside.unwrap_or(&whole).to_string_lossy().into_owned()
    }

    /// Returns the template for shards of a run, or of sums over files. Fails for sums on Kubernetes, whose tasks share no folder
    /// for partial sums.
    fn template(self, sums: bool) -> Result<&'static str, CliError> {
        match (self, sums) {
            (Self::Slurm, false) => Ok(include_str!("slurm.sh")),
            (Self::Slurm, true) => Ok(include_str!("slurm-stats.sh")),
            (Self::Make, false) => Ok(include_str!("Makefile")),
            (Self::Make, true) => Ok(include_str!("Makefile-stats")),
            (Self::K8s, false) => Ok(include_str!("k8s.yaml")),
            (Self::K8s, true) => Err(CliError::NoSharedFolder),
        }
    }
}

/// Prints a job description with the experiment and the number of shards filled in.
pub fn emit(arguments: &EmitArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiment = project.find_one_experiment(&arguments.name)?;
    if arguments.name.contains(char::is_control) {
        return Err(CliError::NoName(arguments.name.clone()));
    }
    if matches!(arguments.target, Scheduler::K8s) && arguments.shards.get() > MOST_INDEXES {
        return Err(CliError::TooManyShards);
    }
    let template = arguments.target.template(!arguments.stats.is_empty())?;
    let store = arguments.store.folder(&project);
    // A control character could end a comment in the description.
    if store.to_string_lossy().contains(char::is_control) {
        return Err(CliError::NoName(store.to_string_lossy().into_owned()));
    }
    let values = context! {
        name => arguments.name.as_str(),
        slug => slug(&experiment.name),
        datasets => experiment.datasets().into_iter().map(str::to_owned).collect::<Vec<_>>(),
        shards => arguments.shards.get(),
        store => arguments.target.path_in_task(&store),
        places => data_location_options(&arguments.places),
        cpus => arguments.cpus.get(),
        image => arguments.image.as_str(),
        files => arguments.stats.iter().map(|file| absolute_path_or_address(file)).collect::<Vec<_>>(),
    };
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax?);
    templates.add_filter("shell", |text: String| quote_for_shell(&text));
    templates.add_filter("make", |text: String| quote_for_shell(&text).replace('$', "$$").replace('#', "\\#"));
    templates.add_filter("quoted", |text: String| json!(text).to_string());
    let text = templates.render_str(template, values)?;
    match &arguments.out {
        Some(path) => write_new(path, &text),
        None if format == OutputFormat::Json => print_json(&json!(EmitOutput { text })),
        None => print_raw_unless_terminal(&text),
    }
}

/// The most indexes of a Kubernetes job that counts failures for each index.
const MOST_INDEXES: u32 = 100_000;

/// The most letters of a name. With `dpgp-` before it and a task number after it, it becomes a host name of at most 63 letters.
const LONGEST: usize = 47;

/// Makes a name that every scheduler accepts.
fn slug(name: &str) -> String {
    let slug = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-").to_ascii_lowercase();
    let slug = slug.trim_start_matches('-');
    let slug = slug[..slug.len().min(LONGEST)].trim_end_matches('-');
    if slug.is_empty() { "study".to_owned() } else { slug.to_owned() }
}

/// Makes a path absolute, so that a script can start anywhere.
fn absolute_path_text(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// Makes the path of a file of rows absolute. Addresses already are.
fn absolute_path_or_address(file: &Path) -> String {
    if is_cloud_address(file) { file.to_string_lossy().into_owned() } else { absolute_path_text(file) }
}

/// Lists the options for the places of data, as shell words.
fn data_location_options(places: &DataLocationArguments) -> Vec<String> {
    let mut words = Vec::new();
    for (option, path) in [("--mirror", &places.mirror), ("--data", &places.cache)] {
        if let Some(path) = path.as_ref().filter(|path| !path.as_os_str().is_empty()) {
            words.extend([option.to_owned(), absolute_path_text(path)]);
        }
    }
    words
}

/// Quotes a word for a shell.
pub(super) fn quote_for_shell(text: &str) -> String {
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c)) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_back_any_word() {
        for word in ["plain/name.toml", "", "two words", "it's", "$HOME `x` \"y\" \\", "-a;b|c&d"] {
            let script = format!("printf %s {}", quote_for_shell(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
