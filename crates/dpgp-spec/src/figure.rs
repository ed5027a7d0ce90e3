//! The figure of an experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figure, of one of these kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FigureSetting {
    /// One line per cell: our value and spread next to those from other sources.
    Intervals(IntervalsFigure),
    /// A metric along an axis of the grid: a line for each label of a second axis, a panel for each label of a third.
    Lines(LinesFigure),
    /// Curves over one input: the mean of each cell with its bands, draws and data.
    Curves(CurvesFigure),
    /// A function of two inputs: contours of its mean, and discs that fade with the noise.
    Map(MapFigure),
    /// Private class predictions over one input, as violins.
    Violins(ViolinsFigure),
    /// Private class predictions over two inputs, as blocks of circles.
    Hinton(HintonFigure),
    /// Steps of an optimisation, with a line for each element.
    Traces(TracesFigure),
    /// A tile for each label of an axis and each metric of a family.
    Tiles(TilesFigure),
    /// Candidates of a private selection, as bars.
    Bars(BarsFigure),
    /// A Gaussian process before and after an observation.
    Tutorial(TutorialFigure),
    /// Coverage of central intervals, against their mass or along an axis of the grid.
    Calibration(CalibrationFigure),
    /// Families of metrics along an axis of the grid.
    Probabilities(ProbabilitiesFigure),
    /// One family of metrics against another, with a dot for each member.
    Pairs(PairsFigure),
}

/// Names that a figure uses and its bounded numbers, for the checks.
#[derive(Debug, Default)]
pub(super) struct FigureNamesAndNumbers<'a> {
    /// Its key.
    pub kind: &'static str,
    /// Axes of the grid by the key that names them.
    pub axes: Vec<(&'static str, Option<&'a String>)>,
    /// Metrics by the key that names them.
    pub metrics: Vec<(&'static str, Option<&'a String>)>,
    /// Families of metrics by the key that names them.
    pub families: Vec<(&'static str, &'a str)>,
    /// Numbers that must be finite.
    pub finite: Vec<(&'static str, Option<f64>)>,
    /// Numbers that must be positive and finite.
    pub positive: Vec<(&'static str, Option<f64>)>,
}

impl FigureSetting {
    /// Names beside metrics.
    pub(super) fn names_and_numbers_to_check(&self) -> FigureNamesAndNumbers<'_> {
        match self {
            Self::Intervals(intervals) => FigureNamesAndNumbers {
                kind: "intervals",
                axes: vec![("groups", intervals.groups.as_ref())],
                ..FigureNamesAndNumbers::default()
            },
            Self::Lines(lines) => lines.names_and_numbers_to_check(),
            Self::Curves(curves) => FigureNamesAndNumbers {
                kind: "curves",
                axes: vec![("panels", curves.panels.as_ref()), ("overlay", curves.overlay.as_ref())],
                finite: vec![("least", curves.least), ("most", curves.most)],
                positive: vec![("columns", curves.columns.map(|columns| columns as f64))],
                ..FigureNamesAndNumbers::default()
            },
            Self::Map(map) => FigureNamesAndNumbers {
                kind: "map",
                axes: vec![("panels", map.panels.as_ref())],
                positive: vec![("step", Some(map.step)), ("vanish", Some(map.vanish)), ("largest", map.largest)],
                ..FigureNamesAndNumbers::default()
            },
            Self::Violins(_) => FigureNamesAndNumbers { kind: "violins", ..FigureNamesAndNumbers::default() },
            Self::Hinton(hinton) => FigureNamesAndNumbers {
                kind: "hinton",
                axes: vec![("panels", hinton.panels.as_ref())],
                ..FigureNamesAndNumbers::default()
            },
            Self::Calibration(calibration) => FigureNamesAndNumbers {
                kind: "calibration",
                axes: vec![
                    ("lines", Some(&calibration.lines)),
                    ("x", calibration.x.as_ref()),
                    ("panels", calibration.panels.as_ref()),
                ],
                families: vec![("metric", &calibration.metric)],
                positive: vec![("columns", calibration.columns.map(|columns| columns as f64))],
                ..FigureNamesAndNumbers::default()
            },
            Self::Probabilities(probabilities) => FigureNamesAndNumbers {
                kind: "probabilities",
                axes: vec![("x", Some(&probabilities.x))],
                families: probabilities.metrics.iter().map(|metric| ("metrics", metric.as_str())).collect(),
                ..FigureNamesAndNumbers::default()
            },
            Self::Traces(traces) => FigureNamesAndNumbers {
                kind: "traces",
                axes: vec![("panels", traces.panels.as_ref())],
                positive: vec![("least", traces.least)],
                ..FigureNamesAndNumbers::default()
            },
            Self::Tiles(tiles) => FigureNamesAndNumbers {
                kind: "tiles",
                axes: vec![("x", Some(&tiles.x)), ("panels", tiles.panels.as_ref())],
                families: vec![("metric", &tiles.metric)],
                ..FigureNamesAndNumbers::default()
            },
            Self::Bars(bars) => FigureNamesAndNumbers {
                kind: "bars",
                axes: vec![("panels", bars.panels.as_ref())],
                metrics: vec![("expected", bars.expected.as_ref()), ("mean", bars.mean.as_ref())],
                positive: vec![("most", bars.most)],
                ..FigureNamesAndNumbers::default()
            },
            Self::Tutorial(_) => FigureNamesAndNumbers { kind: "tutorial", ..FigureNamesAndNumbers::default() },
            Self::Pairs(pairs) => FigureNamesAndNumbers {
                kind: "pairs",
                axes: vec![("panels", pairs.panels.as_ref())],
                families: vec![("x", &pairs.x), ("y", &pairs.y)],
                ..FigureNamesAndNumbers::default()
            },
        }
    }
}

/// One line per cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntervalsFigure {
    /// The metrics to show, in this order.
    pub metrics: Vec<String>,
    /// The label of the value axis, with units.
    pub label: String,
    /// Whether the value axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// Whether a linear value axis shows only the range of the values instead of beginning at zero.
    #[serde(default)]
    pub close: bool,
    /// The axis by whose labels the lines of the figure are grouped, with a rule between groups. Without this key, the
    /// lines keep the order of the grid.
    #[serde(default)]
    pub groups: Option<String>,
}

/// A metric along an axis of the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinesFigure {
    /// The metric.
    pub metric: String,
    /// The axis of the grid along which the metric is drawn. Its labels are numbers. The label `inf` is drawn beyond a
    /// break in the x axis.
    pub x: String,
    /// The axis of the grid whose labels each have a line.
    pub lines: String,
    /// The axis that has a panel for each of its labels. Without this key, there is one panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub label: String,
    /// Whether the x axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// Whether the y axis is logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// Where the y axis begins; points below it are not drawn, and the legend gives their number.
    #[serde(default)]
    pub least: Option<f64>,
    /// Where the y axis ends; lines that rise above it are listed above the panel.
    #[serde(default)]
    pub most: Option<f64>,
    /// A label of `lines`. The values of all other lines are divided by those of this line, which becomes a level at 1.
    #[serde(default)]
    pub relative: Option<String>,
    /// A panel for each group of lines, instead of one for all lines.
    #[serde(default)]
    pub groups: Vec<LinePanel>,
    /// Whether lines whose names begin with the same word share a colour and differ in dash pattern.
    #[serde(default)]
    pub families: bool,
    /// Whether lines have colours from dark to light and different dashes, in the order of the labels, and no error bars.
    /// Meant for many lines.
    #[serde(default)]
    pub shades: bool,
    /// Horizontal lines to compare with.
    #[serde(default)]
    pub levels: Vec<HorizontalLineSetting>,
}

impl LinesFigure {
    /// The group of a label; none without groups, or if no prefix fits.
    pub fn group(&self, label: &str) -> Option<&LinePanel> {
        self.groups.iter().find(|group| label.starts_with(&group.prefix))
    }

    pub(super) fn names_and_numbers_to_check(&self) -> FigureNamesAndNumbers<'_> {
        let ends = vec![("least", self.least), ("most", self.most)];
        FigureNamesAndNumbers {
            kind: "lines",
            axes: vec![("x", Some(&self.x)), ("lines", Some(&self.lines)), ("panels", self.panels.as_ref())],
            positive: if self.log_y { ends.clone() } else { Vec::new() },
            finite: ends,
            ..FigureNamesAndNumbers::default()
        }
    }
}

/// Lines that have a panel of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinePanel {
    /// The prefix of the lines' labels. The rest of each label is the name of its line.
    pub prefix: String,
    /// The title of the panel.
    pub title: String,
}

/// A horizontal line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HorizontalLineSetting {
    /// The name of the line.
    pub label: String,
    /// The value of y at which the line is drawn.
    pub value: f64,
}

/// Curves over one input. The frames of a cell: `curve` (x1, mean; optional gp-sd, noise-sd, truth, draw1, draw2, ...),
/// `data` (x1, y), `inducing` (x1; optional y) and `lengthscale` (x1, value), which gets a panel of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvesFigure {
    /// The axis that orders the panels; each cell has its own panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The axis whose cells share a panel, with their means and standard deviations in different colours.
    #[serde(default)]
    pub overlay: Option<String>,
    /// The number of panels in a row.
    #[serde(default)]
    pub columns: Option<usize>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub label: String,
    /// Where the y axis begins; values below it are not drawn.
    #[serde(default)]
    pub least: Option<f64>,
    /// Where the y axis ends; values above it are not drawn.
    #[serde(default)]
    pub most: Option<f64>,
    /// What the thick line of a panel shows; panels that combine cells by `overlay` show means.
    #[serde(default)]
    pub subject: CurvesSubject,
    /// The legend label of the crosses (the data); by default `data`.
    #[serde(default)]
    pub data_label: Option<String>,
    /// The label of the y axis of lengthscale panels, with units.
    #[serde(default)]
    pub lengthscale_label: Option<String>,
}

/// What the thick line of a panel of curves shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurvesSubject {
    /// The mean, surrounded by the standard deviations of the model and of the noise.
    #[default]
    Mean,
    /// The first private release, surrounded by the 95 % interval for model uncertainty plus privacy noise; the mean
    /// without noise is a thin line. Cells without privacy show their mean.
    Release,
}

/// A function of two inputs. The frames of a cell: `map` (x1, x2, mean; optional noise-sd; a regular grid, x2 varies
/// fastest), `surface` (x1, x2, mean; a finer grid for the contours), `data` (x1, x2) and `inducing` (x1, x2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapFigure {
    /// The axis that orders the panels; each cell has its own panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub y_label: String,
    /// What the contours show, with units.
    pub label: String,
    /// The difference between successive contours.
    pub step: f64,
    /// The standard deviation of the noise at and above which a disc is invisible.
    pub vanish: f64,
    /// The mean that has the largest disc, or the last colour; by default, the largest mean of all cells.
    #[serde(default)]
    pub largest: Option<f64>,
    /// Whether the mean is shown by the colours of the discs instead of by their sizes.
    #[serde(default)]
    pub colours: bool,
    /// Whether the coloured points of a regular grid are drawn as tiles instead of discs.
    #[serde(default)]
    pub tiles: bool,
}

/// Private class predictions over one input: a column of three parts for each cell that has the frame `samples` (x1,
/// probability1, probability2, ..., latent1, latent2, ...: one of each per private draw). The cell without privacy has the
/// frame `classes` (x1, probability, latent). Any cell may have the frame `counts` (x1, positive, negative).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViolinsFigure {
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The event whose probability is shown.
    pub label: String,
    /// The name of the rows of the positive class.
    pub positive: String,
    /// The name of the other rows.
    pub negative: String,
}

/// Private class predictions over two inputs: a block of circles at each point. The frames of a cell: `samples`
/// (x1, x2, probability1, probability2, ...: one per private draw) or, without privacy, `classes` (x1, x2, probability: one
/// circle); and `training` (x1, x2 and y, whose sign gives the class).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintonFigure {
    /// The axis that orders the panels; each cell has its own panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub y_label: String,
}

/// Steps of an optimisation. The frame of a cell: `trace` (iteration, element1, element2, ...: absolute differences
/// from the optimum).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TracesFigure {
    /// The axis that orders the panels; each cell has its own panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the logarithmic y axis.
    pub label: String,
    /// Where the y axis begins; values below it are not drawn.
    #[serde(default)]
    pub least: Option<f64>,
}

/// Coverage of central intervals: the metrics `METRIC/MASS`. Coverage is drawn either against the mass, with a panel for
/// each combination of labels on the axes other than `lines`, or along an axis `x` of the grid. In the second case, each
/// combination of labels on the axes other than `lines` and `x` has a row of panels, one for each mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFigure {
    /// The metric, without its mass.
    pub metric: String,
    /// The axis of the grid whose labels each have a line.
    pub lines: String,
    /// The axis of the grid along which coverage is drawn, instead of against the mass. Its labels are positive numbers,
    /// and `inf` is drawn beyond a break.
    #[serde(default)]
    pub x: Option<String>,
    /// The axis that orders the panels.
    #[serde(default)]
    pub panels: Option<String>,
    /// The number of panels in a row, if coverage is drawn against the mass.
    #[serde(default)]
    pub columns: Option<usize>,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub label: String,
}

/// Families of metrics `METRIC/NUMBER` along an axis of the grid: a panel for each family and each combination of labels on the
/// other axes, with a line for each number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbabilitiesFigure {
    /// The families of metrics, without their numbers.
    pub metrics: Vec<String>,
    /// The axis of the grid along which the metrics are drawn. Its labels are numbers.
    pub x: String,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub label: String,
}

/// A tile for each label of an axis and each metric of a family, coloured by the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TilesFigure {
    /// The axis that has a column of tiles for each of its labels.
    pub x: String,
    /// The family of metrics. The name of each member is this text, then `/` or `@`, then the name of its row.
    pub metric: String,
    /// The axis that orders the panels; each combination of labels on the axes other than `x` has its own panel.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub y_label: String,
    /// What the colours show, with units.
    pub label: String,
}

/// Candidates of a private selection, as bars: each is as wide as its candidate's probability and as high as its value. A
/// second panel shows all candidates as equally probable, and a third magnifies the first. The frame of a cell:
/// `candidates` (probability, value).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarsFigure {
    /// The axis that orders the cells; each has three panels.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis.
    #[serde(default = "default_bars_label")]
    pub x_label: String,
    /// The label of the y axis, with units.
    pub label: String,
    /// Where the y axis of the magnified part ends.
    #[serde(default)]
    pub most: Option<f64>,
    /// The metric for the expected value of the selected candidate. The figure shows its mean over replicates, with numbers
    /// from other sources. Without this key, it shows the expected value of its bars.
    #[serde(default)]
    pub expected: Option<String>,
    /// As `expected`, but for candidates that are all equally probable.
    #[serde(default)]
    pub mean: Option<String>,
}

fn default_bars_label() -> String {
    "probability, by increasing value".to_owned()
}

/// A Gaussian process before and after an observation: a row of three panels for each cell, the prior first. The
/// frames of a cell: `draws` (x1, draw1, draw2, ...), `pair` (one row: the places x1 and x2, mean1, mean2, sd1, sd2,
/// correlation), `marginal` (value, density at the second place) and `data` (x1, y).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TutorialFigure {
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub label: String,
}

/// One family of metrics against another: a dot for each member `NAME` that has the metrics `X/NAME` and `Y/NAME`. Next to
/// the dot are numbers from other sources that give both metrics. Each cell has its own panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairsFigure {
    /// The family along the x axis, without the names of its members.
    pub x: String,
    /// The family along the y axis.
    pub y: String,
    /// The axis that orders the panels.
    #[serde(default)]
    pub panels: Option<String>,
    /// The label of the x axis, with units.
    pub x_label: String,
    /// The label of the y axis, with units.
    pub label: String,
    /// Whether the y axis is logarithmic.
    #[serde(default)]
    pub log_y: bool,
}
