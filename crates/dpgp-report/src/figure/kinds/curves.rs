//! Curves over one input: means with bands, draws and the data behind them, or a private release with what its readers see.

use super::*;
use dpgp_spec::{CurvesFigure, CurvesSubject};

const CURVE: &str = "curve";
const HEIGHT: f64 = 340.0;

/// The parts of a curve that has its panel alone.
const BAND: Colour = COLOURS[0].with_opacity(0.18);
const BIN: Colour = DARK.with_opacity(0.12);
const DRAW: Pen = Pen::new(GREY.with_opacity(0.55), 0.75);
const MEAN: Pen = Pen::new(COLOURS[0], 2.25);
const NOISE: Pen = Pen::new(BLACK, 1.5).dashed();
const QUARTER: Pen = Pen::new(GREY, 1.5).dashed();
const TRUTH: Pen = Pen::new(BLACK, 1.5).dotted();
const OBSERVED: Pen = Pen::new(COLOURS[1].with_opacity(0.7), 1.0);
const INDUCING_PEN: Pen = Pen::new(COLOURS[2], 2.5);

frame! {
    /// The frame `curve`: a mean and its uncertainty.
    Curve {
        needs x = "x1", mean = "mean";
        may gp_sd = "gp-sd", noise_sd = "noise-sd", truth = "truth";
        numbered draws = "draw";
    }
}

frame! {
    /// The frame `inducing`: inputs of a sparse model, with their outputs or without.
    InducingInputs {
        needs x = "x1";
        may y = "y";
    }
}

frame! {
    /// The frame `histogram`: the values of bins, and their noisy values where they have them.
    Histogram {
        needs left = "left", right = "right", value = "value";
        may noisy = "noisy";
    }
}

impl Curve<'_> {
    /// The mean plus `factor` times `sd`.
    fn shifted_mean(&self, factor: f64, sd: &[f64]) -> Vec<PlotPoint> {
        shift_curve(&points_from_columns(self.x, self.mean), factor, sd)
    }

    /// All values that it reaches: alone, or in a panel that it shares.
    fn y_values(&self, shared: bool) -> Vec<f64> {
        let sd = if shared { 1.0 } else { 2.0 };
        let mut reached = self.mean.to_vec();
        reached
            .extend([-sd, sd].map(|factor| self.shifted_mean(factor, self.gp_sd)).concat().iter().map(|spot| spot.y));
        if !shared {
            let noise = [-1.0, 1.0].map(|factor| self.shifted_mean(factor, self.noise_sd)).concat();
            reached.extend(noise.iter().map(|spot| spot.y));
            reached.extend(self.truth.iter().chain(self.draws.iter().copied().flatten()));
        }
        reached
    }

    /// Lines `factor` times `sd` above and below the mean.
    fn band_lines(&self, factor: f64, sd: &[f64], pen: Pen) -> [Mark; 2] {
        [factor, -factor].map(|factor| Mark::Line(self.shifted_mean(factor, sd), pen))
    }

    /// Its first private release, if it has one: with the noise and the model together around it.
    fn first_release(&self) -> Option<ReleasedCurve> {
        let lines = self.draws.iter().map(|draw| points_from_columns(self.x, draw)).collect();
        let sd: Vec<f64> = (0..self.x.len()).map(|i| self.total_sd(i)).collect();
        ReleasedCurve::new(lines, &sd, points_from_columns(self.x, self.mean))
    }

    /// The root of the sum of both variances at a row; a column that is not there is no variance.
    fn total_sd(&self, row: usize) -> f64 {
        let [gp, noise] = [self.gp_sd, self.noise_sd].map(|sd| sd.get(row).copied().unwrap_or(0.0));
        gp.hypot(noise)
    }

    fn background_marks(&self) -> Vec<Mark> {
        let band = Mark::band(&self.shifted_mean(-2.0, self.gp_sd), &self.shifted_mean(2.0, self.gp_sd), BAND);
        let draws = self.draws.iter().map(|draw| Mark::Line(points_from_columns(self.x, draw), DRAW));
        std::iter::once(band).chain(draws).collect()
    }

    fn foreground_marks(&self) -> Vec<Mark> {
        let mut marks = self.band_lines(0.25, self.noise_sd, QUARTER).to_vec();
        marks.extend(self.band_lines(1.0, self.noise_sd, NOISE));
        marks.push(Mark::Line(points_from_columns(self.x, self.mean), MEAN));
        marks.push(Mark::Line(points_from_columns(self.x, self.truth), TRUTH));
        marks
    }
}

impl InducingInputs<'_> {
    /// Strokes on the lower edge, or crosses if they have outputs.
    fn marks(&self) -> Mark {
        if self.y.is_empty() {
            return Mark::Rug(self.x.to_vec(), INDUCING_PEN);
        }
        Mark::Strokes(points_from_columns(self.x, self.y), MarkShape::Plus, 5.0, INDUCING_PEN)
    }
}

impl Histogram<'_> {
    /// Bins as areas from zero to their values, which are noisy where they can be.
    fn marks(&self) -> Vec<Mark> {
        let heights = if self.noisy.is_empty() { self.value } else { self.noisy };
        let bins = self.left.iter().zip(self.right).zip(heights);
        let outlines = bins.map(|((left, right), height)| {
            [(*left, 0.0), (*left, *height), (*right, *height), (*right, 0.0), (*left, 0.0)]
        });
        outlines.flat_map(|outline| [Mark::area(outline, BIN), Mark::line(outline, DRAW)]).collect()
    }
}

/// The frame `lengthscale`: that of a nonstationary kernel along the input.
fn read_lengthscale(columns: &mut FrameColumns<'_>) -> Result<Vec<PlotPoint>, FigureError> {
    Ok(points_from_columns(columns.require_column("x1")?, columns.require_column("value")?))
}

/// The frames of all panels.
struct CurvesFigureData<'a> {
    /// Curves with the mean as the subject.
    curves: Vec<Curve<'a>>,
    /// Curves with the release as the subject.
    releases: Vec<ReleasedCurve>,
    x: Vec<f64>,
    data: Vec<Vec<PlotPoint>>,
    histograms: Vec<Histogram<'a>>,
    inducing: Vec<InducingInputs<'a>>,
}

impl<'a> CurvesFigureData<'a> {
    fn new(setting: &CurvesFigure, report: &'a Report<'_>, cell: Option<usize>) -> Result<Self, FigureError> {
        let mut curves = read_frames(report, cell, CURVE, Curve::from_frame_columns)?;
        let x = curves.iter().flat_map(|curve| curve.x).copied().collect();
        let mut releases = Vec::new();
        if setting.subject == CurvesSubject::Release && setting.overlay.is_none() {
            releases.extend(curves.iter().filter_map(Curve::first_release));
            curves.retain(|curve| curve.draws.is_empty());
        }
        Ok(Self {
            curves,
            releases,
            x,
            data: read_frames(report, cell, "data", read_observations)?,
            histograms: read_frames(report, cell, "histogram", Histogram::from_frame_columns)?,
            inducing: read_frames(report, cell, "inducing", InducingInputs::from_frame_columns)?,
        })
    }

    fn x_scale(&self) -> Scale {
        let data = self.data.iter().flatten().map(|spot| spot.x);
        Scale::tight(self.x.iter().copied().chain(data))
    }

    fn y_scale(&self, setting: &CurvesFigure) -> Scale {
        let curves = self.curves.iter().flat_map(|curve| curve.y_values(setting.overlay.is_some()));
        let data = self.data.iter().flatten().map(|spot| spot.y);
        let bins = self.histograms.iter().flat_map(|bins| bins.value.iter().chain(bins.noisy)).copied();
        let releases = self.releases.iter().flat_map(ReleasedCurve::y_values);
        Scale::covering(false, curves.chain(releases).chain(data).chain(bins))
            .with_given_ends(setting.least, setting.most)
    }

    /// The marks of a cell in a panel of its own.
    fn panel_marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.curves.iter().flat_map(Curve::background_marks).collect();
        marks.extend(self.histograms.iter().flat_map(Histogram::marks));
        marks.extend(self.data_marks(OBSERVED));
        marks.extend(self.curves.iter().flat_map(Curve::foreground_marks));
        marks.extend(self.releases.iter().flat_map(ReleasedCurve::marks));
        marks.extend(self.inducing.iter().map(InducingInputs::marks));
        marks
    }

    /// The marks of a cell among others: the first is solid, the others are dashed.
    fn overlay_marks(&self, number: usize) -> Vec<Mark> {
        let pens = OverlayPens::new(number);
        let histograms = self.histograms.iter().filter(|_| number == 0);
        let mut marks: Vec<Mark> = histograms.flat_map(Histogram::marks).collect();
        marks.extend(self.data_marks(pens.data));
        for curve in &self.curves {
            marks.extend(curve.band_lines(1.0, curve.gp_sd, pens.sd));
            marks.push(Mark::Line(points_from_columns(curve.x, curve.mean), pens.mean));
        }
        marks
    }

    fn data_marks(&self, pen: Pen) -> impl Iterator<Item = Mark> {
        self.data.iter().map(move |data| Mark::Strokes(data.clone(), MarkShape::Times, 2.5, pen))
    }

    /// Whether some curve has values in a column.
    fn has_curve_with(&self, column: impl Fn(&Curve<'a>) -> bool) -> bool {
        self.curves.iter().any(column)
    }

    fn has_data(&self) -> bool {
        self.data.iter().any(|data| !data.is_empty())
    }

    /// The legend of lines and marks that some panel shows. A mean with its noise beside it has no noise itself.
    fn legend(&self, data: &str) -> Vec<LegendEntry> {
        let noisy = self.has_curve_with(|curve| !curve.noise_sd.is_empty());
        let mean = if noisy { "mean without privacy noise" } else { "mean" };
        let inputs = match self.inducing.iter().any(|inducing| !inducing.y.is_empty()) {
            true => Swatch::Mark(MarkShape::Plus, 5.0, INDUCING_PEN).with_meaning("means of the inducing values"),
            false => Swatch::Mark(MarkShape::Tick, 7.0, INDUCING_PEN).with_meaning("inducing inputs"),
        };
        let entries = [
            (self.has_curve_with(|curve| !curve.mean.is_empty()), Swatch::Line(MEAN).with_meaning(mean)),
            (
                self.has_curve_with(|curve| !curve.gp_sd.is_empty()),
                Swatch::Area(BAND).with_meaning("± 2 sd of the model"),
            ),
            (self.has_curve_with(|curve| !curve.draws.is_empty()), Swatch::Line(DRAW).with_meaning("private releases")),
            (noisy, Swatch::Line(NOISE).with_meaning("± 1 sd of the privacy noise")),
            (noisy, Swatch::Line(QUARTER).with_meaning("± ¼ sd of the privacy noise")),
            (self.has_curve_with(|curve| !curve.truth.is_empty()), Swatch::Line(TRUTH).with_meaning("truth")),
            (self.has_data(), Swatch::Mark(MarkShape::Times, 3.0, OBSERVED).with_meaning(data)),
            (self.inducing.iter().any(|inducing| !inducing.x.is_empty()), inputs),
        ];
        let entries = entries.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry);
        released_legend(&self.releases).into_iter().chain(entries).collect()
    }

    /// The labels of the overlaid axis that are shown, and what stands around their curves.
    fn overlay_legend(&self, report: &Report<'_>, overlay: &str, data_label: &str) -> Vec<LegendEntry> {
        let labels = report.axis_index(overlay).map(|axis| report.labels_with_results(axis)).unwrap_or_default();
        let mut entries = Vec::new();
        if self.has_curve_with(|curve| !curve.mean.is_empty()) {
            let lines = labels.into_iter().enumerate();
            entries.extend(lines.map(|(i, label)| Swatch::Line(OverlayPens::new(i).mean).with_meaning(label)));
        }
        let OverlayPens { sd, data, .. } = OverlayPens::new(0);
        if self.has_curve_with(|curve| !curve.gp_sd.is_empty()) {
            entries.push(Swatch::Line(sd).with_meaning("± 1 sd of the model"));
        }
        if self.has_data() {
            entries.push(Swatch::Mark(MarkShape::Times, 4.0, data).with_meaning(data_label));
        }
        entries
    }
}

/// The pens of a curve among others.
struct OverlayPens {
    mean: Pen,
    sd: Pen,
    data: Pen,
}

impl OverlayPens {
    fn new(number: usize) -> Self {
        let colour = COLOURS[number % COLOURS.len()];
        let (mean, sd) = (Pen::new(colour, 2.25), Pen::new(colour.with_opacity(0.8), 1.0));
        let data = Pen::new(colour, 1.25);
        if number == 0 { Self { mean, sd, data } } else { Self { mean: mean.dashed(), sd: sd.dashed(), data } }
    }
}

impl PictureBuilder for CurvesFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let mut groups = group_cells_into_panels(report, self.panels.as_deref(), self.overlay.as_deref().as_slice());
        groups.retain(|group| group.cells.iter().any(|cell| report.frames_of(*cell, CURVE).next().is_some()));
        let all = CurvesFigureData::new(self, report, None)?;
        let (x, y) = (all.x_scale(), all.y_scale(self));
        let mut panels = Vec::with_capacity(groups.len());
        for group in &groups {
            let mut marks = Vec::new();
            for (number, cell) in group.cells.iter().enumerate() {
                let shown = CurvesFigureData::new(self, report, Some(*cell))?;
                marks.extend(if self.overlay.is_some() { shown.overlay_marks(number) } else { shown.panel_marks() });
            }
            let (x, y) = (PlotAxis::with_numbers(x, &self.x_label), PlotAxis::with_grid_lines(y, &self.label));
            panels.push(Panel::new(&group.title, Plot::new(x, y, marks)));
        }
        for group in &groups {
            panels.extend(lengthscale_panel(self, report, group, x)?);
        }
        let data = self.data_label.as_deref().unwrap_or("data");
        let legend = match &self.overlay {
            Some(overlay) => all.overlay_legend(report, overlay, data),
            None => all.legend(data),
        };
        Ok(Picture { legend, layout: Layout::new(HEIGHT).with_columns(self.columns), panels }.with_panel_letters())
    }
}

/// A panel with the lengthscale of the first cell that has one.
fn lengthscale_panel(
    figure: &CurvesFigure,
    report: &Report<'_>,
    group: &PanelCells,
    x: Scale,
) -> Result<Option<Panel>, FigureError> {
    for &cell in &group.cells {
        let lines = read_frames(report, Some(cell), "lengthscale", read_lengthscale)?;
        if lines.is_empty() {
            continue;
        }
        let y = Scale::from_zero(lines.iter().flatten().map(|spot| spot.y));
        let label = figure.lengthscale_label.as_deref().unwrap_or("lengthscale");
        let marks = lines.into_iter().map(|line| Mark::Line(line, MEAN)).collect();
        let plot = Plot::new(PlotAxis::with_numbers(x, &figure.x_label), PlotAxis::with_grid_lines(y, label), marks);
        return Ok(Some(Panel::new(format!("lengthscale of {}", group.title), plot)));
    }
    Ok(None)
}

/// Standard deviations on either side that hold 95 % of a Gaussian.
const REACH: f64 = 1.96;

const SUBJECT: Pen = Pen::new(BLACK, 2.25);
const INTERVAL: Pen = Pen::new(BLACK, 1.5).dotted();
const OTHER: Pen = Pen::new(GREY.with_opacity(0.55), 0.75);
const WITHOUT: Pen = Pen::new(COLOURS[0], 1.25).dashed();

/// The first private release of a curve among what surrounds it.
struct ReleasedCurve {
    line: Vec<PlotPoint>,
    /// The ends of the interval, below and above.
    interval: [Vec<PlotPoint>; 2],
    /// The releases after the first.
    others: Vec<Vec<PlotPoint>>,
    mean: Vec<PlotPoint>,
}

impl ReleasedCurve {
    /// The first of some lines with 1.96 standard deviations on either side; none without a line.
    fn new(mut lines: Vec<Vec<PlotPoint>>, sd: &[f64], mean: Vec<PlotPoint>) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let line = lines.remove(0);
        let interval = [-REACH, REACH].map(|factor| shift_curve(&line, factor, sd));
        Some(Self { line, interval, others: lines, mean })
    }

    /// The other releases and the mean without noise, then the interval and the release in front.
    fn marks(&self) -> Vec<Mark> {
        let others = self.others.iter().map(|line| Mark::Line(line.clone(), OTHER));
        let mean = Mark::Line(self.mean.clone(), WITHOUT);
        let interval = self.interval.iter().map(|line| Mark::Line(line.clone(), INTERVAL));
        let subject = Mark::Line(self.line.clone(), SUBJECT);
        others.chain([mean]).chain(interval).chain([subject]).collect()
    }

    /// All values that it reaches.
    fn y_values(&self) -> Vec<f64> {
        let lines = self.interval.iter().chain(&self.others).chain([&self.line, &self.mean]);
        lines.flatten().map(|spot| spot.y).collect()
    }
}

/// The legend of some releases.
fn released_legend(releases: &[ReleasedCurve]) -> Vec<LegendEntry> {
    let others = releases.iter().any(|release| !release.others.is_empty());
    let entries = [
        (true, Swatch::Line(SUBJECT).with_meaning("one private release")),
        (
            true,
            Swatch::Line(INTERVAL)
                .with_meaning("95 % interval around that release, from model uncertainty and privacy noise"),
        ),
        (others, Swatch::Line(OTHER).with_meaning("other private releases")),
        (true, Swatch::Line(WITHOUT).with_meaning("mean without privacy noise")),
    ];
    let shown = entries.into_iter().filter(|(shown, _)| *shown && !releases.is_empty());
    shown.map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{count, example_table, experiment, lines_of, svg};
    use dpgp_task::FigureTable;

    const FIGURE: &str =
        "[figure.curves]\nx_label = \"age (years)\"\nlabel = \"height (cm)\"\nleast = 40.0\nmost = 190.0\n";

    fn curve() -> FigureTable {
        let rows = [[0.0, 60.0, 2.0, 4.0, 54.0], [40.0, 155.0, 3.0, 5.0, 159.0], [90.0, 160.0, 5.0, 50.0, 120.0]];
        example_table("curve x1 mean gp-sd noise-sd draw1", &rows)
    }

    fn data() -> FigureTable {
        example_table("data x1 y", &[[3.0, 90.0], [20.0, 150.0], [70.0, 158.0]])
    }

    #[test]
    fn each_cell_has_a_panel_and_a_lengthscale_one_more() {
        let experiment = experiment(&["standard", "sparse", "variable-lengthscale"], FIGURE);
        let lengthscale = example_table("lengthscale x1 value", &[[0.0, 5.0], [40.0, 20.0], [90.0, 40.0]]);
        let inducing = example_table("inducing x1", &[[5.0], [20.0], [75.0]]);
        let frames = vec![(0, curve()), (0, data()), (1, curve()), (1, inducing), (2, curve()), (2, lengthscale)];
        let svg = svg("curves", &experiment, frames);
        assert_eq!(count(&svg, "polygon"), 3, "a band for each cell");
        for title in ["(A) standard", "(B) sparse", "(C) variable-lengthscale", "(D) lengthscale of variable"] {
            assert!(svg.contains(title), "{title}");
        }
        assert_eq!(lines_of(&svg, "#00825F"), 3 + 1, "inducing inputs and their sample");
        assert!(svg.contains("inducing inputs") && !svg.contains("truth"));
    }

    #[test]
    fn an_overlaid_axis_shares_a_panel() {
        let figure = "[figure.curves]\noverlay = \"method\"\nx_label = \"x\"\nlabel = \"y\"\n";
        let experiment = experiment(&["as-observed", "perturbed"], figure);
        let svg = svg("curves-overlay", &experiment, vec![(0, curve()), (0, data()), (1, curve())]);
        assert_eq!(count(&svg, "polygon"), 0);
        assert_eq!(lines_of(&svg, "#005FAA"), 3 + 2 * 3 + 2 + 2, "mean, sd, data and their samples");
        assert!(svg.contains("perturbed"));
    }

    #[test]
    fn only_selected_cells_are_shown() {
        let figure = format!("{FIGURE}[figure_cells]\nmethod = \"sparse\"\n");
        let experiment = experiment(&["standard", "sparse"], &figure);
        let svg = svg("curves-where", &experiment, vec![(0, curve()), (0, data()), (1, curve())]);
        assert_eq!(count(&svg, "polygon"), 1);
        assert!(!svg.contains("standard") && !svg.contains("\ndata\n"));
    }

    #[test]
    fn a_release_can_be_the_subject() {
        let figure = format!("{FIGURE}subject = \"release\"\ndata_label = \"three women\"\n");
        let without = example_table("curve x1 mean gp-sd", &[[0.0, 60.0, 2.0], [90.0, 160.0, 5.0]]);
        let frames = vec![(0, curve()), (0, data()), (1, without)];
        let svg = svg("curves-release", &experiment(&["private", "none"], &figure), frames);
        assert_eq!(count(&svg, "polygon"), 1, "the band of the cell without privacy alone");
        let interval = "95 % interval around that release, from model uncertainty and privacy noise";
        for text in ["one private release", interval, "three women"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("other private releases") && !svg.contains("1 sd of the privacy noise"));
    }

    #[test]
    fn data_beyond_the_curve_widen_the_axis() {
        let beyond = example_table("data x1 y", &[[-40.0, 90.0], [140.0, 150.0]]);
        let svg = svg("curves-data", &experiment(&["only"], FIGURE), vec![(0, curve()), (0, beyond)]);
        assert_eq!(lines_of(&svg, "#C85000"), 2 * (2 + 1), "both rows and their sample");
    }

    #[test]
    fn bins_are_areas() {
        let bins = example_table("histogram left right value", &[[10.0, 20.0, 80.0], [20.0, 30.0, 100.0]]);
        let svg = svg("curves-bins", &experiment(&["standard"], FIGURE), vec![(0, curve()), (0, bins)]);
        assert_eq!(count(&svg, "polygon"), 1 + 2, "a band and two bins");
    }
}

#[cfg(test)]
mod released_tests {
    use super::*;

    #[test]
    fn the_interval_surrounds_the_first_release() {
        let lines = vec![vec![PlotPoint::new(0.0, 10.0)], vec![PlotPoint::new(0.0, -5.0)]];
        let release = ReleasedCurve::new(lines, &[5.0], vec![PlotPoint::new(0.0, 2.0)]).unwrap();
        let [low, high] = [release.interval[0][0].y, release.interval[1][0].y];
        assert!((low - 0.2).abs() < 1e-12 && (high - 19.8).abs() < 1e-12, "{low} {high}");
        assert_eq!(release.marks().len(), 1 + 1 + 2 + 1);
        assert_eq!(min_max(release.y_values()), Some([-5.0, high]));
        assert!(ReleasedCurve::new(Vec::new(), &[], Vec::new()).is_none() && released_legend(&[]).is_empty());
    }
}
