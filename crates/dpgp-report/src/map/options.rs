//! The options and axes of a map, and the errors of drawing one.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use super::geojson::MapOutline;
use super::page::sanitise_name;
use super::released_map::MOST_CELLS;
use dpgp_number::text::format_exact;
use dpgp_plot::PlotError;
use dpgp_release::PredictionsFileInput;

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
    /// The range of the colours, or of the axis of numbers, in place of the range of the map.
    pub scale: Option<ValueScaleEnds>,
    /// Lines over a map of the earth.
    pub outline: Option<MapOutline>,
}

/// The endpoints of a scale of numbers.
///
/// ```
/// use dpgp_report::ValueScaleEnds;
///
/// let scale: ValueScaleEnds = "-10..30".parse()?;
/// assert_eq!((scale.low, scale.high), (-10.0, 30.0));
/// assert!("30..10".parse::<ValueScaleEnds>().is_err() && "0..nan".parse::<ValueScaleEnds>().is_err());
/// # Ok::<(), dpgp_report::MapError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueScaleEnds {
    /// The least number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
}

impl FromStr for ValueScaleEnds {
    type Err = MapError;

    fn from_str(text: &str) -> Result<Self, MapError> {
        let wrong = || MapError::Scale(text.to_owned());
        let (low, high) = text.split_once("..").ok_or_else(wrong)?;
        // A dot more than two could belong to either end.
        if low.ends_with('.') || high.starts_with('.') {
            return Err(wrong());
        }
        let [Some(low), Some(high)] = [low, high].map(|end| parse_finite(end.trim())) else {
            return Err(wrong());
        };
        if low < high && (high - low).is_finite() { Ok(Self { low, high }) } else { Err(wrong()) }
    }
}

impl ValueScaleEnds {
    /// Whether a number is beyond an end.
    pub(super) fn is_beyond(self, number: f64) -> bool {
        number < self.low || number > self.high
    }

    /// The words at the ends of the colours, which also stand for all numbers beyond them.
    pub(super) fn end_labels(self) -> [String; 2] {
        [format!("<= {}", format_exact(self.low)), format!(">= {}", format_exact(self.high))]
    }
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
    pub(super) fn matches_cell(&self, cell: &str) -> bool {
        cell == self.value || matches!((cell.parse::<f64>(), self.value.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
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
    /// The different values in increasing order.
    pub places: Vec<f64>,
    /// The borders of cells: half way between values, and at the first and the last.
    pub edges: Vec<f64>,
    /// The words whose places are 1/2, 3/2, ...; none for numbers.
    pub words: Vec<String>,
}

impl<'a> MapAxis<'a> {
    /// The axis of an input over some rows, and the place of each row along it.
    ///
    /// # Errors
    /// [`MapError::TextLabel`] if a value is not a finite number.
    pub fn from_numbers(input: &'a PredictionsFileInput, rows: &[usize]) -> Result<(Self, Vec<usize>), MapError> {
        let numbers = rows.iter().map(|row| parse_finite(&input.cells[*row]));
        let numbers: Option<Vec<f64>> = numbers.collect();
        let numbers = numbers.ok_or_else(|| MapError::TextLabel(sanitise_name(&input.name)))?;
        let mut places = numbers.clone();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = numbers.iter().map(|number| places.partition_point(|place| place < number)).collect();
        let edges = cell_edges_from_places(&places);
        Ok((Self { column: &input.name, name: sanitise_name(&input.name), places, edges, words: Vec::new() }, at))
    }

    /// The axis of an input with words, in the order of the file; none if all its values are numbers.
    ///
    /// # Errors
    /// [`MapError::TooManyWords`] if there are more than a picture has room for.
    pub fn from_words(input: &'a PredictionsFileInput, rows: &[usize]) -> Result<Option<(Self, Vec<usize>)>, MapError> {
        let cells: Vec<&str> = rows.iter().map(|row| input.cells[*row].as_str()).collect();
        if cells.iter().all(|cell| cell.parse::<f64>().is_ok()) {
            return Ok(None);
        }
        let mut words: Vec<&str> = Vec::new();
        let mut at = Vec::with_capacity(cells.len());
        for cell in cells {
            let place = words.iter().position(|word| *word == cell).unwrap_or(words.len());
            if place == words.len() {
                words.push(cell);
            }
            if words.len() > MOST_WORDS {
                return Err(MapError::TooManyWords(sanitise_name(&input.name)));
            }
            at.push(place);
        }
        let edges: Vec<f64> = (0..=words.len()).map(|k| k as f64).collect();
        let places = edges.iter().take(words.len()).map(|edge| edge + 0.5).collect();
        let words = words.into_iter().map(sanitise_name).collect();
        Ok(Some((Self { column: &input.name, name: sanitise_name(&input.name), places, edges, words }, at)))
    }

    /// From the first edge to the last.
    pub fn ends(&self) -> [f64; 2] {
        [self.edges[0], self.edges[self.edges.len() - 1]]
    }

    /// The edges as parts of the way from the first to the last.
    pub fn edge_fractions(&self) -> Vec<f64> {
        let [from, to] = self.ends();
        self.edges.iter().map(|edge| (edge - from) / (to - from)).collect()
    }
}

/// The most words of an input that a picture shows.
const MOST_WORDS: usize = 60;

/// Minus zero is zero.
fn parse_finite(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
}

/// Nothing is drawn beyond the first and the last place.
fn cell_edges_from_places(places: &[f64]) -> Vec<f64> {
    let between = places.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2.0);
    places.first().copied().into_iter().chain(between).chain(places.last().copied()).collect()
}

/// Reasons why no map was drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// A slice that is not of the form `INPUT=VALUE`.
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
    /// Words along an axis of a map of two inputs, or numbers that are not finite.
    #[error(
        "input {0} is categorical or has non-finite values, and a map of two inputs can show neither; choose one \
         value with --slice INPUT=VALUE"
    )]
    TextLabel(String),
    /// More words than a picture has room for.
    #[error("input {0} has more than {MOST_WORDS} categories, the most that a map can show")]
    TooManyWords(String),
    /// Not a range of numbers.
    #[error("{0:?} is not a scale: use LOW..HIGH with two finite numbers, the lower one first, as in 10..30")]
    Scale(String),
    /// An option for drawings, used for a map that is not a drawing.
    #[error("{0} changes a drawing, and GeoJSON output has none; use it with .svg or .html")]
    NoDrawing(&'static str),
    /// An outline for points that are not known to lie on the earth.
    #[error(
        "--outline needs points that differ in longitude (-180 to 180) and latitude (-90 to 90); name their columns with \
         --lon COLUMN --lat COLUMN"
    )]
    OutlineOfNoEarth,
    /// A file without lines that can be drawn.
    #[error("{path}: {problem}")]
    Outline {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An outline of another place.
    #[error("{path}: no line crosses the map, from longitude {} to {} and latitude {} to {}", ends[0], ends[1], ends[2], ends[3])]
    OutlineElsewhere {
        /// The file.
        path: PathBuf,
        /// West, east, south and north of the map.
        ends: [f64; 4],
    },
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
    /// A mask for a line or for bars.
    #[error("--mask needs a map of two inputs; with one input, the drawing shows the noise itself")]
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
