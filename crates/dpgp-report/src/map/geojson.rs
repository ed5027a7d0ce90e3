//! Maps as GeoJSON (RFC 7946), and lines of a public GeoJSON file over a map of the earth. Only coordinates are taken from
//! the file; its texts appear only in errors.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::MapError;
use super::page::sanitise_name;
use super::released_map::{MapCell, ReleasedMap};
use dpgp_plot::PlotPoint;
use dpgp_release::PredictionsFilePoint;

/// The most bytes of a file.
const MOST: u64 = 10 << 20;

/// Lines by longitude and latitude.
#[derive(Debug, Clone, PartialEq)]
pub struct MapOutline {
    /// The file that they are from.
    pub path: PathBuf,
    /// The corners of each, x for the longitude and y for the latitude.
    pub lines: Vec<Vec<PlotPoint>>,
}

impl MapOutline {
    /// Reads a file of lines and borders of areas.
    ///
    /// # Errors
    /// [`MapError::Outline`] with what is wrong, and where.
    pub fn read(path: &Path) -> Result<Self, MapError> {
        let wrong = |problem: String| MapError::Outline { path: path.to_path_buf(), problem };
        let mut text = Vec::new();
        let file = File::open(path).map_err(|cause| wrong(cause.to_string()))?;
        file.take(MOST + 1).read_to_end(&mut text).map_err(|cause| wrong(cause.to_string()))?;
        if text.len() as u64 > MOST {
            return Err(wrong(format!(
                "is larger than {} MB, the limit for an outline; use a coarser one",
                MOST >> 20
            )));
        }
        Ok(Self { path: path.to_path_buf(), lines: parse_geojson_lines(&text).map_err(wrong)? })
    }

    /// The name of the file without its folder.
    pub(super) fn file_name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| sanitise_name(&name.to_string_lossy()))
    }
}

/// The lines in the text of a file.
fn parse_geojson_lines(text: &[u8]) -> Result<Vec<Vec<PlotPoint>>, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("is not JSON: {error}"))?;
    let mut lines = Vec::new();
    add_object_lines(&mut lines, &value, "the file")?;
    if lines.is_empty() { Err("has no line and no polygon".to_owned()) } else { Ok(lines) }
}

/// Adds the lines of a geometry, a feature or a collection that stands at this place of the file.
fn add_object_lines(lines: &mut Vec<Vec<PlotPoint>>, value: &Value, at: &str) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("{at} is not a GeoJSON object"))?;
    let kind = object.get("type").and_then(Value::as_str);
    let kind = kind.ok_or_else(|| format!("{at} is not GeoJSON: its \"type\" is missing or not text"))?;
    let place = |key: &str| if at == "the file" { key.to_owned() } else { format!("{at}.{key}") };
    let part = |key: &str| object.get(key).ok_or_else(|| format!("{at} has the type {kind}, but no {key:?}"));
    let nested = match kind {
        "FeatureCollection" | "GeometryCollection" => {
            let key = if kind == "FeatureCollection" { "features" } else { "geometries" };
            let parts = part(key)?.as_array().ok_or_else(|| format!("{} is not a list", place(key)))?;
            let mut parts = parts.iter().enumerate();
            return parts.try_for_each(|(i, each)| add_object_lines(lines, each, &format!("{}[{i}]", place(key))));
        }
        // A feature may be nowhere.
        "Feature" => match part("geometry")? {
            Value::Null => return Ok(()),
            geometry => return add_object_lines(lines, geometry, &place("geometry")),
        },
        // A point has no line.
        "Point" | "MultiPoint" => return Ok(()),
        "LineString" => 0,
        "MultiLineString" | "Polygon" => 1,
        "MultiPolygon" => 2,
        _ => return Err(format!("{at} has the type {:?}, which is not a GeoJSON type", sanitise_name(kind))),
    };
    add_lines(lines, part("coordinates")?, nested, &place("coordinates"))
}

/// Adds a line, or the lines of lists that are nested so deeply.
fn add_lines(lines: &mut Vec<Vec<PlotPoint>>, value: &Value, nested: usize, at: &str) -> Result<(), String> {
    let list = value.as_array().ok_or_else(|| format!("{at} is not a list"))?;
    let mut parts = list.iter().enumerate().map(|(i, part)| (part, format!("{at}[{i}]")));
    if nested > 0 {
        return parts.try_for_each(|(part, at)| add_lines(lines, part, nested - 1, &at));
    }
    let line =
        parts.map(|(part, at)| parse_geojson_position(part).ok_or(at)).collect::<Result<Vec<PlotPoint>, String>>();
    let line = line.map_err(|at| {
        format!("{at} is not a longitude from -180 to 180 and a latitude from -90 to 90; GeoJSON needs degrees")
    })?;
    match line.len() {
        // An empty geometry is nowhere.
        0 => Ok(()),
        1 => Err(format!("{at} is a line with one position, but a line needs two")),
        _ => {
            lines.push(line);
            Ok(())
        }
    }
}

/// A longitude and a latitude; a height may follow.
fn parse_geojson_position(value: &Value) -> Option<PlotPoint> {
    let [x, y, ..] = value.as_array()?.as_slice() else { return None };
    let (x, y) = (x.as_f64()?, y.as_f64()?);
    (x.abs() <= 180.0 && y.abs() <= 90.0).then(|| PlotPoint::new(x, y))
}

/// A polygon for each cell, its corners counter-clockwise from the south-west; the guarantee is a foreign member.
pub(super) fn render_geojson(map: &ReleasedMap<'_>, caption: &[String]) -> Result<String, MapError> {
    let drawing = [("--scale", map.options.scale.is_some()), ("--outline", map.options.outline.is_some())];
    if let Some((option, _)) = drawing.into_iter().find(|(_, is_given)| *is_given) {
        return Err(MapError::NoDrawing(option));
    }
    let Some(y) = map.y.as_ref().filter(|_| map.is_earth) else { return Err(MapError::NotOnEarth) };
    let features = map.cells.iter().map(|cell| cell_feature(cell, &map.x.edges, &y.edges));
    let collection = json!({
        "type": "FeatureCollection",
        "title": map.title(),
        "guarantee": map.released.statement,
        "caption": caption,
        "features": features.collect::<Vec<Value>>(),
    });
    Ok(format!("{collection}\n"))
}

fn cell_feature(cell: &MapCell, x: &[f64], y: &[f64]) -> Value {
    let ([west, east], [south, north]) = ([x[cell.i], x[cell.i + 1]], [y[cell.j], y[cell.j + 1]]);
    let ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
    let PredictionsFilePoint { mean, gp_sd, noise_sd, low, high } = cell.point;
    json!({
        "type": "Feature",
        "geometry": { "type": "Polygon", "coordinates": [ring] },
        "properties": {
            "mean": mean, "gp_sd": gp_sd, "noise_sd": noise_sd, "low": low, "high": high, "masked": cell.is_masked,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Vec<Vec<(f64, f64)>>, String> {
        let found = parse_geojson_lines(value.to_string().as_bytes())?;
        Ok(found.into_iter().map(|line| line.into_iter().map(|at| (at.x, at.y)).collect()).collect())
    }

    #[test]
    fn every_geometry_with_lines_is_read() {
        let (one, two) = (json!([[1, 2], [3, 4, 99]]), json!([[5, 6], [7, 8], [5, 6]]));
        let (first, second) = (vec![(1.0, 2.0), (3.0, 4.0)], vec![(5.0, 6.0), (7.0, 8.0), (5.0, 6.0)]);
        let both = vec![first.clone(), second.clone()];
        let line = json!({ "type": "LineString", "coordinates": one });
        for (value, expected) in [
            (line.clone(), vec![first.clone()]),
            (json!({ "type": "MultiLineString", "coordinates": [one, two] }), both.clone()),
            (json!({ "type": "Polygon", "coordinates": [two, one] }), vec![second.clone(), first.clone()]),
            (json!({ "type": "MultiPolygon", "coordinates": [[one], [], [two]] }), both.clone()),
            (
                json!({ "type": "GeometryCollection", "geometries": [
                    { "type": "Point", "coordinates": [0, 0] }, line, { "type": "Polygon", "coordinates": [two] }] }),
                both.clone(),
            ),
            (json!({ "type": "Feature", "properties": { "name": "<script>" }, "geometry": line }), vec![first]),
            (
                json!({ "type": "FeatureCollection", "features": [
                    { "type": "Feature", "geometry": null, "properties": null },
                    { "type": "Feature", "geometry": { "type": "MultiLineString", "coordinates": [one, two] } }] }),
                both,
            ),
        ] {
            assert_eq!(read(&value).unwrap(), expected, "{value}");
        }
        assert_eq!(
            parse_geojson_lines(b"\xef\xbb\xbf{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}").unwrap().len(),
            1
        );
    }

    #[test]
    fn an_error_says_what_is_wrong_and_where() {
        let feature = |geometry: Value| json!({ "type": "FeatureCollection", "features": [{ "type": "Feature", "geometry": geometry }] });
        for (value, says) in [
            (json!([1, 2]), "the file is not a GeoJSON object"),
            (json!({ "lon": 1 }), "its \"type\" is missing"),
            (json!({ "type": "Topology" }), "the file has the type \"Topology\", which is not a GeoJSON type"),
            (json!({ "type": "Feature" }), "has the type Feature, but no \"geometry\""),
            (json!({ "type": "FeatureCollection", "features": {} }), "features is not a list"),
            (
                feature(json!({ "type": "LineString" })),
                "features[0].geometry has the type LineString, but no \"coordinates\"",
            ),
            (
                feature(json!({ "type": "LineString", "coordinates": [[0, 0], [500_000, 9]] })),
                "features[0].geometry.coordinates[1] is not a longitude",
            ),
            (json!({ "type": "Polygon", "coordinates": [[[0, 0], ["1", 0]]] }), "coordinates[0][1] is not a longitude"),
            (json!({ "type": "LineString", "coordinates": [[0, 0]] }), "coordinates is a line with one position"),
            (json!({ "type": "LineString", "coordinates": [0, 0] }), "coordinates[0] is not a longitude"),
            (json!({ "type": "Point", "coordinates": [0, 0] }), "has no line"),
            (json!({ "type": "Polygon", "coordinates": [] }), "has no line"),
        ] {
            let problem = read(&value).unwrap_err();
            assert!(problem.contains(says), "{value}: {problem}");
        }
        for text in [
            &b""[..],
            b"{",
            b"{\"type\": \"LineString\", \"coordinates\": [[0, 1e999], [0, 0]]}",
            b"\xff\xfe",
            &b"[".repeat(9999),
        ] {
            assert!(parse_geojson_lines(text).unwrap_err().starts_with("is not JSON: "));
        }
    }
}
