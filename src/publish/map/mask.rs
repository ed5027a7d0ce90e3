//! Which cells of a map say too little.

use crate::publish::table::number::brief;
use crate::release::ReleasedPoint;

/// The share of the variance over a map that a cell must explain.
const EXPLAINED: f64 = 0.5;

/// The rule that hatches cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mask {
    /// Those whose whole uncertainty `sqrt(gp_sd^2 + noise_sd^2)` is larger.
    ///
    /// At a place drawn at random from the map the surface has the variance `S^2 = Var(mean) + E[v]`, `v = gp_sd^2 + noise_sd^2`, by the law
    /// of total variance. Where v is known it falls to that: a cell explains `1 - v / S^2` of the variance over the map, and less than
    /// half of it where `sqrt v > S / sqrt 2`. Both parts count, since where no row is gp_sd tells that nothing is known.
    uncertainty: f64,
    /// And those with a larger `noise_sd`, where that was asked for.
    noise: Option<f64>,
}

impl Mask {
    /// The rule for these points, with a noise that was asked for.
    pub fn of(points: &[ReleasedPoint], noise: Option<f64>) -> Self {
        Self { uncertainty: (1.0 - EXPLAINED).sqrt() * spread(points), noise }
    }

    /// Whether a point is hatched.
    pub fn hides(self, point: &ReleasedPoint) -> bool {
        uncertainty(point) > self.uncertainty || self.noise.is_some_and(|most| point.noise_sd > most)
    }

    /// In words.
    pub fn rule(self) -> String {
        let noise = self.noise.map_or(String::new(), |most| format!(", or noise_sd above {}", brief(most)));
        format!("too little is known, gp_sd and noise_sd together above {}{noise}", brief(self.uncertainty))
    }
}

/// `sqrt(gp_sd^2 + noise_sd^2)`.
pub(super) fn uncertainty(point: &ReleasedPoint) -> f64 {
    point.gp_sd.hypot(point.noise_sd)
}

/// S.
fn spread(points: &[ReleasedPoint]) -> f64 {
    let number = points.len() as f64;
    let mean = points.iter().map(|point| point.mean / number).sum::<f64>();
    let squares = points.iter().map(|point| (point.mean - mean).powi(2) + uncertainty(point).powi(2));
    (squares.sum::<f64>() / number).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(mean: f64, gp_sd: f64, noise_sd: f64) -> ReleasedPoint {
        ReleasedPoint { mean, gp_sd, noise_sd, low: mean, high: mean }
    }

    /// Means -3 and 3 with v = 16 at both: `S^2 = 9 + 16`, and 16 is more than half of it.
    #[test]
    fn a_cell_explains_half_of_the_variance_or_is_hatched() {
        let hidden = [point(-3.0, 4.0, 0.0), point(3.0, 0.0, 4.0)];
        let mask = Mask::of(&hidden, None);
        assert_eq!(mask, Mask { uncertainty: 12.5f64.sqrt(), noise: None });
        assert!(hidden.iter().all(|each| mask.hides(each)));
        assert!(mask.rule().contains("above 3.536"), "{}", mask.rule());
        // v = 4: S^2 = 13.
        let shown = [point(-3.0, 2.0, 0.0), point(3.0, 0.0, 2.0)];
        assert!(shown.iter().all(|each| !Mask::of(&shown, None).hides(each)));
    }

    /// One place knows the surface and the other nothing, by its gp_sd alone.
    #[test]
    fn a_place_without_rows_is_hatched() {
        let points = [point(1.0, 0.1, 0.2), point(0.0, 1.0, 0.0)];
        let mask = Mask::of(&points, None);
        assert_eq!(points.map(|each| mask.hides(&each)), [false, true]);
    }

    /// A noise that is asked for hatches more, and shows nothing that is not known.
    #[test]
    fn a_noise_that_is_asked_for_hatches_more() {
        let points = [point(1.0, 0.1, 0.2), point(0.0, 1.0, 0.0), point(-2.0, 0.1, 0.4)];
        assert_eq!(points.map(|each| Mask::of(&points, None).hides(&each)), [false, true, false]);
        let mask = Mask::of(&points, Some(0.3));
        assert_eq!(points.map(|each| mask.hides(&each)), [false, true, true]);
        assert!(mask.rule().ends_with(", or noise_sd above 0.3"), "{}", mask.rule());
    }

    /// A map that is the same everywhere says nothing of its shape.
    #[test]
    fn a_flat_map_is_hatched() {
        let points = [point(1.0, 0.3, 0.4); 3];
        assert!(points.iter().all(|each| Mask::of(&points, None).hides(each)));
    }
}
