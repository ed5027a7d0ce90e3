//! A Gaussian process before and after an observation: samples, ellipses of the joint density at two points, and the
//! density at the second point.

use super::*;
use dpgp_spec::TutorialFigure;

/// The frames of a stage.
const DRAWS: &str = "draws";
const PAIR: &str = "pair";
const MARGINAL: &str = "marginal";
const DATA: &str = "data";

const HEIGHT: f64 = 310.0;
const PLACE: Pen = Pen::new(BLACK, 1.75);
const NOW: Pen = Pen::new(COLOURS[0], 2.0);
const BEFORE: Pen = Pen::new(GREY, 1.25).dashed();
const OBSERVED: Pen = Pen::new(COLOURS[1], 2.5);

/// The frame `draws`: samples of the function.
fn read_draws(columns: &mut FrameColumns<'_>) -> Result<Vec<Vec<PlotPoint>>, FigureError> {
    let x = columns.require_column("x1")?;
    Ok(columns.numbered_columns("draw").into_iter().map(|draw| points_from_columns(x, draw)).collect())
}

/// The frame `marginal`: the density of values at the second place.
fn read_marginal(columns: &mut FrameColumns<'_>) -> Result<Vec<PlotPoint>, FigureError> {
    Ok(points_from_columns(columns.require_column("value")?, columns.require_column("density")?))
}

/// The state of knowledge at one time.
struct TutorialStage {
    title: String,
    draws: Vec<Vec<PlotPoint>>,
    pair: Option<BivariateNormal>,
    marginal: Vec<Vec<PlotPoint>>,
    data: Vec<PlotPoint>,
}

impl TutorialStage {
    fn read(report: &Report<'_>, title: String, cell: usize) -> Result<Self, FigureError> {
        Ok(Self {
            title,
            draws: read_frames(report, Some(cell), DRAWS, read_draws)?.concat(),
            pair: read_frames(report, Some(cell), PAIR, BivariateNormal::from_frame_columns)?
                .into_iter()
                .flatten()
                .next(),
            marginal: read_frames(report, Some(cell), MARGINAL, read_marginal)?,
            data: read_frames(report, Some(cell), DATA, read_observations)?.concat(),
        })
    }

    fn panel_title(&self, what: &str) -> String {
        format!("{}: {what}", self.title)
    }

    /// The function at a place.
    fn function_label(&self, place: usize) -> String {
        self.pair.map_or(String::new(), |pair| format!("f({})", format_four_digits_trimmed(pair.places[place])))
    }
}

/// The scales that all stages share.
struct StageScales {
    input: Scale,
    function: Scale,
    places: [Scale; 2],
    value: Scale,
    density: Scale,
}

impl StageScales {
    fn new(stages: &[TutorialStage]) -> Self {
        let draws: Vec<PlotPoint> = stages.iter().flat_map(|stage| &stage.draws).flatten().copied().collect();
        let marginals: Vec<PlotPoint> = stages.iter().flat_map(|stage| &stage.marginal).flatten().copied().collect();
        let data = stages.iter().flat_map(|stage| &stage.data);
        let pairs: Vec<BivariateNormal> = stages.iter().filter_map(|stage| stage.pair).collect();
        Self {
            input: Scale::tight(draws.iter().map(|spot| spot.x)),
            function: Scale::covering(false, draws.iter().chain(data).map(|spot| spot.y)),
            places: [0, 1]
                .map(|place| Scale::covering(false, pairs.iter().flat_map(|pair| pair.ellipse_extent(place)))),
            value: Scale::tight(marginals.iter().map(|spot| spot.x)),
            density: Scale::from_zero(marginals.iter().map(|spot| spot.y)),
        }
    }
}

impl PictureBuilder for TutorialFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let groups = group_cells_with_frame_into_panels(report, None, DRAWS).into_iter();
        let stages: Result<Vec<TutorialStage>, FigureError> =
            groups.map(|group| TutorialStage::read(report, group.title.clone(), group.first_cell())).collect();
        let stages = stages?;
        let scales = StageScales::new(&stages);
        let mut panels = Vec::with_capacity(3 * stages.len());
        for (i, stage) in stages.iter().enumerate() {
            let prior = stages.first().filter(|_| i > 0);
            panels.push(samples_panel(self, stage, &scales));
            panels.push(joint_panel(stage, prior, &scales));
            panels.push(density_panel(stage, prior, &scales));
        }
        Ok(Picture { legend: tutorial_legend(), layout: Layout::new(HEIGHT).with_columns(Some(3)), panels }
            .with_panel_letters())
    }
}

/// Samples of the function, the two places and the observation.
fn samples_panel(setting: &TutorialFigure, stage: &TutorialStage, scales: &StageScales) -> Panel {
    let colours = COLOURS.iter().cycle();
    let draws = stage.draws.iter().zip(colours);
    let mut marks: Vec<Mark> =
        draws.map(|(draw, colour)| Mark::Line(draw.clone(), Pen::new(colour.with_opacity(0.75), 1.25))).collect();
    marks.extend(stage.pair.iter().flat_map(|pair| pair.places).map(|place| Mark::Upright(place, PLACE)));
    marks.push(Mark::Strokes(stage.data.clone(), MarkShape::Times, 6.0, OBSERVED));
    let (x, y) = (
        PlotAxis::with_numbers(scales.input, &setting.x_label),
        PlotAxis::with_grid_lines(scales.function, &setting.label),
    );
    Panel::new(stage.panel_title("samples"), Plot::new(x, y, marks))
}

/// Ellipses of one, two and three standard deviations; those of the prior again behind later ones.
fn joint_panel(stage: &TutorialStage, prior: Option<&TutorialStage>, scales: &StageScales) -> Panel {
    let mut marks = Vec::new();
    if let Some(before) = prior.and_then(|prior| prior.pair) {
        marks.extend(before.ellipses().map(|ellipse| Mark::Line(ellipse, BEFORE)));
    }
    if let Some(pair) = stage.pair {
        let seen = stage.data.iter().filter(|spot| spot.x == pair.places[0]);
        marks.extend(seen.map(|spot| Mark::Upright(spot.y, OBSERVED.dashed())));
        marks.extend(pair.ellipses().map(|ellipse| Mark::Line(ellipse, NOW)));
    }
    let x = PlotAxis::with_numbers(scales.places[0], stage.function_label(0));
    Panel::new(
        stage.panel_title("two places"),
        Plot::new(x, PlotAxis::with_grid_lines(scales.places[1], stage.function_label(1)), marks),
    )
}

/// The density at the second place; that of the prior again behind later ones.
fn density_panel(stage: &TutorialStage, prior: Option<&TutorialStage>, scales: &StageScales) -> Panel {
    let before = prior.into_iter().flat_map(|prior| &prior.marginal);
    let mut marks: Vec<Mark> = before.map(|curve| Mark::Line(curve.clone(), BEFORE)).collect();
    for curve in &stage.marginal {
        let first = curve.first().map(|spot| PlotPoint::new(spot.x, 0.0));
        let last = curve.last().map(|spot| PlotPoint::new(spot.x, 0.0));
        let outline = first.into_iter().chain(curve.iter().copied()).chain(last);
        marks.extend([Mark::area(outline, COLOURS[0].with_opacity(0.18)), Mark::Line(curve.clone(), NOW)]);
    }
    let (x, y) = (
        PlotAxis::with_numbers(scales.value, stage.function_label(1)),
        PlotAxis::with_grid_lines(scales.density, "density"),
    );
    Panel::new(stage.panel_title("second place"), Plot::new(x, y, marks))
}

fn tutorial_legend() -> Vec<LegendEntry> {
    vec![
        Swatch::Mark(MarkShape::Tick, 7.0, PLACE).with_meaning("the two places"),
        Swatch::Line(NOW).with_meaning("1, 2 and 3 sd, and the density"),
        Swatch::Line(BEFORE).with_meaning("the same before the observation"),
        Swatch::Mark(MarkShape::Times, 6.0, OBSERVED).with_meaning("observation"),
    ]
}

/// The corners of an ellipse.
const CORNERS: u32 = 96;
/// The standard deviations of the outermost ellipse.
const OUTERMOST: u32 = 3;

/// Two normal values at two places.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BivariateNormal {
    places: [f64; 2],
    mean: [f64; 2],
    sd: [f64; 2],
    correlation: f64,
}

impl BivariateNormal {
    /// The frame `pair`: one row; none without rows.
    fn from_frame_columns(columns: &mut FrameColumns<'_>) -> Result<Option<Self>, FigureError> {
        let names = ["x1", "x2", "mean1", "mean2", "sd1", "sd2", "correlation"];
        let mut row = [None; 7];
        for (value, name) in row.iter_mut().zip(names) {
            *value = columns.require_column(name)?.first().copied();
        }
        let [Some(x1), Some(x2), Some(mean1), Some(mean2), Some(sd1), Some(sd2), Some(correlation)] = row else {
            return Ok(None);
        };
        Ok(Some(Self { places: [x1, x2], mean: [mean1, mean2], sd: [sd1, sd2], correlation }))
    }

    /// The extent of the outermost ellipse in a dimension.
    fn ellipse_extent(&self, dimension: usize) -> [f64; 2] {
        [-1.0, 1.0].map(|side| self.mean[dimension] + side * f64::from(OUTERMOST) * self.sd[dimension])
    }

    /// Closed lines at one, two and three standard deviations: mean + k L (cos t, sin t), L L' the covariance.
    fn ellipses(self) -> impl Iterator<Item = Vec<PlotPoint>> {
        (1..=OUTERMOST).map(move |k| (0..=CORNERS).map(|i| self.ellipse_point(f64::from(k), i)).collect())
    }

    fn ellipse_point(&self, k: f64, i: u32) -> PlotPoint {
        let turn = 2.0 * std::f64::consts::PI * f64::from(i) / f64::from(CORNERS);
        let across = k * turn.cos();
        let along = self.correlation * across + k * (1.0 - self.correlation.powi(2)).max(0.0).sqrt() * turn.sin();
        PlotPoint::new(self.mean[0] + self.sd[0] * across, self.mean[1] + self.sd[1] * along)
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{count, example_table, experiment, lines_of, svg};
    use dpgp_task::FigureTable;

    fn stage(pair: [f64; 7]) -> [FigureTable; 3] {
        let [_, _, _, mean, _, sd, _] = pair;
        [
            example_table("draws x1 draw1 draw2", &[[0.0, -1.0, 0.5], [5.0, mean, 0.8], [10.0, 0.3, 1.0]]),
            example_table("pair x1 x2 mean1 mean2 sd1 sd2 correlation", &[pair]),
            example_table("marginal value density", &[[mean - sd, 0.2], [mean, 0.4], [mean + sd, 0.2]]),
        ]
    }

    #[test]
    fn three_panels_before_and_three_after() {
        let figure = "[figure.tutorial]\nx_label = \"x\"\nlabel = \"f(x)\"\n";
        let prior = stage([5.0, 6.0, 0.0, 0.0, 1.0, 1.0, 0.6]).map(|frame| (0, frame));
        let posterior = stage([5.0, 6.0, 0.98, 0.6, 0.1, 0.8, 0.06]).map(|frame| (1, frame));
        let data = (1, example_table("data x1 y", &[[5.0, 1.0]]));
        let frames = prior.into_iter().chain(posterior).chain([data]).collect();
        let svg = svg("tutorial", &experiment(&["prior", "posterior"], figure), frames);
        for title in ["(A) prior: samples", "(C) prior: second", "(E) posterior: two places", "(F) posterior"] {
            assert!(svg.contains(title), "{title}");
        }
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 2 * 3 + 2 + 1, "draws, ellipses, densities and a sample");
        assert_eq!(count(&svg, "polygon"), 2, "below the densities");
        assert_eq!(svg.matches("\nf(6)\n").count(), 4);
    }
}

#[cfg(test)]
mod ellipse_tests {
    use super::*;

    #[test]
    fn corners_have_the_mahalanobis_distance_of_their_ellipse() {
        let pair = BivariateNormal { places: [5.0, 6.0], mean: [1.0, -2.0], sd: [0.5, 2.0], correlation: 0.8 };
        for (k, ellipse) in pair.ellipses().enumerate() {
            for PlotPoint { x, y } in ellipse {
                let (u, v) = ((x - 1.0) / 0.5, (y + 2.0) / 2.0);
                let squared = (u * u - 1.6 * u * v + v * v) / 0.36;
                assert!((squared.sqrt() - (k + 1) as f64).abs() < 1e-9);
            }
        }
        assert_eq!(pair.ellipse_extent(1), [-8.0, 4.0]);
    }
}
