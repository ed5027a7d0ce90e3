//! Names beside the ends of lines, so far apart that none covers another.

use std::iter::{repeat_n, zip};

use super::canvas::{Font, Pen, text_width};
use super::mark::TextAnchor;
use super::stage::PlotArea;
use super::surface::PlotPoint;
use crate::PlotError;

const TEXT: f64 = 12.5;
/// The distance of two names.
const APART: f64 = 14.5;
/// The room between the axes and the samples of lines, which a thin line crosses, the width of a sample, and the room beyond the
/// names.
const LEADER: f64 = 14.0;
const SAMPLE: f64 = 20.0;
const BEYOND: f64 = 10.0;

/// The name of a line at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct LineEndLabel {
    /// Its name.
    pub text: String,
    /// The end of the line. A line that ends outside the axes has no name.
    pub at: PlotPoint,
    /// The pen of the line.
    pub pen: Pen,
}

/// The room that names take beside the axes.
pub fn end_label_width(ends: &[LineEndLabel]) -> f64 {
    let widest = ends.iter().map(|end| text_width(&end.text, TEXT)).fold(0.0, f64::max);
    if ends.is_empty() { 0.0 } else { LEADER + SAMPLE + 4.0 + widest + BEYOND }
}

impl PlotArea<'_, '_> {
    /// The names at the right, each with a sample of its line and a thin line from the end of it.
    pub fn draw_end_labels(&self) -> Result<(), PlotError> {
        let ends = self.plot.ends.iter().map(|end| (self.to_canvas(end.at), end));
        let mut ends: Vec<(PlotPoint, &LineEndLabel)> = ends.filter(|(at, _)| self.rect.holds(*at)).collect();
        ends.sort_by(|(a, _), (b, _)| a.y.total_cmp(&b.y));
        let heights: Vec<f64> = ends.iter().map(|(at, _)| at.y).collect();
        let right = self.rect.right();
        for ((at, end), y) in zip(ends, separate_heights(&heights, APART, [self.rect.top, self.rect.bottom()])) {
            let sample = PlotPoint::new(right + LEADER, y);
            let leader = [at, PlotPoint::new(right + 1.0, at.y), sample];
            self.canvas.line(&leader, Pen::new(end.pen.colour.faint(0.6), 0.75))?;
            self.canvas.line(&[sample, sample.moved(SAMPLE, 0.0)], end.pen)?;
            let font = Font::new(TEXT, TextAnchor::Left).coloured(end.pen.colour);
            self.canvas.text(&end.text, sample.moved(SAMPLE + 4.0, 0.0), font)?;
        }
        Ok(())
    }
}

/// The heights `y` nearest to some increasing heights `h` that are so far apart and between two ends.
///
/// `y` minimises `sum (y_i - h_i)^2` subject to `y_{i+1} - y_i >= apart`. With `z_i = y_i - i apart` and `e_i = h_i - i apart`, `z` is the
/// isotonic regression of `e`, which pooling adjacent violators finds; with bounds it is cut off there (Barlow et al. 1972). More
/// heights than there is room for go on below.
fn separate_heights(heights: &[f64], apart: f64, [top, bottom]: [f64; 2]) -> Vec<f64> {
    let mut pools: Vec<HeightPool> = Vec::new();
    for (i, height) in heights.iter().enumerate() {
        let mut pool = HeightPool { sum: height - apart * i as f64, count: 1 };
        while let Some(above) = pools.pop_if(|above| above.mean() > pool.mean()) {
            pool = HeightPool { sum: above.sum + pool.sum, count: above.count + pool.count };
        }
        pools.push(pool);
    }
    let last = bottom - apart * heights.len().saturating_sub(1) as f64;
    let means = pools.iter().flat_map(|pool| repeat_n(pool.mean(), pool.count));
    means.enumerate().map(|(i, mean)| mean.min(last).max(top) + apart * i as f64).collect()
}

/// Neighbours that stand as near together as they may.
struct HeightPool {
    sum: f64,
    count: usize,
}

impl HeightPool {
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [f64; 2] = [0.0, 100.0];

    #[test]
    fn names_that_have_room_stay_where_they_are() {
        assert_eq!(separate_heights(&[10.0, 30.0, 90.0], 10.0, ENDS), [10.0, 30.0, 90.0]);
        assert!(separate_heights(&[], 10.0, ENDS).is_empty());
    }

    /// Around their mean: 50 - 10, 50 and 50 + 10. The fourth, at 61, is too near to the third, and all four move by the mean of
    /// 40, 40, 40, 31 less their places.
    #[test]
    fn names_at_one_height_spread_around_it() {
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0], 10.0, ENDS), [40.0, 50.0, 60.0]);
        let mean = (50.0 + 40.0 + 30.0 + 31.0) / 4.0;
        let pooled = [mean, mean + 10.0, mean + 20.0, mean + 30.0];
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0, 61.0], 10.0, ENDS), pooled);
    }

    #[test]
    fn names_stay_between_the_ends_and_go_on_below_without_room() {
        assert_eq!(separate_heights(&[0.0, 0.0], 10.0, ENDS), [0.0, 10.0]);
        assert_eq!(separate_heights(&[100.0, 100.0], 10.0, ENDS), [90.0, 100.0]);
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0], 80.0, ENDS), [0.0, 80.0, 160.0]);
    }
}
