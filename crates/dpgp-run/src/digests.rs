//! The data files behind each cell, and their digests.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::own_tables::own_files;
use super::{Project, RunError, StateFolder};
use dpgp_data::Progress;
use dpgp_data::rows::keyed_tag;
use dpgp_spec::Identity;
use dpgp_spec::setting::{DataSetting, ImagesSetting, SourceSetting, TripsSetting};
use dpgp_task::Experiment;

/// A data file and its digest: SHA-256 of a dataset that anybody can have, and HMAC-SHA-256 under the key of the state folder
/// of a file of the user's own, so that nobody can check a guess of its rows.
pub type FileDigest = (String, String);

/// What the digests under the key begin with.
const KEYED: &str = "hmac-sha256:";

/// What may be said of a data file where others read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicDigest {
    /// The file, as it was named.
    pub file: String,
    /// Its SHA-256; none of a file of the user's own.
    pub sha256: Option<String>,
}

/// The files of each data block; none while a digest is not known because a file has not been fetched yet.
#[derive(Debug, Clone)]
pub struct DataDigests {
    blocks: BTreeMap<Identity, Option<Vec<FileDigest>>>,
}

impl DataDigests {
    /// The digests of what the cells of an experiment read: those of the manifest or of the lock file, or
    /// computed from a file of the user's own under the key of the state folder. Nothing is fetched.
    ///
    /// # Errors
    /// [`RunError::Data`] if a file of the user's own or the lock file cannot be read; [`RunError::State`] without a key.
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

    /// Every file, once, as others may read it.
    pub fn public(&self) -> Vec<PublicDigest> {
        let mut public = Vec::new();
        for (file, digest) in self.files() {
            let sha256 = (!digest.starts_with(KEYED)).then_some(digest);
            public.push(PublicDigest { file, sha256 });
        }
        public
    }
}

/// The digests of the user's own files that a spec names.
fn keyed(experiment: &Experiment, source: &SourceSetting) -> Result<Vec<FileDigest>, RunError> {
    // Files that are not there make no key.
    let (found, folder) = (own_files(experiment, source)?, experiment.beside(""));
    let key = StateFolder::open()?.key().for_purpose("dpgp files");
    let mut digests = Vec::new();
    for file in found {
        let mut tag = keyed_tag(&file.path, &key).map_err(Box::new)?;
        if !file.partitions.is_empty() {
            // The columns that its path names are rows as well.
            tag = key.tag(&[&tag, file.name().as_bytes()].concat());
        }
        let name = file.path.strip_prefix(&folder).unwrap_or(&file.path);
        digests.push((name.to_string_lossy().into_owned(), format!("{KEYED}{}", hex::encode(tag))));
    }
    Ok(digests)
}

fn files(
    experiment: &Experiment,
    data: &DataSetting,
    project: &Project,
) -> Result<Option<Vec<FileDigest>>, RunError> {
    match &data.source {
        SourceSetting::Inline(_) | SourceSetting::Synthetic(_) => Ok(Some(Vec::new())),
        SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => {
            keyed(experiment, &data.source).map(Some)
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
