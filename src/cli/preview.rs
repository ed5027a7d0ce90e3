//! `dpgp predict --preview`: expected errors at each epsilon, from public facts only. Spends nothing.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::OutputFormat;
use super::output::Spinner;
use super::output::{print, print_json, write_new};
use super::release_types::{CountNoise, PreviewOutput};
use dpgp_number::Epsilon;
use dpgp_release::{PredictionRequest, ReleaseError};
use dpgp_report::{AccuracyGoal, PublishError, format_exact, format_four_digits, plain_table, preview_svg, wrap_prose};
use dpgp_task::{ErrorAveragingDomain, ReleasePreview};

/// Range in which an epsilon is searched, and the relative accuracy (1 %) of the search.
const SEARCHED: (f64, f64) = (1e-3, 1e3);
const ACCURACY: f64 = 1.01;

/// Epsilons that show how the error falls from strong to weak privacy.
const USUAL_EPSILONS: [f64; 7] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// Options of a preview.
#[derive(Debug, Clone, Args)]
pub(super) struct PreviewArguments {
    /// Release nothing; print the error that the model expects at each epsilon, computed from public facts only
    #[arg(long, conflicts_with_all = ["out", "sign"])]
    pub preview: bool,
    /// Epsilons to preview [default: 0.1, 0.2, 0.5, 1, 2, 5, 10 and the epsilon of the spec]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = finite_epsilon, requires = "preview")]
    epsilons: Vec<Epsilon>,
    /// Find the smallest epsilon whose expected error is at most this number, in units of the target
    #[arg(long, value_name = "ERROR", requires = "preview", value_parser = positive_number, allow_negative_numbers = true)]
    error: Option<f64>,
    /// Also draw the preview as SVG to this new file; never overwrites an existing file
    #[arg(long, value_name = "FILE", requires = "preview")]
    figure: Option<PathBuf>,
}

impl PreviewArguments {
    /// Fills in the default epsilons if none were given: the usual ones and the epsilon of the spec, in ascending order.
    pub fn with_default_epsilons(&self, of_spec: Epsilon) -> Self {
        let mut epsilons = self.epsilons.clone();
        if epsilons.is_empty() {
            epsilons.extend(USUAL_EPSILONS.into_iter().filter_map(|epsilon| Epsilon::new(epsilon).ok()));
            epsilons.extend((of_spec.get().is_finite() && !epsilons.contains(&of_spec)).then_some(of_spec));
            epsilons.sort_by(|one, other| one.get().total_cmp(&other.get()));
        }
        Self { epsilons, ..self.clone() }
    }

    /// Returns the same options with one epsilon.
    pub fn at_epsilon(&self, epsilon: Epsilon) -> Self {
        Self { epsilons: vec![epsilon], ..self.clone() }
    }
}

/// Prints the expected error at each epsilon and, for a wanted error, the smallest epsilon that reaches it. Writes nothing but the
/// figure.
pub(super) fn preview(
    request: &PredictionRequest<'_>,
    title: &str,
    arguments: &PreviewArguments,
    quiet: bool,
    format: OutputFormat,
) -> Result<(), CliError> {
    let figure = arguments.figure.as_deref();
    // Refuse an existing file before the computation, which can be slow.
    if let Some(path) = figure.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    if request.noise_sd_of_counts(Epsilon::NONE).is_some() {
        return preview_counts(request, arguments, format);
    }
    let waiting = Spinner::start("computing the expected error at each epsilon", quiet);
    let preview = request.preview_prediction_errors(&arguments.epsilons)?;
    let expected = |epsilon| {
        let preview = request.preview_prediction_errors(&[epsilon])?;
        Ok(preview.expected.iter().map(|row| row.error).fold(0.0, f64::max))
    };
    let wanted = arguments.error.map(|error| find_smallest_epsilon(expected, error)).transpose()?;
    drop(waiting);
    if let Some(path) = figure {
        let svg = preview_svg(title, &preview, wanted).map_err(PublishError::from)?;
        write_new(path, &svg)?;
    }
    if format == OutputFormat::Json {
        let (error, epsilon) = (arguments.error, wanted.and_then(|wanted| wanted.epsilon));
        let figure = figure.map(Path::to_path_buf);
        return print_json(&json!(PreviewOutput {
            preview: Some(preview),
            count_noise: Vec::new(),
            wanted: error,
            epsilon,
            figure
        }));
    }
    print(&preview_text(&preview, wanted, figure))
}

/// Prints the noise of each count at each epsilon. It follows from the settings alone.
fn preview_counts(
    request: &PredictionRequest<'_>,
    arguments: &PreviewArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    if arguments.figure.is_some() {
        return Err(ReleaseError::NoExpectedError.into());
    }
    let sd = |epsilon| request.noise_sd_of_counts(epsilon).unwrap_or(f64::INFINITY);
    let wanted = arguments.error.map(|error| find_smallest_epsilon(|epsilon| Ok(sd(epsilon)), error)).transpose()?;
    if format == OutputFormat::Json {
        let count_noise = arguments.epsilons.iter().map(|&epsilon| CountNoise { epsilon, sd: sd(epsilon) });
        let (error, epsilon) = (arguments.error, wanted.and_then(|wanted| wanted.epsilon));
        let count_noise = count_noise.collect();
        return print_json(&json!(PreviewOutput { preview: None, count_noise, wanted: error, epsilon, figure: None }));
    }
    let rows =
        arguments.epsilons.iter().map(|&epsilon| vec![format_exact(epsilon.get()), format_four_digits(sd(epsilon))]);
    let table = plain_table(&["epsilon", "noise of each count"], rows);
    let about = wrap_prose(
        "noise of each count: its standard deviation; the estimates have smaller errors where neighbouring bins have similar counts\n\
         no row was used, and nothing was charged\n",
    );
    print(&format!("{table}{about}{}", accuracy_goal_text(wanted)))
}

fn preview_text(preview: &ReleasePreview, wanted: Option<AccuracyGoal>, figure: Option<&Path>) -> String {
    let mut text = table(preview);
    if let Some(path) = figure {
        text.push_str(&format!("figure written to {}\n", path.display()));
    }
    text.push_str(&accuracy_goal_text(wanted));
    text
}

/// States the epsilon that reaches a wanted error. Empty if there is none.
fn accuracy_goal_text(wanted: Option<AccuracyGoal>) -> String {
    match wanted {
        None => String::new(),
        Some(AccuracyGoal { error, epsilon: Some(epsilon) }) => {
            format!("an error of {} needs epsilon = {}\n", format_four_digits(error), format_four_digits(epsilon))
        }
        Some(AccuracyGoal { error, epsilon: None }) => {
            format!("no epsilon up to {} reaches an error of {}\n", SEARCHED.1, format_four_digits(error))
        }
    }
}

fn table(preview: &ReleasePreview) -> String {
    let table = plain_table(&PREVIEW_HEADINGS, preview_rows(preview).into_iter());
    let below = expected_errors_legend(&[preview.over]);
    format!(
        "{table}{}",
        wrap_prose(&format!("{below}{}{}", weight_optimality_note(preview), no_benefit_warning(preview, "")))
    )
}

/// The columns of [`preview_rows`].
pub(super) const PREVIEW_HEADINGS: [&str; 6] = [
    "epsilon",
    "from the noise",
    "left at infinite epsilon",
    "expected error",
    "error of a private mean",
    "numbers released",
];

/// Explains a table of expected errors.
pub(super) fn expected_errors_legend(previewed: &[ErrorAveragingDomain]) -> String {
    let boxes = previewed.iter().filter(|over| **over == ErrorAveragingDomain::Box).count();
    let over = match boxes {
        0 => "the points",
        all if all == previewed.len() => "the whole box of the inputs, not the points",
        _ => "the points (for moments, over the whole box of the inputs)",
    };
    let level = match boxes {
        0 => "",
        _ => {
            "nothing is released: the error of the prior alone; for moments, the prior includes an unknown common level of the targets, \
              whose standard deviation is a quarter of the width of their bounds\nrows are assumed to be spread evenly over the box\n"
        }
    };
    format!(
        "root mean squared errors over {over}, in units of the target, assuming that the model's prior is right; predictions gain less \
         accuracy if the function varies less than the variance says, or faster than the lengthscales say\n\
         expected error: its square is the sum of the squares of two parts: the error from the noise, which a larger epsilon reduces, and \
         the error left at infinite epsilon, which remains because the rows do not determine the function\n\
         error of a private mean: the error if every point is predicted by the mean of all targets, with the noise that \
         the same guarantee needs\n{level}no target was used, and nothing was charged\n"
    )
}

/// Makes the rows of a table of expected errors: the epsilons, between no release and no privacy.
///
/// The error e at an epsilon and the error m of the model without privacy give the part from the noise, `sqrt(e^2 - m^2)`. It is more than
/// the noise in the predictions where these lean on the prior mean because of the noise.
pub(super) fn preview_rows(preview: &ReleasePreview) -> Vec<Vec<String>> {
    let left = preview.without_privacy;
    let first = std::iter::once(row_without_epsilon("nothing is released", preview.prior, ""));
    let last = std::iter::once(row_without_epsilon("without privacy", left, &format_four_digits(left)));
    let rows = preview.expected.iter().map(|row| {
        let noise = (row.error * row.error - left * left).max(0.0).sqrt();
        let [noise, left, error, constant] = [noise, left, row.error, row.constant].map(format_four_digits);
        vec![format_exact(row.epsilon.get()), noise, left, error, constant, row.released.to_string()]
    });
    first.chain(rows).chain(last).collect()
}

/// Warns about the epsilons at which a private mean would do as well, and about those at which a map would show little. Empty if there are
/// none.
pub(super) fn no_benefit_warning(preview: &ReleasePreview, setting: &str) -> String {
    let worse = preview.expected.iter().filter(|row| row.error >= row.constant);
    let worse: Vec<String> = worse.map(|row| format_exact(row.epsilon.get())).collect();
    // A map is hatched where more than half of the variance is left.
    let hatched = preview
        .expected
        .iter()
        .filter(|row| row.error < row.constant && 2.0 * row.error.powi(2) > row.constant.powi(2));
    let hatched: Vec<String> = hatched.map(|row| format_exact(row.epsilon.get())).collect();
    let setting = if setting.is_empty() { String::new() } else { format!("{setting}: ") };
    let mut text = String::new();
    if !worse.is_empty() {
        text.push_str(&format!(
            "warning: {setting}predictions are no better than a private mean of all targets at epsilon = {}; use more rows, a longer \
             lengthscale or tighter bounds\n",
            worse.join(", ")
        ));
    }
    if !hatched.is_empty() {
        text.push_str(&format!(
            "warning: {setting}more than half of the variance would be unexplained at epsilon = {}, so most of a map would be hatched\n",
            hatched.join(", ")
        ));
    }
    text
}

/// States how far the weights of the moments are from the best possible ones. Empty for other mechanisms.
fn weight_optimality_note(preview: &ReleasePreview) -> String {
    let shares = preview.expected.iter().filter_map(|row| Some(row.least? / row.error));
    let Some(least) = shares.reduce(f64::min) else { return String::new() };
    format!("other weights of the moments would lower these errors by at most {} %\n", 100.0 - (100.0 * least).floor())
}

/// Makes a row without an epsilon.
fn row_without_epsilon(name: &str, error: f64, left: &str) -> Vec<String> {
    let none = String::new;
    vec![name.to_owned(), none(), left.to_owned(), format_four_digits(error), none(), none()]
}

/// Finds the smallest epsilon whose error is at most `error`, in units of the target. The error falls as epsilon grows.
fn find_smallest_epsilon(of: impl Fn(Epsilon) -> Result<f64, CliError>, error: f64) -> Result<AccuracyGoal, CliError> {
    let reaches = |at: f64| match Epsilon::new(at) {
        Ok(epsilon) => Ok(of(epsilon)? <= error),
        Err(_) => Ok::<bool, CliError>(false),
    };
    let (mut low, mut high) = SEARCHED;
    if !reaches(high)? {
        return Ok(AccuracyGoal { error, epsilon: None });
    }
    while high > low * ACCURACY {
        let middle = (low * high).sqrt();
        if reaches(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(AccuracyGoal { error, epsilon: Some(high) })
}

fn positive_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a finite number above 0".to_owned()),
    }
}

pub(super) fn finite_epsilon(text: &str) -> Result<Epsilon, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let epsilon = Epsilon::new(number).map_err(|wrong| wrong.to_string())?;
    if epsilon.is_unprotected() { Err("an infinite epsilon protects nothing".to_owned()) } else { Ok(epsilon) }
}
