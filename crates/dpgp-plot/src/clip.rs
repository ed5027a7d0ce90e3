//! Cutting lines and areas at the edges of a plot.

use super::spot::{Rect, Spot};

impl Rect {
    /// How far inside each edge a point lies; negative outside of it.
    fn depths(&self, spot: Spot) -> [f64; 4] {
        [spot.x - self.left, self.right() - spot.x, spot.y - self.top, self.bottom() - spot.y]
    }

    /// The part of a segment inside (Liang and Barsky): its ends, if there is any.
    fn segment(&self, from: Spot, to: Spot) -> Option<[Spot; 2]> {
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
        // The end itself where nothing is cut off: rounding would break a line into runs.
        let last = if leave == 1.0 { to } else { from.towards(to, leave) };
        (enter <= leave).then(|| [from.towards(to, enter), last])
    }

    /// The runs of a line inside.
    pub fn line(&self, points: &[Spot]) -> Vec<Vec<Spot>> {
        let mut runs: Vec<Vec<Spot>> = Vec::new();
        for ends in points.windows(2) {
            let Some([from, to]) = self.segment(ends[0], ends[1]) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs
    }

    /// The part of an area inside (Sutherland and Hodgman), edge by edge.
    pub fn area(&self, corners: &[Spot]) -> Vec<Spot> {
        (0..4).fold(corners.to_vec(), |area, edge| self.cut(&area, edge))
    }

    fn cut(&self, corners: &[Spot], edge: usize) -> Vec<Spot> {
        let mut kept = Vec::with_capacity(corners.len());
        for (i, &to) in corners.iter().enumerate() {
            let from = corners[(i + corners.len() - 1) % corners.len()];
            let (at_from, at_to) = (self.depths(from)[edge], self.depths(to)[edge]);
            if (at_from < 0.0) != (at_to < 0.0) {
                kept.push(from.towards(to, at_from / (at_from - at_to)));
            }
            if at_to >= 0.0 {
                kept.push(to);
            }
        }
        kept
    }
}

/// The dashes of a line: so many pixels on, so many off.
pub fn dashes(points: &[Spot], on: f64, off: f64) -> Vec<Vec<Spot>> {
    let mut dashes = vec![points.first().copied().into_iter().collect::<Vec<_>>()];
    let (mut drawing, mut left) = (true, on);
    for ends in points.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let length = from.distance(to);
        let mut walked = 0.0;
        while length - walked > left {
            walked += left;
            let turn = from.towards(to, walked / length);
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
        let runs = UNIT.line(&[(0.0, 0.5), (0.25, 0.5), (0.5, 2.5), (0.75, 0.5), (1.0, 0.5)].map(Spot::from));
        let first = [(0.0, 0.5), (0.25, 0.5), (0.3125, 1.0)].map(Spot::from).to_vec();
        let second = [(0.6875, 1.0), (0.75, 0.5), (1.0, 0.5)].map(Spot::from).to_vec();
        assert_eq!(runs, [first, second]);
        assert!(
            UNIT.line(&[(-1.0, 0.5), (0.5, 3.0)].map(Spot::from)).is_empty(),
            "passes the corner outside"
        );
        let across = [(0.0, 0.5), (1.0, 0.5)].map(Spot::from).to_vec();
        assert_eq!(UNIT.line(&[(-1.0, 0.5), (3.0, 0.5)].map(Spot::from)), [across]);
    }

    #[test]
    fn an_area_is_cut_at_the_edges() {
        let diamond = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)].map(Spot::from);
        let corners = UNIT.area(&diamond);
        let turn = |i: usize| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            a.x * b.y - a.y * b.x
        };
        let doubled: f64 = (0..corners.len()).map(turn).sum();
        assert!((doubled - 2.0).abs() < 1e-12, "the diamond holds the unit square: {corners:?}");
        assert!(UNIT.area(&[(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)].map(Spot::from)).is_empty());
        assert!(UNIT.area(&[]).is_empty());
    }

    #[test]
    fn dashes_go_round_corners() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)].map(Spot::from), 4.0, 2.0);
        let first = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)].map(Spot::from).to_vec();
        assert_eq!(found, [first, [(3.0, 3.0), (3.0, 4.0)].map(Spot::from).to_vec()]);
        assert!(dashes(&[], 4.0, 2.0).is_empty());
    }
}
