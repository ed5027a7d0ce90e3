//! Colours and fonts that all figures share.

use plotters::style::RGBColor;

/// Colours that colour-blind readers can tell apart, by decreasing contrast with white.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 95, 170),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 95),
    RGBColor(170, 60, 130),
    RGBColor(95, 95, 95),
    RGBColor(190, 140, 0),
    RGBColor(60, 160, 220),
];
/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(215, 215, 215);
/// Lines that must be seen on colours.
pub(super) const DARK: RGBColor = RGBColor(90, 90, 90);
/// Lines that matter less.
pub(super) const GREY: RGBColor = RGBColor(140, 140, 140);
/// The font of all text.
pub(super) const FONT: &str = "sans-serif";

/// From low to high values, evenly darker to lighter and distinct for colour-blind readers.
const RAMP: [RGBColor; 5] = [
    RGBColor(20, 30, 110),
    RGBColor(110, 40, 150),
    RGBColor(200, 70, 115),
    RGBColor(240, 135, 60),
    RGBColor(250, 210, 70),
];

/// The colour of a fraction from 0 to 1.
pub(super) fn ramp(fraction: f64) -> RGBColor {
    let place = fraction.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let step = (place as usize).min(RAMP.len() - 2);
    mixed(RAMP[step], RAMP[step + 1], place - step as f64)
}

/// The colour a fraction of the way from one to another.
pub(super) fn mixed(from: RGBColor, to: RGBColor, t: f64) -> RGBColor {
    let part = |from: u8, to: u8| (f64::from(from) + t * (f64::from(to) - f64::from(from))).round() as u8;
    RGBColor(part(from.0, to.0), part(from.1, to.1), part(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_goes_from_end_to_end() {
        assert_eq!([ramp(-1.0), ramp(0.0), ramp(0.5), ramp(1.0)], [RAMP[0], RAMP[0], RAMP[2], RAMP[4]]);
        assert_eq!(ramp(0.125), RGBColor(65, 35, 130));
    }
}
