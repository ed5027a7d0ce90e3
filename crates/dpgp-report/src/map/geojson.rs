//! Maps as GeoJSON (RFC 7946).

use serde_json::{Value, json};

use super::MapError;
use super::released_map::{MapCell, ReleasedMap};
use dpgp_release::ReleasedPoint;

/// A polygon for each cell, its corners counter-clockwise from the south-west; the guarantee is a foreign member.
pub(super) fn render_geojson(map: &ReleasedMap<'_>, caption: &[String]) -> Result<String, MapError> {
    let drawing = [("--scale", map.options.scale.is_some()), ("--outline", map.options.outline.is_some())];
    if let Some((option, _)) = drawing.into_iter().find(|(_, is_given)| *is_given) {
        return Err(MapError::NoDrawing(option));
    }
    let Some(y) = map.y.as_ref().filter(|_| map.is_earth) else { return Err(MapError::NotOnEarth) };
    let features = map.cells.iter().map(|cell| feature(cell, &map.x.edges, &y.edges));
    let collection = json!({
        "type": "FeatureCollection",
        "title": map.title(),
        "guarantee": map.released.statement,
        "caption": caption,
        "features": features.collect::<Vec<Value>>(),
    });
    Ok(format!("{collection}\n"))
}

fn feature(cell: &MapCell, x: &[f64], y: &[f64]) -> Value {
    let ([west, east], [south, north]) = ([x[cell.i], x[cell.i + 1]], [y[cell.j], y[cell.j + 1]]);
    let ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
    let ReleasedPoint { mean, gp_sd, noise_sd, low, high } = cell.point;
    json!({
        "type": "Feature",
        "geometry": { "type": "Polygon", "coordinates": [ring] },
        "properties": {
            "mean": mean, "gp_sd": gp_sd, "noise_sd": noise_sd, "low": low, "high": high, "masked": cell.is_masked,
        },
    })
}
