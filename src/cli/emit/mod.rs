//! `dpgp emit`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use serde_json::json;

use super::CliError;
use super::options::{Format, Places, StorePlace};
use super::output::EmittedText;
use super::output::{print_data, print_json, write_new};
use crate::cli::options::experiments;
use dpgp_data::rows::is_address;

const EXAMPLES: &str = "\
The number of shards is written into what is printed. All shards write to one store, which takes no locks; a shard that is
run again computes only what it had not stored.

Examples:
  dpgp emit slurm smith2021/table1 --shards 8 > job.sh
  bash job.sh --time=1:00:00        submits the array, and a collector after it; arguments go to sbatch
  dpgp emit slurm beyond/citibike-scale --shards 8 --stats trips.parquet > sums.sh
  dpgp emit make smith2021/table1 --shards 4 --out Makefile && make -j4
  dpgp emit k8s my.toml --shards 20 --image registry.example/dpgp:1 | kubectl apply -f -";

/// `dpgp emit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EmitArguments {
    /// What runs the shards
    #[arg(value_enum)]
    target: Scheduler,
    /// An experiment, or the path of a spec
    #[arg(value_name = "NAME", add = experiments())]
    name: String,
    /// Into how many parts the work is cut
    #[arg(long, value_name = "N")]
    shards: NonZeroU32,
    #[command(flatten)]
    store: StorePlace,
    /// Cores for each shard
    #[arg(long, value_name = "N", default_value = "1")]
    cpus: NonZeroU32,
    /// Sum the rows of these files (`dpgp stats`) instead of a run; slurm and make
    #[arg(long, value_name = "FILE", num_args = 1..)]
    stats: Vec<PathBuf>,
    /// The container image (k8s)
    #[arg(long, default_value = "dpgp")]
    image: String,
    /// Write to this file, never over one that is there, or into this pipe, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// What runs the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    /// A job array with a collector after it
    Slurm,
    /// An Indexed Job
    K8s,
    /// A Makefile
    Make,
}

impl Scheduler {
    /// A path as its tasks see it: those of Kubernetes have a volume in the place of the folder that we are in.
    fn path(self, path: &Path) -> String {
        let whole = PathBuf::from(absolute(path));
        let here = std::env::current_dir().unwrap_or_default();
        let inside = whole.strip_prefix(&here).ok().filter(|_| matches!(self, Self::K8s));
        inside.unwrap_or(&whole).to_string_lossy().into_owned()
    }

    /// For the shards of a run, or of the sums over files of rows; Kubernetes has none of these, as its tasks share no
    /// folder for their parts.
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
pub fn emit(arguments: &EmitArguments, format: Format) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let experiment = project.only(&arguments.name)?;
    if arguments.name.contains(char::is_control) {
        return Err(CliError::NoName(arguments.name.clone()));
    }
    if matches!(arguments.target, Scheduler::K8s) && arguments.shards.get() > MOST_INDEXES {
        return Err(CliError::TooManyShards);
    }
    let template = arguments.target.template(!arguments.stats.is_empty())?;
    let store = arguments.store.folder(&project);
    // Such a sign would end a comment of the description.
    if store.to_string_lossy().contains(char::is_control) {
        return Err(CliError::NoName(store.to_string_lossy().into_owned()));
    }
    let values = context! {
        name => arguments.name.as_str(),
        slug => slug(&experiment.name),
        datasets => experiment.datasets().into_iter().map(str::to_owned).collect::<Vec<_>>(),
        shards => arguments.shards.get(),
        store => arguments.target.path(&store),
        places => places(&arguments.places),
        cpus => arguments.cpus.get(),
        image => arguments.image.as_str(),
        files => arguments.stats.iter().map(|file| rows(file)).collect::<Vec<_>>(),
    };
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax?);
    templates.add_filter("shell", |text: String| shell(&text));
    templates.add_filter("make", |text: String| shell(&text).replace('$', "$$").replace('#', "\\#"));
    templates.add_filter("quoted", |text: String| json!(text).to_string());
    let text = templates.render_str(template, values)?;
    match &arguments.out {
        Some(path) => write_new(path, &text),
        None if format == Format::Json => print_json(&json!(EmittedText { text })),
        None => print_data(&text),
    }
}

/// The most indexes of a job of which each has its own count of failures.
const MOST_INDEXES: u32 = 100_000;

/// The most letters of a name: with `dpgp-` before it and the number of a task after it, it names a host, which has 63 at most.
const LONGEST: usize = 47;

/// A name that any scheduler takes.
fn slug(name: &str) -> String {
    let slug = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-").to_ascii_lowercase();
    let slug = slug.trim_start_matches('-');
    let slug = slug[..slug.len().min(LONGEST)].trim_end_matches('-');
    if slug.is_empty() { "study".to_owned() } else { slug.to_owned() }
}

/// A path that means the same wherever a script is started.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// A file of rows; an address is absolute.
fn rows(file: &Path) -> String {
    if is_address(file) { file.to_string_lossy().into_owned() } else { absolute(file) }
}

/// The options that say where the data are, as words of a shell.
fn places(places: &Places) -> Vec<String> {
    let mut words = Vec::new();
    for (option, path) in [("--mirror", &places.mirror), ("--data", &places.cache)] {
        if let Some(path) = path.as_ref().filter(|path| !path.as_os_str().is_empty()) {
            words.extend([option.to_owned(), absolute(path)]);
        }
    }
    words
}

/// A word that a shell takes as it is.
pub(super) fn shell(text: &str) -> String {
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
            let script = format!("printf %s {}", shell(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
