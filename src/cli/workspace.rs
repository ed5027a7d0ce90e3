//! Where the project's folders are, and what the user's names mean.

use std::path::{Path, PathBuf};

use super::CliError;
use super::arguments::Places;
use crate::data::suggest::closest;
use crate::data::{Cache, Manifest};
use crate::spec::{Catalogue, Experiment, NamedSpec};

/// The project around the working directory, the manifest and the cache.
pub struct Workspace {
    root: PathBuf,
    catalogue: Catalogue,
    /// The manifest of all datasets.
    pub manifest: Manifest,
    /// The cache that datasets are read from.
    pub cache: Cache,
}

impl Workspace {
    /// Finds the project: the nearest folder, from the working directory upwards, that holds `experiments` and
    /// `data/datasets.toml`. Without one, only specs named by their path can be run.
    ///
    /// # Errors
    /// [`CliError`] if the shipped manifest is malformed or a folder cannot be read.
    pub fn open(places: &Places) -> Result<Self, CliError> {
        let is_project =
            |p: &PathBuf| p.join("experiments").is_dir() && p.join("data/datasets.toml").is_file();
        let project = ancestors().into_iter().find(is_project);
        let catalogue = match project.as_ref().map(|p| p.join("experiments")) {
            None => Catalogue::default(),
            Some(folder) => Catalogue::read(&folder).map_err(|cause| CliError::Io { path: folder, cause })?,
        };
        let root = project.unwrap_or_else(|| PathBuf::from("."));
        let directory = places.cache.clone().unwrap_or_else(|| root.join("data/cache"));
        let cache = Cache::new(directory, root.join("data"))
            .with_mirror(places.mirror.clone().filter(|mirror| !mirror.as_os_str().is_empty()))
            .with_offline(places.offline);
        Ok(Self { catalogue, cache, manifest: Manifest::shipped()?, root })
    }

    /// The folder of results: the one named, else the project's own.
    pub fn results(&self, named: Option<&Path>) -> PathBuf {
        let own = self.root.join("results");
        named.map_or_else(|| own.strip_prefix(".").unwrap_or(&own).to_path_buf(), Path::to_path_buf)
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All shipped experiments.
    ///
    /// # Errors
    /// [`CliError`] if a spec is wrong.
    pub fn experiments(&self) -> Result<Vec<Experiment>, CliError> {
        self.catalogue.specs().iter().map(|spec| self.load(spec)).collect()
    }

    /// The experiments that a name means: a path, a shipped name, a prefix or a tag.
    ///
    /// # Errors
    /// [`CliError::UnknownExperiment`] if it means none, or the error of the spec.
    pub fn find(&self, name: &str) -> Result<Vec<Experiment>, CliError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") {
            let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name).to_owned();
            return Ok(vec![self.load(&NamedSpec { name: stem, path: path.to_path_buf() })?]);
        }
        let named: Result<Vec<Experiment>, CliError> =
            self.catalogue.find(name).into_iter().map(|spec| self.load(spec)).collect();
        let named = named?;
        if !named.is_empty() {
            return Ok(named);
        }
        let mut tagged = self.experiments()?;
        tagged.retain(|e| e.meta.tags.iter().any(|tag| tag == name));
        if tagged.is_empty() { Err(self.unknown(name)) } else { Ok(tagged) }
    }

    fn unknown(&self, name: &str) -> CliError {
        let names = self.catalogue.specs().iter().map(|spec| spec.name.as_str());
        let count = names.clone().count();
        if count == 0 {
            return CliError::NoProject;
        }
        let hint = closest(name, names).map(|n| format!(" (did you mean {n}?)")).unwrap_or_default();
        CliError::UnknownExperiment { name: name.to_owned(), count, hint }
    }

    fn load(&self, spec: &NamedSpec) -> Result<Experiment, CliError> {
        let io = |cause| CliError::Io { path: spec.path.clone(), cause };
        let text = std::fs::read_to_string(&spec.path).map_err(io)?;
        let path = spec.path.strip_prefix(".").unwrap_or(&spec.path);
        Ok(Experiment::parse(&spec.name, path, text, &self.manifest)?)
    }
}

/// The working directory as `.`, then its parents.
fn ancestors() -> Vec<PathBuf> {
    let parents = std::env::current_dir().unwrap_or_default();
    let above = parents.ancestors().skip(1).map(Path::to_path_buf);
    std::iter::once(PathBuf::from(".")).chain(above).collect()
}
