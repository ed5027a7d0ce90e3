//! Predictions as a line or as cells, and the mask of cells that are too uncertain to show.

use super::options::MapAxis;
use super::page::{format_input_value, sanitise_name};
use super::{MapError, MapOptions};
use dpgp_number::text::format_four_digits_trimmed;
use dpgp_release::{PredictionsFileContents, PredictionsFileInput, PredictionsFilePoint, informative_total_sd_limit};

/// The most points of a picture or grid.
pub(super) const MOST_CELLS: usize = 20_000;
/// A grid has at least one point for this many crossings of its coordinates.
const SPARSE: usize = 4;
/// The most values of an input that a message lists.
const LISTED: usize = 12;

/// Predictions along one input, or over two.
pub(super) struct ReleasedMap<'a> {
    pub released: &'a PredictionsFileContents,
    pub options: &'a MapOptions,
    pub x: MapAxis<'a>,
    /// The second axis; none for a line.
    pub y: Option<MapAxis<'a>>,
    /// The cells, ordered by x and then by y.
    pub cells: Vec<MapCell>,
    /// Whether x is a longitude and y a latitude.
    pub is_earth: bool,
    pub mask: HatchingRule,
    /// Inputs with one value.
    fixed: Vec<&'a PredictionsFileInput>,
}

/// A point, and where it stands along the axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MapCell {
    pub i: usize,
    pub j: usize,
    pub row: usize,
    pub point: PredictionsFilePoint,
    pub is_masked: bool,
}

impl<'a> ReleasedMap<'a> {
    pub fn new(released: &'a PredictionsFileContents, options: &'a MapOptions) -> Result<Self, MapError> {
        let rows = select_rows(released, options)?;
        if rows.len() > MOST_CELLS {
            return Err(MapError::TooMany(rows.len()));
        }
        let (varying, fixed): (Vec<&PredictionsFileInput>, Vec<&PredictionsFileInput>) =
            released.inputs.iter().partition(|input| rows.iter().any(|row| input.cells[*row] != input.cells[rows[0]]));
        let axes = varying.iter().map(|input| MapAxis::from_numbers(input, &rows));
        let words = if let [input] = varying[..] { MapAxis::from_words(input, &rows)? } else { None };
        let (x, y, is_earth) = match varying.len() {
            0 => return Err(MapError::NothingVaries),
            1 | 2 => {
                let axes = words.map_or_else(|| axes.collect::<Result<_, _>>(), |axis| Ok(vec![axis]))?;
                orient_axes(axes, released, options)?
            }
            _ => {
                return Err(MapError::TooManyInputs(varying.iter().map(|input| sanitise_name(&input.name)).collect()));
            }
        };
        if y.is_none() && options.mask.is_some() {
            return Err(MapError::MaskOfLine);
        }
        if options.outline.is_some() && !is_earth {
            return Err(MapError::OutlineOfNoEarth);
        }
        if options.mask.is_some_and(|mask| !(mask >= 0.0 && mask.is_finite())) {
            return Err(MapError::BadMask);
        }
        let points: Vec<PredictionsFilePoint> = rows.iter().map(|row| released.points[*row]).collect();
        let mask = HatchingRule::new(&points, options.mask);
        let down = y.as_ref().map(|placed| placed.at.clone());
        let mut cells: Vec<MapCell> = (0..rows.len())
            .map(|k| MapCell {
                i: x.at[k],
                j: down.as_ref().map_or(0, |at| at[k]),
                row: rows[k],
                point: points[k],
                is_masked: down.is_some() && mask.is_hatched(&points[k]),
            })
            .collect();
        cells.sort_by_key(|cell| (cell.i, cell.j));
        if cells.windows(2).any(|pair| (pair[0].i, pair[0].j) == (pair[1].i, pair[1].j)) {
            return Err(MapError::Twice);
        }
        let places = x.axis.places.len() * y.as_ref().map_or(1, |placed| placed.axis.places.len());
        if cells.len() * SPARSE < places {
            return Err(MapError::NoGrid { points: cells.len(), places });
        }
        let (x, y) = (x.axis, y.map(|placed| placed.axis));
        Ok(Self { released, options, x, y, cells, is_earth, mask, fixed })
    }

    /// The number of masked cells.
    pub fn masked_count(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_masked).count()
    }

    /// The unit of the numbers after a blank; empty if none was given.
    pub fn unit_suffix(&self) -> String {
        self.options.unit.as_deref().map_or(String::new(), |unit| format!(" {}", sanitise_name(unit)))
    }

    /// The name of the numbers, with their unit.
    pub fn quantity_name(&self) -> String {
        let statement = &self.released.statement;
        let mean = match (&statement.guarantee, statement.counts) {
            (None, _) => "Column private_mean",
            (Some(_), false) => "Private mean",
            (Some(_), true) if statement.target.is_none() => "Private count of rows",
            (Some(_), true) => "Private count",
        };
        let of = statement.target.as_deref().map_or(String::new(), |target| format!(" of {}", sanitise_name(target)));
        // A target that is called by its unit says it already.
        let unit = self.options.unit.as_deref().filter(|unit| statement.target.as_deref() != Some(unit));
        let unit = unit.map_or(String::new(), |unit| format!(" ({})", sanitise_name(unit)));
        format!("{mean}{of}{unit}")
    }

    pub fn title(&self) -> String {
        if let Some(title) = &self.options.title {
            return sanitise_name(title);
        }
        let mut title = format!("{} by {}", self.quantity_name(), self.x.name);
        if let Some(y) = &self.y {
            title.push_str(&format!(" and {}", y.name));
        }
        for place in self.fixed_inputs() {
            title.push_str(&format!(", {place}"));
        }
        title
    }

    /// The values of the inputs that are not drawn, each as `name = value`.
    pub fn fixed_inputs(&self) -> impl Iterator<Item = String> {
        self.fixed.iter().map(|input| {
            let cell = input.cells.get(self.cells[0].row).map_or("", String::as_str);
            format!("{} = {}", sanitise_name(&input.name), format_input_value(cell))
        })
    }
}

/// An axis and the place of each row along it.
struct AxisWithRowPositions<'a> {
    axis: MapAxis<'a>,
    at: Vec<usize>,
}

/// The rows that all slices leave.
fn select_rows(released: &PredictionsFileContents, options: &MapOptions) -> Result<Vec<usize>, MapError> {
    let mut rows: Vec<usize> = (0..released.points.len()).collect();
    for slice in &options.slices {
        let input = find_input(released, &slice.input)?;
        let known: Vec<&str> = rows.iter().map(|row| input.cells[*row].as_str()).collect();
        let left: Vec<usize> = rows.iter().copied().filter(|row| slice.matches_cell(&input.cells[*row])).collect();
        if left.is_empty() {
            let value = slice.value.clone();
            return Err(MapError::NoSuchValue {
                input: sanitise_name(&input.name),
                value,
                known: list_first_distinct_values(&known),
            });
        }
        rows = left;
    }
    Ok(rows)
}

/// Some of the different values.
fn list_first_distinct_values(values: &[&str]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for value in values.iter().map(|value| format_input_value(value)) {
        if known.len() == LISTED {
            known.push("...".to_owned());
            break;
        }
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}

fn find_input<'a>(released: &'a PredictionsFileContents, name: &str) -> Result<&'a PredictionsFileInput, MapError> {
    let found = released.inputs.iter().find(|input| input.name == name);
    found.ok_or_else(|| MapError::Unknown {
        name: name.to_owned(),
        known: released.inputs.iter().map(|input| sanitise_name(&input.name)).collect(),
    })
}

/// Axes in their order, and whether they are a longitude and a latitude.
type OrientedAxes<'a> = (AxisWithRowPositions<'a>, Option<AxisWithRowPositions<'a>>, bool);

/// A longitude goes to the right, whatever the order of the columns.
fn orient_axes<'a>(
    axes: Vec<(MapAxis<'a>, Vec<usize>)>,
    released: &PredictionsFileContents,
    options: &MapOptions,
) -> Result<OrientedAxes<'a>, MapError> {
    for name in options.longitude.iter().chain(&options.latitude) {
        find_input(released, name)?;
    }
    let mut axes = axes.into_iter().map(|(axis, at)| AxisWithRowPositions { axis, at });
    let (Some(first), second) = (axes.next(), axes.next()) else { return Err(MapError::NothingVaries) };
    let Some(second) = second else { return Ok((first, None, false)) };
    let [forward, backward] = [[&first, &second], [&second, &first]]
        .map(|[x, y]| is_longitude(x.axis.column, options) && is_latitude(y.axis.column, options));
    let (x, y) = if backward && !forward { (second, first) } else { (first, second) };
    let is_earth = forward != backward && is_axis_within(&x.axis, 180.0) && is_axis_within(&y.axis, 90.0);
    Ok((x, Some(y), is_earth))
}

/// Recognises a longitude by the option, or else by the name.
fn is_longitude(column: &str, options: &MapOptions) -> bool {
    options
        .longitude
        .as_ref()
        .map_or_else(|| has_name_word(column, &["longitude", "lon", "lng"]), |name| column == name)
}

fn is_latitude(column: &str, options: &MapOptions) -> bool {
    options.latitude.as_ref().map_or_else(|| has_name_word(column, &["latitude", "lat"]), |name| column == name)
}

/// Whether a name has one of these words, as `start_lon`, `startLon` and `LON` have: `colony` and `latency` have none. The first may
/// also be the end of a longer word.
fn has_name_word(column: &str, words: &[&str]) -> bool {
    let mut spaced = String::with_capacity(2 * column.len());
    let mut before = ' ';
    for letter in column.chars() {
        if before.is_lowercase() && letter.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase());
        before = letter;
    }
    let mut parts = spaced.split(|letter: char| !letter.is_alphabetic());
    parts.any(|part| words.contains(&part) || words.first().is_some_and(|whole| part.ends_with(whole)))
}

fn is_axis_within(axis: &MapAxis<'_>, most: f64) -> bool {
    axis.ends().iter().all(|end| end.abs() <= most)
}

/// The rule that hatches cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HatchingRule {
    /// Cells with a larger standard error are hatched ([`informative_total_sd_limit`]).
    uncertainty: f64,
    /// So are cells with a larger `noise_sd`, if a limit was given.
    noise: Option<f64>,
}

impl HatchingRule {
    /// The rule for these points, with an optional limit on the noise.
    pub fn new(points: &[PredictionsFilePoint], noise: Option<f64>) -> Self {
        Self { uncertainty: informative_total_sd_limit(points), noise }
    }

    /// Whether a point is hatched.
    pub fn is_hatched(self, point: &PredictionsFilePoint) -> bool {
        point.total_sd() > self.uncertainty || self.noise.is_some_and(|most| point.noise_sd > most)
    }

    /// The rule in words, with the unit behind each number.
    pub fn describe_rule(self, unit: &str) -> String {
        let noise = self
            .noise
            .map_or(String::new(), |most| format!(", or noise_sd above {}{unit}", format_four_digits_trimmed(most)));
        format!(
            "too uncertain to show (standard error above {}{unit}{noise})",
            format_four_digits_trimmed(self.uncertainty)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_known_by_whole_words() {
        let plain = MapOptions::default();
        for name in ["lon", "LNG", "Longitude", "start_lon", "startLng", "pickup longitude", "startlongitude", "lon2"] {
            assert!(is_longitude(name, &plain) && !is_latitude(name, &plain), "{name}");
        }
        for name in ["lat", "start_lat", "endLat", "LATITUDE", "lat_1"] {
            assert!(is_latitude(name, &plain) && !is_longitude(name, &plain), "{name}");
        }
        for name in ["colony", "latency", "salon", "plate", "flat", "long_term", "late", "x"] {
            assert!(!is_longitude(name, &plain) && !is_latitude(name, &plain), "{name}");
        }
        let named = MapOptions { longitude: Some("x".to_owned()), ..plain };
        assert!(is_longitude("x", &named) && !is_longitude("lon", &named));
    }

    fn point(mean: f64, gp_sd: f64, noise_sd: f64) -> PredictionsFilePoint {
        PredictionsFilePoint { mean, gp_sd, noise_sd, low: mean, high: mean }
    }

    /// Means -3 and 3 with v = 16 at both: `S^2 = 9 + 16`, and 16 is more than half of it.
    #[test]
    fn a_cell_explains_half_of_the_variance_or_is_hatched() {
        let hidden = [point(-3.0, 4.0, 0.0), point(3.0, 0.0, 4.0)];
        let mask = HatchingRule::new(&hidden, None);
        assert_eq!(mask, HatchingRule { uncertainty: 12.5f64.sqrt(), noise: None });
        assert!(hidden.iter().all(|each| mask.is_hatched(each)));
        assert!(mask.describe_rule("").contains("above 3.536)"), "{}", mask.describe_rule(""));
        assert_eq!(mask.describe_rule(" min"), "too uncertain to show (standard error above 3.536 min)");
        // v = 4: S^2 = 13.
        let shown = [point(-3.0, 2.0, 0.0), point(3.0, 0.0, 2.0)];
        assert!(shown.iter().all(|each| !HatchingRule::new(&shown, None).is_hatched(each)));
    }

    /// One place knows the surface and the other nothing, by its gp_sd alone.
    #[test]
    fn a_place_without_rows_is_hatched() {
        let points = [point(1.0, 0.1, 0.2), point(0.0, 1.0, 0.0)];
        let mask = HatchingRule::new(&points, None);
        assert_eq!(points.map(|each| mask.is_hatched(&each)), [false, true]);
    }

    /// A noise that is asked for hatches more, and shows nothing that is not known.
    #[test]
    fn a_noise_that_is_asked_for_hatches_more() {
        let points = [point(1.0, 0.1, 0.2), point(0.0, 1.0, 0.0), point(-2.0, 0.1, 0.4)];
        assert_eq!(points.map(|each| HatchingRule::new(&points, None).is_hatched(&each)), [false, true, false]);
        let mask = HatchingRule::new(&points, Some(0.3));
        assert_eq!(points.map(|each| mask.is_hatched(&each)), [false, true, true]);
        assert!(mask.describe_rule("").ends_with(", or noise_sd above 0.3)"), "{}", mask.describe_rule(""));
    }

    /// A map that is the same everywhere says nothing of its shape.
    #[test]
    fn a_flat_map_is_hatched() {
        let points = [point(1.0, 0.3, 0.4); 3];
        assert!(points.iter().all(|each| HatchingRule::new(&points, None).is_hatched(each)));
    }
}
