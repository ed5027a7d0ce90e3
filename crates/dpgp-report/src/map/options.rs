//! The options and axes of a map, and the errors of drawing one.

use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

use super::page::shown;
use super::released_map::MOST_CELLS;
use dpgp_plot::PlotError;
use dpgp_release::ReleasedInput;

/// The contents of a map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapOptions {
    /// Only points with these values.
    pub slices: Vec<MapSlice>,
    /// The largest `noise_sd` shown; cells above it are masked, too.
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

/// The format of a map.
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
    /// The format of a file ending, if it is known.
    ///
    /// ```
    /// use dpgp_report::MapFormat;
    ///
    /// assert_eq!(MapFormat::from_path("a/map.SVG".as_ref()), Some(MapFormat::Svg));
    /// assert_eq!(MapFormat::from_path("map".as_ref()), None);
    /// ```
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "html" => Some(Self::Html),
            "geojson" => Some(Self::GeoJson),
            _ => None,
        }
    }
}

/// An input along which a picture extends.
#[derive(Debug, Clone)]
pub struct MapAxis<'a> {
    /// Its name in the file.
    pub column: &'a str,
    /// Its name as it is shown.
    pub name: String,
    /// The different values, rising.
    pub places: Vec<f64>,
    /// The borders of cells: half way between values, and at the first and the last.
    pub edges: Vec<f64>,
}

impl<'a> MapAxis<'a> {
    /// The axis of an input over some rows, and the place of each row along it.
    ///
    /// # Errors
    /// [`MapError::Words`] if a value is no finite number.
    pub fn new(input: &'a ReleasedInput, rows: &[usize]) -> Result<(Self, Vec<usize>), MapError> {
        let numbers = rows.iter().map(|row| finite(&input.cells[*row]));
        let numbers: Option<Vec<f64>> = numbers.collect();
        let numbers = numbers.ok_or_else(|| MapError::Words(shown(&input.name)))?;
        let mut places = numbers.clone();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = numbers.iter().map(|number| places.partition_point(|place| place < number)).collect();
        let edges = edges(&places);
        Ok((Self { column: &input.name, name: shown(&input.name), places, edges }, at))
    }

    /// From the first edge to the last.
    pub fn ends(&self) -> [f64; 2] {
        [self.edges[0], self.edges[self.edges.len() - 1]]
    }

    /// The edges as parts of the way from the first to the last.
    pub fn fractions(&self) -> Vec<f64> {
        let [from, to] = self.ends();
        self.edges.iter().map(|edge| (edge - from) / (to - from)).collect()
    }
}

/// Minus zero is zero.
fn finite(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
}

/// Nothing is drawn beyond the first and the last place.
fn edges(places: &[f64]) -> Vec<f64> {
    let between = places.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2.0);
    places.first().copied().into_iter().chain(between).chain(places.last().copied()).collect()
}

/// Reasons why no map was drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// A slice of another form.
    #[error("{0:?} is not of the form INPUT=VALUE")]
    Slice(String),
    /// An option that names no input.
    #[error("the predictions have no input {name:?}; their inputs are {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The known inputs.
        known: Vec<String>,
    },
    /// A value that no point has.
    #[error("no point has {input} = {value:?}; use one of {}", known.join(", "))]
    NoSuchValue {
        /// The input.
        input: String,
        /// The value that was asked for.
        value: String,
        /// Some known values.
        known: Vec<String>,
    },
    /// One point, or several at one place.
    #[error("all points have the same inputs; a map needs points that differ in one or two inputs")]
    NothingVaries,
    /// Points that differ in more than two inputs.
    #[error(
        "points differ in {}; a map shows at most two inputs: fix the others with --slice INPUT=VALUE",
        .0.join(", ")
    )]
    TooManyInputs(Vec<String>),
    /// Words along an axis.
    #[error("input {0} holds words or non-finite numbers; choose one value with --slice INPUT=VALUE")]
    Words(String),
    /// Two points at one place.
    #[error("two points have the same inputs; a map shows one prediction at each place")]
    Twice,
    /// Points that are scattered.
    #[error(
        "the points do not form a grid: a full grid of their coordinates has {places} points, but there are {points}"
    )]
    NoGrid {
        /// The points.
        points: usize,
        /// The points of a full grid.
        places: usize,
    },
    /// More points than a picture shows.
    #[error("{0} points are too many; a map shows at most {MOST_CELLS}")]
    TooMany(usize),
    /// A mask for a line.
    #[error("--mask needs a map of two inputs; with one input, the bands show the noise")]
    MaskOfLine,
    /// A mask that is negative or not finite.
    #[error("--mask must be a finite, non-negative number")]
    BadMask,
    /// Inputs that are not a longitude and a latitude.
    #[error(
        "GeoJSON needs points that differ in longitude (-180 to 180) and latitude (-90 to 90); name their columns \
         with --lon COLUMN --lat COLUMN"
    )]
    NotOnEarth,
    /// The drawing failed.
    #[error(transparent)]
    Figure(#[from] PlotError),
    /// The page could not be put together.
    #[error("map: {0}")]
    Template(#[from] minijinja::Error),
}
