//! Points to predict at, from a file, an option or the spec, and errors about them.

use std::path::Path;
use std::str::FromStr;

use nalgebra::DMatrix;
use thiserror::Error;

use super::ReleaseError;
use dpgp_data::suggest::closest_name;
use dpgp_mechanisms::MomentsSetting;
use dpgp_run::load_prediction_points;
use dpgp_spec::setting::rules::MOST_POINTS;
use dpgp_spec::setting::{DataSetting, RangeSetting};
use dpgp_task::{CellSetting, DensityTask, PredictionPoints, TaskSetting};

/// The word for the places that the spec names.
const AUTO: &str = "auto";
/// Points along the box of a spec without a map: with one input, and for each of the first two.
const LINE: usize = 101;
const SIDE: usize = 40;

/// Public points without a file.
///
/// ```
/// use dpgp_release::GridChoice;
///
/// let grid: GridChoice = "lon=-74.02..-73.93:40,lat=40.7..40.8:40,hour=8".parse()?;
/// assert_ne!(grid, "auto".parse()?);
/// let wrong = "lon=1..1:40".parse::<GridChoice>().unwrap_err();
/// assert_eq!(wrong.to_string(), "\"lon=1..1:40\": both ends must be finite numbers, and the second must be greater, as in 20..80:7");
/// # Ok::<(), dpgp_release::GridError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum GridChoice {
    /// The public places that the spec names: its map, else the box of its inputs.
    Auto,
    /// The product of these, one for each input. The last input of the spec varies fastest.
    Inputs(Vec<GridInput>),
}

/// The places of one input.
#[derive(Debug, Clone, PartialEq)]
pub struct GridInput {
    /// The part of the option, for messages.
    part: String,
    name: String,
    places: GridInputValues,
}

#[derive(Debug, Clone, PartialEq)]
enum GridInputValues {
    Range(RangeSetting),
    /// A number, or the word of a code.
    Value(String),
}

impl FromStr for GridChoice {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Self, GridError> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let inputs = text.split(',').map(GridInput::parse).collect::<Result<Vec<GridInput>, GridError>>()?;
        for (i, input) in inputs.iter().enumerate() {
            if inputs[..i].iter().any(|other| other.name == input.name) {
                return Err(GridError::Twice(input.name.clone()));
            }
        }
        let points = inputs.iter().fold(1, |points: usize, input| points.saturating_mul(input.point_count()));
        if points > MOST_POINTS { Err(GridError::TooMany(points)) } else { Ok(Self::Inputs(inputs)) }
    }
}

impl GridInput {
    fn parse(part: &str) -> Result<Self, GridError> {
        let part = part.trim();
        // A name may hold the sign, too.
        let Some((name, places)) =
            part.rsplit_once('=').filter(|(name, places)| !name.is_empty() && !places.is_empty())
        else {
            let is_number = part.starts_with(|first: char| first.is_ascii_digit());
            return Err(grid_part_error(
                part,
                if is_number { CUT } else { "expected INPUT=FROM..TO:POINTS or INPUT=VALUE" },
            ));
        };
        let places = match places.split_once("..") {
            Some((from, rest)) => GridInputValues::Range(parse_range(part, from, rest)?),
            None => GridInputValues::Value(places.to_owned()),
        };
        Ok(Self { part: part.to_owned(), name: name.to_owned(), places })
    }

    fn point_count(&self) -> usize {
        match &self.places {
            GridInputValues::Range(range) => range.points,
            GridInputValues::Value(_) => 1,
        }
    }

    /// The numbers of the input, words by their codes.
    fn input_values(&self, data: &DataSetting) -> Result<Vec<f64>, GridError> {
        let words = data.encode.get(&self.name);
        match (&self.places, words) {
            (GridInputValues::Range(range), None) => Ok((0..range.points).map(|place| range.value_at(place)).collect()),
            (GridInputValues::Value(value), Some(words)) => match words.iter().position(|word| word == value) {
                Some(code) => Ok(vec![code as f64]),
                None => Err(self.unknown_word_error(words)),
            },
            (GridInputValues::Range(_), Some(words)) => Err(self.unknown_word_error(words)),
            (GridInputValues::Value(value), None) => {
                let number = value.parse().ok().filter(|number: &f64| number.is_finite());
                number
                    .map(|number| vec![number])
                    .ok_or_else(|| grid_part_error(&self.part, "neither a finite number nor a range such as 0..10:20"))
            }
        }
    }

    fn unknown_word_error(&self, words: &[String]) -> GridError {
        GridError::NoWord { part: self.part.clone(), words: words.to_vec() }
    }
}

/// `FROM..TO:POINTS` after its first dots.
fn parse_range(part: &str, from: &str, rest: &str) -> Result<RangeSetting, GridError> {
    // A third dot could belong to either end: 0...40 is 0 to .40, or 0. to 40.
    if from.ends_with('.') || rest.starts_with('.') || rest.contains("..") {
        return Err(grid_part_error(part, DOTS));
    }
    let Some((to, points)) = rest.rsplit_once(':') else {
        return Err(grid_part_error(part, "a range needs a number of points, as in FROM..TO:40"));
    };
    let ends = [from, to].map(|end| end.trim().parse().ok().filter(|end: &f64| end.is_finite()));
    let [Some(from), Some(to)] = ends else { return Err(grid_part_error(part, ENDS)) };
    // The width must be finite, too, for the points between.
    if to <= from || !(to - from).is_finite() {
        return Err(grid_part_error(part, ENDS));
    }
    let points = points.trim().parse().ok().filter(|points| (2..=MOST_POINTS).contains(points));
    let Some(points) = points else {
        return Err(grid_part_error(part, "a range must have 2 to 20000 points"));
    };
    Ok(RangeSetting { from, to, points })
}

const ENDS: &str = "both ends must be finite numbers, and the second must be greater, as in 20..80:7";

const DOTS: &str = "separate the ends of a range with exactly two dots, as in 0..40:3";

/// The error for a decimal comma.
const CUT: &str =
    "expected INPUT=FROM..TO:POINTS or INPUT=VALUE; a comma separates inputs, so write decimals with a point";

fn grid_part_error(part: &str, why: &'static str) -> GridError {
    GridError::Part { part: part.to_owned(), why }
}

impl GridChoice {
    /// Makes the points (t x d), in the order of the inputs. `own` are the places that the spec names.
    ///
    /// # Errors
    /// [`GridError`] unless the parts name each input of the data, and nothing else.
    pub(super) fn points(&self, data: &DataSetting, own: Option<DMatrix<f64>>) -> Result<DMatrix<f64>, GridError> {
        let Self::Inputs(inputs) = self else { return own.ok_or_else(|| no_points_error(data)) };
        if let Some(input) = inputs.iter().find(|input| !data.inputs.contains(&input.name)) {
            return Err(GridError::Unknown { name: input.name.clone(), known: data.inputs.clone() });
        }
        let (mut columns, mut missing) = (Vec::new(), Vec::new());
        for name in &data.inputs {
            match inputs.iter().find(|input| input.name == *name) {
                Some(input) => columns.push(input.input_values(data)?),
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() { Ok(cartesian_product(&columns)) } else { Err(GridError::Missing(missing)) }
    }
}

/// Returns the places that a setting names. They are public.
pub(super) fn points_of_setting(setting: &CellSetting) -> Option<DMatrix<f64>> {
    if let Some(histogram) = DensityTask::histogram(setting) {
        return Some(histogram.bins().centres());
    }
    match &*setting.task {
        TaskSetting::Surface(surface) if !surface.map.is_empty() => return Some(surface.figure_points()),
        TaskSetting::Prediction(prediction) => {
            let columns =
                prediction.grid.iter().map(|range| (0..range.points).map(|place| range.value_at(place)).collect());
            return Some(cartesian_product(&columns.collect::<Vec<Vec<f64>>>()));
        }
        _ => {}
    }
    let domain = setting.privacy.mechanism.mechanism().domain()?;
    let mut columns = box_input_values(domain);
    for (column, name) in columns.iter_mut().zip(&setting.data.inputs) {
        // Between the codes of words there is nothing.
        if let Some(words) = setting.data.encode.get(name) {
            let mut codes = (0..words.len()).map(|code| code as f64);
            *column = match column[..] {
                [middle] => vec![codes.rfind(|code| *code <= middle).unwrap_or(0.0)],
                _ => codes.collect(),
            };
        }
    }
    Some(cartesian_product(&columns))
}

/// Makes points over the first two inputs of a box, from end to end, at the middle of the others.
pub(super) fn box_plane_grid(domain: &[[f64; 2]]) -> DMatrix<f64> {
    cartesian_product(&box_input_values(domain))
}

/// The places of each input of a box.
fn box_input_values(domain: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let points = if domain.len() == 1 { LINE } else { SIDE };
    let columns = domain.iter().enumerate().map(|(input, &[from, to])| {
        let range = RangeSetting { from, to, points };
        let middle = vec![from + (to - from) / 2.0];
        if input < 2 { (0..points).map(|place| range.value_at(place)).collect() } else { middle }
    });
    columns.collect()
}

/// Makes all combinations, one for each row. The last column varies fastest.
pub(super) fn cartesian_product(columns: &[Vec<f64>]) -> DMatrix<f64> {
    let rows: usize = columns.iter().map(Vec::len).product();
    DMatrix::from_fn(rows, columns.len(), |i, d| {
        let inner: usize = columns[d + 1..].iter().map(Vec::len).product();
        columns[d][i / inner % columns[d].len()]
    })
}

/// Errors of the points of an option.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A part that cannot be read.
    #[error("{part:?}: {why}")]
    Part {
        /// The part.
        part: String,
        /// The problem.
        why: &'static str,
    },
    /// An input that is named twice.
    #[error("the input {0:?} is named twice")]
    Twice(String),
    /// An unknown input.
    #[error("the spec has no input {name:?}{}; it has {}", did_you_mean(name, known), known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The inputs of the spec.
        known: Vec<String>,
    },
    /// Inputs that are not named.
    #[error("every input needs a value or a range; missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// A grid that is too large.
    #[error("the grid has {0} points; the limit is {MOST_POINTS}")]
    TooMany(usize),
    /// An unknown word of an input.
    #[error("{part:?}: this input is categorical; use one of {}", words.join(", "))]
    NoWord {
        /// The part.
        part: String,
        /// The words of the input.
        words: Vec<String>,
    },
    /// A spec without public places.
    #[error(
        "the spec names no prediction points (task.surface.map, task.prediction.grid or the domain of its \
         mechanism); use --grid {0}, with your ranges, or a file with --at"
    )]
    NoPlaces(String),
}

/// The error for a spec without public places, with a grid that would do.
fn no_points_error(data: &DataSetting) -> GridError {
    GridError::NoPlaces(format!("{:?}", grid_template(&data.inputs)))
}

/// The form of a grid over these inputs, to be filled in: ranges of the first two, and a value for each other.
///
/// ```
/// let inputs = ["age", "weight", "year"].map(str::to_owned);
/// assert_eq!(dpgp_release::grid_template(&inputs), "age=FROM..TO:20,weight=FROM..TO:20,year=VALUE");
/// ```
pub fn grid_template(inputs: &[String]) -> String {
    let parts = inputs.iter().enumerate().map(|(place, input)| match place {
        0 | 1 => format!("{input}=FROM..TO:20"),
        _ => format!("{input}=VALUE"),
    });
    parts.collect::<Vec<_>>().join(",")
}

fn did_you_mean(name: &str, known: &[String]) -> String {
    let near = closest_name(name, known.iter().map(String::as_str));
    near.map(|near| format!(" (did you mean {near:?}?)")).unwrap_or_default()
}

/// Points to predict at. They are public.
#[derive(Debug, Clone, Copy)]
pub enum PublicPoints<'a> {
    /// The rows of a file.
    File(PointsFile<'a>),
    /// Points without a file. All count alike.
    Grid(&'a GridChoice),
    /// Points in memory (t x d), in the order of the inputs. All count alike.
    Held(&'a DMatrix<f64>),
}

impl<'a> From<PointsFile<'a>> for PublicPoints<'a> {
    fn from(file: PointsFile<'a>) -> Self {
        Self::File(file)
    }
}

impl PublicPoints<'_> {
    /// Whether the points have weights.
    pub(super) fn has_weights(self) -> bool {
        matches!(self, Self::File(PointsFile { weights: Some(_), .. }))
    }

    /// The points for a setting.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read or holds no points, or if a grid does not fit the inputs.
    pub(super) fn read(self, setting: &CellSetting) -> Result<PredictionPoints, ReleaseError> {
        if matches!(*setting.task, TaskSetting::Density(_)) && !matches!(self, Self::Grid(GridChoice::Auto)) {
            return Err(ReleaseError::NotBins);
        }
        match self {
            Self::File(file) => file.read(&setting.data),
            Self::Grid(grid) => {
                Ok(PredictionPoints::with_equal_weights(grid.points(&setting.data, points_of_setting(setting))?))
            }
            Self::Held(points) => points_from_matrix(points, &setting.data),
        }
    }
}

/// Fails if no point (t x d) lies in the public box: then the order or the units of the inputs are wrong.
///
/// # Errors
/// [`ReleaseError::OutsideBox`].
pub(super) fn ensure_some_point_inside_box(
    moments: &MomentsSetting,
    points: &DMatrix<f64>,
) -> Result<(), ReleaseError> {
    match moments.count_outside_box(points) == points.nrows() {
        true => Err(ReleaseError::OutsideBox),
        false => Ok(()),
    }
}

/// The warning about points (t x d) outside the public box, where the model knows nothing. None if all lie in it.
pub(super) fn outside_box_warning(moments: &MomentsSetting, points: &DMatrix<f64>) -> Option<String> {
    let (outside, all) = (moments.count_outside_box(points), points.nrows());
    (outside > 0).then(|| {
        format!(
            "{outside} of {all} points lie outside the public box privacy.mechanism.moments.domain; each \
             gets the prediction at the nearest point of the box"
        )
    })
}

/// Points in memory.
///
/// # Errors
/// [`ReleaseError::NotReleasable`] if they have other inputs or numbers that are not finite.
pub(super) fn points_from_matrix(points: &DMatrix<f64>, data: &DataSetting) -> Result<PredictionPoints, ReleaseError> {
    if points.ncols() != data.inputs.len() {
        return Err(ReleaseError::NotReleasable("the points have the wrong number of inputs"));
    }
    match points.iter().all(|x| x.is_finite()) {
        true => Ok(PredictionPoints::with_equal_weights(points.clone())),
        false => Err(ReleaseError::NotReleasable("a point has a coordinate that is not finite")),
    }
}

/// A CSV or Parquet file with a row for each point; all of it is public.
#[derive(Debug, Clone, Copy)]
pub struct PointsFile<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The column with the weights of the points, if they do not all count alike.
    pub weights: Option<&'a str>,
}

impl PointsFile<'_> {
    /// The points of the file.
    ///
    /// # Errors
    /// [`ReleaseError`] if it cannot be read, holds no point, or if a weight is negative or none is positive.
    pub(super) fn read(self, data: &DataSetting) -> Result<PredictionPoints, ReleaseError> {
        let points = load_prediction_points(self.path, data, self.weights)?;
        if points.inputs.nrows() == 0 {
            return Err(ReleaseError::NoPoints(self.path.to_path_buf()));
        }
        if !points.weights.as_deref().is_none_or(has_valid_weights) {
            return Err(ReleaseError::BadWeights(self.path.to_path_buf()));
        }
        Ok(points)
    }
}

/// Whether none is negative and their sum is above zero and finite.
fn has_valid_weights(weights: &[f64]) -> bool {
    let sum: f64 = weights.iter().sum();
    weights.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_run::{DataLocations, Project};

    #[test]
    fn the_last_input_varies_fastest() {
        let grid = cartesian_product(&[vec![0.0, 1.0], vec![7.0], vec![5.0, 5.5, 6.0]]);
        let expected =
            [[0.0, 7.0, 5.0], [0.0, 7.0, 5.5], [0.0, 7.0, 6.0], [1.0, 7.0, 5.0], [1.0, 7.0, 5.5], [1.0, 7.0, 6.0]];
        assert_eq!(grid, DMatrix::from_row_slice(6, 3, expected.as_flattened()));
    }

    #[test]
    fn a_box_is_covered_from_end_to_end() {
        let points = box_plane_grid(&[[0.0, 4.0], [-1.0, 1.0], [10.0, 20.0]]);
        assert_eq!((points.nrows(), points.column(0).max(), points.column(1).min()), (SIDE * SIDE, 4.0, -1.0));
        assert!(points.column(2).iter().all(|x| *x == 15.0));
        assert_eq!(box_plane_grid(&[[0.0, 1.0]]).nrows(), LINE);
    }

    #[test]
    fn the_most_points_are_allowed() {
        assert!("x=0..1:200,y=0..1:100".parse::<GridChoice>().is_ok());
    }

    /// Decimals without a whole part are read where nothing else can be meant.
    #[test]
    fn ends_may_begin_with_a_point() {
        let places = |text: &str| match text.parse::<GridChoice>().unwrap() {
            GridChoice::Inputs(inputs) => inputs[0].places.clone(),
            GridChoice::Auto => panic!("{text}"),
        };
        let range = RangeSetting { from: -0.5, to: 0.5, points: 3 };
        assert_eq!(places("x=-.5..+.5:3"), GridInputValues::Range(range));
        assert_eq!(places("x=-0.5..0.5:3"), GridInputValues::Range(range));
    }

    #[test]
    fn wrong_parts_are_named() {
        for (text, says) in [
            ("", "expected INPUT"),
            ("x", "\"x\": expected INPUT"),
            ("x=", "expected INPUT"),
            ("x=1,,y=2", "expected INPUT"),
            ("x=0..1", "number of points"),
            ("x=0..1:1", "2 to 20000 points"),
            ("x=0..1:many", "2 to 20000 points"),
            ("x=0..inf:3", "finite"),
            ("x=a..1:3", "finite"),
            ("x=2..1:3", "must be greater"),
            ("x=-1e308..1e308:3", "finite"),
            ("x=0...40:3", "\"x=0...40:3\": separate the ends of a range with exactly two dots"),
            ("x=-5...5:3", "exactly two dots"),
            ("x=0....40:3", "exactly two dots"),
            ("x=0..40..50:3", "exactly two dots"),
            ("x=0..40..:3", "exactly two dots"),
            ("y=1,x=0...40", "exactly two dots"),
            ("x=1,x=2", "\"x\" is named twice"),
            ("x=0..1:200,y=0..1:200", "40000 points; the limit is 20000"),
        ] {
            let error = text.parse::<GridChoice>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    const MODEL: &str = r#"experiment.title = "places"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
"#;
    const MOMENTS: &str = "privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0]] } }\n";
    const SUMS: &str = r#"task.surface = { inducing = [{ from = 0.0, to = 4.0, points = 4 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact", split = 0.3 } }
"#;
    const CLOAKED: &str = r#"task.prediction.grid = [{ from = 0.0, to = 4.0, points = 5 }]
privacy = { epsilon = 1.0, delta = 1e-6, change = 10.0, mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 } }
"#;

    /// The places that a spec names.
    fn places_of(spec: &str) -> Option<DMatrix<f64>> {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        points_of_setting(project.parse("places", spec).unwrap().cells[0].setting())
    }

    /// How many places a spec names.
    fn named_places(rest: &str) -> Option<usize> {
        places_of(&format!("{MODEL}{rest}")).map(|places| places.nrows())
    }

    /// Words have their codes, and nothing between them.
    #[test]
    fn words_have_a_place_each() {
        let words = "target = \"y\", encode = { x = [\"a\", \"b\", \"c\"] } }";
        let spec = format!("{MODEL}task.surface = {{}}\n{MOMENTS}").replace("target = \"y\" }", words);
        assert_eq!(places_of(&spec).unwrap().as_slice(), [0.0, 1.0, 2.0]);
    }

    /// The map of a surface, the grid of predictions, else the box of moments; sums without a map have no places.
    #[test]
    fn places_are_those_that_a_spec_names() {
        let map = "map = [{ from = 0.0, to = 4.0, points = 3 }]";
        assert_eq!(named_places(&format!("task.surface.{map}\n{MOMENTS}")), Some(3));
        assert_eq!(named_places(&format!("task.surface = {{}}\n{MOMENTS}")), Some(LINE));
        assert_eq!(named_places(&SUMS.replace("posterior =", &format!("{map}, posterior ="))), Some(3));
        assert_eq!(named_places(SUMS), None);
        assert_eq!(named_places(CLOAKED), Some(5));
    }
}

#[cfg(test)]
mod grid_error_tests {
    use super::*;

    fn unknown(name: &str) -> GridError {
        GridError::Unknown { name: name.to_owned(), known: vec!["age".to_owned(), "dose_mg".to_owned()] }
    }

    #[test]
    fn the_nearest_input_is_named() {
        assert_eq!(
            unknown("dose").to_string(),
            "the spec has no input \"dose\" (did you mean \"dose_mg\"?); it has age, dose_mg"
        );
        assert_eq!(unknown("weight").to_string(), "the spec has no input \"weight\"; it has age, dose_mg");
    }
}

#[cfg(test)]
mod points_file_tests {
    use super::*;

    #[test]
    fn points_in_memory_have_the_inputs_of_the_spec() {
        let data: DataSetting =
            toml::from_str("source.csv.path = \"rows.csv\"\ninputs = [\"x\", \"z\"]\ntarget = \"y\"\n").unwrap();
        let points = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(points_from_matrix(&points, &data).unwrap().inputs, points);
        let said = [DMatrix::zeros(2, 1), points.map(|x| x / 0.0)]
            .map(|wrong| points_from_matrix(&wrong, &data).unwrap_err().to_string());
        assert!(said[0].contains("wrong number of inputs") && said[1].contains("not finite"), "{said:?}");
    }

    #[test]
    fn weights_must_weigh() {
        assert!(has_valid_weights(&[0.0, 2.0]));
        assert!(!has_valid_weights(&[0.0]) && !has_valid_weights(&[-1.0, 2.0]) && !has_valid_weights(&[f64::INFINITY]));
    }
}
