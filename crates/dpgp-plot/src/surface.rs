//! Contour lines of a surface on a regular grid, by marching squares. Also pairs of numbers, and rectangles on the sheet
//! that clip lines and areas.

use std::collections::BTreeMap;
use std::iter::zip;

use super::scale::{min_max, sorted_distinct_values};

/// Values on a regular grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    x: Vec<f64>,
    y: Vec<f64>,
    /// A value for each x and y; y varies fastest.
    values: Vec<f64>,
}

/// An edge of the grid: the indices of its lower end, and whether it runs along x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GridEdge {
    i: usize,
    j: usize,
    along_x: bool,
}

impl GridEdge {
    const fn new(i: usize, j: usize, along_x: bool) -> Self {
        Self { i, j, along_x }
    }
}

/// A piece of a contour line, from edge to edge of a square.
type ContourPiece = [GridEdge; 2];

impl Surface {
    /// The surface of three columns; none unless they are a regular grid of two by two at least, y varying fastest.
    pub fn new(x: &[f64], y: &[f64], values: &[f64]) -> Option<Self> {
        let (x, y) = (sorted_distinct_values(x), sorted_distinct_values(y));
        let regular = x.len() > 1 && y.len() > 1 && values.len() == x.len() * y.len();
        regular.then(|| Self { x, y, values: values.to_vec() })
    }

    /// The sides of the first square of the grid.
    pub fn cell_size(&self) -> PlotPoint {
        PlotPoint::new(self.x[1] - self.x[0], self.y[1] - self.y[0])
    }

    fn value(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.y.len() + j]
    }

    /// The multiples of a step between the least and the largest value, at most a hundred.
    pub fn contour_levels(&self, step: f64) -> Vec<f64> {
        let [least, most] = min_max(self.values.iter().copied()).unwrap_or([0.0, 0.0]);
        let first = (least / step).ceil();
        (0..100).map(|i| (first + f64::from(i)) * step).take_while(|level| *level <= most).collect()
    }

    /// The lines along which the surface has this value.
    pub fn contour_lines(&self, level: f64) -> Vec<Vec<PlotPoint>> {
        let squares = (1..self.x.len()).flat_map(|i| (1..self.y.len()).map(move |j| (i - 1, j - 1)));
        let segments: Vec<ContourPiece> = squares.flat_map(|(i, j)| self.square_segments(i, j, level)).collect();
        let chains = join_segments(&segments).into_iter();
        chains.map(|line| line.into_iter().map(|edge| self.crossing(edge, level)).collect()).collect()
    }

    /// The segments in a square, each from edge to edge. A saddle is cut by the mean of its corners.
    fn square_segments(&self, i: usize, j: usize, level: f64) -> Vec<ContourPiece> {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.value(i, j));
        let above = corners.map(|corner| corner > level);
        let edges = [(i, j, true), (i + 1, j, false), (i, j + 1, true), (i, j, false)];
        let edges = edges.map(|(i, j, along_x)| GridEdge::new(i, j, along_x));
        let crossed: Vec<GridEdge> = (0..4).filter(|k| above[*k] != above[(k + 1) % 4]).map(|k| edges[k]).collect();
        let middle = corners.iter().sum::<f64>() / 4.0 > level;
        match crossed[..] {
            [from, to] => vec![[from, to]],
            [a, b, c, d] if middle == above[0] => vec![[a, b], [c, d]],
            [a, b, c, d] => vec![[d, a], [b, c]],
            _ => Vec::new(),
        }
    }

    /// The place where an edge has this value.
    fn crossing(&self, edge: GridEdge, level: f64) -> PlotPoint {
        let GridEdge { i, j, along_x } = edge;
        let (k, l) = if along_x { (i + 1, j) } else { (i, j + 1) };
        let t = (level - self.value(i, j)) / (self.value(k, l) - self.value(i, j));
        PlotPoint::new(self.x[i], self.y[j]).towards(PlotPoint::new(self.x[k], self.y[l]), t)
    }
}

/// Segments joined at their ends: open lines first, then rings.
fn join_segments(segments: &[ContourPiece]) -> Vec<Vec<GridEdge>> {
    let mut at: BTreeMap<GridEdge, Vec<usize>> = BTreeMap::new();
    for (i, segment) in segments.iter().enumerate() {
        segment.iter().for_each(|edge| at.entry(*edge).or_default().push(i));
    }
    let mut used = vec![false; segments.len()];
    let open = at.iter().filter(|(_, met)| met.len() == 1).map(|(edge, _)| *edge);
    let starts: Vec<GridEdge> = open.chain(segments.iter().map(|segment| segment[0])).collect();
    let walked = starts.into_iter().map(|start| follow_contour(start, segments, &at, &mut used));
    walked.filter(|line| line.len() > 1).collect()
}

/// From edge to edge along segments that were not used before.
fn follow_contour(
    start: GridEdge,
    segments: &[ContourPiece],
    at: &BTreeMap<GridEdge, Vec<usize>>,
    used: &mut [bool],
) -> Vec<GridEdge> {
    let mut line = vec![start];
    let mut here = start;
    while let Some(next) = at[&here].iter().copied().find(|i| !used[*i]) {
        used[next] = true;
        let [from, to] = segments[next];
        here = if from == here { to } else { from };
        line.push(here);
    }
    line
}

/// A pair of values of a plot, or a place on the sheet in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// To the right.
    pub x: f64,
    /// Upwards in data, downwards in dots.
    pub y: f64,
}

impl PlotPoint {
    /// A place.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Moved by so much in each direction.
    pub fn moved(self, x: f64, y: f64) -> Self {
        Self::new(self.x + x, self.y + y)
    }

    /// The point a fraction `t` of the way to another.
    pub fn towards(self, other: Self, t: f64) -> Self {
        self.moved(t * (other.x - self.x), t * (other.y - self.y))
    }

    /// The distance to another.
    pub fn distance(self, other: Self) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }
}

impl From<(f64, f64)> for PlotPoint {
    fn from(pair: (f64, f64)) -> Self {
        Self::new(pair.0, pair.1)
    }
}

/// Two columns as spots.
pub fn points_from_columns(x: &[f64], y: &[f64]) -> Vec<PlotPoint> {
    zip(x, y).map(|(x, y)| PlotPoint::new(*x, *y)).collect()
}

/// A rectangle of the sheet, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Its left side.
    pub left: f64,
    /// Its upper side.
    pub top: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl Rect {
    /// Its right side.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its lower side.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Its centre.
    pub fn centre(&self) -> PlotPoint {
        PlotPoint::new(self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// All coordinates multiplied by `factor`: the rectangle in a unit that is this many times smaller.
    pub fn times(&self, factor: f64) -> Self {
        let [left, top, width, height] = [self.left, self.top, self.width, self.height].map(|side| factor * side);
        Self { left, top, width, height }
    }

    /// Whether a spot lies inside or on an edge; NaN lies in none.
    pub fn holds(&self, spot: PlotPoint) -> bool {
        (self.left..=self.right()).contains(&spot.x) && (self.top..=self.bottom()).contains(&spot.y)
    }

    /// The distance of a point inside each edge; negative outside.
    fn edge_distances(&self, spot: PlotPoint) -> [f64; 4] {
        [spot.x - self.left, self.right() - spot.x, spot.y - self.top, self.bottom() - spot.y]
    }

    /// The part of a segment inside (Liang and Barsky): its ends, if there is any.
    fn clip_segment(&self, from: PlotPoint, to: PlotPoint) -> Option<[PlotPoint; 2]> {
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (at_from, at_to) in self.edge_distances(from).into_iter().zip(self.edge_distances(to)) {
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
    pub fn clip_line(&self, points: &[PlotPoint]) -> Vec<Vec<PlotPoint>> {
        let mut runs: Vec<Vec<PlotPoint>> = Vec::new();
        for ends in points.windows(2) {
            let Some([from, to]) = self.clip_segment(ends[0], ends[1]) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs
    }

    /// The part of an area inside (Sutherland and Hodgman), edge by edge.
    pub fn clip_area(&self, corners: &[PlotPoint]) -> Vec<PlotPoint> {
        (0..4).fold(corners.to_vec(), |area, edge| self.clip_to_edge(&area, edge))
    }

    fn clip_to_edge(&self, corners: &[PlotPoint], edge: usize) -> Vec<PlotPoint> {
        let mut kept = Vec::with_capacity(corners.len());
        for (i, &to) in corners.iter().enumerate() {
            let from = corners[(i + corners.len() - 1) % corners.len()];
            let (at_from, at_to) = (self.edge_distances(from)[edge], self.edge_distances(to)[edge]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(side: usize, value: impl Fn(f64, f64) -> f64) -> Surface {
        let x: Vec<f64> = (0..side).map(|i| i as f64 - (side - 1) as f64 / 2.0).collect();
        let values = x.iter().flat_map(|x1| x.iter().map(|x2| value(*x1, *x2)).collect::<Vec<_>>()).collect();
        Surface { y: x.clone(), x, values }
    }

    #[test]
    fn the_contour_of_a_plane_is_one_straight_line() {
        let lines = surface(5, |x, y| x + 10.0 * y).contour_lines(3.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|at| (at.x + 10.0 * at.y - 3.0).abs() < 1e-12), "{lines:?}");
        assert_eq!((lines[0].len(), lines[0][0].x.abs(), lines[0][4].x.abs()), (5, 2.0, 2.0));
    }

    #[test]
    fn the_contour_of_a_bowl_is_a_ring() {
        let lines = surface(21, |x, y| x * x + y * y).contour_lines(40.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert!(lines[0].iter().all(|at| (at.x.hypot(at.y) - 40f64.sqrt()).abs() < 0.03));
    }

    #[test]
    fn a_saddle_has_two_lines_that_do_not_cross() {
        let saddle = Surface { x: vec![0.0, 1.0], y: vec![0.0, 1.0], values: vec![2.0, 0.0, 0.0, 2.0] };
        let sides = |level| {
            let lines = saddle.contour_lines(level);
            assert_eq!(lines.len(), 2);
            lines.into_iter().map(|line| line[0].towards(line[1], 0.5)).map(|middle| middle.x + middle.y)
        };
        assert!(sides(0.9).all(|sum| (sum - 1.0).abs() < 0.2), "the middle is above: both low corners are cut off");
        assert!(sides(1.1).all(|sum| (sum - 1.0).abs() > 0.5), "the middle is below: both high corners are");
    }

    #[test]
    fn levels_are_multiples_within_the_values() {
        let plane = surface(3, |x, _| 5.0 * x);
        assert_eq!(plane.contour_levels(2.0), [-4.0, -2.0, 0.0, 2.0, 4.0]);
        let bent = Surface::new(&[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0], &[1.0, 2.0, 3.0]);
        assert_eq!(bent, None, "no regular grid");
    }
}

#[cfg(test)]
mod clip_tests {
    use super::*;

    const UNIT: Rect = Rect { left: 0.0, top: 0.0, width: 1.0, height: 1.0 };

    #[test]
    fn a_line_that_leaves_and_returns_has_two_runs() {
        let runs = UNIT.clip_line(&[(0.0, 0.5), (0.25, 0.5), (0.5, 2.5), (0.75, 0.5), (1.0, 0.5)].map(PlotPoint::from));
        let first = [(0.0, 0.5), (0.25, 0.5), (0.3125, 1.0)].map(PlotPoint::from).to_vec();
        let second = [(0.6875, 1.0), (0.75, 0.5), (1.0, 0.5)].map(PlotPoint::from).to_vec();
        assert_eq!(runs, [first, second]);
        assert!(
            UNIT.clip_line(&[(-1.0, 0.5), (0.5, 3.0)].map(PlotPoint::from)).is_empty(),
            "passes the corner outside"
        );
        let across = [(0.0, 0.5), (1.0, 0.5)].map(PlotPoint::from).to_vec();
        assert_eq!(UNIT.clip_line(&[(-1.0, 0.5), (3.0, 0.5)].map(PlotPoint::from)), [across]);
    }

    #[test]
    fn an_area_is_cut_at_the_edges() {
        let diamond = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)].map(PlotPoint::from);
        let corners = UNIT.clip_area(&diamond);
        let turn = |i: usize| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            a.x * b.y - a.y * b.x
        };
        let doubled: f64 = (0..corners.len()).map(turn).sum();
        assert!((doubled - 2.0).abs() < 1e-12, "the diamond holds the unit square: {corners:?}");
        assert!(UNIT.clip_area(&[(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)].map(PlotPoint::from)).is_empty());
        assert!(UNIT.clip_area(&[]).is_empty());
    }
}
