//! `dpgp predict --preview`: what predictions would be worth, before anything is spent.

use serde_json::json;

use super::CliError;
use super::options::Format;
use super::output::{print, print_json};
use crate::number::Epsilon;
use crate::publish::{exact, plain_table, short};
use crate::release::PredictionRequest;
use crate::task::Preview;

/// Between these an epsilon is searched, to a relative accuracy of one per cent.
const SEARCHED: (f64, f64) = (1e-3, 1e3);
const ACCURACY: f64 = 1.01;

/// Prints what is expected at each epsilon and, for an error that is wanted, the least epsilon that reaches it.
pub(super) fn preview(
    request: &PredictionRequest<'_>,
    epsilons: &[Epsilon],
    wanted: Option<f64>,
    format: Format,
) -> Result<(), CliError> {
    let preview = request.preview(epsilons)?;
    let enough = wanted.map(|error| least_epsilon(request, error)).transpose()?;
    if format == Format::Json {
        return print_json(&json!({ "preview": preview, "wanted": wanted, "epsilon": enough.flatten() }));
    }
    let mut text = table(&preview);
    if let (Some(error), Some(enough)) = (wanted, enough) {
        text.push_str(&match enough {
            Some(epsilon) => format!("an error of {} needs epsilon = {}\n", short(error), short(epsilon)),
            None => format!("no epsilon up to {} reaches an error of {}\n", SEARCHED.1, short(error)),
        });
    }
    print(&text)
}

fn table(preview: &Preview) -> String {
    let headings = ["epsilon", "noise", "expected error", "numbers released"];
    let first = std::iter::once(end("nothing is released", preview.prior));
    let last = std::iter::once(end("without privacy", preview.without_privacy));
    let rows = preview.expected.iter().map(|row| {
        vec![exact(row.epsilon.get()), short(row.noise), short(row.error), row.released.to_string()]
    });
    let mut text = plain_table(&headings, first.chain(rows).chain(last));
    text.push_str(
        "root mean squares over the points, in units of the target, under the model: if its prior is right\n\
         no target was used, and nothing is charged\n",
    );
    text
}

/// A row without an epsilon.
fn end(name: &str, error: f64) -> Vec<String> {
    vec![name.to_owned(), String::new(), short(error), String::new()]
}

/// The least epsilon whose expected error is at most the one that is wanted.
fn least_epsilon(request: &PredictionRequest<'_>, wanted: f64) -> Result<Option<f64>, CliError> {
    let (mut low, mut high) = SEARCHED;
    if !reaches(request, high, wanted)? {
        return Ok(None);
    }
    // The error falls as epsilon grows.
    while high > low * ACCURACY {
        let middle = (low * high).sqrt();
        if reaches(request, middle, wanted)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}

fn reaches(request: &PredictionRequest<'_>, at: f64, wanted: f64) -> Result<bool, CliError> {
    let Ok(epsilon) = Epsilon::new(at) else { return Ok(false) };
    let preview = request.preview(&[epsilon])?;
    Ok(preview.expected.iter().all(|row| row.error <= wanted))
}
