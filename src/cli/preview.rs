//! `dpgp predict --preview`: what predictions would be worth, before anything is spent.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::Format;
use super::output::{print, print_json, write_new};
use super::release_types::PreviewOutput;
use super::waiting::Waiting;
use dpgp_number::Epsilon;
use dpgp_release::PredictionRequest;
use dpgp_report::{PublishError, WantedError, exact, folded, plain_table, preview_svg, short};
use dpgp_task::{Preview, PreviewedOver};

/// Between these an epsilon is searched, to a relative accuracy of one per cent.
const SEARCHED: (f64, f64) = (1e-3, 1e3);
const ACCURACY: f64 = 1.01;

/// What a preview is asked.
#[derive(Debug, Args)]
pub(super) struct PreviewArguments {
    /// Release nothing: say what predictions would err by at each epsilon under the model, by public things alone
    #[arg(long, conflicts_with_all = ["out", "sign"])]
    pub preview: bool,
    /// The epsilons of a preview
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = finite_epsilon, requires = "preview",
        default_value = "0.1,0.2,0.5,1,2,5,10")]
    epsilons: Vec<Epsilon>,
    /// Which epsilon gives predictions that err by no more than this, in units of the target
    #[arg(long, value_name = "ERROR", requires = "preview", allow_negative_numbers = true)]
    error: Option<f64>,
    /// Draw the preview as SVG, too; never over a file that is there
    #[arg(long, value_name = "FILE", requires = "preview")]
    figure: Option<PathBuf>,
}

/// Prints what is expected at each epsilon and, for an error that is wanted, the least epsilon that reaches it. A figure is all that
/// is written.
pub(super) fn preview(
    request: &PredictionRequest<'_>,
    title: &str,
    arguments: &PreviewArguments,
    quiet: bool,
    format: Format,
) -> Result<(), CliError> {
    let figure = arguments.figure.as_deref();
    // Before anything is computed, which may take long.
    if let Some(path) = figure.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    let waiting = Waiting::on("computing what each epsilon is worth", quiet);
    let preview = request.preview(&arguments.epsilons)?;
    let wanted = arguments.error.map(|error| wanted(request, error)).transpose()?;
    drop(waiting);
    if let Some(path) = figure {
        let svg = preview_svg(title, &preview, wanted).map_err(PublishError::from)?;
        write_new(path, &svg)?;
    }
    if format == Format::Json {
        let (error, epsilon) = (arguments.error, wanted.and_then(|wanted| wanted.epsilon));
        let figure = figure.map(Path::to_path_buf);
        return print_json(&json!(PreviewOutput { preview, wanted: error, epsilon, figure }));
    }
    print(&said(&preview, wanted, figure))
}

fn said(preview: &Preview, wanted: Option<WantedError>, figure: Option<&Path>) -> String {
    let mut text = table(preview);
    if let Some(path) = figure {
        text.push_str(&format!("drawn in {}\n", path.display()));
    }
    if let Some(WantedError { error, epsilon }) = wanted {
        text.push_str(&match epsilon {
            Some(epsilon) => format!("an error of {} needs epsilon = {}\n", short(error), short(epsilon)),
            None => format!("no epsilon up to {} reaches an error of {}\n", SEARCHED.1, short(error)),
        });
    }
    text
}

fn table(preview: &Preview) -> String {
    let headings = ["epsilon", "noise", "expected error", "of a private mean", "numbers released"];
    let table = plain_table(&headings, preview_rows(preview).into_iter());
    let below = what_is_priced(&[preview.over]);
    format!("{table}{}", folded(&format!("{below}{}{}", no_better_weights(preview), no_better(preview, ""))))
}

/// What stands below a table of prices.
pub(super) fn what_is_priced(previewed: &[PreviewedOver]) -> String {
    let boxes = previewed.iter().filter(|over| **over == PreviewedOver::Box).count();
    let over = match boxes {
        0 => "the points",
        all if all == previewed.len() => "the whole box, with rows spread over it, whatever the points",
        _ => "the points (of moments: the whole box, with rows spread over it)",
    };
    format!(
        "root mean squares over {over}, in units of the target, under the model: if its prior is right; a function that varies less than its variance \
         says, or faster than its lengthscales, gains less\n\
         of a private mean: the error of one number for all points, the mean of all targets with the noise of the same guarantee\n\
         no target was used, and nothing is charged\n"
    )
}

/// The rows of a table of prices: the epsilons between both ends.
pub(super) fn preview_rows(preview: &Preview) -> Vec<Vec<String>> {
    let first = std::iter::once(end("nothing is released", preview.prior));
    let last = std::iter::once(end("without privacy", preview.without_privacy));
    let rows = preview.expected.iter().map(|row| {
        let [noise, error, constant] = [row.noise, row.error, row.constant].map(short);
        vec![exact(row.epsilon.get()), noise, error, constant, row.released.to_string()]
    });
    first.chain(rows).chain(last).collect()
}

/// The sentence that names the epsilons at which one number for all points would do, of a setting if it has a name; nothing if there are none.
pub(super) fn no_better(preview: &Preview, setting: &str) -> String {
    let worse = preview.expected.iter().filter(|row| row.error >= row.constant);
    let worse: Vec<String> = worse.map(|row| exact(row.epsilon.get())).collect();
    if worse.is_empty() {
        return String::new();
    }
    let setting = if setting.is_empty() { String::new() } else { format!("{setting}: ") };
    format!(
        "warning: {setting}no better than a private mean of all targets at epsilon = {}: more rows, a longer lengthscale or tighter bounds are needed\n",
        worse.join(", ")
    )
}

/// How far other weights of the moments could be better; nothing for other mechanisms.
fn no_better_weights(preview: &Preview) -> String {
    let shares = preview.expected.iter().filter_map(|row| Some(row.least? / row.error));
    let Some(least) = shares.reduce(f64::min) else { return String::new() };
    format!(
        "of moments: no other choice of their weights could err by less than {} % of the expected error\n",
        (100.0 * least).floor()
    )
}

/// A row without an epsilon.
fn end(name: &str, error: f64) -> Vec<String> {
    vec![name.to_owned(), String::new(), short(error), String::new(), String::new()]
}

/// The least epsilon whose expected error is at most the one that is wanted.
fn wanted(request: &PredictionRequest<'_>, error: f64) -> Result<WantedError, CliError> {
    let (mut low, mut high) = SEARCHED;
    if !reaches(request, high, error)? {
        return Ok(WantedError { error, epsilon: None });
    }
    // The error falls as epsilon grows.
    while high > low * ACCURACY {
        let middle = (low * high).sqrt();
        if reaches(request, middle, error)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(WantedError { error, epsilon: Some(high) })
}

fn reaches(request: &PredictionRequest<'_>, at: f64, wanted: f64) -> Result<bool, CliError> {
    let Ok(epsilon) = Epsilon::new(at) else { return Ok(false) };
    let preview = request.preview(&[epsilon])?;
    Ok(preview.expected.iter().all(|row| row.error <= wanted))
}

pub(super) fn finite_epsilon(text: &str) -> Result<Epsilon, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let epsilon = Epsilon::new(number).map_err(|wrong| wrong.to_string())?;
    if epsilon.is_unprotected() {
        Err("an infinite epsilon protects nothing".to_owned())
    } else {
        Ok(epsilon)
    }
}
