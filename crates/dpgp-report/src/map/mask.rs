//! Which cells of a map say too little.

use dpgp_number::text::brief;
use dpgp_release::{ReleasedPoint, most_uncertainty};

/// The rule that hatches cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mask {
    /// Those whose whole uncertainty is larger ([`most_uncertainty`]).
    uncertainty: f64,
    /// And those with a larger `noise_sd`, where that was asked for.
    noise: Option<f64>,
}

impl Mask {
    /// The rule for these points, with a noise that was asked for.
    pub fn of(points: &[ReleasedPoint], noise: Option<f64>) -> Self {
        Self { uncertainty: most_uncertainty(points), noise }
    }

    /// Whether a point is hatched.
    pub fn hides(self, point: &ReleasedPoint) -> bool {
        point.uncertainty() > self.uncertainty || self.noise.is_some_and(|most| point.noise_sd > most)
    }

    /// In words.
    pub fn rule(self) -> String {
        let noise = self.noise.map_or(String::new(), |most| format!(", or noise_sd above {}", brief(most)));
        format!("too little is known, gp_sd and noise_sd together above {}{noise}", brief(self.uncertainty))
    }
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
