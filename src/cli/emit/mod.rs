//! `dpgp emit`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use serde_json::json;

use super::CliError;
use super::arguments::{Format, Places};
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::publish::write_atomically;

const EXAMPLES: &str = "\
The number of shards is written into what is printed. All shards write to one store, which takes no locks; a shard that is
run again computes only what it had not stored.

Examples:
  dpgp emit slurm smith2021/table1-shuffles --shards 8 > job.sh
  bash job.sh --time=1:00:00        submits the array, and a collector after it; arguments go to sbatch
  dpgp emit make smith2021/table1 --shards 4 --out Makefile && make -j4
  dpgp emit k8s my.toml --shards 20 --image registry.example/dpgp:1 | kubectl apply -f -";

/// `dpgp emit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EmitArguments {
    /// What runs the shards
    #[arg(value_enum)]
    target: Target,
    /// An experiment, or the path of a spec
    #[arg(value_name = "NAME")]
    name: String,
    /// Into how many parts the work is cut
    #[arg(long, value_name = "N")]
    shards: NonZeroU32,
    /// The folder that all shards store their results in
    #[arg(long, value_name = "DIR", default_value = "data/store")]
    store: String,
    /// Cores for each shard
    #[arg(long, value_name = "N", default_value = "1")]
    cpus: NonZeroU32,
    /// The container image (k8s)
    #[arg(long, default_value = "dpgp")]
    image: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// What runs the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A job array with a collector after it
    Slurm,
    /// An Indexed Job
    K8s,
    /// A Makefile
    Make,
}

impl Target {
    fn template(self) -> &'static str {
        match self {
            Self::Slurm => include_str!("slurm.sh"),
            Self::K8s => include_str!("k8s.yaml"),
            Self::Make => include_str!("Makefile"),
        }
    }
}

/// Prints a job description with the experiment and the number of shards filled in.
///
/// # Errors
/// [`CliError`] if the name means no single experiment.
pub fn emit(arguments: &EmitArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiments = workspace.find(&arguments.name)?;
    let [experiment] = experiments.as_slice() else {
        return Err(CliError::NotOne { name: arguments.name.clone(), count: experiments.len() });
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let values = context! {
        name => arguments.name.as_str(),
        slug => experiment.name.chars().map(plain).collect::<String>(),
        datasets => experiment.datasets().into_iter().map(str::to_owned).collect::<Vec<_>>(),
        shards => arguments.shards.get(),
        store => arguments.store.as_str(),
        cpus => arguments.cpus.get(),
        image => arguments.image.as_str(),
    };
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.map_err(CliError::Template)?);
    templates.add_filter("shell", |text: String| shell(&text));
    templates.add_filter("make", |text: String| shell(&text).replace('$', "$$"));
    templates.add_filter("quoted", |text: String| json!(text).to_string());
    let text = templates.render_str(arguments.target.template(), values).map_err(CliError::Template)?;
    match &arguments.out {
        Some(path) => {
            write_atomically(path, &text).map_err(|cause| CliError::Io { path: path.clone(), cause })
        }
        None if format == Format::Json => print_json(&json!({ "text": text })),
        None => print(&text),
    }
}

/// A word that a shell takes as it is.
fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
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
