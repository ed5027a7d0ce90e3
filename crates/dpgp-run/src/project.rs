//! A project: its folders, specs and datasets, and the lookup of names with suggestions for misspelt ones.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::RunError;
use super::memory::WorkerPool;
use super::own_tables::ensure_trusted_owner;
use super::store::RunHeader;
use dpgp_data::suggest::closest_name;
use dpgp_data::{DataError, DatasetCache, DatasetManifest};
use dpgp_fs::{is_outside_folder, parent_or_current_folder, refuse_links};
use dpgp_spec::setting::SourceSetting;
use dpgp_spec::{
    CatalogueFile, PaperCoverage, PaperFileError, PaperReportPage, SpecCatalogue, SpecChange, SpecError, spec_name,
};
use dpgp_task::Experiment;

/// Where datasets are found: by default in the cache of the project, and missing ones are downloaded.
#[derive(Debug, Clone, Default)]
pub struct DataLocations {
    /// A folder with datasets in the layout of the cache, whose files are used in place.
    pub mirror: Option<PathBuf>,
    /// The cache for downloads, if it is not the project's `data/cache`.
    pub cache: Option<PathBuf>,
    /// Whether missing data are an error.
    pub offline: bool,
    /// Whether the manifest may name this machine and its local networks, and not only the internet.
    pub local_urls: bool,
}

impl DataLocations {
    /// Whether the environment lets a manifest name this machine and its networks: `DPGP_LOCAL_URLS=1`.
    pub fn environment_allows_local_urls() -> bool {
        std::env::var_os("DPGP_LOCAL_URLS").is_some_and(|value| value == "1")
    }
}

/// A folder with specs below `experiments`, and its own `data/datasets.toml` or that of the program; or any folder, in which the experiments
/// that come with the program run.
///
/// ```
/// use dpgp_run::{DataLocations, Project, RunError};
///
/// let empty = Project::open_at(std::env::temp_dir(), &DataLocations::default())?;
/// assert!(empty.has_shipped_experiments() && empty.find_one_experiment("smith2021/toy").is_ok());
/// assert!(empty.manifest.get("howell1").is_ok());
/// # Ok::<(), RunError>(())
/// ```
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    catalogue: SpecCatalogue,
    shipped: bool,
    /// The manifest of all datasets.
    pub manifest: DatasetManifest,
    /// The cache that datasets are read from.
    pub cache: DatasetCache,
}

impl Project {
    /// The nearest project from the working directory upwards; without one the working directory, with the
    /// experiments that come with the program. The first one found must belong to this user, or to somebody whom this user trusts.
    ///
    /// # Errors
    /// [`RunError::OtherOwner`]; as [`Project::open_at`].
    pub fn open(places: &DataLocations) -> Result<Self, RunError> {
        let found = ancestors().into_iter().find(|folder| is_project(folder));
        let is_found = found.is_some();
        let root = found.unwrap_or_else(|| PathBuf::from("."));
        ensure_trusted_owner(&root, is_found)?;
        Self::open_at(root, places)
    }

    /// The project in a folder, with the experiments and the manifest that come with the program if it has none of its own.
    ///
    /// # Errors
    /// [`RunError`] if a folder or the manifest cannot be read.
    pub fn open_at(root: PathBuf, places: &DataLocations) -> Result<Self, RunError> {
        let specs = root.join("experiments");
        let shipped = !is_project(&root);
        let catalogue = match shipped {
            false => SpecCatalogue::read(&specs).map_err(|cause| RunError::Io { path: specs, cause })?,
            true => SpecCatalogue::shipped(),
        };
        let directory = places.cache.clone().unwrap_or_else(|| root.join("data/cache"));
        // A folder that the user names is his; of the project's own none may be a link.
        let vouched = places.cache.clone().unwrap_or_else(|| root.clone());
        let cache = DatasetCache::new(directory, root.join("data"))
            .with_links_refused_below(vouched)
            .with_local_urls(places.local_urls)
            .with_mirror(places.mirror.clone().filter(|mirror| !mirror.as_os_str().is_empty()))
            .with_offline(places.offline);
        let path = root.join("data/datasets.toml");
        let manifest = match std::fs::read_to_string(&path) {
            Ok(text) => {
                let shown = path.strip_prefix(".").unwrap_or(&path);
                DatasetManifest::parse(&text, shown).map_err(|error| hide_manifest_line(error, &root, &path))?
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => DatasetManifest::load_shipped().map_err(Box::new)?,
            Err(cause) => return Err(RunError::Io { path, cause }),
        };
        Ok(Self { root, catalogue, shipped, manifest, cache })
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it was found in a folder above the working directory.
    pub fn is_in_parent_folder(&self) -> bool {
        self.root.is_absolute()
            && std::env::current_dir().is_ok_and(|here| here != self.root && here.starts_with(&self.root))
    }

    /// Whether the experiments are those that come with the program, and not those of a folder.
    pub fn has_shipped_experiments(&self) -> bool {
        self.shipped
    }

    /// A path inside the project, as messages show it.
    pub fn path_inside(&self, name: &str) -> PathBuf {
        let own = self.root.join(name);
        own.strip_prefix(".").unwrap_or(&own).to_path_buf()
    }

    /// Fails if a link in the project leads to a store that would be written to. A store elsewhere is where the user says.
    ///
    /// # Errors
    /// [`RunError::Io`].
    pub fn ensure_no_links_to_store(&self, store: &Path) -> Result<(), RunError> {
        let own = self.path_inside("data/store");
        if store != own {
            return Ok(());
        }
        refuse_links(&self.root, &own).map_err(|cause| RunError::Io { path: own, cause })
    }

    /// The shipped specs.
    ///
    /// # Errors
    /// [`RunError::NoProject`] if there are none.
    pub fn specs(&self) -> Result<&[CatalogueFile], RunError> {
        if self.catalogue.specs().is_empty() { Err(RunError::NoProject) } else { Ok(self.catalogue.specs()) }
    }

    /// All shipped experiments.
    ///
    /// # Errors
    /// [`RunError`] if a spec is wrong.
    pub fn experiments(&self) -> Result<Vec<Experiment>, RunError> {
        self.load_each_experiment()?.into_iter().collect()
    }

    /// All shipped experiments, or what is wrong with the spec of each, in the order of [`Project::specs`].
    ///
    /// # Errors
    /// [`RunError::NoProject`] if there are none.
    pub fn load_each_experiment(&self) -> Result<Vec<Result<Experiment, RunError>>, RunError> {
        let specs = self.specs()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match WorkerPool::new(cores) {
            Ok(pool) => Ok(pool.map_in_parallel(specs, |_, spec| self.load(spec))),
            // Where the system gives no threads there is one.
            Err(_) => Ok(specs.iter().map(|spec| self.load(spec)).collect()),
        }
    }

    /// Whether an experiment reads rows of the user's own: a file, or columns in a spec that is not a shipped one.
    pub fn reads_own_rows(&self, experiment: &Experiment) -> bool {
        let mut sources = experiment.cells.iter().map(|cell| &cell.setting().data.source);
        sources.any(|source| source.own_file().is_some()) || self.has_rows_in_spec(experiment)
    }

    /// Whether columns of rows stand in a spec that is not a shipped one.
    pub fn has_rows_in_spec(&self, experiment: &Experiment) -> bool {
        // Tasks that read no rows have an empty inline source.
        let settings = experiment.cells.iter().map(|cell| cell.setting());
        let mut sources = settings.filter(|setting| setting.task.reads_rows()).map(|setting| &setting.data.source);
        let file = experiment.source.file();
        sources.any(|source| matches!(source, SourceSetting::Inline(_)))
            && !self.catalogue.specs().iter().any(|spec| is_spec_path(spec, file))
    }

    /// The experiments that names mean, each once; all shipped ones without names; with reduced settings if `quick`.
    ///
    /// # Errors
    /// [`RunError`] if a name means nothing, or two files have one name and so one place for results.
    pub fn select_experiments(&self, names: &[String], quick: bool) -> Result<Vec<Experiment>, RunError> {
        let mut experiments: Vec<Experiment> = Vec::new();
        if names.is_empty() {
            experiments = self.experiments()?;
        }
        for name in names {
            for experiment in self.find_experiments(name)? {
                match experiments.iter().find(|e| e.name == experiment.name) {
                    None => experiments.push(experiment),
                    Some(other) if other.source.file() == experiment.source.file() => {}
                    Some(_) => return Err(RunError::SameName(experiment.name)),
                }
            }
        }
        if quick {
            experiments.into_iter().map(|each| self.apply_quick_settings(each)).collect()
        } else {
            Ok(experiments)
        }
    }

    /// The same experiments with other settings.
    ///
    /// # Errors
    /// [`RunError::Spec`] if the settings are wrong.
    pub fn change_experiments(
        &self,
        experiments: Vec<Experiment>,
        changes: &[SpecChange],
    ) -> Result<Vec<Experiment>, RunError> {
        experiments.into_iter().map(|each| self.change_experiment(each, changes)).collect()
    }

    /// One experiment with other settings.
    ///
    /// # Errors
    /// As [`Project::change_experiments`].
    pub fn change_experiment(&self, experiment: Experiment, changes: &[SpecChange]) -> Result<Experiment, RunError> {
        Ok(experiment.with_changes(changes, &self.manifest).map_err(Box::new)?)
    }

    /// Reads the coverage of each paper.
    ///
    /// # Errors
    /// [`RunError::Coverage`] for a file that cannot be used.
    pub fn coverage(&self) -> Result<Vec<PaperCoverage>, RunError> {
        let files = self.catalogue.paper_coverage_files().iter();
        files.map(|spec| PaperCoverage::read(spec).map_err(|error| self.coverage_error(spec, error))).collect()
    }

    /// Reads the page of each paper.
    ///
    /// # Errors
    /// [`RunError::Coverage`] for a file that cannot be used.
    pub fn pages(&self) -> Result<Vec<PaperReportPage>, RunError> {
        let files = self.catalogue.paper_page_files().iter();
        files.map(|spec| PaperReportPage::read(spec).map_err(|error| self.coverage_error(spec, error))).collect()
    }

    /// The experiments that a name means: a path, a shipped name, a prefix or a tag.
    ///
    /// # Errors
    /// [`RunError::UnknownExperiment`] if it means none, or the error of the spec.
    pub fn find_experiments(&self, name: &str) -> Result<Vec<Experiment>, RunError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|ending| ending == "toml") {
            return Ok(vec![self.load(&self.find_or_name_spec(path))?]);
        }
        let named = self.catalogue.find_by_name_or_folder(name);
        if !named.is_empty() {
            return named.into_iter().map(|spec| self.load(spec)).collect();
        }
        let mut tagged = self.experiments()?;
        tagged.retain(|experiment| experiment.meta.tags.iter().any(|tag| tag == name));
        if tagged.is_empty() { Err(self.unknown_experiment_error(name)) } else { Ok(tagged) }
    }

    /// The one experiment that a name means.
    ///
    /// # Errors
    /// [`RunError::NotOne`] if it means several; as [`Project::find_experiments`].
    pub fn find_one_experiment(&self, name: &str) -> Result<Experiment, RunError> {
        let found = self.find_experiments(name)?;
        let means: Vec<String> = found.iter().map(|experiment| experiment.name.clone()).collect();
        let [only] =
            <[Experiment; 1]>::try_from(found).map_err(|_| RunError::NotOne { name: name.to_owned(), means })?;
        Ok(only)
    }

    /// The experiment that a run was made from. Changes of the spec that touch no cell, such as a comment, do no harm.
    ///
    /// # Errors
    /// [`RunError::SpecChanged`] if its spec is not here.
    pub fn experiment_of_run(&self, header: &RunHeader) -> Result<Experiment, RunError> {
        let mut found = self.find_experiments(&header.experiment).unwrap_or_default();
        found.extend(self.find_experiments(&header.spec).unwrap_or_default());
        match found.into_iter().find(|experiment| experiment.name == header.experiment) {
            None => Err(RunError::spec_changed(header)),
            Some(experiment) if header.quick => self.apply_quick_settings(experiment),
            Some(experiment) => Ok(experiment),
        }
    }

    /// An experiment from the text of a spec; paths in it are relative to the project.
    ///
    /// # Errors
    /// [`RunError::Spec`] with the place of the first thing that is wrong.
    pub fn parse(&self, name: &str, text: &str) -> Result<Experiment, RunError> {
        let file = self.path_inside(&format!("{name}.toml"));
        Ok(Experiment::parse(name, &file, text.to_owned(), &self.manifest).map_err(Box::new)?)
    }

    /// Reads a spec.
    ///
    /// # Errors
    /// [`RunError`] if it cannot be read or is wrong.
    pub fn load(&self, spec: &CatalogueFile) -> Result<Experiment, RunError> {
        let text = spec.text().map_err(|cause| unread_spec_error(spec, cause))?;
        let path = spec.path.strip_prefix(".").unwrap_or(&spec.path);
        let parsed = Experiment::parse(&spec.name, path, text, &self.manifest);
        parsed.map_err(
            |error| if self.is_outside_link(spec) { linked_spec_error(&error) } else { Box::new(error).into() },
        )
    }

    /// Whether a link leads to a spec from another folder: from the project, or from the folder that a path names.
    fn is_outside_link(&self, spec: &CatalogueFile) -> bool {
        let is_own = spec.path.starts_with(self.root.join("experiments"));
        let folder = if is_own { &self.root } else { parent_or_current_folder(&spec.path) };
        !spec.shipped && is_outside_folder(folder, &spec.path)
    }

    fn coverage_error(&self, spec: &CatalogueFile, error: PaperFileError) -> RunError {
        if !self.is_outside_link(spec) {
            return error.into();
        }
        let why = "not valid (details are hidden: the file is reached by a link from another folder)";
        RunError::Io { path: spec.path.clone(), cause: std::io::Error::new(ErrorKind::InvalidData, why) }
    }

    fn apply_quick_settings(&self, experiment: Experiment) -> Result<Experiment, RunError> {
        Ok(experiment.with_quick_settings(&self.manifest).map_err(Box::new)?)
    }

    /// A shipped spec keeps its name however it is addressed; any other is named after its file.
    fn find_or_name_spec(&self, path: &Path) -> CatalogueFile {
        let known = self.catalogue.specs().iter().find(|spec| is_spec_path(spec, path));
        known.cloned().unwrap_or_else(|| CatalogueFile::from_path(spec_name(path), path.to_path_buf()))
    }

    fn unknown_experiment_error(&self, name: &str) -> RunError {
        let names = self.catalogue.specs().iter().map(|spec| spec.name.as_str());
        let count = names.clone().count();
        if count == 0 {
            return RunError::NoProject;
        }
        let last = |known: &str| known.rsplit('/').next() == Some(name);
        let with_this_end: Vec<&str> = names.clone().filter(|known| last(known)).collect();
        let hint = match closest_experiment_name(name, names) {
            _ if Path::new(name).with_added_extension("toml").is_file() => {
                format!(" (did you mean the spec {name}.toml?)")
            }
            _ if !with_this_end.is_empty() => format!(" (did you mean {}?)", with_this_end.join(" or ")),
            Some(meant) => format!(" (did you mean {meant}?)"),
            None if Path::new(name).is_file() => {
                format!("; this is a data file: use `dpgp new --data {name}` to write a spec for it")
            }
            None => String::new(),
        };
        RunError::UnknownExperiment { name: name.to_owned(), count, hint }
    }
}

/// The error of a manifest without the line that it shows, if a link leads to it from another folder.
fn hide_manifest_line(error: DataError, folder: &Path, path: &Path) -> Box<DataError> {
    Box::new(if is_outside_folder(folder, path) { DataError::linked_manifest_error(path) } else { error })
}

fn linked_spec_error(error: &SpecError) -> RunError {
    RunError::LinkedSpec { file: error.file.clone(), line: error.line, column: error.column }
}

fn unread_spec_error(spec: &CatalogueFile, cause: std::io::Error) -> RunError {
    let path = spec.path.clone();
    if cause.kind() != ErrorKind::NotFound {
        return RunError::Io { path, cause };
    }
    let hint = closest_spec_path(&path).map(|near| format!(" (did you mean {}?)", near.display()));
    RunError::NoSpec { path, hint: hint.unwrap_or_default() }
}

fn is_project(folder: &Path) -> bool {
    let specs = folder.join("experiments");
    specs.is_dir() && (folder.join("data/datasets.toml").is_file() || has_spec(&specs))
}

/// Whether a spec is below a folder. Other programs have folders of this name with TOML files of theirs.
fn has_spec(folder: &Path) -> bool {
    let Ok(found) = SpecCatalogue::read(folder) else { return false };
    let is_spec = |text: String| text.lines().any(|line| line.trim_end() == "[experiment]");
    found.specs().iter().any(|spec| spec.text().is_ok_and(is_spec))
}

/// Whether a path means a spec of the catalogue. A file that is there is never one of those that come with the program.
fn is_spec_path(spec: &CatalogueFile, path: &Path) -> bool {
    if spec.shipped {
        return spec.path == path && !path.exists();
    }
    std::fs::canonicalize(path).is_ok_and(|file| std::fs::canonicalize(&spec.path).is_ok_and(|own| own == file))
}

/// The working directory as `.`, then its parents.
fn ancestors() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let above = here.ancestors().skip(1).map(Path::to_path_buf);
    std::iter::once(PathBuf::from(".")).chain(above).collect()
}

/// The name closest to a misspelt one: by the whole name, else by the part after the last slash.
fn closest_experiment_name<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    closest_name(name, names.clone()).or_else(|| {
        let last = closest_name(name, names.clone().map(last_part))?;
        names.clone().find(|name| last_part(name) == last)
    })
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Suggests a spec for a misspelt path: the `.toml` file of the same folder with the closest name.
fn closest_spec_path(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut stems: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
    // A folder has no order of its own.
    stems.sort_unstable();
    let near = closest_name(path.file_stem()?.to_str()?, stems.iter().map(String::as_str))?;
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
        assert_eq!(closest_spec_path(&folder.join("tripes.toml")), Some(folder.join("trips.toml")));
        assert_eq!(closest_spec_path(&folder.join("tres.toml")), Some(folder.join("trees.toml")));
        assert_eq!(closest_spec_path(&folder.join("patients.toml")), None);
        assert_eq!(closest_spec_path(Path::new("no/such/folder/trips.toml")), None);
    }
}
