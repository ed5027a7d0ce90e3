//! Cutting lines and areas at the edges of a plot.

/// A point of the canvas, in pixels.
pub(super) type Point = (f64, f64);

/// A rectangle of the canvas, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Whether a point lies inside or on an edge; NaN lies in none.
    pub fn holds(&self, (x, y): Point) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }

    /// How far inside each edge a point lies; negative outside of it.
    fn depths(&self, (x, y): Point) -> [f64; 4] {
        [x - self.left, self.right() - x, y - self.top, self.bottom() - y]
    }

    /// The part of a segment inside (Liang and Barsky): its ends, if there is any.
    fn segment(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (at_from, at_to) in self.depths(from).into_iter().zip(self.depths(to)) {
            if at_from < 0.0 && at_to < 0.0 {
                return None;
            }
            let crossing = at_from / (at_from - at_to);
            if at_from < 0.0 {
                enter = enter.max(crossing);
            } else if at_to < 0.0 {
                leave = leave.min(crossing);
            }
        }
        let at = |t: f64| if t == 1.0 { to } else { between(from, to, t) };
        (enter <= leave).then(|| (at(enter), at(leave)))
    }

    /// The runs of a line inside.
    pub fn line(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut runs: Vec<Vec<Point>> = Vec::new();
        for ends in points.windows(2) {
            let Some((from, to)) = self.segment(ends[0], ends[1]) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs
    }

    /// The part of an area inside (Sutherland and Hodgman), edge by edge.
    pub fn area(&self, corners: &[Point]) -> Vec<Point> {
        (0..4).fold(corners.to_vec(), |area, edge| self.cut(&area, edge))
    }

    fn cut(&self, corners: &[Point], edge: usize) -> Vec<Point> {
        let mut kept = Vec::with_capacity(corners.len());
        for (i, &to) in corners.iter().enumerate() {
            let from = corners[(i + corners.len() - 1) % corners.len()];
            let (at_from, at_to) = (self.depths(from)[edge], self.depths(to)[edge]);
            if (at_from < 0.0) != (at_to < 0.0) {
                kept.push(between(from, to, at_from / (at_from - at_to)));
            }
            if at_to >= 0.0 {
                kept.push(to);
            }
        }
        kept
    }
}

/// The point a fraction of the way.
fn between(from: Point, to: Point, t: f64) -> Point {
    (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1))
}

/// The dashes of a line: so many pixels on, so many off.
pub(super) fn dashes(points: &[Point], on: f64, off: f64) -> Vec<Vec<Point>> {
    let mut dashes = vec![points.first().copied().into_iter().collect::<Vec<_>>()];
    let (mut drawing, mut left) = (true, on);
    for ends in points.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut walked = 0.0;
        while length - walked > left {
            walked += left;
            let turn = between(from, to, walked / length);
            match dashes.last_mut() {
                Some(dash) if drawing => dash.push(turn),
                _ => dashes.push(vec![turn]),
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length - walked;
        if let (true, Some(dash)) = (drawing, dashes.last_mut()) {
            dash.push(to);
        }
    }
    dashes.retain(|dash| dash.len() > 1);
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Rect = Rect { left: 0.0, top: 0.0, width: 1.0, height: 1.0 };

    #[test]
    fn a_line_that_leaves_and_returns_has_two_runs() {
        let runs = UNIT.line(&[(0.0, 0.5), (0.25, 0.5), (0.5, 2.5), (0.75, 0.5), (1.0, 0.5)]);
        let first = vec![(0.0, 0.5), (0.25, 0.5), (0.3125, 1.0)];
        let second = vec![(0.6875, 1.0), (0.75, 0.5), (1.0, 0.5)];
        assert_eq!(runs, [first, second]);
        assert!(UNIT.line(&[(-1.0, 0.5), (0.5, 3.0)]).is_empty(), "passes the corner outside");
        assert_eq!(UNIT.line(&[(-1.0, 0.5), (3.0, 0.5)]), [vec![(0.0, 0.5), (1.0, 0.5)]]);
    }

    #[test]
    fn an_area_is_cut_at_the_edges() {
        let diamond = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)];
        let corners = UNIT.area(&diamond);
        let turn = |i: usize| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            a.0 * b.1 - a.1 * b.0
        };
        let doubled: f64 = (0..corners.len()).map(turn).sum();
        assert!((doubled - 2.0).abs() < 1e-12, "the diamond holds the unit square: {corners:?}");
        assert!(UNIT.area(&[(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)]).is_empty());
        assert!(UNIT.area(&[]).is_empty());
    }

    #[test]
    fn dashes_go_round_corners() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)], 4.0, 2.0);
        assert_eq!(found, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 3.0), (3.0, 4.0)]]);
        assert!(dashes(&[], 4.0, 2.0).is_empty());
    }
}
