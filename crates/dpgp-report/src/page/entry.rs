//! One experiment on the page: its results, its errata and its packed data.
//!
//! Figures and rows take most of the space, so they are compressed for the page's script. Figures are first reduced to fewer and
//! shorter SVG elements.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value;

use super::{PageColumn, PageRow, PageTable, PageTotals, anchor, table};
use crate::results::PublishError;
use crate::results::committed::ExperimentResults;
use crate::{ClaimOutcome, ClaimOutcomeCounts, CommittedResults, VerdictCounts, format_four_digits};
use dpgp_plot::CAPTION_GROUP;
use dpgp_spec::{ClaimOwner, ErratumKind, ErratumWords, ProtocolDeviation, ReferenceValueOwner};
use dpgp_task::{Cell, Experiment};

/// Rows of one experiment that are readable without scripts. The others are packed with the figure.
const READ_WITHOUT_SCRIPTS: usize = 24;

/// An experiment as the page shows it.
#[derive(Debug, Default, Serialize)]
pub(super) struct ExperimentEntry {
    name: String,
    anchor: String,
    title: String,
    artefact: Option<String>,
    state: ResultsState,
    counts: VerdictCounts,
    others: VerdictCounts,
    claims: Vec<PageClaim>,
    statements: ClaimOutcomeCounts,
    has_figure: bool,
    /// The caption of the figure.
    caption: String,
    errata: Vec<PageErratum>,
    columns: Vec<PageColumn>,
    /// The first rows.
    rows: Vec<PageRow>,
    /// The number of all rows.
    all_rows: usize,
    guarantees: Vec<String>,
    /// The figure and all rows.
    packed: String,
    deviations: Vec<ProtocolDeviation>,
    manifest: Vec<ManifestLine>,
}

/// Shortens an SVG: drops attributes that SVG or the style of the page implies, and joins marks. Halves a figure with many marks.
fn compact_svg(svg: &str) -> String {
    let granted = [
        " opacity=\"1\"",
        " stroke=\"none\"",
        " stroke-width=\"1\"",
        " fill=\"#000000\"",
        " font-family=\"sans-serif\"",
    ];
    let plain = granted.into_iter().fold(svg.to_owned(), |svg, default| svg.replace(default, ""));
    let plain = plain.replace("<polyline fill=\"none\"", "<polyline");
    let plain = plain.replace("\n<polyline", "<polyline").replace("\n<circle", "<circle");
    join_polylines(&shorten_font_sizes(&plain.replace(" \"/>", "\"/>")))
}

const FONT_SIZE: &str = "font-size=\"";

/// Sizes of letters with one decimal; figures have sixteen.
fn shorten_font_sizes(svg: &str) -> String {
    let mut parts = svg.split(FONT_SIZE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or((part, ""));
        let short = size.parse::<f64>().map_or(size.to_owned(), |size| format!("{size:.1}"));
        text.extend([FONT_SIZE, &short, "\"", rest]);
    }
    text
}

/// A figure without its caption, and the caption, which the page says in letters of its own.
fn split_caption(svg: &str) -> (String, String) {
    let parts = svg.split_once(CAPTION_GROUP).zip(svg.split_once("viewBox=\""));
    let Some(((marks, caption), (_, rest))) = parts else { return (svg.to_owned(), String::new()) };
    let texts = caption.split("<text ").skip(1).filter_map(|text| text.split_once('>')?.1.split_once("</text>"));
    let texts = texts.map(|(words, _)| words.trim());
    let words = texts.collect::<Vec<_>>().join(" ");
    let first = caption.split_once(" y=\"").and_then(|(_, rest)| rest.split_once('"')?.0.parse::<u32>().ok());
    let view: Vec<&str> = rest.split_once('"').map_or("", |(view, _)| view).split(' ').collect();
    let (Some(height), [left, top, width, _]) = (first, view.as_slice()) else {
        return (svg.to_owned(), String::new());
    };
    let shorter = format!("viewBox=\"{left} {top} {width} {height}\"");
    (
        format!("{}</svg>\n", marks.replacen(&format!("viewBox=\"{}\"", view.join(" ")), &shorter, 1)),
        unescape_xml(&words),
    )
}

/// The text of an element.
fn unescape_xml(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

/// Whether there are results, and whether they come from this version of the spec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ResultsState {
    Present,
    Stale,
    #[default]
    Missing,
}

#[derive(Debug, Serialize)]
struct PageClaim {
    text: String,
    from: &'static str,
    place: String,
    quote: String,
    outcome: &'static str,
}

impl From<&ClaimOutcome> for PageClaim {
    fn from(claim: &ClaimOutcome) -> Self {
        Self {
            text: claim.text.clone(),
            from: claim.from.name(),
            place: claim.place.clone(),
            quote: claim.quote.clone(),
            outcome: claim.outcome.name(),
        }
    }
}

/// A line of the manifest.
#[derive(Debug, Serialize)]
struct ManifestLine {
    key: String,
    value: String,
}

impl ExperimentEntry {
    /// An experiment and its results, if there are any.
    ///
    /// # Errors
    /// [`PublishError`] if its rows cannot be packed.
    pub fn new(examined: &ExperimentResults<'_>) -> Result<Self, PublishError> {
        let experiment = examined.experiment;
        let mut entry = Self {
            name: experiment.name.clone(),
            anchor: anchor(&experiment.name),
            title: experiment.meta.title.clone(),
            artefact: experiment.meta.artefact.clone(),
            deviations: experiment.deviations.clone(),
            ..Self::default()
        };
        if let Some(committed) = &examined.committed {
            entry.add_results(committed, experiment)?;
        }
        Ok(entry)
    }

    fn add_results(&mut self, committed: &CommittedResults, experiment: &Experiment) -> Result<(), PublishError> {
        self.state = if committed.is_stale(experiment) { ResultsState::Stale } else { ResultsState::Present };
        self.counts = committed.verdict_counts(ReferenceValueOwner::Paper);
        self.counts.add(committed.spread_verdict_counts());
        self.others = committed.verdict_counts(ReferenceValueOwner::Authors);
        self.others.add(committed.verdict_counts(ReferenceValueOwner::Reference));
        self.statements = ClaimOutcomeCounts::count(&committed.claims, ClaimOwner::Paper);
        self.claims = committed.claims.iter().map(PageClaim::from).collect();
        self.errata = errata(committed, experiment);
        self.manifest = committed.manifest.as_ref().map(flatten_manifest_to_lines).unwrap_or_default();
        let parts = committed.figure.as_deref().map(split_caption);
        self.caption = parts.as_ref().map(|(_, caption)| caption.clone()).unwrap_or_default();
        let figure = parts.map(|(marks, _)| compact_svg(&marks));
        let mut table = table(committed, &self.anchor);
        self.has_figure = figure.is_some();
        self.all_rows = table.rows.len();
        self.packed = pack_figure_and_table(figure.as_deref(), &table)?;
        table.rows.truncate(READ_WITHOUT_SCRIPTS);
        (self.columns, self.rows, self.guarantees) = (table.columns, table.rows, table.guarantees);
        Ok(())
    }

    /// Adds its counts to those of the page.
    pub fn add_counts_to(&self, totals: &mut PageTotals) {
        totals.counts.add(self.counts);
        totals.statements.add(self.statements);
    }
}

/// The leaves of a manifest, each with its dotted key.
fn flatten_manifest_to_lines(manifest: &Value) -> Vec<ManifestLine> {
    let mut facts = Vec::new();
    collect_leaves("", manifest, &mut facts);
    facts
}

fn collect_leaves(key: &str, value: &Value, facts: &mut Vec<ManifestLine>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect_leaves(&join_key(key, name), value, facts))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| collect_leaves(&join_key(key, &i.to_string()), value, facts));
        }
        Value::Null => {}
        Value::String(text) => facts.push(ManifestLine { key: key.to_owned(), value: text.clone() }),
        other => facts.push(ManifestLine { key: key.to_owned(), value: other.to_string() }),
    }
}

fn join_key(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// An erratum as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct PageErratum {
    words: ErratumWords,
    claimed: String,
    found: String,
    corrected: String,
    /// The factor by which a valid bound is too large; none for another kind.
    factor: Option<String>,
}

/// The errata among the cells of an experiment, by paper and then by kind, with the numbers of its table.
pub(super) fn errata(committed: &CommittedResults, experiment: &Experiment) -> Vec<PageErratum> {
    let cells = experiment.cells.iter();
    let told = cells.filter_map(|cell| Some(page_erratum(committed, cell, experiment.erratum(cell)?)));
    let mut all: Vec<PageErratum> = told.collect();
    all.sort_by(|a, b| (&a.words.paper, a.words.kind).cmp(&(&b.words.paper, b.words.kind)));
    all
}

fn page_erratum(committed: &CommittedResults, cell: &Cell, words: &ErratumWords) -> PageErratum {
    let id = cell.id().short();
    let [claimed, found, corrected, factor] = ["claimed", "found", "corrected", "factor"]
        .map(|metric| find_value(committed, &id, metric).map(format_four_digits).unwrap_or_default());
    let factor = (words.kind == ErratumKind::Loose).then_some(factor);
    PageErratum { words: words.clone(), claimed, found, corrected, factor }
}

/// The value of a metric in the row of a cell; none if the table has no such row.
fn find_value(committed: &CommittedResults, cell: &str, metric: &str) -> Option<f64> {
    let mut rows = committed.rows.iter();
    let row = rows.find(|row| committed.field(row, "cell") == cell && committed.field(row, "metric") == metric)?;
    committed.field(row, "value").parse().ok()
}

/// The data that the script reads.
#[derive(Serialize)]
struct FigureAndTableData<'a> {
    figure: Option<&'a str>,
    #[serde(flatten)]
    table: &'a PageTable,
}

/// A figure and a table as JSON, compressed by gzip, in letters of base 64.
///
/// # Errors
/// [`PublishError::Packing`].
fn pack_figure_and_table(figure: Option<&str>, table: &PageTable) -> Result<String, PublishError> {
    let json = serde_json::to_vec(&FigureAndTableData { figure, table }).map_err(std::io::Error::from);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let bytes = json.and_then(|json| encoder.write_all(&json)).and_then(|()| encoder.finish());
    Ok(STANDARD.encode(bytes.map_err(PublishError::Packing)?))
}

const OPEN: &str = "<polyline ";
const POINTS: &str = " points=\"";
const CLOSE: &str = "\"/>";
const OPACITY: &str = "opacity=";

/// A polyline of a figure.
struct SvgPolyline<'a> {
    /// Its attributes but for its points.
    style: &'a str,
    points: &'a str,
}

/// A figure whose neighbouring polylines of one style are one path: a dashed line is drawn as hundreds of them. Those that one
/// sees through stay apart, since strokes of one path do not darken each other where they cross: they share their style in a group,
/// whose opacity is that of each stroke.
fn join_polylines(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find(OPEN) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some((first, after)) = parse_polyline(rest) else {
            text.push_str(OPEN);
            rest = &rest[OPEN.len()..];
            continue;
        };
        rest = after;
        let mut strokes = vec![first];
        while let Some((next, after)) = parse_polyline(rest).filter(|(next, _)| has_same_style(&strokes[0], next)) {
            strokes.push(next);
            rest = after;
        }
        write_path(&mut text, &strokes);
    }
    text.push_str(rest);
    text
}

fn has_same_style(first: &SvgPolyline<'_>, next: &SvgPolyline<'_>) -> bool {
    first.style == next.style
}

/// The polyline that a text begins with, and what follows it.
fn parse_polyline(text: &str) -> Option<(SvgPolyline<'_>, &str)> {
    let (mark, after) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    let (style, points) = mark.split_once(POINTS)?;
    Some((SvgPolyline { style, points }, after))
}

fn write_path(text: &mut String, strokes: &[SvgPolyline<'_>]) {
    let style = strokes[0].style;
    if strokes.len() > 1 && style.contains(OPACITY) {
        text.push_str(&format!("<g {}>", style.replace(OPACITY, "stroke-opacity=")));
        strokes.iter().for_each(|stroke| text.push_str(&format!("<path d=\"{}{CLOSE}", path_data(stroke.points))));
        return text.push_str("</g>");
    }
    text.push_str(&format!("<path {style} d=\""));
    strokes.iter().for_each(|stroke| text.push_str(&path_data(stroke.points)));
    text.push_str(CLOSE);
}

/// The points of a polyline as a path of steps from each to the next, which repeat themselves where places do not.
fn path_data(points: &str) -> String {
    let places: Option<Vec<[i64; 2]>> = points.split_whitespace().map(parse_point).collect();
    let Some([first, rest @ ..]) = places.as_deref() else { return format!("M{points}") };
    let mut path = format!("M{} {}", first[0], first[1]);
    let mut before = first;
    for (i, next) in rest.iter().enumerate() {
        let apart = if i == 0 { "l" } else { " " };
        path.push_str(&format!("{apart}{} {}", next[0] - before[0], next[1] - before[1]));
        before = next;
    }
    path
}

/// A point with integer coordinates.
fn parse_point(point: &str) -> Option<[i64; 2]> {
    let (x, y) = point.split_once(',')?;
    Some([x.parse().ok()?, y.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_leaves_the_figure_for_the_page() {
        let marks = "<text x=\"1\" y=\"5\">\na\n</text>\n";
        let caption =
            "<text x=\"64\" y=\"700\" dy=\"0\">\nn: 3 &lt; 4;\n</text>\n<text x=\"64\" y=\"764\">\nmore.\n</text>\n";
        let figure = |height: &str, tail: &str| {
            format!("<svg width=\"9\" viewBox=\"0 0 2720 {height}\">\n{marks}{tail}</svg>\n")
        };
        let whole = figure("900", &format!("{CAPTION_GROUP}\n{caption}</g>\n"));
        assert_eq!(split_caption(&whole), (figure("700", ""), "n: 3 < 4; more.".to_owned()));
        assert_eq!(split_caption(&figure("900", "")), (figure("900", ""), String::new()));
    }

    #[test]
    fn neighbours_of_one_style_are_one_path() {
        let svg = "<svg><polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#005\" points=\"5,6 7,8\"/><text/>\
                   <polyline stroke=\"#005\" points=\"1,2 3,4\"/><polyline stroke=\"#006\" points=\"1,2 3,4\"/></svg>";
        let expected = "<svg><path stroke=\"#005\" d=\"M1 2l2 2M5 6l2 2\"/><text/>\
                        <path stroke=\"#005\" d=\"M1 2l2 2\"/><path stroke=\"#006\" d=\"M1 2l2 2\"/></svg>";
        assert_eq!(join_polylines(svg), expected);
    }

    #[test]
    fn a_stroke_is_its_first_place_and_its_steps() {
        assert_eq!(path_data("10,20 13,15 13,16 "), "M10 20l3 -5 0 1");
        assert_eq!(path_data("10,20"), "M10 20");
        assert_eq!(path_data("1.5,2 3,4"), "M1.5,2 3,4", "a path of places, too");
        assert_eq!(path_data(""), "M");
    }

    #[test]
    fn strokes_that_one_sees_through_stay_apart() {
        let svg = "<polyline opacity=\"0.7\" points=\"1,2 3,4\"/><polyline opacity=\"0.7\" points=\"5,6 7,8\"/>";
        let grouped = "<g stroke-opacity=\"0.7\"><path d=\"M1 2l2 2\"/><path d=\"M5 6l2 2\"/></g>";
        assert_eq!(join_polylines(svg), grouped);
        assert_eq!(join_polylines("<polyline class=\"a\"/><polyline "), "<polyline class=\"a\"/><polyline ");
    }
}
