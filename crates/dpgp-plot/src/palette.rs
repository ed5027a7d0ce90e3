//! Colours that all figures share.

/// Red, green, blue and how far a colour covers what lies behind it, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8, pub f64);

impl Colour {
    const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self(red, green, blue, 1.0)
    }

    /// The same colour, covering only a part.
    pub const fn faint(self, opacity: f64) -> Self {
        Self(self.0, self.1, self.2, opacity)
    }

    /// What it looks like on white, as a colour that covers all.
    pub fn on_white(self) -> Self {
        mixed(WHITE, self, self.3)
    }

    /// Black on light colours and white on dark ones.
    pub fn contrasting_colour(self) -> Self {
        let light = 0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        if light > 140.0 { BLACK } else { WHITE }
    }
}

/// Colours that colour-blind readers can tell apart, by decreasing contrast with white.
pub const COLOURS: [Colour; 7] = [
    Colour::rgb(0, 95, 170),
    Colour::rgb(200, 80, 0),
    Colour::rgb(0, 130, 95),
    Colour::rgb(170, 60, 130),
    Colour::rgb(95, 95, 95),
    Colour::rgb(190, 140, 0),
    Colour::rgb(60, 160, 220),
];
/// Black.
pub const BLACK: Colour = Colour::rgb(0, 0, 0);
/// White.
pub const WHITE: Colour = Colour::rgb(255, 255, 255);
/// A second red beside [`COLOURS`], for one of two classes.
pub const RED: Colour = Colour::rgb(215, 40, 40);
/// Lines behind the data.
pub const GRID: Colour = Colour::rgb(215, 215, 215);
/// Lines that matter less.
pub const GREY: Colour = Colour::rgb(140, 140, 140);
/// A ground on which black and white can be seen.
pub const GROUND: Colour = Colour::rgb(135, 135, 135);
/// Lines that must be seen on colours.
pub const DARK: Colour = Colour::rgb(90, 90, 90);

/// From low to high values, evenly darker to lighter and distinct for colour-blind readers.
const RAMP: [Colour; 5] = [
    Colour::rgb(20, 30, 110),
    Colour::rgb(110, 40, 150),
    Colour::rgb(200, 70, 115),
    Colour::rgb(240, 135, 60),
    Colour::rgb(250, 210, 70),
];

/// Nine even steps of viridis (Smith and van der Walt, Matplotlib 2015): equal steps look equally far apart, in grey and to
/// colour-blind readers, too.
const VIRIDIS: [Colour; 9] = [
    Colour::rgb(68, 1, 84),
    Colour::rgb(71, 45, 123),
    Colour::rgb(59, 82, 139),
    Colour::rgb(44, 114, 142),
    Colour::rgb(33, 145, 140),
    Colour::rgb(40, 174, 128),
    Colour::rgb(94, 201, 98),
    Colour::rgb(173, 220, 48),
    Colour::rgb(253, 231, 37),
];

/// The colour of a fraction from 0 to 1.
pub fn ramp(fraction: f64) -> Colour {
    interpolate_palette(&RAMP, fraction)
}

/// The same by a map of colours that is perceptually uniform.
pub fn viridis(fraction: f64) -> Colour {
    interpolate_palette(&VIRIDIS, fraction)
}

fn interpolate_palette(colours: &[Colour], fraction: f64) -> Colour {
    let place = fraction.clamp(0.0, 1.0) * (colours.len() - 1) as f64;
    let step = (place as usize).min(colours.len() - 2);
    mixed(colours[step], colours[step + 1], place - step as f64)
}

/// The colour a fraction of the way from one to another.
fn mixed(from: Colour, to: Colour, t: f64) -> Colour {
    Colour::rgb(mix_channel(from.0, to.0, t), mix_channel(from.1, to.1, t), mix_channel(from.2, to.2, t))
}

fn mix_channel(from: u8, to: u8, t: f64) -> u8 {
    (f64::from(from) + t * (f64::from(to) - f64::from(from))).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_goes_from_end_to_end() {
        assert_eq!([ramp(-1.0), ramp(0.0), ramp(0.5), ramp(1.0)], [RAMP[0], RAMP[0], RAMP[2], RAMP[4]]);
        assert_eq!(ramp(0.125), Colour::rgb(65, 35, 130));
    }

    #[test]
    fn a_faint_colour_on_white_is_between_them() {
        assert_eq!(Colour(0, 100, 255, 0.2).on_white(), Colour::rgb(204, 224, 255));
        assert_eq!([BLACK.faint(0.0).on_white(), BLACK.on_white()], [WHITE, BLACK]);
    }

    /// The lightness L* of CIE 1976, from 0 to 100.
    fn lightness(colour: Colour) -> f64 {
        let [r, g, b] = [colour.0, colour.1, colour.2].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        116.0 * (0.2126 * r + 0.7152 * g + 0.0722 * b).cbrt() - 16.0
    }

    #[test]
    fn viridis_grows_lighter_in_even_steps() {
        let shades: Vec<f64> = (0..17).map(|step| lightness(viridis(f64::from(step) / 16.0))).collect();
        let steps = shades.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|step| (3.5..6.5).contains(&step)), "{:?}", steps.collect::<Vec<_>>());
    }
}
