//! What a misspelt name means.

use std::path::{Path, PathBuf};

use dpgp_data::suggest::closest;

/// The experiment: by its whole name, or by the last part alone.
pub(super) fn experiment<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    closest(name, names.clone()).or_else(|| {
        let last = closest(name, names.clone().map(last_part))?;
        names.clone().find(|name| last_part(name) == last)
    })
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The spec beside the one that is not there.
pub(super) fn spec(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut stems: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    // A folder has no order of its own.
    stems.sort_unstable();
    let near = closest(path.file_stem()?.to_str()?, stems.iter().map(String::as_str))?;
    Some(path.with_file_name(format!("{near}.toml")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_spec_of_the_folder_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["trips.toml", "trees.toml", "tripe.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let folder = folder.path();
        assert_eq!(spec(&folder.join("tripes.toml")), Some(folder.join("trips.toml")));
        assert_eq!(spec(&folder.join("tres.toml")), Some(folder.join("trees.toml")));
        assert_eq!(spec(&folder.join("patients.toml")), None);
        assert_eq!(spec(Path::new("no/such/folder/trips.toml")), None);
    }
}
