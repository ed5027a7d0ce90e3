//! Numbers in the notes of an audit.

/// Four digits: fixed from a thousandth to a hundred thousand, with an exponent beyond.
pub fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&x.abs()) {
        let digits = 3 - (x.abs().max(1e-3).log10().floor() as i32).min(3);
        return format!("{x:.*}", usize::try_from(digits).unwrap_or(0));
    }
    format!("{x:.3e}")
}
