//! Bounds of a target as a private release of their own: their share of the budget, and what is left.

use std::path::Path;

use dpgp_accounting::{Calibration, gaussian_epsilon_at_mu};
use dpgp_data::read_limited_text;
use dpgp_number::text::format_exact;

use super::DraftError;
use crate::{CertificateSummary, CountsFile, ReleaseError, ReleasedBounds};

/// The epsilon of the templates.
const EPSILON: f64 = 1.0;

/// The share of a budget that private bounds take: of `mu^2`, which adds up over Gaussian releases. A tenth for 5,000 rows, and less for more,
/// so that the noise on a count, in rows, grows no faster than the square root of the rows. A tenth if their number is private.
fn bounds_budget_share(public_rows: Option<usize>) -> f64 {
    public_rows.map_or(MOST_SHARE, |rows| (500.0 / rows as f64).clamp(0.005, MOST_SHARE))
}

/// The most of a budget for bounds.
const MOST_SHARE: f64 = 0.1;

/// Private bounds need so many rows at an epsilon of 1. With fewer, the noise hides the tails: of 1,000 rows, a tenth and more would be
/// clipped on each side.
pub(super) const FEWEST_FOR_BOUNDS: usize = 5000;

/// The epsilon of a share of the `mu^2` of a budget, at its delta, rounded down to four digits.
fn epsilon_of_budget_share(share: f64, epsilon: f64, delta: f64) -> f64 {
    let mu = share.sqrt() / Calibration::Analytic.sigma(epsilon, delta);
    let exact = gaussian_epsilon_at_mu(mu, delta);
    let power = exact.log10().floor() as i32 - 3;
    format!("{:.0}e{power}", (exact / 10f64.powi(power)).floor()).parse().unwrap_or(exact)
}

/// The epsilon of private bounds, as a spec writes it, and their share of the budget in per cent.
pub(super) fn bounds_epsilon_and_percent(public_rows: Option<usize>, delta: f64) -> [String; 2] {
    let share = bounds_budget_share(public_rows);
    [format_exact(epsilon_of_budget_share(share, EPSILON, delta)), format_exact(100.0 * share)]
}

/// Reads the bounds of the target from a file of released counts.
///
/// # Errors
/// [`DraftError::NoCounts`] if the file holds no counts, [`DraftError::BoundsOfOther`] if they are of another column, and
/// [`DraftError::Release`] if they cannot be read.
pub fn read_released_bounds(file: &Path, target: Option<&str>) -> Result<ReleasedBounds, DraftError> {
    let counts = CountsFile::read(file)?.ok_or_else(|| DraftError::NoCounts(file.to_path_buf()))?;
    let bounds = counts.estimate_column_bounds()?;
    match target {
        Some(target) if target != bounds.column => {
            let (path, found, target) = (file.to_path_buf(), bounds.column, target.to_owned());
            Err(DraftError::BoundsOfOther { path, found, target })
        }
        _ => Ok(bounds),
    }
}

/// Returns the template with the rest of its budget after a release of this `mu`: the squares of both add up to that of the budget.
///
/// # Errors
/// [`DraftError::NoRest`] if the release cost the whole budget or does not say what it cost; [`DraftError::Release`] if its file was edited.
pub fn set_remaining_budget(template: &str, file: &Path, mu: f64) -> Result<String, DraftError> {
    let whole = spec_delta(template).map(|delta| (delta, 1.0 / Calibration::Analytic.sigma(EPSILON, delta)));
    let (delta, whole) =
        whole.filter(|(_, whole)| mu < *whole).ok_or_else(|| DraftError::NoRest(file.to_path_buf()))?;
    let text = read_limited_text(file).map_err(ReleaseError::io(file))?;
    CertificateSummary::ensure_certificate_holds(file, &text)?;
    let rest = format_exact(epsilon_of_budget_share(1.0 - (mu / whole).powi(2), EPSILON, delta));
    Ok(template
        .replace("epsilon = 1.0\n", &format!("epsilon = {rest}\n"))
        .replace("[1.0, inf]", &format!("[{rest}, inf]")))
}

fn spec_delta(spec: &str) -> Option<f64> {
    toml::from_str::<toml::Table>(spec).ok()?.get("privacy")?.get("delta")?.as_float()
}

/// Says where the bounds come from.
pub fn note_bounds_origin(spec: &str, file: &str) -> String {
    let line = |line: &str| match line.split_once('#') {
        Some((code, _)) if code.starts_with("low = ") => {
            format!("{code}# from {file}, a private release: about one row in fifty lies beyond each bound\n")
        }
        Some((code, _)) if code.starts_with("high = ") => format!("{}\n", code.trim_end()),
        _ => format!("{line}\n"),
    };
    spec.lines().map(line).collect()
}

/// Returns the whole budget of a template, epsilon and delta, of which the release of bounds takes a share.
pub fn total_budget(spec: &str) -> Option<(f64, f64)> {
    spec_delta(spec).map(|delta| (EPSILON, delta))
}
