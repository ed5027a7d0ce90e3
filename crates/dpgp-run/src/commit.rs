//! Finds the commit of a folder. The build script reads this file too, so that programs and results name
//! commits in the same way.

use std::path::Path;
use std::process::Command;

/// The commit of a project's folder, if it is a checkout of its own; marked where tracked files other than results differ from
/// it. None without git.
pub fn find_commit(project: &Path) -> Option<String> {
    if !project.join(".git").exists() {
        return None;
    }
    let options =
        ["--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=dirty", "--", ".", ":!results"];
    let status =
        git(project, &[&["--no-optional-locks", "status"], &options[..]].concat(), &safe_git_settings(project))?;
    // Lines about the branch begin so; each of the others is a change.
    let head = status.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
    let is_changed = status.lines().any(|line| !line.starts_with("# "));
    // Before its first commit a checkout has none.
    (head != "(initial)").then(|| if is_changed { format!("{head}-dirty") } else { head.to_owned() })
}

/// Settings that keep git from calling what the configuration of a checkout names, which may be somebody else's: a program that watches
/// files, and filters. Those of the user's own configuration stay.
fn safe_git_settings(project: &Path) -> Vec<(String, &'static str)> {
    let filters = ["config", "--show-scope", "--name-only", "--get-regexp", "^filter\\."];
    let filters = git(project, &filters, &[]).unwrap_or_default();
    let lines = filters.lines().filter_map(|line| line.split_once('\t'));
    let of_checkout = lines.filter(|(scope, _)| ["local", "worktree"].contains(scope));
    let off = of_checkout.map(|(_, key)| (key.to_owned(), if key.ends_with(".required") { "false" } else { "" }));
    std::iter::once(("core.fsmonitor".to_owned(), "false")).chain(off).collect()
}

fn git(project: &Path, arguments: &[&str], settings: &[(String, &str)]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(project).args(arguments);
    // After those of the user's environment, because the last one counts.
    let count: usize = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    for (number, (key, value)) in (count..).zip(settings) {
        command.env("GIT_CONFIG_COUNT", (number + 1).to_string());
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
