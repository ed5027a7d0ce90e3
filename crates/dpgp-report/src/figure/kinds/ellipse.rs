//! Ellipses of equal density of two normal values.

use super::super::prelude::*;

/// The corners of an ellipse.
const CORNERS: u32 = 96;
/// The standard deviations of the outermost ellipse.
const OUTERMOST: u32 = 3;

/// Two normal values at two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPlaces {
    pub places: [f64; 2],
    pub mean: [f64; 2],
    pub sd: [f64; 2],
    pub correlation: f64,
}

impl TwoPlaces {
    /// The frame `pair`: one row; none without rows.
    pub fn read(columns: &mut FrameColumns<'_>) -> Result<Option<Self>, FigureError> {
        let names = ["x1", "x2", "mean1", "mean2", "sd1", "sd2", "correlation"];
        let mut row = [None; 7];
        for (value, name) in row.iter_mut().zip(names) {
            *value = columns.need(name)?.first().copied();
        }
        let [Some(x1), Some(x2), Some(mean1), Some(mean2), Some(sd1), Some(sd2), Some(correlation)] = row
        else {
            return Ok(None);
        };
        Ok(Some(Self { places: [x1, x2], mean: [mean1, mean2], sd: [sd1, sd2], correlation }))
    }

    /// How far the outermost ellipse reaches in a dimension.
    pub fn reach(&self, dimension: usize) -> [f64; 2] {
        [-1.0, 1.0].map(|side| self.mean[dimension] + side * f64::from(OUTERMOST) * self.sd[dimension])
    }

    /// Closed lines at one, two and three standard deviations: mean + k L (cos t, sin t), L L' the covariance.
    pub fn ellipses(self) -> impl Iterator<Item = Vec<Spot>> {
        (1..=OUTERMOST).map(move |k| (0..=CORNERS).map(|i| self.corner(f64::from(k), i)).collect())
    }

    fn corner(&self, k: f64, i: u32) -> Spot {
        let turn = 2.0 * std::f64::consts::PI * f64::from(i) / f64::from(CORNERS);
        let across = k * turn.cos();
        let along =
            self.correlation * across + k * (1.0 - self.correlation.powi(2)).max(0.0).sqrt() * turn.sin();
        Spot::new(self.mean[0] + self.sd[0] * across, self.mean[1] + self.sd[1] * along)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_have_the_mahalanobis_distance_of_their_ellipse() {
        let pair = TwoPlaces { places: [5.0, 6.0], mean: [1.0, -2.0], sd: [0.5, 2.0], correlation: 0.8 };
        for (k, ellipse) in pair.ellipses().enumerate() {
            for Spot { x, y } in ellipse {
                let (u, v) = ((x - 1.0) / 0.5, (y + 2.0) / 2.0);
                let squared = (u * u - 1.6 * u * v + v * v) / 0.36;
                assert!((squared.sqrt() - (k + 1) as f64).abs() < 1e-9);
            }
        }
        assert_eq!(pair.reach(1), [-8.0, 4.0]);
    }
}
