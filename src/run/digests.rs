//! The data files behind each cell, and their SHA-256.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{Project, RunError};
use crate::data::{Progress, digest::stamp};
use crate::setting::{DataSetting, ImagesSetting, SourceSetting, TripsSetting};
use crate::spec::Identity;
use crate::task::Experiment;

/// A data file and its SHA-256.
pub type FileDigest = (String, String);

/// The files of each data block; none while a digest is not known because a file has not been fetched yet.
#[derive(Debug, Clone)]
pub struct DataDigests {
    blocks: BTreeMap<Identity, Option<Vec<FileDigest>>>,
}

impl DataDigests {
    /// The digests of what the cells of an experiment read: those of the manifest or of the lock file, or
    /// computed from a file of the user's own. Nothing is fetched.
    ///
    /// # Errors
    /// [`RunError::Data`] if a file of the user's own or the lock file cannot be read.
    pub fn known(experiment: &Experiment, project: &Project) -> Result<Self, RunError> {
        let mut blocks = BTreeMap::new();
        for cell in &experiment.cells {
            if let Entry::Vacant(vacant) = blocks.entry(cell.data_id()) {
                vacant.insert(files(experiment, &cell.setting().data, project)?);
            }
        }
        Ok(Self { blocks })
    }

    /// The same; files without a recorded digest are fetched, which records it.
    ///
    /// # Errors
    /// [`RunError::Data`], also of the download.
    pub fn fetched(
        experiment: &Experiment,
        project: &Project,
        progress: &dyn Progress,
    ) -> Result<Self, RunError> {
        let known = Self::known(experiment, project)?;
        if known.blocks.values().all(Option::is_some) {
            return Ok(known);
        }
        for name in experiment.datasets() {
            let dataset = project.manifest.get(name).map_err(Box::new)?;
            project.cache.ensure(dataset, progress).map_err(Box::new)?;
        }
        Self::known(experiment, project)
    }

    /// The files of a data block, if all their digests are known.
    pub fn of(&self, block: &Identity) -> Option<&[FileDigest]> {
        self.blocks.get(block)?.as_deref()
    }

    /// Every file, once.
    pub fn files(&self) -> Vec<FileDigest> {
        let mut files: Vec<FileDigest> = self.blocks.values().flatten().flatten().cloned().collect();
        files.sort();
        files.dedup();
        files
    }
}

fn files(
    experiment: &Experiment,
    data: &DataSetting,
    project: &Project,
) -> Result<Option<Vec<FileDigest>>, RunError> {
    match &data.source {
        SourceSetting::Inline(_) | SourceSetting::Synthetic(_) => Ok(Some(Vec::new())),
        SourceSetting::Csv { path, .. } | SourceSetting::Parquet { path } => {
            let stamp = stamp(&experiment.beside(path)).map_err(Box::new)?;
            Ok(Some(vec![(path.clone(), stamp.digest.to_string())]))
        }
        SourceSetting::Dataset(name)
        | SourceSetting::Images(ImagesSetting { dataset: name, .. })
        | SourceSetting::Trips(TripsSetting { dataset: name, .. }) => {
            let dataset = project.manifest.get(name).map_err(Box::new)?;
            let mut files = Vec::new();
            for file in &dataset.files {
                let known = project.cache.digest(file).map_err(Box::new)?;
                files.push(known.map(|digest| (file.path.clone(), digest.to_string())));
            }
            Ok(files.into_iter().collect())
        }
    }
}
