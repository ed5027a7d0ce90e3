//! The commit of a folder. The build script reads this file, too, so that a program and the results of a run name commits in the
//! same way.

use std::path::Path;
use std::process::Command;

/// The commit of a project's folder, if it is a checkout of its own; marked where tracked files other than results differ from
/// it. None without git.
pub fn commit(project: &Path) -> Option<String> {
    if !project.join(".git").exists() {
        return None;
    }
    let options = ["status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", ".", ":!results"];
    let status = git(project, &options)?;
    // Lines about the branch begin so; each of the others is a change.
    let head = status.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
    let is_changed = status.lines().any(|line| !line.starts_with("# "));
    // Before its first commit a checkout has none.
    (head != "(initial)").then(|| if is_changed { format!("{head}-dirty") } else { head.to_owned() })
}

fn git(project: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(project).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
