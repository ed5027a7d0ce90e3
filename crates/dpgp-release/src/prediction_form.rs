//! The form of a file of predictions.

use std::path::Path;

use super::ReleaseError;

/// How predictions are written, by the end of the name of their file.
///
/// ```
/// use dpgp_release::PredictionForm;
/// assert_eq!(PredictionForm::of("p.parquet".as_ref())?, PredictionForm::Parquet);
/// assert_eq!(PredictionForm::of("p".as_ref())?, PredictionForm::Csv);
/// assert!(PredictionForm::of("p.xlsx".as_ref()).is_err());
/// # Ok::<(), dpgp_release::ReleaseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionForm {
    /// Comma-separated text with a header: `.csv`, and names without an ending.
    Csv,
    /// A row for each point and a column for each of those of the text: `.parquet`.
    Parquet,
    /// A list of records: `.json`.
    Json,
}

/// Ends of names of maps.
const MAPS: [&str; 3] = ["geojson", "svg", "html"];

impl PredictionForm {
    /// The form of a file of this name.
    ///
    /// # Errors
    /// [`ReleaseError::Form`] for any other ending.
    pub fn of(path: &Path) -> Result<Self, ReleaseError> {
        let Some(end) = path.extension() else { return Ok(Self::Csv) };
        let end = end.to_string_lossy().to_ascii_lowercase();
        match end.as_str() {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            "json" => Ok(Self::Json),
            _ => {
                let hint =
                    if MAPS.contains(&end.as_str()) { "; a map of them is what --map writes" } else { "" };
                Err(ReleaseError::Form { path: path.to_path_buf(), hint })
            }
        }
    }
}
