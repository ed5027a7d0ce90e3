//! What a map is asked to show, and as what.

use std::path::Path;
use std::str::FromStr;

use super::MapError;

/// What a map is asked to show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapOptions {
    /// Only points with these values.
    pub slices: Vec<MapSlice>,
    /// Cells whose noise is larger are masked, too.
    pub mask: Option<f64>,
    /// The title, in place of one that names the columns.
    pub title: Option<String>,
    /// The unit of the numbers.
    pub unit: Option<String>,
    /// The column that is the longitude.
    pub longitude: Option<String>,
    /// The column that is the latitude.
    pub latitude: Option<String>,
}

/// One value of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapSlice {
    /// The input.
    pub input: String,
    /// A number or a word, as in the file.
    pub value: String,
}

impl FromStr for MapSlice {
    type Err = MapError;

    fn from_str(text: &str) -> Result<Self, MapError> {
        match text.rsplit_once('=') {
            Some((input, value)) if !input.is_empty() && !value.is_empty() => {
                Ok(Self { input: input.to_owned(), value: value.to_owned() })
            }
            _ => Err(MapError::Slice(text.to_owned())),
        }
    }
}

impl MapSlice {
    /// Whether a cell holds the value: as text, or as a number.
    pub(super) fn holds(&self, cell: &str) -> bool {
        cell == self.value
            || matches!((cell.parse::<f64>(), self.value.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
    }
}

/// What a map is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapFormat {
    /// A drawing.
    Svg,
    /// A page with the drawing, the numbers of each cell and a table.
    Html,
    /// Cells of a map of the earth, by RFC 7946.
    GeoJson,
}

impl MapFormat {
    /// By the ending of a file; none for another one.
    ///
    /// ```
    /// use dpgp_report::MapFormat;
    ///
    /// assert_eq!(MapFormat::of("a/map.SVG".as_ref()), Some(MapFormat::Svg));
    /// assert_eq!(MapFormat::of("map".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "html" => Some(Self::Html),
            "geojson" => Some(Self::GeoJson),
            _ => None,
        }
    }
}
