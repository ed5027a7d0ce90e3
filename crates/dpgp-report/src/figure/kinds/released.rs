//! A private release in a panel: what its readers see, with an interval around it.

use super::super::prelude::*;

/// Standard deviations on either side that hold 95 % of a Gaussian.
const REACH: f64 = 1.96;

const SUBJECT: Pen = Pen::new(BLACK, 2.25);
const INTERVAL: Pen = Pen::new(BLACK, 1.5).dotted();
const OTHER: Pen = Pen::new(GREY.faint(0.55), 0.75);
const WITHOUT: Pen = Pen::new(COLOURS[0], 1.25).dashed();

/// The first private release of a curve among what surrounds it.
pub struct ReleasedCurve {
    line: Vec<PlotPoint>,
    /// The ends of the interval, below and above.
    interval: [Vec<PlotPoint>; 2],
    /// The releases after the first.
    others: Vec<Vec<PlotPoint>>,
    mean: Vec<PlotPoint>,
}

impl ReleasedCurve {
    /// The first of some lines with 1.96 standard deviations on either side; none without a line.
    pub fn new(mut lines: Vec<Vec<PlotPoint>>, sd: &[f64], mean: Vec<PlotPoint>) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let line = lines.remove(0);
        let interval = [-REACH, REACH].map(|factor| shift_curve(&line, factor, sd));
        Some(Self { line, interval, others: lines, mean })
    }

    /// The other releases and the mean without noise, then the interval and the release in front.
    pub fn marks(&self) -> Vec<Mark> {
        let others = self.others.iter().map(|line| Mark::Line(line.clone(), OTHER));
        let mean = Mark::Line(self.mean.clone(), WITHOUT);
        let interval = self.interval.iter().map(|line| Mark::Line(line.clone(), INTERVAL));
        let subject = Mark::Line(self.line.clone(), SUBJECT);
        others.chain([mean]).chain(interval).chain([subject]).collect()
    }

    /// All values that it reaches.
    pub fn y_values(&self) -> Vec<f64> {
        let lines = self.interval.iter().chain(&self.others).chain([&self.line, &self.mean]);
        lines.flatten().map(|spot| spot.y).collect()
    }
}

/// The legend of some releases.
pub fn released_legend(releases: &[ReleasedCurve]) -> Vec<LegendEntry> {
    let others = releases.iter().any(|release| !release.others.is_empty());
    let entries = [
        (true, Swatch::Line(SUBJECT).means("one private release")),
        (true, Swatch::Line(INTERVAL).means("95 % interval of model and privacy noise around it")),
        (others, Swatch::Line(OTHER).means("other private releases")),
        (true, Swatch::Line(WITHOUT).means("mean without privacy noise")),
    ];
    let shown = entries.into_iter().filter(|(shown, _)| *shown && !releases.is_empty());
    shown.map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
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
