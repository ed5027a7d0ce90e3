//! The outlines of a curve's parts.

use std::iter::zip;

use crate::task::Frame;

/// Two columns as pairs; none if one of them is missing.
pub(super) fn pairs<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
    zip(x.iter().copied(), y.iter().copied())
}

/// The mean moved by so many of a standard deviation.
pub(super) fn beside<'a>(
    frame: &'a Frame,
    sd: &str,
    factor: f64,
) -> impl DoubleEndedIterator<Item = (f64, f64)> + ExactSizeIterator + 'a {
    let values = zip(frame.column("mean"), frame.column(sd));
    zip(frame.column("x1"), values).map(move |(x, (mean, sd))| (*x, mean + factor * sd))
}

/// The corners of the band of so many standard deviations about the mean.
pub(super) fn around<'a>(frame: &'a Frame, sd: &str, factor: f64) -> impl Iterator<Item = (f64, f64)> + 'a {
    beside(frame, sd, factor).chain(beside(frame, sd, -factor).rev())
}

/// All values that a curve reaches: alone, or in a panel that it shares.
pub(super) fn extremes(frame: &Frame, shared: bool) -> Vec<f64> {
    let value = |(_, value)| value;
    let band = if shared { 1.0 } else { 2.0 };
    let mut values: Vec<f64> = around(frame, "gp-sd", band).map(value).collect();
    values.extend(frame.column("mean"));
    if !shared {
        values.extend(around(frame, "noise-sd", 1.0).map(value));
        values.extend(frame.column("truth"));
        values.extend(frame.columns_named("draw").flatten());
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_goes_there_above_and_back_below() {
        let frame =
            Frame::new("curve").with("x1", [0.0, 1.0]).with("mean", [5.0, 6.0]).with("gp-sd", [1.0, 2.0]);
        let corners: Vec<_> = around(&frame, "gp-sd", 2.0).collect();
        assert_eq!(corners, [(0.0, 7.0), (1.0, 10.0), (1.0, 2.0), (0.0, 3.0)]);
        assert_eq!(around(&frame, "noise-sd", 2.0).count(), 0, "no such column");
        assert_eq!(extremes(&frame, true).into_iter().fold(f64::MIN, f64::max), 8.0);
    }
}
