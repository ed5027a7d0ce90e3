//! The file of predictions in its formats, and the certificate beside it.

use std::path::{Path, PathBuf};

use nalgebra::DMatrix;
use serde_json::{Map, Value, json};

use super::new_file::{OptionallySignedFile, UnnamedFiles, new_file, signature_path};
use super::{DrawnRelease, PrivatePredictions, ReleaseError};
use dpgp_data::{OutputCells, OutputColumn, encode_parquet_table, escape_csv_formula};
use dpgp_fs::{AtomicNewFile, ReadAccess, SigningKey, append_suffix};
use dpgp_number::text::format_exact;
use dpgp_spec::setting::DataSetting;
use dpgp_task::Predictions;

/// The ending that the name of a certificate adds to the name of its predictions.
pub const CERTIFICATE_ENDING: &str = ".certificate.json";

/// The paths of predictions, of their certificate and of its signature.
///
/// # Examples
/// ```
/// let [_, certificate, signature] = dpgp_release::prediction_paths("map.csv".as_ref());
/// assert_eq!(certificate.to_str(), Some("map.csv.certificate.json"));
/// assert_eq!(signature.to_str(), Some("map.csv.certificate.json.sig"));
/// ```
#[must_use]
pub fn prediction_paths(predictions: &Path) -> [PathBuf; 3] {
    let certificate = append_suffix(predictions, CERTIFICATE_ENDING);
    let signature = signature_path(&certificate);
    [predictions.to_path_buf(), certificate, signature]
}

/// Both files, before a release is charged.
pub struct PredictionFiles<'k> {
    path: PathBuf,
    form: PredictionFormat,
    predictions: AtomicNewFile,
    certificate: OptionallySignedFile<'k>,
}

impl<'k> PredictionFiles<'k> {
    /// Checks that both files, and the signature of the certificate if there is a key, can be written and do not exist
    /// yet.
    ///
    /// # Errors
    /// [`ReleaseError::Form`], [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path, key: Option<&'k SigningKey>) -> Result<Self, ReleaseError> {
        let form = PredictionFormat::from_path(path)?;
        let predictions = new_file(path, ReadAccess::All)?;
        if predictions.is_stream() {
            // Without a file, there is no place for its certificate.
            return Err(ReleaseError::Exists(path.to_path_buf()));
        }
        let certificate = OptionallySignedFile::open(&append_suffix(path, CERTIFICATE_ENDING), key)?;
        Ok(Self { path: path.to_path_buf(), form, predictions, certificate })
    }

    /// Writes the signature, the certificate with the digest of the predictions, and then the predictions. Returns the
    /// certificate.
    ///
    /// # Errors
    /// [`ReleaseError::Unsigned`] or [`ReleaseError::Io`].
    pub fn write(self, charged: &DrawnRelease<PrivatePredictions<'_>>) -> Result<Value, ReleaseError> {
        let (certificate, filled) = self.write_unnamed(charged)?;
        filled.finish()?;
        Ok(certificate)
    }

    /// As [`PredictionFiles::write`], but the files do not have their names yet.
    ///
    /// # Errors
    /// As [`PredictionFiles::write`].
    pub fn write_unnamed(
        self,
        charged: &DrawnRelease<PrivatePredictions<'_>>,
    ) -> Result<(Value, UnnamedFiles), ReleaseError> {
        let bytes = charged.predictions_bytes(self.form)?;
        let certificate = charged.certificate_json(&bytes);
        let mut filled = self.certificate.write_unnamed_signed_text(&format!("{certificate:#}\n"))?;
        filled.write_file(self.predictions, self.path, &bytes)?;
        Ok((certificate, filled))
    }
}

/// The format of predictions, from the ending of their file.
///
/// ```
/// use dpgp_release::PredictionFormat;
/// assert_eq!(PredictionFormat::from_path("p.parquet".as_ref())?, PredictionFormat::Parquet);
/// assert_eq!(PredictionFormat::from_path("p".as_ref())?, PredictionFormat::Csv);
/// assert!(PredictionFormat::from_path("p.xlsx".as_ref()).is_err());
/// # Ok::<(), dpgp_release::ReleaseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionFormat {
    /// Comma-separated text with a header: `.csv`, and names without an ending.
    Csv,
    /// A row for each point and a column for each of those of the text: `.parquet`.
    Parquet,
    /// A list of records: `.json`.
    Json,
}

/// Ends of names of maps.
const MAPS: [&str; 3] = ["geojson", "svg", "html"];

impl PredictionFormat {
    /// The form of a file of this name.
    ///
    /// # Errors
    /// [`ReleaseError::Form`] for any other ending.
    pub fn from_path(path: &Path) -> Result<Self, ReleaseError> {
        let Some(end) = path.extension() else { return Ok(Self::Csv) };
        let end = end.to_string_lossy().to_ascii_lowercase();
        match end.as_str() {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            "json" => Ok(Self::Json),
            _ => {
                let hint = if MAPS.contains(&end.as_str()) { "; use --map to draw a map" } else { "" };
                Err(ReleaseError::Form { path: path.to_path_buf(), hint })
            }
        }
    }
}

/// The columns after the inputs.
pub(super) const COLUMNS: [&str; 5] = ["private_mean", "gp_sd", "noise_sd", "low", "high"];

/// Predictions at points.
pub(super) struct PredictionRows<'a> {
    pub data: &'a DataSetting,
    /// The points (t x d), in the order of the inputs.
    pub points: &'a DMatrix<f64>,
    pub predictions: &'a Predictions,
}

impl PredictionRows<'_> {
    /// The inputs, the prediction, both standard deviations and the interval, a row for each point.
    ///
    /// # Errors
    /// [`csv::Error`] if the rows cannot be written.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let inputs = &self.data.inputs;
        let names = inputs.iter().map(|name| escape_csv_formula(name).into_owned());
        writer.write_record(names.chain(COLUMNS.map(str::to_owned)))?;
        for row in 0..self.points.nrows() {
            let cells = inputs.iter().enumerate();
            let cells = cells.map(|(d, name)| input_text(self.data, name, self.points[(row, d)]));
            writer.write_record(cells.chain(self.row(row).map(format_exact)))?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// [`ReleaseError::Csv`] or [`ReleaseError::Parquet`] if the rows cannot be written.
    pub fn bytes(&self, form: PredictionFormat) -> Result<Vec<u8>, ReleaseError> {
        match form {
            PredictionFormat::Csv => Ok(self.csv()?.into_bytes()),
            PredictionFormat::Json => Ok(format!("{:#}\n", self.json()).into_bytes()),
            PredictionFormat::Parquet => encode_parquet_table(&self.columns()).map_err(ReleaseError::Parquet),
        }
    }

    /// The inputs, words as text, and the columns of numbers after them.
    fn columns(&self) -> Vec<OutputColumn> {
        let mut columns = Vec::new();
        for (d, name) in self.data.inputs.iter().enumerate() {
            let numbers = (0..self.points.nrows()).map(|row| self.points[(row, d)]);
            let cells = match self.data.encode.contains_key(name) {
                true => OutputCells::Words(numbers.map(|code| input_text(self.data, name, code)).collect()),
                false => OutputCells::Numbers(numbers.collect()),
            };
            columns.push(OutputColumn { name: name.clone(), cells });
        }
        for (place, name) in COLUMNS.iter().enumerate() {
            let numbers = (0..self.points.nrows()).map(|row| self.row(row)[place]);
            columns.push(OutputColumn { name: (*name).to_owned(), cells: OutputCells::Numbers(numbers.collect()) });
        }
        columns
    }

    /// A list of records.
    pub fn json(&self) -> Value {
        let mut records = Vec::new();
        for row in 0..self.points.nrows() {
            let mut record = Map::new();
            for (d, name) in self.data.inputs.iter().enumerate() {
                record.insert(name.clone(), json!(self.points[(row, d)]));
            }
            for (name, x) in COLUMNS.iter().zip(self.row(row)) {
                record.insert((*name).to_owned(), json!(x));
            }
            records.push(Value::Object(record));
        }
        Value::Array(records)
    }

    /// In the order of [`COLUMNS`].
    fn row(&self, row: usize) -> [f64; 5] {
        let predictions = self.predictions;
        let (low, high) = predictions.central_95_interval(row);
        [predictions.mean[row], predictions.gp_sd[row], predictions.noise_sd[row], low, high]
    }
}

/// An input as the user wrote it: the word of a code.
fn input_text(data: &DataSetting, name: &str, value: f64) -> String {
    let word = data.encode.get(name).and_then(|codes| codes.get(value as usize));
    word.map_or_else(|| format_exact(value), |word| escape_csv_formula(word).into_owned())
}
