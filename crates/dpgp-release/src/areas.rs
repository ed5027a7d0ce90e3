//! Areas of a public GeoJSON file (RFC 7946), and the shares of the cells of a grid that lie in each.

use std::path::Path;

use serde_json::{Map, Value};

use super::ReleaseError;
use dpgp_data::read_limited_text;
use dpgp_task::BinAreaOverlap;

/// Named areas of the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedAreas {
    /// What the names are: a property of the file, or `area`.
    pub called: String,
    /// In the order of the file, each name once.
    all: Vec<NamedArea>,
}

/// An area of one or several polygons.
#[derive(Debug, Clone, PartialEq)]
struct NamedArea {
    name: String,
    polygons: Vec<Polygon>,
}

/// A border, and those of holes in it.
type Polygon = Vec<Ring>;

/// The corners of a border, each an x and a y.
type Ring = Vec<[f64; 2]>;

/// The part of each grid cell that lies in one area, and the share of the area that lies outside all cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AreaOverlap {
    pub name: String,
    /// By cell; the second axis varies fastest.
    pub parts: Vec<BinAreaOverlap>,
    /// From 0 to 1.
    pub beyond: f64,
}

impl NamedAreas {
    /// Reads the polygons of a file. Their names are those of a property, else their `id`, else their places from 1. Features of
    /// one name are one area.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], or [`ReleaseError::NotAreas`] with what is wrong, and where.
    pub fn read(path: &Path, property: Option<&str>) -> Result<Self, ReleaseError> {
        let text = read_limited_text(path).map_err(ReleaseError::io(path))?;
        Self::parse(&text, property).map_err(|problem| ReleaseError::NotAreas { path: path.to_path_buf(), problem })
    }

    fn parse(text: &str, property: Option<&str>) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        let single = [value.clone()];
        let features = match value.get("type").and_then(Value::as_str) {
            Some("FeatureCollection") => {
                value.get("features").and_then(Value::as_array).ok_or("has no list of features")?.as_slice()
            }
            Some(_) => &single[..],
            None => return Err("is not GeoJSON: its \"type\" is missing or not text".to_owned()),
        };
        let mut all: Vec<NamedArea> = Vec::new();
        for (place, feature) in features.iter().enumerate() {
            let at = format!("features[{place}]");
            let geometry = feature.get("geometry").unwrap_or(feature);
            // A feature may be nowhere.
            if geometry.is_null() {
                continue;
            }
            let name = feature_name(feature, place, property).map_err(|why| format!("{at} {why}"))?;
            let polygons = parse_polygons(geometry).map_err(|why| format!("{at} {why}"))?;
            match all.iter_mut().find(|area| area.name == name) {
                Some(area) => area.polygons.extend(polygons),
                None => all.push(NamedArea { name, polygons }),
            }
        }
        if all.is_empty() {
            return Err("has no area".to_owned());
        }
        Ok(Self { called: property.unwrap_or("area").to_owned(), all })
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|area| area.name.as_str())
    }

    /// The part of each cell of a grid that lies in each area. `edges` are the ends of the cells along x and y, rising.
    pub(super) fn cell_overlaps(&self, edges: [&[f64]; 2]) -> Vec<AreaOverlap> {
        self.all.iter().map(|area| area.cell_overlaps(edges)).collect()
    }
}

/// The name of a feature.
fn feature_name(feature: &Value, place: usize, property: Option<&str>) -> Result<String, String> {
    let Some(property) = property else {
        return Ok(feature.get("id").and_then(text_or_number).unwrap_or_else(|| (place + 1).to_string()));
    };
    let none = Map::new();
    let properties = feature.get("properties").and_then(Value::as_object).unwrap_or(&none);
    properties.get(property).and_then(text_or_number).ok_or_else(|| {
        let known: Vec<String> = properties.keys().map(|key| format!("{key:?}")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        format!("has no property {property:?} that holds text or a number; its properties are: {known}")
    })
}

fn text_or_number(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The polygons of a geometry.
fn parse_polygons(geometry: &Value) -> Result<Vec<Polygon>, String> {
    let kind = geometry.get("type").and_then(Value::as_str).unwrap_or_default();
    let coordinates = geometry.get("coordinates").and_then(Value::as_array);
    match (kind, coordinates) {
        ("Polygon", Some(rings)) => Ok(vec![parse_polygon(rings)?]),
        ("MultiPolygon", Some(polygons)) => {
            let rings = polygons.iter().map(|each| each.as_array().ok_or("has a polygon that is not a list"));
            rings.map(|rings| parse_polygon(rings?)).collect()
        }
        ("Polygon" | "MultiPolygon", None) => Err(format!("has the type {kind}, but no coordinates")),
        _ => Err(format!("has the type {kind:?}; an area is a Polygon or a MultiPolygon")),
    }
}

fn parse_polygon(rings: &[Value]) -> Result<Polygon, String> {
    let ring = |ring: &Value| -> Option<Ring> { ring.as_array()?.iter().map(parse_corner).collect() };
    let wrong = || "has a border that is not a list of positions, each a pair of numbers below 1e100".to_owned();
    rings.iter().map(|each| ring(each).ok_or_else(wrong)).collect()
}

/// Products of larger coordinates would overflow.
const MOST_FAR: f64 = 1e100;

/// A corner; a height may follow.
fn parse_corner(value: &Value) -> Option<[f64; 2]> {
    let [x, y, ..] = value.as_array()?.as_slice() else { return None };
    let (x, y) = (x.as_f64()?, y.as_f64()?);
    (x.abs() < MOST_FAR && y.abs() < MOST_FAR).then_some([x, y])
}

impl NamedArea {
    fn cell_overlaps(&self, [columns, rows]: [&[f64]; 2]) -> AreaOverlap {
        let (across, down) = (columns.len().saturating_sub(1), rows.len().saturating_sub(1));
        let (mut inside, mut whole) = (vec![RingMoments::default(); across * down], RingMoments::default());
        for polygon in &self.polygons {
            for (place, ring) in polygon.iter().enumerate() {
                // The first border encloses an area, and the others are holes in it.
                let sign = if place == 0 { 1.0 } else { -1.0 };
                whole.add(sign, ring_moments(ring, [0.0; 2]));
                for i in 0..across {
                    let strip = clip_ring(ring, 0, columns[i], columns[i + 1]);
                    for j in 0..if strip.is_empty() { 0 } else { down } {
                        let middle = [(columns[i] + columns[i + 1]) / 2.0, (rows[j] + rows[j + 1]) / 2.0];
                        let part = clip_ring(&strip, 1, rows[j], rows[j + 1]);
                        inside[i * down + j].add(sign, ring_moments(&part, middle));
                    }
                }
            }
        }
        let all: f64 = inside.iter().map(|part| part.area).sum();
        let beyond = if whole.area > 0.0 { (1.0 - all / whole.area).clamp(0.0, 1.0) } else { 0.0 };
        let mut parts = Vec::with_capacity(inside.len());
        for (cell, part) in inside.iter().enumerate() {
            let (i, j) = (cell / down, cell % down);
            parts.push(part.into_cell_overlap([columns[i + 1] - columns[i], rows[j + 1] - rows[j]]));
        }
        AreaOverlap { name: self.name.clone(), parts, beyond }
    }
}

/// The signed area that rings enclose, and its first moments about an origin.
#[derive(Debug, Clone, Copy, Default)]
struct RingMoments {
    /// In squared units of the coordinates.
    area: f64,
    /// The integrals of x and y over it, from an origin.
    moments: [f64; 2],
}

impl RingMoments {
    fn add(&mut self, sign: f64, other: Self) {
        self.area += sign * other.area;
        self.moments.iter_mut().zip(other.moments).for_each(|(moment, more)| *moment += sign * more);
    }

    /// Converts moments about the middle of a cell to the part of that cell.
    fn into_cell_overlap(self, widths: [f64; 2]) -> BinAreaOverlap {
        // Rounding, or polygons that overlap.
        let share = (self.area / (widths[0] * widths[1])).clamp(0.0, 1.0);
        let offset = [0, 1].map(|axis| {
            let middle = self.moments[axis] / self.area / widths[axis];
            if middle.is_finite() { middle.clamp(-0.5, 0.5) } else { 0.0 }
        });
        BinAreaOverlap { share, offset }
    }
}

/// The part of a ring between two values of a coordinate (0 for x): the ring cut at both lines (Sutherland and Hodgman, 1974).
/// Parts may be joined along the lines, where they enclose nothing.
fn clip_ring(ring: &[[f64; 2]], axis: usize, low: f64, high: f64) -> Ring {
    let above = clip_by_line(ring, |at| at[axis] - low);
    clip_by_line(&above, |at| high - at[axis])
}

/// The part of a ring where a linear function of a coordinate is not negative.
fn clip_by_line(ring: &[[f64; 2]], of: impl Fn(&[f64; 2]) -> f64) -> Ring {
    let mut kept = Vec::with_capacity(ring.len());
    let Some(last) = ring.last() else { return kept };
    let mut before = last;
    for corner in ring {
        let (from, to) = (of(before), of(corner));
        if (from < 0.0) != (to < 0.0) {
            let share = from / (from - to);
            kept.push([0, 1].map(|axis| before[axis] + share * (corner[axis] - before[axis])));
        }
        if to >= 0.0 {
            kept.push(*corner);
        }
        before = corner;
    }
    kept
}

/// What a ring encloses, with moments about an origin (shoelace formula).
fn ring_moments(ring: &[[f64; 2]], origin: [f64; 2]) -> RingMoments {
    let mut sums = RingMoments::default();
    for (one, other) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        // From the origin, so that large coordinates do not cancel.
        let [[a, b], [c, d]] = [one, other].map(|at| [at[0] - origin[0], at[1] - origin[1]]);
        let twice = a * d - b * c;
        sums.add(1.0, RingMoments { area: twice / 2.0, moments: [twice * (a + c) / 6.0, twice * (b + d) / 6.0] });
    }
    // Clockwise or not.
    let mut positive = RingMoments::default();
    positive.add(sums.area.signum(), sums);
    positive
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn square(low: f64, high: f64) -> Value {
        json!([[low, low], [high, low], [high, high], [low, high], [low, low]])
    }

    /// Parts of a single area.
    fn parts(value: &Value, edges: [&[f64]; 2]) -> AreaOverlap {
        NamedAreas::parse(&value.to_string(), None).unwrap().cell_overlaps(edges).remove(0)
    }

    fn shares(value: &Value, edges: [&[f64]; 2]) -> Vec<f64> {
        parts(value, edges).parts.iter().map(|part| part.share).collect()
    }

    /// By hand: a square from .5 to 2.5 with a hole from 1 to 2 over nine unit cells, and a triangle that a cell cuts in half.
    #[test]
    fn shares_are_those_of_the_plane() {
        let edges = [0.0, 1.0, 2.0, 3.0];
        let ring = json!({ "type": "Polygon", "coordinates": [square(0.5, 2.5), square(1.0, 2.0)] });
        let found = parts(&ring, [&edges, &edges]);
        assert_eq!(shares(&ring, [&edges, &edges]), [0.25, 0.5, 0.25, 0.5, 0.0, 0.5, 0.25, 0.5, 0.25]);
        assert_eq!((found.name.as_str(), found.beyond), ("1", 0.0));
        // The upper right quarter of the first cell, and the right half of the second.
        for (cell, offset) in [(0, [0.25, 0.25]), (1, [0.25, 0.0])] {
            let off = (0..2).map(|axis| (found.parts[cell].offset[axis] - offset[axis]).abs());
            assert!(off.fold(0.0, f64::max) < 1e-15, "{:?}", found.parts[cell]);
        }
        let triangle = json!({ "type": "Polygon", "coordinates": [[[0, 0], [2, 0], [0, 2]]] });
        let two = [0.0, 1.0, 2.0];
        assert_eq!(shares(&triangle, [&two, &two]), [1.0, 0.5, 0.5, 0.0]);
        // A third of a side from the right angle.
        let [u, v] = parts(&triangle, [&two, &two]).parts[1].offset;
        assert!((u + 1.0 / 6.0).abs() < 1e-15 && (v + 1.0 / 6.0).abs() < 1e-15);
        // A half of it lies beyond a single cell.
        let outside = parts(&triangle, [&[0.0, 1.0], &[0.0, 1.0]]);
        assert_eq!((outside.parts[0].share, outside.beyond), (1.0, 0.5));
    }

    /// A letter U, whose part in a strip is two pieces joined along the line.
    #[test]
    fn pieces_of_a_border_add_up() {
        let u = json!([[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]]);
        let found = shares(&json!({ "type": "Polygon", "coordinates": [u] }), [&[0.0, 3.0], &[0.0, 1.0, 1.5, 2.0]]);
        let expected = [1.0, 2.0 / 3.0, 2.0 / 3.0];
        assert!(found.iter().zip(expected).all(|(one, other): (&f64, f64)| (one - other).abs() < 1e-15));
    }

    /// Against points drawn at random, for stars with corners at random distances.
    #[test]
    fn shares_are_those_of_points() {
        use rand::{RngExt as _, SeedableRng as _};
        let mut random = rand_pcg::Pcg64::seed_from_u64(3);
        let edges: Vec<f64> = (0..=4).map(|edge| f64::from(edge) / 4.0).collect();
        for _ in 0..20 {
            let corners: Vec<[f64; 2]> = (0..9)
                .map(|corner| {
                    let (turn, far) = (f64::from(corner) * std::f64::consts::TAU / 9.0, random.random_range(0.1..0.7));
                    [0.5 + far * turn.cos(), 0.5 + far * turn.sin()]
                })
                .collect();
            let star = json!({ "type": "Polygon", "coordinates": [corners] });
            let found = shares(&star, [&edges, &edges]);
            let (mut inside, mut all) = ([0.0; 16], [0.0; 16]);
            for _ in 0..40_000 {
                let at: [f64; 2] = [random.random(), random.random()];
                let cell = (at[0] * 4.0) as usize * 4 + (at[1] * 4.0) as usize;
                all[cell] += 1.0;
                inside[cell] += f64::from(u8::from(encloses(&corners, at)));
            }
            for cell in 0..16 {
                let (share, n): (f64, f64) = (found[cell], all[cell]);
                let sd = (share * (1.0 - share) / n).sqrt().max(1e-3);
                assert!((inside[cell] / n - share).abs() < 5.0 * sd, "cell {cell}");
            }
        }
    }

    /// By the crossings of a ray.
    fn encloses(ring: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
        let mut inside = false;
        for (one, other) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            if (one[1] > y) != (other[1] > y) && x < one[0] + (y - one[1]) / (other[1] - one[1]) * (other[0] - one[0]) {
                inside = !inside;
            }
        }
        inside
    }

    #[test]
    fn areas_have_the_names_of_a_property() {
        let feature = |name: Value, corner: f64| {
            json!({ "type": "Feature", "id": 7, "properties": { "name": name },
            "geometry": { "type": "MultiPolygon", "coordinates": [[square(0.0, corner)]] } })
        };
        let text = |features: &[Value]| json!({ "type": "FeatureCollection", "features": features }).to_string();
        let named = |features: &[Value], property: Option<&str>| {
            let areas = NamedAreas::parse(&text(features), property)?;
            Ok::<Vec<String>, String>(areas.names().map(str::to_owned).collect())
        };
        let three = [feature(json!("a"), 1.0), feature(json!(12), 2.0), feature(json!("a"), 3.0)];
        assert_eq!(named(&three, Some("name")).unwrap(), ["a", "12"]);
        assert_eq!(named(&three, None).unwrap(), ["7"]);
        for (features, property, says) in [
            (
                &three[..],
                Some("nam"),
                "features[0] has no property \"nam\" that holds text or a number; its properties are: \"name\"",
            ),
            (&[feature(Value::Null, 1.0)], Some("name"), "features[0] has no property"),
            (&[], None, "has no area"),
            (
                &[json!({ "type": "Point", "coordinates": [0, 0] })],
                None,
                "has the type \"Point\"; an area is a Polygon",
            ),
            (&[json!({ "type": "Polygon" })], None, "has the type Polygon, but no coordinates"),
            (&[json!({ "type": "Polygon", "coordinates": [[["0", 0]]] })], None, "has a border that is not a list"),
            (
                &[json!({ "type": "Polygon", "coordinates": [[[0, 0], [1e300, 0], [0, 1]]] })],
                None,
                "each a pair of numbers below 1e100",
            ),
        ] {
            let problem = named(features, property).unwrap_err();
            assert!(problem.contains(says), "{problem}");
        }
        for text in ["", "{", "[1]", "{\"type\": \"FeatureCollection\"}"] {
            assert!(NamedAreas::parse(text, None).is_err(), "{text}");
        }
    }
}
