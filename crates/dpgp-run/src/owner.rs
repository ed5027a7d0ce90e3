//! Whose a project is: whoever can change one says what the program reads and writes.

use std::path::Path;

use super::RunError;

/// The projects of other users that this one trusts: folders as in `PATH`; `*` is every folder.
const SAFE: &str = "DPGP_SAFE_PROJECTS";

/// What makes a folder a project, the folder itself first.
const PARTS: [&str; 4] = ["", "experiments", "data", "data/datasets.toml"];

/// Fails if a project, or one of the parts that make it one, belongs to another user whom nobody trusts. Trusted are this user, root, and
/// for root the user who called `sudo`. In a folder without a project only what is used of it counts.
///
/// # Errors
/// [`RunError::OtherOwner`].
pub(super) fn ensure_own(folder: &Path, is_project: bool) -> Result<(), RunError> {
    let parts = PARTS.iter().skip(usize::from(!is_project));
    for path in parts.map(|part| if part.is_empty() { folder.to_path_buf() } else { folder.join(part) }) {
        if let Some(owner) = other_owner(&path)
            && !is_safe(folder)
        {
            let folder = dpgp_fs::real(folder);
            return Err(RunError::OtherOwner { folder, path, owner });
        }
    }
    Ok(())
}

fn is_safe(folder: &Path) -> bool {
    let named = std::env::var_os(SAFE).unwrap_or_default();
    let folder = dpgp_fs::real(folder);
    let mut named = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
    named.any(|path| path == Path::new("*") || dpgp_fs::real(&path) == folder)
}

/// The owner of a file, or of the link in its place, if it is nobody who is trusted anyway.
#[cfg(unix)]
fn other_owner(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let found = [path.symlink_metadata(), path.metadata()];
    let mut owners = found.into_iter().flatten().map(|found| found.uid());
    owners.find(|owner| !trusted().contains(&Some(*owner))).map(named)
}

#[cfg(not(unix))]
fn other_owner(_: &Path) -> Option<String> {
    None
}

/// Root, who could change the program itself; this user; and the one for whom root acts.
#[cfg(unix)]
fn trusted() -> [Option<u32>; 3] {
    let own = rustix::process::geteuid().as_raw();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| own == 0);
    [Some(0), Some(own), caller.and_then(|caller| caller.parse().ok())]
}

/// A user by name, where the system lists it in a file.
#[cfg(unix)]
fn named(owner: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut users = users.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut user| {
        let name = user.next()?;
        (user.nth(1)?.parse() == Ok(owner)).then(|| name.to_owned())
    });
    name.map_or_else(|| format!("user {owner}"), |name| format!("{name} (user {owner})"))
}
