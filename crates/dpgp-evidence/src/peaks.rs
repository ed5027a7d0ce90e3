//! The maximum of a function of one number that is not negative.

use dpgp_linalg::largest;

/// Between two ends, for a function whose second derivative is at least `-curvature`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peaks {
    pub low: f64,
    pub high: f64,
    /// Steps between the ends.
    pub count: f64,
    pub curvature: f64,
}

impl Peaks {
    /// The maximum: on a grid of step h, then refined around every point that may hide it. At a maximum inside the slope is zero, so that none is
    /// further than `curvature h^2 / 8` above the grid.
    pub fn greatest(self, function: impl Fn(f64) -> f64) -> f64 {
        let step = (self.high - self.low) / self.count;
        let places = (0..=self.count as usize).map(|i| self.low + step * i as f64);
        let values: Vec<f64> = places.map(&function).collect();
        let hidden = self.curvature * step * step / 8.0;
        let top = largest(values.iter().copied());
        let near = (0..values.len()).filter(|&i| values[i] >= top - hidden);
        largest(near.map(|i| {
            let x = self.low + step * i as f64;
            peak(&function, (x - step).max(self.low), (x + step).min(self.high))
        }))
    }
}

/// The maximum between two ends, if there is one peak: by thirds.
fn peak(function: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if function(low + third) < function(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    largest([function(low), function(high)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two peaks the higher one, which lies between places of the grid, where all are below the lower one.
    #[test]
    fn the_higher_peak_is_found() {
        let peaks = Peaks { low: -1.0, high: 4.0, count: 50.0, curvature: 2.0 };
        let found = peaks.greatest(|x| largest([1.0 - (x - 0.3).powi(2), 1.0001 - (x - 3.25).powi(2)]));
        assert!((found - 1.0001).abs() < 1e-12, "{found}");
        // At an end.
        assert_eq!(Peaks { low: 1.0, ..peaks }.greatest(|x| 5.0 - x), 4.0);
    }
}
