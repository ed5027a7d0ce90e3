//! A map as a self-contained HTML page. Names and cells come from an untrusted file, so they are made safe to show.

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::MapError;
use super::caption::MapCaption;
use super::released_map::{MapCell, ReleasedMap};
use super::svg::render_for_page;
use dpgp_data::escape_hidden_line;
use dpgp_number::text::{format_brief, format_exact};
use dpgp_plot::Rect;

/// The columns after the inputs, as on the page.
const COLUMNS: [&str; 5] = ["mean", "gp_sd", "noise_sd", "low", "high"];

/// The input of the template.
#[derive(Debug, Serialize)]
struct MapPage {
    css: &'static str,
    js: &'static str,
    version: &'static str,
    title: String,
    /// The place of the cells in the drawing, and the edges of cells as fractions of it.
    rect: String,
    x: String,
    y: String,
    svg: String,
    caption: Vec<String>,
    /// The sentences that are folded.
    more: Vec<String>,
    headings: Vec<String>,
    rows: Vec<MapPageRow>,
}

#[derive(Debug, Serialize)]
struct MapPageRow {
    id: String,
    cells: Vec<String>,
}

/// The page.
pub(super) fn render_html(map: &ReleasedMap<'_>, caption: &MapCaption) -> Result<String, MapError> {
    let drawn = render_for_page(map)?;
    // The cells are the last plot; above them is the colour bar.
    let rect = drawn.plots.last().map_or([0.0; 4], |Rect { left, top, width, height }| [*left, *top, *width, *height]);
    let whole = vec![0.0, 1.0];
    let (x, y) = match &map.y {
        Some(y) => (map.x.edge_fractions(), y.edge_fractions()),
        None if map.x.words.is_empty() => (map.x.edge_fractions(), whole),
        // Bars lie below each other.
        None => (whole, map.x.edge_fractions()),
    };
    let mut headings: Vec<String> = map.released.inputs.iter().map(|input| display_name(&input.name)).collect();
    headings.extend(COLUMNS.map(str::to_owned));
    headings.extend(map.y.as_ref().map(|_| "masked".to_owned()));
    let page = MapPage {
        css: include_str!("map.css"),
        js: include_str!("map.js"),
        version: env!("CARGO_PKG_VERSION"),
        title: map.title(),
        rect: join_numbers(&rect),
        x: join_numbers(&x),
        y: join_numbers(&y),
        svg: drawn.svg,
        caption: single_line_sentences(&caption.first),
        more: single_line_sentences(&caption.more),
        headings,
        rows: map.cells.iter().map(|cell| row(map, cell)).collect(),
    };
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    Ok(templates.render_str(include_str!("map.html"), Value::from(Serde(page)))?)
}

fn row(map: &ReleasedMap<'_>, cell: &MapCell) -> MapPageRow {
    let point = cell.point;
    let mut cells: Vec<String> = map.released.inputs.iter().map(|input| display_cell(&input.cells[cell.row])).collect();
    cells.extend([point.mean, point.gp_sd, point.noise_sd, point.low, point.high].map(format_brief));
    cells.extend(map.y.as_ref().map(|_| if cell.is_masked { "yes" } else { "no" }.to_owned()));
    // The place of a bar is counted upwards, as that of a cell.
    let id = match map.x.words.len() {
        0 => format!("c{}-{}", cell.i, cell.j),
        words => format!("c0-{}", words - 1 - cell.i),
    };
    MapPageRow { id, cells }
}

fn single_line_sentences(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|sentence| escape_hidden_line(sentence).into_owned()).collect()
}

fn join_numbers(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.6}")).collect::<Vec<String>>().join(" ")
}

/// The most letters of a name in a picture.
const MOST: usize = 48;

/// A name in one line without hidden characters, cut where it is too long for a picture.
pub fn display_name(name: &str) -> String {
    let name = escape_hidden_line(name);
    if name.chars().count() <= MOST { name.into_owned() } else { name.chars().take(MOST).chain(['…']).collect() }
}

/// A cell: numbers to seven digits.
pub fn display_cell(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) => format_exact(format!("{number:.6e}").parse().unwrap_or(number)),
        Err(_) => display_name(cell),
    }
}
