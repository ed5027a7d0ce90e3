//! Scaling of grey images.

/// Weights of a linear map from the pixels along a side to fewer of them.
///
/// Output pixel i is the mean of the input pixels weighted by a triangle around its middle whose half width is the
/// scale `from / to`, cut at the border: bilinear interpolation, antialiased.
#[derive(Debug, Clone)]
pub struct Downscale {
    from: usize,
    /// One for each output pixel.
    taps: Vec<Tap>,
}

/// The input pixels that an output pixel is a mean of.
#[derive(Debug, Clone)]
struct Tap {
    first: usize,
    weights: Vec<f64>,
}

impl Downscale {
    /// From `from` pixels along a side to `to`, at most as many.
    pub fn new(from: usize, to: usize) -> Self {
        let scale = from as f64 / to as f64;
        let taps = (0..to).map(|i| {
            let middle = (i as f64 + 0.5) * scale;
            let all = (0..from).map(|j| (1.0 - ((j as f64 + 0.5 - middle) / scale).abs()).max(0.0));
            let first = all.clone().take_while(|weight| *weight <= 0.0).count();
            let mut weights: Vec<f64> = all.filter(|weight| *weight > 0.0).collect();
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            Tap { first, weights }
        });
        Self { from, taps: taps.collect() }
    }

    /// Scales a square image, row by row, then column by column.
    pub fn apply(&self, image: &[u8]) -> Vec<f64> {
        let rows = image.chunks_exact(self.from).map(|row| self.along(|j| f64::from(row[j])));
        let rows: Vec<Vec<f64>> = rows.collect();
        let columns: Vec<Vec<f64>> = (0..self.taps.len()).map(|c| self.along(|j| rows[j][c])).collect();
        (0..self.taps.len()).flat_map(|r| columns.iter().map(move |column| column[r])).collect()
    }

    fn along(&self, pixel: impl Fn(usize) -> f64) -> Vec<f64> {
        let taps = self.taps.iter();
        taps.map(|tap| tap.weights.iter().enumerate().map(|(k, w)| w * pixel(tap.first + k)).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_stay_and_ramps_stay_ramps() {
        let scale = Downscale::new(28, 15);
        assert!(scale.apply(&[200; 784]).iter().all(|p| (p - 200.0).abs() < 1e-12));
        let ramp: Vec<u8> = (0..784).map(|i| (i % 28) as u8 * 4).collect();
        let small = scale.apply(&ramp);
        // Away from the border the middle of output pixel i is at 28/15 (i + 1/2) - 1/2 input pixels.
        let steps: Vec<f64> = small[3..12].windows(2).map(|w| w[1] - w[0]).collect();
        assert!(steps.iter().all(|s| (s / (4.0 * 28.0 / 15.0) - 1.0).abs() < 0.2), "{steps:?}");
    }

    /// Halving: the weights of two interior pixels by hand are 1/8, 3/8, 3/8, 1/8.
    #[test]
    fn halving_has_the_weights_of_the_triangle() {
        let scale = Downscale::new(8, 4);
        let Tap { first, weights } = &scale.taps[1];
        assert_eq!((*first, weights.as_slice()), (1, [0.125, 0.375, 0.375, 0.125].as_slice()));
        let dot: Vec<u8> = (0..64).map(|i| u8::from(i == 3 * 8 + 2) * 64).collect();
        assert_eq!(scale.apply(&dot)[4 + 1], 64.0 * 0.375 * 0.375);
    }
}
