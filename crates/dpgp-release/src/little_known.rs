//! Points of which a release tells too little.

use super::ReleasedPoint;
use dpgp_task::Predictions;

/// The share of the variance over all points that a point must explain.
const EXPLAINED: f64 = 0.5;
/// Fewer points say nothing of the variance over a map.
const FEWEST: usize = 10;

impl ReleasedPoint {
    fn of(predictions: &Predictions, point: usize) -> Self {
        let (low, high) = predictions.interval(point);
        let Predictions { mean, gp_sd, noise_sd } = predictions;
        Self { mean: mean[point], gp_sd: gp_sd[point], noise_sd: noise_sd[point], low, high }
    }

    /// `sqrt(gp_sd^2 + noise_sd^2)`.
    pub fn uncertainty(&self) -> f64 {
        self.gp_sd.hypot(self.noise_sd)
    }
}

/// The uncertainty beyond which a point tells too little.
///
/// At a place drawn at random from the points the surface has the variance `S^2 = Var(mean) + E[v]`, `v = gp_sd^2 + noise_sd^2`, by the law
/// of total variance. Where v is known it falls to that: a point explains `1 - v / S^2` of the variance over all, and less than
/// half of it where `sqrt v > S / sqrt 2`. Both parts count, since where no row is gp_sd tells that nothing is known.
pub fn most_uncertainty(points: &[ReleasedPoint]) -> f64 {
    let number = points.len() as f64;
    let mean = points.iter().map(|point| point.mean / number).sum::<f64>();
    let squares = points.iter().map(|point| (point.mean - mean).powi(2) + point.uncertainty().powi(2));
    (1.0 - EXPLAINED).sqrt() * (squares.sum::<f64>() / number).sqrt()
}

/// Says it where that is most of the points of a release about private inputs; it follows from what is released.
pub(super) fn little_known(predictions: &Predictions) -> Option<String> {
    let all = predictions.mean.len();
    let points: Vec<ReleasedPoint> = (0..all).map(|point| ReleasedPoint::of(predictions, point)).collect();
    let most = most_uncertainty(&points);
    let little = points.iter().filter(|point| point.uncertainty() > most).count();
    (all >= FEWEST && 2 * little > all).then(|| {
        format!(
            "at {little} of {all} points too little is known: gp_sd and noise_sd together leave more than half of the variance over the \
             points. Noise hides the function, or no rows lie there, or the model is far off: are the ends of the map those of these \
             inputs, in their order, and are the lengthscales and the noise variance about right?"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sds: &[f64]) -> Option<String> {
        let mean = (0..sds.len()).map(|point| point as f64).collect();
        little_known(&Predictions { mean, gp_sd: sds.to_vec(), noise_sd: vec![0.0; sds.len()] })
    }

    /// The means from 0 to 11 have the variance `143 / 12`: with uncertainties of 4 at seven of twelve the whole is `S^2 = 11.92 + 9.33`,
    /// of which 16 is more than half.
    #[test]
    fn most_of_a_map_must_be_known() {
        let mut sds = vec![0.0; 12];
        sds[..7].fill(4.0);
        assert!(said(&sds).unwrap().starts_with("at 7 of 12 points"));
        // Half is not most of them, 2.5 is no large uncertainty here, and nine points are no map.
        assert_eq!(said(&[&[4.0; 6][..], &[0.0; 6]].concat()), None);
        assert_eq!(said(&[&[2.5; 7][..], &[0.0; 5]].concat()), None);
        assert_eq!(said(&[9.0; 9]), None);
        assert!(said(&[9.0; 10]).is_some());
    }
}
