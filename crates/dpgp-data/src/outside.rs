//! Files outside the folder of their spec or project, which may belong to somebody else. Each is named before
//! it is read, and messages hide its contents.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::escape_hidden_line;
use super::error::withhold_contents;
use super::rows::is_cloud_address;
use dpgp_fs::{is_outside_folder, resolve_links};

/// Says on standard error that a file is read which is outside of a folder, that of a spec or a project; once in a process. From here on
/// no error shows what stands in it, only what is wrong and where. Addresses are outside of every folder.
pub fn report_outside_file(file: &Path, folder: &Path, of: &str) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !is_cloud_address(file) && !is_outside_folder(folder, file) || !withhold_contents(file) {
        return;
    }
    let place = if is_cloud_address(file) { strip_access_keys(file) } else { resolve_links(file) };
    let place = place.to_string_lossy();
    let place = escape_hidden_line(&place);
    let _ = writeln!(std::io::stderr().lock(), "reading {place} (outside the folder of the {of})");
}

/// An address without what may be a key of access.
fn strip_access_keys(address: &Path) -> PathBuf {
    let text = address.to_string_lossy();
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://").zip(plain.rsplit_once('@')) {
        Some(((scheme, _), (_, rest))) => format!("{scheme}://{rest}").into(),
        None => plain.into(),
    }
}
