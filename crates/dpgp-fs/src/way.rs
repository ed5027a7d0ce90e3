//! Checks that paths for writing contain no links below a folder that the user trusts.

use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use super::parent_or_current_folder;

/// Fails if a name below `trusted` on the way to `path`, or `path` itself, is a link, broken or not: whoever made the
/// link could choose where files are written and replaced. Missing names are not links.
///
/// # Errors
/// An I/O error that names the link.
pub fn refuse_links(trusted: &Path, path: &Path) -> Result<()> {
    let [trusted, path] = [trusted, path].map(|path| path.strip_prefix(".").unwrap_or(path));
    let (mut at, below) = match path.strip_prefix(trusted) {
        Ok(below) => (trusted.to_path_buf(), below),
        Err(_) => (PathBuf::new(), path),
    };
    for name in below {
        at.push(name);
        if at.is_symlink() {
            return Err(link_error(&at));
        }
    }
    Ok(())
}

/// Options to open a file that do not follow a link in its place.
pub fn no_follow_options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options
}

/// The error for a link where something would be written.
fn link_error(path: &Path) -> Error {
    Error::other(format!(
        "{} is a link, and dpgp does not write through links; name the folder itself (--data, --store, \
         --results)",
        path.display()
    ))
}

/// Reads the text of a file, unless it is a link out of its folder: other files are not results, and are not shown.
///
/// # Errors
/// The I/O error.
pub fn read_text_unless_outside_link(path: &Path) -> Result<String> {
    if path.is_symlink() && is_outside_folder(parent_or_current_folder(path), path) {
        return Err(Error::other("it is a link to a place outside its folder, so dpgp does not read it"));
    }
    std::fs::read_to_string(path)
}

/// Whether a path leads out of a folder, by links or otherwise. For a missing file, the nearest existing folder counts.
pub fn is_outside_folder(folder: &Path, path: &Path) -> bool {
    !resolve_links(path).starts_with(resolve_links(folder))
}

/// Resolves the links of the existing part of a path.
pub fn resolve_links(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for above in whole.ancestors() {
        if let (Ok(real), Ok(rest)) = (above.canonicalize(), whole.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    whole
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_on_the_way_are_refused() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("data/cache")).unwrap();
        fs::create_dir(outer.path().join("else")).unwrap();
        symlink("../../../else", root.join("data/cache/w")).unwrap();
        symlink("nowhere", root.join("data/cache/dangling")).unwrap();
        for (path, is_link) in [
            ("data/cache/rows.csv", false),
            ("data/cache/new/rows.csv", false),
            ("data/cache/w", true),
            ("data/cache/w/rows.csv", true),
            ("data/cache/dangling", true),
        ] {
            assert_eq!(refuse_links(&root, &root.join(path)).is_err(), is_link, "{path}");
        }
        // What the user names is his own, and so is all above it.
        symlink(&root, outer.path().join("named")).unwrap();
        let named = outer.path().join("named/data/cache");
        assert!(refuse_links(&named, &named.join("rows.csv")).is_ok());
        assert!(refuse_links(Path::new("."), Path::new("./none/at/all")).is_ok());
    }

    #[test]
    fn what_leads_out_of_a_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("in.csv"), "").unwrap();
        fs::write(outer.path().join("out.csv"), "").unwrap();
        symlink("../out.csv", folder.join("link.csv")).unwrap();
        symlink("in.csv", folder.join("own.csv")).unwrap();
        for (name, out) in [
            ("in.csv", false),
            ("own.csv", false),
            ("none/at/all.csv", false),
            ("link.csv", true),
            ("../out.csv", true),
            ("../none.csv", true),
            ("/proc/self/environ", true),
        ] {
            assert_eq!(is_outside_folder(&folder, &folder.join(name)), out, "{name}");
        }
    }
}
