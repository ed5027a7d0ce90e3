//! The caption of a map, which is three sentences and further ones for readers who want more, and the self-contained HTML
//! page around both. Names and cells come from an untrusted file, so they are made safe to show.

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::MapError;
use super::released_map::{MapCell, ReleasedMap};
use super::svg::{CENTRAL_95, render_for_page};
use dpgp_data::escape_hidden_line;
use dpgp_number::text::{format_exact, format_four_digits_trimmed};
use dpgp_plot::Rect;

/// The sentences below a map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MapCaption {
    /// At most three.
    pub first: Vec<String>,
    /// What a page folds.
    pub more: Vec<String>,
}

impl MapCaption {
    /// All sentences.
    pub fn all_sentences(&self) -> Vec<String> {
        self.first.iter().chain(&self.more).cloned().collect()
    }
}

/// The meaning of both parts of the uncertainty.
const PARTS: &str = "The standard error combines gp_sd and noise_sd. gp_sd is the uncertainty of the model, including \
    its pull towards the prior mean (regularisation bias). noise_sd is the privacy noise.";
/// The same for counts.
const PARTS_OF_COUNT: &str = "The standard error combines gp_sd and noise_sd. gp_sd is the uncertainty that remains about the \
    exact count of a bin, given the counts of other bins. noise_sd is the privacy noise.";
/// The note on a map whose cells are all hatched.
const NOTHING_SHOWN: &str = "Every cell is too uncertain to show, so there is no colour scale. More rows, a larger epsilon or a longer \
    lengthscale would show more cells; `dpgp predict --preview` estimates the accuracy in advance. The table and the intervals remain \
    valid.";
/// What the accuracy takes for granted.
const ASSUMED: &str = "The intervals assume that the model fits, above all its lengthscales. They are for means: single rows vary more. If \
     persons are protected, means are over the rows used: rows beyond a person's limit are left out.";
const ASSUMED_OF_COUNTS: &str = "The intervals are for the exact counts of the rows used: where persons are protected, rows beyond \
     a person's limit are not counted. The intervals assume that neighbouring bins, or all bins of a categorical column, have \
     similar counts, to the degree that the noisy counts show.";
const FROM_THE_FILE: &str = "The picture is drawn only from the numbers in the file and reveals nothing more.";

impl ReleasedMap<'_> {
    /// First the guarantee, the accuracy and the hatching; then the rest of the certificate, and what the drawing leaves out.
    pub fn caption(&self) -> MapCaption {
        let mut said = self.released.statement.said.iter().cloned();
        // The first sentence of a certificate says what somebody can guess; that of no certificate, that nothing is claimed.
        let first: Vec<String> =
            said.next().into_iter().chain(self.accuracy_sentence()).chain(self.hatching_sentence()).collect();
        let places: Vec<String> = self.fixed_inputs().collect();
        // A title of the user's own need not say it.
        let drawn_at = (!places.is_empty()).then(|| format!("Drawn at {}.", places.join(", ")));
        let is_accurate = self.released.statement.guarantee.is_some();
        let all_hatched = self.y.is_some() && self.masked_count() == self.cells.len();
        let mut more: Vec<String> =
            drawn_at.into_iter().chain(self.off_scale_sentence()).chain(self.outline_sentence()).collect();
        more.extend(self.privacy_definition_sentence());
        more.extend(said);
        let (assumed, parts) = match self.released.statement.counts {
            true => (ASSUMED_OF_COUNTS, PARTS_OF_COUNT),
            false => (ASSUMED, PARTS),
        };
        more.extend(is_accurate.then(|| assumed.to_owned()));
        more.extend(all_hatched.then(|| NOTHING_SHOWN.to_owned()));
        more.extend([parts, FROM_THE_FILE].map(str::to_owned));
        MapCaption { first, more }
    }

    fn hatching_sentence(&self) -> Option<String> {
        self.y.as_ref()?;
        let (masked, all) = (self.masked_count(), self.cells.len());
        let share = format_four_digits_trimmed(100.0 * masked as f64 / all as f64);
        Some(format!("Hatched: {}; {masked} of {all} cells ({share} %).", self.mask.describe_rule(&self.unit_suffix())))
    }

    /// The numbers that a scale of the user's own cuts off.
    fn off_scale_sentence(&self) -> Option<String> {
        let scale = self.options.scale?;
        let seen: Vec<f64> = self.cells.iter().filter(|cell| !cell.is_masked).map(|cell| cell.point.mean).collect();
        let beyond = seen.iter().filter(|mean| scale.is_beyond(**mean)).count();
        let [low, high] = [scale.low, scale.high].map(format_four_digits_trimmed);
        Some(format!(
            "The scale was set to run from {low} to {high}; {beyond} of the {} means shown lie outside it.",
            seen.len()
        ))
    }

    fn outline_sentence(&self) -> Option<String> {
        self.options.outline.as_ref().map(|outline| format!("The lines come from {}.", outline.file_name()))
    }

    /// The definition of the guarantee: `P(S) <= e^epsilon P'(S) + delta` for every set S of outputs.
    fn privacy_definition_sentence(&self) -> Option<String> {
        let statement = &self.released.statement;
        // Who sees this answer may see the others.
        let (numbers, (epsilon, delta)) = match statement.of_all_answers {
            Some(all) => ("these numbers and the other answers", all),
            None => ("these numbers", (statement.epsilon?, statement.delta?)),
        };
        let (factor, neighbours) = (format_four_digits_trimmed(epsilon.exp()), statement.neighbours.as_deref()?);
        Some(format!(
            "Privacy: the probability of any conclusion from {numbers} is at most {factor} times its probability on \
             neighbouring data ({neighbours}), plus {delta:?}."
        ))
    }

    /// The half-widths of the shown intervals; none if no guarantee is claimed.
    fn accuracy_sentence(&self) -> Option<String> {
        self.released.statement.guarantee.as_ref()?;
        let seen = self.cells.iter().filter(|cell| !cell.is_masked);
        let mut sds: Vec<f64> = seen.map(|cell| CENTRAL_95 * cell.point.total_sd()).collect();
        sds.sort_by(f64::total_cmp);
        let (half, most) = (sds.get(sds.len() / 2)?, sds.get(sds.len() * 9 / 10)?);
        let shown = if self.y.is_some() { "coloured cells" } else { "points" };
        Some(format!(
            "Accuracy: half of the {shown} have a 95 % interval of at most ±{}{}, nine tenths of at most ±{}{}.",
            format_four_digits_trimmed(*half),
            self.unit_suffix(),
            format_four_digits_trimmed(*most),
            self.unit_suffix()
        ))
    }
}

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
    let mut headings: Vec<String> = map.released.inputs.iter().map(|input| sanitise_name(&input.name)).collect();
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
        caption: escape_hidden_lines(&caption.first),
        more: escape_hidden_lines(&caption.more),
        headings,
        rows: map.cells.iter().map(|cell| row(map, cell)).collect(),
    };
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    Ok(templates.render_str(include_str!("map.html"), Value::from(Serde(page)))?)
}

fn row(map: &ReleasedMap<'_>, cell: &MapCell) -> MapPageRow {
    let point = cell.point;
    let mut cells: Vec<String> =
        map.released.inputs.iter().map(|input| format_input_value(&input.cells[cell.row])).collect();
    cells.extend([point.mean, point.gp_sd, point.noise_sd, point.low, point.high].map(format_four_digits_trimmed));
    cells.extend(map.y.as_ref().map(|_| if cell.is_masked { "yes" } else { "no" }.to_owned()));
    // The place of a bar is counted upwards, as that of a cell.
    let id = match map.x.words.len() {
        0 => format!("c{}-{}", cell.i, cell.j),
        words => format!("c0-{}", words - 1 - cell.i),
    };
    MapPageRow { id, cells }
}

fn escape_hidden_lines(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|sentence| escape_hidden_line(sentence).into_owned()).collect()
}

fn join_numbers(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.6}")).collect::<Vec<String>>().join(" ")
}

/// The most letters of a name in a picture.
const MOST: usize = 48;

/// A name in one line without hidden characters, cut where it is too long for a picture.
pub(super) fn sanitise_name(name: &str) -> String {
    let name = escape_hidden_line(name);
    if name.chars().count() <= MOST { name.into_owned() } else { name.chars().take(MOST).chain(['…']).collect() }
}

/// A cell: numbers to seven digits.
pub(super) fn format_input_value(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) => format_exact(format!("{number:.6e}").parse().unwrap_or(number)),
        Err(_) => sanitise_name(cell),
    }
}
