//! Why no map was drawn.

use thiserror::Error;

use super::released_map::MOST_CELLS;
use dpgp_plot::PlotError;

/// Why no map was drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// A slice that is none.
    #[error("{0:?} is not INPUT=VALUE")]
    Slice(String),
    /// An option that names no input.
    #[error("the predictions have no input {name:?}; they have {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The inputs that there are.
        known: Vec<String>,
    },
    /// A value that no point has.
    #[error("no point has {input} = {value:?}; there are {}", known.join(", "))]
    NoSuchValue {
        /// The input.
        input: String,
        /// The value that was asked for.
        value: String,
        /// Some of those that there are.
        known: Vec<String>,
    },
    /// One point, or several at one place.
    #[error("all points have the same inputs: a picture needs points that differ in one input or two")]
    NothingVaries,
    /// Points in more dimensions than a picture has.
    #[error(
        "points differ in {}: a picture shows two inputs; choose a value of each of the others with --slice INPUT=VALUE",
        .0.join(", ")
    )]
    TooManyInputs(Vec<String>),
    /// Words along an axis.
    #[error(
        "the input {0} holds words or numbers that are not finite: choose one of them with --slice INPUT=VALUE"
    )]
    Words(String),
    /// Two points at one place.
    #[error("two points have equal inputs; a picture shows one prediction at each place")]
    Twice,
    /// Points that are scattered.
    #[error("the points lie on no grid: {points} of the {places} crossings of their coordinates have one")]
    NoGrid {
        /// The points.
        points: usize,
        /// How many a grid would have.
        places: usize,
    },
    /// More points than a picture shows.
    #[error("{0} points; a picture shows at most {MOST_CELLS}")]
    TooMany(usize),
    /// A mask where nothing is masked.
    #[error("--mask is for maps of two inputs; the bands around a line show the noise")]
    MaskOfLine,
    /// A mask that is no size.
    #[error("--mask must be a finite number that is not negative")]
    BadMask,
    /// Inputs that are no places on the earth.
    #[error(
        "GeoJSON needs points that differ in a longitude from -180 to 180 and a latitude from -90 to 90: name their columns with \
         --lon COLUMN --lat COLUMN"
    )]
    NotOnEarth,
    /// The drawing failed.
    #[error(transparent)]
    Figure(#[from] PlotError),
    /// The page could not be put together.
    #[error("map: {0}")]
    Template(#[from] minijinja::Error),
}
