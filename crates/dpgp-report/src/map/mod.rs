//! Draws released predictions, only from their file and certificate.

mod geojson;
mod options;
mod page;
mod released_map;
mod svg;

pub use geojson::MapOutline;
pub use options::{MapError, MapFormat, MapOptions, MapSlice, ValueScaleEnds};

use serde_json::{Value, json};

use dpgp_release::PredictionsFileContents;
use released_map::ReleasedMap;

/// A picture and its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnMap {
    /// The text of its file.
    pub text: String,
    /// Its caption, in sentences.
    pub caption: Vec<String>,
    /// The points that are drawn.
    pub points: usize,
    /// The points that are masked.
    pub masked: usize,
}

impl DrawnMap {
    /// The numbers of points and the caption.
    pub fn summary_json(&self) -> Value {
        json!({ "points": self.points, "masked": self.masked, "caption": self.caption })
    }
}

/// The picture of predictions at points that differ in one input or two.
///
/// ```
/// use dpgp_report::{MapFormat, MapOptions, draw_map};
/// use dpgp_release::{CertificateSummary, PredictionsFileContents};
///
/// let csv = "hour,private_mean,gp_sd,noise_sd,low,high\n0,10,1,1,7,13\n1,12,1,1,9,15\n";
/// let released = PredictionsFileContents::parse("p.csv".as_ref(), csv, CertificateSummary::without_certificate())?;
/// let drawn = draw_map(&released, &MapOptions::default(), MapFormat::Svg)?;
/// assert!(drawn.text.contains("<title>") && drawn.caption[0].ends_with("nothing is claimed."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError`] if the points are neither a line nor a grid, or an option does not fit them.
pub fn draw_map(
    released: &PredictionsFileContents,
    options: &MapOptions,
    format: MapFormat,
) -> Result<DrawnMap, MapError> {
    let map = ReleasedMap::new(released, options)?;
    let caption = map.caption();
    let text = match format {
        MapFormat::Svg => svg::render_svg(&map, &caption.all_sentences())?,
        MapFormat::Html => page::render_html(&map, &caption)?,
        MapFormat::GeoJson => geojson::render_geojson(&map, &caption.all_sentences())?,
    };
    Ok(DrawnMap { text, caption: caption.all_sentences(), points: map.cells.len(), masked: map.masked_count() })
}

#[cfg(test)]
mod tests;
