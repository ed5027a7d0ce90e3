//! Where the project's folders are, and what the user's names mean.

use std::path::{Path, PathBuf};

use super::CliError;
use super::arguments::{Places, ResultsPlace, Selection, StorePlace};
use crate::data::suggest::closest;
use crate::data::{Cache, Manifest};
use crate::run::RunError;
use crate::run::store::Store;
use crate::spec::{Catalogue, NamedSpec};
use crate::task::Experiment;

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
        let manifest = root.join("data/datasets.toml");
        let manifest = match std::fs::read_to_string(&manifest) {
            Ok(text) => Manifest::parse(&text, manifest.strip_prefix(".").unwrap_or(&manifest))?,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Manifest::shipped()?,
            Err(cause) => return Err(CliError::Io { path: manifest, cause }),
        };
        Ok(Self { catalogue, cache, manifest, root })
    }

    /// The folder of results: the one named, else the project's own.
    pub fn results(&self, place: &ResultsPlace) -> PathBuf {
        place.directory.clone().unwrap_or_else(|| self.own("results"))
    }

    /// The folder of the store: the one named, else the project's own.
    pub fn store_directory(&self, place: &StorePlace) -> PathBuf {
        let named = place.directory.clone().filter(|directory| !directory.as_os_str().is_empty());
        named.unwrap_or_else(|| self.own("data/store"))
    }

    /// The store; what is torn in it is said on stderr.
    ///
    /// # Errors
    /// [`CliError::Run`] if it cannot be read or contradicts itself.
    pub fn store(&self, place: &StorePlace) -> Result<Store, CliError> {
        let store = Store::open(&self.store_directory(place)).map_err(RunError::from)?;
        store.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
        Ok(store)
    }

    fn own(&self, name: &str) -> PathBuf {
        let own = self.root.join(name);
        own.strip_prefix(".").unwrap_or(&own).to_path_buf()
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
        self.specs()?.iter().map(|spec| self.load(spec)).collect()
    }

    /// The shipped specs.
    ///
    /// # Errors
    /// [`CliError::NoProject`] if there is no project.
    pub fn specs(&self) -> Result<&[NamedSpec], CliError> {
        if self.catalogue.specs().is_empty() { Err(CliError::NoProject) } else { Ok(self.catalogue.specs()) }
    }

    /// The experiments that a selection means, each once, with reduced settings if it says so.
    ///
    /// # Errors
    /// [`CliError`] if a name means nothing, or two files have one name and so one place for results.
    pub fn selected(&self, selection: &Selection) -> Result<Vec<Experiment>, CliError> {
        let mut experiments: Vec<Experiment> = Vec::new();
        if selection.all || selection.names.is_empty() {
            experiments = self.experiments()?;
        }
        for name in &selection.names {
            for experiment in self.find(name)? {
                match experiments.iter().find(|e| e.name == experiment.name) {
                    None => experiments.push(experiment),
                    Some(other) if other.source.file() == experiment.source.file() => {}
                    Some(_) => return Err(CliError::SameName { name: experiment.name }),
                }
            }
        }
        if !selection.quick {
            return Ok(experiments);
        }
        experiments.into_iter().map(|experiment| Ok(experiment.reduced(&self.manifest)?)).collect()
    }

    /// The experiments that a name means: a path, a shipped name, a prefix or a tag.
    ///
    /// # Errors
    /// [`CliError::UnknownExperiment`] if it means none, or the error of the spec.
    pub fn find(&self, name: &str) -> Result<Vec<Experiment>, CliError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") {
            return Ok(vec![self.load(&self.by_path(path))?]);
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

    /// A shipped spec keeps its name however it is addressed; any other is named after its file.
    fn by_path(&self, path: &Path) -> NamedSpec {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let here = real(path);
        let shipped = self.catalogue.specs().iter().find(|spec| here.is_some() && real(&spec.path) == here);
        shipped.cloned().unwrap_or_else(|| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            NamedSpec { name: stem, path: path.to_path_buf() }
        })
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

    /// Reads a spec.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be read or is wrong.
    pub fn load(&self, spec: &NamedSpec) -> Result<Experiment, CliError> {
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
