//! Predictions from a release.

use std::path::Path;
use std::sync::Arc;

use dpgp::data::rows::RowStream;
use dpgp::kernel::KernelSetting;
use dpgp::number::Positive;
use dpgp::release::{CertificateSummary, ClassesFile, ModelOverride, MomentsFile, MomentsFilePosterior, PublicPoints};
use dpgp::task::Predictions;
use nalgebra::DMatrix;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::errors::Failure;
use crate::rows::Columns;
use crate::work::{Gate, beside};

/// Points that are predicted together.
const BLOCK: usize = 16_384;

/// Fails if the text of a release was edited, because the guarantee in an edited text must not be repeated. Returns a warning if an edit
/// could not be noticed.
#[pyfunction]
pub fn ensure_holds(name: &str, text: &str) -> PyResult<Option<String>> {
    Ok(CertificateSummary::ensure_certificate_holds(Path::new(name), text).map_err(Failure::from)?)
}

/// The posterior of a release, computed once.
#[pyclass(module = "dpgp._core", frozen)]
pub struct Surface {
    surface: Arc<MomentsFilePosterior>,
}

/// Means and the two standard deviations, as the bytes of 64-bit numbers.
pub type PredictedBytes<'py> = (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>);

#[pymethods]
impl Surface {
    /// From the text of a release. `kernel` (a line of a spec) and `noise_variance` replace those of the file.
    #[new]
    fn new(py: Python<'_>, release: String, kernel: Option<&str>, noise_variance: Option<f64>) -> PyResult<Self> {
        let kernel: Option<KernelSetting> =
            kernel.map(toml::from_str).transpose().map_err(|error: toml::de::Error| Failure::input(error.message()))?;
        let noise_variance =
            noise_variance.map(Positive::new).transpose().map_err(|error| Failure::input(error.to_string()))?;
        let other = ModelOverride { kernel, noise_variance };
        let surface =
            beside(py, move |_| Ok(MomentsFile::parse(Path::new("release"), &release)?.compute_posterior(other)?))?;
        Ok(Self { surface: Arc::new(surface) })
    }

    /// Predictions at points, a list of columns.
    fn predict<'py>(&self, py: Python<'py>, columns: Vec<Bound<'py, PyAny>>) -> PyResult<PredictedBytes<'py>> {
        let surface = Arc::clone(&self.surface);
        predict_blocks(py, &columns, BLOCK, move |points| {
            Ok(surface.predict(PublicPoints::Held(points))?.predictions().clone())
        })
    }
}

/// The latent functions of a release of class sums.
#[pyclass(module = "dpgp._core", frozen)]
pub struct ClassSurface {
    file: Arc<ClassesFile>,
}

#[pymethods]
impl ClassSurface {
    /// From the text of a release.
    #[new]
    fn new(release: &str) -> PyResult<Self> {
        Ok(Self { file: Arc::new(ClassesFile::parse(Path::new("release"), release).map_err(Failure::from)?) })
    }

    /// Means and standard deviations of the latent function of each class at points, a list of columns: as the bytes of
    /// 64-bit numbers, all classes of a point together.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let (file, columns) = (Arc::clone(&self.file), Columns::from_objects(&columns)?);
        let [mean, sd] = beside(py, move |gate| {
            let mut predicted = [Vec::new(), Vec::new()];
            for_each_block(&columns, gate, BLOCK, |points| {
                let latent = file.predict_latent(points)?;
                for point in 0..points.nrows() {
                    for class in &latent {
                        predicted[0].extend(class.mean[point].to_ne_bytes());
                        predicted[1].extend(class.variance[point].max(0.0).sqrt().to_ne_bytes());
                    }
                }
                Ok(())
            })?;
            Ok(predicted)
        })?;
        Ok((PyByteArray::new(py, &mean), PyByteArray::new(py, &sd)))
    }
}

/// Predicts in blocks of rows, on another thread. Each column holds one input of all points.
pub fn predict_blocks<'py>(
    py: Python<'py>,
    columns: &[Bound<'py, PyAny>],
    block: usize,
    predict: impl Fn(&DMatrix<f64>) -> Result<Predictions, Failure> + Send + 'static,
) -> PyResult<PredictedBytes<'py>> {
    let columns = Columns::from_objects(columns)?;
    let [mean, gp, noise] = beside(py, move |gate| {
        let mut predicted = [(); 3].map(|()| Vec::new());
        for_each_block(&columns, gate, block, |points| {
            let found = predict(points)?;
            for (to, from) in predicted.iter_mut().zip([&found.mean, &found.gp_sd, &found.noise_sd]) {
                to.extend(from.iter().flat_map(|x| x.to_ne_bytes()));
            }
            Ok(())
        })?;
        Ok(predicted)
    })?;
    Ok((PyByteArray::new(py, &mean), PyByteArray::new(py, &gp), PyByteArray::new(py, &noise)))
}

/// Reads points in blocks of rows, and does something with each.
fn for_each_block(
    columns: &Columns,
    gate: &Gate,
    block: usize,
    mut act: impl FnMut(&DMatrix<f64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut rows = columns.held(gate);
    loop {
        let mut read_columns = vec![Vec::new(); columns.width()];
        let read = rows.read(&mut read_columns, block)?;
        if read == 0 {
            return Ok(());
        }
        act(&DMatrix::from_vec(read, columns.width(), read_columns.concat()))?;
    }
}
