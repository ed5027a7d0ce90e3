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
    let head = git(project, &["rev-parse", "HEAD"])?;
    let changes = git(project, &["status", "--porcelain", "--untracked-files=no", "--", ".", ":!results"])?;
    Some(if changes.is_empty() { head } else { format!("{head}-dirty") })
}

fn git(project: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(project).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
