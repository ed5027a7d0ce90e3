//! Samples of the datasets of the manifest: tables, images, trips.

use std::path::{Path, PathBuf};

use nalgebra::DMatrix;

use super::RunError;
use super::load::Loader;
use dpgp_data::{DataError, DataFile, Downscale, Format, IdxArray, Table, TableError, Trips};
use dpgp_spec::setting::{ImagesSetting, Problem, TripsSetting};
use dpgp_task::Sample;

/// The files of a dataset, all of them here.
type HereFiles<'a> = Vec<(&'a DataFile, PathBuf)>;

impl Loader<'_> {
    fn files(&self, dataset: &str) -> Result<HereFiles<'_>, RunError> {
        let dataset = self.project.manifest.get(dataset).map_err(Box::new)?;
        let paths = self.project.cache.ensure(dataset, self.progress).map_err(Box::new)?;
        Ok(dataset.files.iter().zip(paths).collect())
    }

    /// The first table of a dataset.
    pub(super) fn dataset(&self, name: &str) -> Result<Table, RunError> {
        for (file, path) in self.files(name)? {
            if let Format::Csv(format) = &file.format {
                return Ok(Table::read(&path, format).map_err(Box::new)?);
            }
        }
        Err(self.no_table("data.source.dataset", name))
    }

    /// The scaled images of a dataset as inputs, a pixel each, and their labels as targets.
    pub(super) fn images(&self, setting: &ImagesSetting) -> Result<Sample, RunError> {
        let files = self.files(&setting.dataset)?;
        let (path, images) = array(&files, &setting.images)?
            .ok_or_else(|| self.no_table("data.source.images.images", &setting.dataset))?;
        let (_, labels) = array(&files, &setting.labels)?
            .ok_or_else(|| self.no_table("data.source.images.labels", &setting.dataset))?;
        let sample = scaled(&images, &labels, setting.side.get());
        Ok(sample.map_err(|reason| Box::new(DataError::table(path, TableError::NotIdx(reason))))?)
    }

    /// The trips of one file or of all, joined with their stations; says how many have none.
    pub(super) fn trips(&self, setting: &TripsSetting) -> Result<Vec<Table>, RunError> {
        let files = self.files(&setting.dataset)?;
        let list = setting.stations.as_ref();
        let stations =
            files.iter().find(|(file, _)| Some(&file.path) == list).map(|(_, path)| path.as_path());
        let mut tables = Vec::new();
        for (file, path) in &files {
            let wanted = match &setting.journeys {
                Some(name) => file.path == *name,
                None => Some(&file.path) != list,
            };
            if !wanted {
                continue;
            }
            let Trips { table, dropped } = Trips::read(path, stations).map_err(Box::new)?;
            if dropped > 0 {
                let list = setting.stations.as_deref().unwrap_or_default();
                let name = &file.path;
                self.progress
                    .note(&format!("{name}: {dropped} trips left out, their stations are not in {list}"));
            }
            tables.push(table);
        }
        if tables.is_empty() {
            return Err(self.no_table("data.source.trips.journeys", &setting.dataset));
        }
        Ok(tables)
    }

    fn no_table(&self, path: &str, dataset: &str) -> RunError {
        let problem = Problem::NotATable { name: dataset.to_owned() };
        Box::new(self.experiment.fault(path, problem)).into()
    }
}

/// The array in the file of this name, if the dataset has it.
fn array<'f>(files: &'f HereFiles<'_>, name: &str) -> Result<Option<(&'f Path, IdxArray)>, RunError> {
    let Some((_, path)) = files.iter().find(|(file, _)| file.path == name) else { return Ok(None) };
    Ok(Some((path.as_path(), IdxArray::read(path).map_err(Box::new)?)))
}

fn scaled(images: &IdxArray, labels: &IdxArray, side: usize) -> Result<Sample, &'static str> {
    let [count, height, width] = images.shape[..] else { return Err("images have three dimensions") };
    if height != width || height < side || side == 0 {
        return Err("the images are not square, or smaller than asked for");
    }
    if labels.shape != [count] {
        return Err("there are not as many labels as images");
    }
    let scale = Downscale::new(height, side);
    let mut pixels = Vec::with_capacity(count * side * side);
    images.bytes.chunks_exact(height * width).for_each(|image| pixels.extend(scale.apply(image)));
    let inputs = DMatrix::from_row_slice(count, side * side, &pixels);
    let targets: Vec<f64> = labels.bytes.iter().map(|label| f64::from(*label)).collect();
    Ok(Sample { inputs, targets, persons: Vec::new() })
}
